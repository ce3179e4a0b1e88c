package import ByteStorage

/// The destination of a link, as far as it is known without a network.
package struct UnwrappedLink {
    /// The kind of a destination.
    package enum Kind: UInt8, Sendable, BitwiseCopyable {
        /// The link is its own destination.
        case itself
        /// The destination is another link.
        case link
        /// The link belongs to a platform and leads to no destination.
        case noLink
        /// Only the platform's servers know the destination.
        case needsResolution
    }

    /// The observations that a decision notes, as codes.
    package struct Notes: OptionSet, Sendable {
        /// The bits of the set.
        package let rawValue: UInt8

        /// Creates a set of bits.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A value has a malformed escape and counts as absent.
        package static let malformed = Notes(rawValue: 1)
        /// A value has no scheme, and the rule names no origin, so it counts as absent.
        package static let noScheme = Notes(rawValue: 2)
        /// A value has a scheme that the rule does not accept, so it counts as absent.
        package static let scheme = Notes(rawValue: 4)
        /// A link in a parameter was written without escapes and has a query or a fragment, so its end may be missing.
        package static let cut = Notes(rawValue: 8)
        /// A link contains a link of a platform more than `LinkPlatforms.maxSteps` times.
        package static let tooDeep = Notes(rawValue: 16)
        /// A value would make the link longer than the limit, so it counts as absent.
        package static let tooLong = Notes(rawValue: 32)
    }

    /// The kind of the destination.
    package internal(set) var kind = Kind.itself
    /// The destination if `kind` is `link`; otherwise the link at which the search ended.
    ///
    /// It is valid as long as the given link and the records of the arena.
    package internal(set) var link: ByteView
    /// The observations.
    package internal(set) var notes: Notes = []
    /// The number of rules that were applied, at most `LinkPlatforms.maxSteps` + 1.
    package internal(set) var stepCount = 0
    /// The numbers of the applied rules.
    var platforms = SIMD4<Int16>(repeating: -1)
    /// The numbers of the parameters from which the rules took a link, or -1.
    var parameters = SIMD4<Int16>(repeating: -1)

    init(_ link: ByteView) { self.link = link }

    /// Adds an applied rule.
    ///
    /// The limits of a file keep both numbers in the range of `Int16`.
    mutating func add(platform: Int, parameter: Int) {
        guard stepCount < 4 else { return }
        platforms[stepCount] = Int16(truncatingIfNeeded: platform)
        parameters[stepCount] = Int16(truncatingIfNeeded: parameter)
        stepCount &+= 1
    }
}
