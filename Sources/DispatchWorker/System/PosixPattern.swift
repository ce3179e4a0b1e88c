#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A POSIX extended regular expression, the kind that librdkafka uses for topic names.
package struct PosixPattern: ~Copyable {
    private let compiled: UnsafeMutablePointer<regex_t>

    /// Compiles an expression.
    ///
    /// Returns nil if it is invalid.
    package init?(_ pattern: String) {
        let compiled = UnsafeMutablePointer<regex_t>.allocate(capacity: 1)
        compiled.initialize(to: regex_t())
        guard regcomp(compiled, pattern, REG_EXTENDED | REG_NOSUB) == 0 else {
            compiled.deallocate()
            return nil
        }
        self.compiled = compiled
    }

    deinit {
        regfree(compiled)
        compiled.deallocate()
    }

    /// Returns a Boolean value that indicates whether a name matches.
    package borrowing func matches(_ name: String) -> Bool { regexec(compiled, name, 0, nil, 0) == 0 }
}
