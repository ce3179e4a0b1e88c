/// A path pattern without optional parts: the matchers of segments, followed by a terminal matcher.
package struct Pattern: Sendable, Hashable {
    /// The matchers.
    ///
    /// The last one, and only the last one, is terminal (`Matcher.isTerminal`).
    package let matchers: [Matcher]

    /// The captures in the order of their segments, with unique names.
    package let captures: [Capture]

    /// The decoded text of the pattern with the names of captures.
    ///
    /// Different texts may have equal matchers.
    package let text: String

    /// Creates a pattern.
    ///
    /// The parser enforces the rules.
    package init(matchers: [Matcher], captures: [Capture], text: String) {
        self.matchers = matchers
        self.captures = captures
        self.text = text
    }

    /// Returns the capture with the given name, or nil.
    package func capture(named name: String) -> Capture? { captures.first { $0.name == name } }

    /// The number of segments before the terminal matcher.
    package var segmentCount: Int { matchers.count - 1 }
}

/// A named part of a path.
package struct Capture: Sendable, Hashable {
    /// The extent of a capture.
    package enum Extent: Sendable, Hashable {
        /// A part of one segment, without the given number of bytes at its start and end.
        case segment(prefix: Int, suffix: Int)
        /// All segments from this one on (`{rest+}`, `{rest*}`, `{p:coordinatorPath}`).
        case tail
    }

    /// The name, for `path.name` and `{name}`.
    package let name: String

    /// The matcher of the captured text without affixes, or the terminal matcher of a tail.
    package let matcher: Matcher

    /// The index of the segment, starting at 0.
    ///
    /// For a tail, it is the index of the tail's first segment.
    package let segment: Int

    /// The part of the segment that is captured.
    package let extent: Extent

    /// The spellings of the values of an enumeration, in the order of the matcher's values.
    package let spellings: [[UInt8]]

    /// Creates a capture.
    package init(name: String, matcher: Matcher, segment: Int, extent: Extent, spellings: [[UInt8]] = []) {
        self.name = name
        self.matcher = matcher
        self.segment = segment
        self.extent = extent
        self.spellings = spellings
    }

    /// A Boolean value that indicates whether the capture contains all segments to the end of the path.
    package var isTail: Bool { extent == .tail }
}
