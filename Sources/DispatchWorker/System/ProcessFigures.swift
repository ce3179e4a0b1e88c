internal import CLibrary
internal import CPlatform

/// The figures of the process.
package struct ProcessFigures: Sendable, Equatable {
    /// The CPU seconds, user and system.
    package var cpuSeconds = 0.0
    /// The resident memory in bytes.
    package var residentBytes: Int64 = 0
    /// The number of open file descriptors.
    package var openFiles = 0
    /// The largest number of open file descriptors, or 0 if there is no limit.
    package var maxFiles = 0
    /// The start of the process, in seconds since 1970.
    package var startSeconds = 0.0

    /// Returns the figures of this process.
    ///
    /// The memory and the file descriptors are 0 on systems without `/proc`.
    ///
    /// - Parameter startedMilliseconds: The start of the process, in milliseconds since 1970.
    package static func measured(startedMilliseconds: Int64) -> ProcessFigures {
        var result = ProcessFigures()
        result.cpuSeconds = Double(max(0, linkd_process_cpu_microseconds())) / 1e6
        result.startSeconds = Double(startedMilliseconds) / 1_000
        result.residentBytes = residentPages() * Int64(getpagesize())
        result.openFiles = openFiles()
        result.maxFiles = maxFiles
        return result
    }

    /// Returns the number of resident pages, which is the second number of `statm`.
    private static func residentPages() -> Int64 {
        let descriptor = open("/proc/self/statm", O_RDONLY)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return 0 }
        let numbers = String(decoding: buffer[..<count], as: UTF8.self).split(separator: " ")
        return numbers.count > 1 ? Int64(numbers[1]) ?? 0 : 0
    }

    /// The limit on open file descriptors, or 0 without one.
    package static var maxFiles: Int {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 0 }
        return Int(exactly: limit.rlim_cur) ?? 0
    }

    /// Returns the number of files that a worker may open.
    ///
    /// A client has a connection and two ends of a pipe for each broker, and for two more names of brokers.
    package static func neededFiles(lanes: Int, brokers: Int) -> Int { 64 + (2 * lanes + 5) * 3 * (brokers + 2) }

    /// Returns the number of open file descriptors, without the one that reads them.
    private static func openFiles() -> Int {
        guard let directory = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        // The entries `.`, `..`, and the descriptor of the directory.
        return max(0, count - 3)
    }
}

/// Returns this machine's host name, restricted to the characters of an instance name, or `host` if it has none.
package func hostName() -> String {
    var bytes = [CChar](repeating: 0, count: 256)
    guard gethostname(&bytes, bytes.count - 1) == 0 else { return "host" }
    let name = bytes.prefix { $0 != 0 }.prefix(48).map { byte -> Character in
        let scalar = Unicode.Scalar(UInt8(bitPattern: byte))
        let isPlain = ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
        return isPlain || scalar == "." || scalar == "-" || scalar == "_" ? Character(scalar) : "-"
    }
    return name.isEmpty ? "host" : String(name)
}
