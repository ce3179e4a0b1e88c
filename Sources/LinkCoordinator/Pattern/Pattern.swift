/// One path pattern after its trailing optional was expanded: matchers for segments, then one that ends it.
package struct Pattern: Sendable, Hashable {
    /// What each segment must be; the last is terminal (`Matcher.isTerminal`) and no other is.
    package let matchers: [Matcher]

    /// The captures, in the order of their segments; each name once.
    package let captures: [Capture]

    /// The pattern as text, decoded, with the names of captures; two texts may stand for equal matchers.
    package let text: String

    /// Makes a pattern; the parser sees to the rules.
    package init(matchers: [Matcher], captures: [Capture], text: String) {
        self.matchers = matchers
        self.captures = captures
        self.text = text
    }

    /// The capture of that name.
    package func capture(named name: String) -> Capture? { captures.first { $0.name == name } }

    /// Number of segments before the one that ends the pattern.
    package var segmentCount: Int { matchers.count - 1 }
}

/// A named part of a path.
package struct Capture: Sendable, Hashable {
    /// What a capture is of.
    package enum Extent: Sendable, Hashable {
        /// Part of one segment: all but so many bytes at its start and at its end.
        case segment(prefix: Int, suffix: Int)
        /// All segments from this one on (`{rest+}`, `{rest*}`, `{p:coordinatorPath}`).
        case tail
    }

    /// The name, for `path.name` and `{name}`.
    package let name: String

    /// What the captured text is, without affixes; for a tail the terminal matcher.
    package let matcher: Matcher

    /// Index of the segment, from 0; for a tail of the first one it may take.
    package let segment: Int

    /// How much of the segment it takes.
    package let extent: Extent

    /// For an enum: how the table spells each value, in the order of the matcher's values.
    package let spellings: [[UInt8]]

    /// Makes a capture.
    package init(name: String, matcher: Matcher, segment: Int, extent: Extent, spellings: [[UInt8]] = []) {
        self.name = name
        self.matcher = matcher
        self.segment = segment
        self.extent = extent
        self.spellings = spellings
    }

    /// Whether the capture takes whole segments to the end of the path.
    package var isTail: Bool { extent == .tail }
}
