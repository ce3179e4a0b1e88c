package import LinkCoordinator

/// One form of the links of a route: a pattern, perhaps behind prefixes that rewrites take off.
///
/// What other systems are told of a table is made from these, in the order in which the table prefers them.
package struct LinkShape {
    /// The id of the route.
    var route: String
    /// The matchers of the prefixes, then those of the pattern; the last is terminal.
    var matchers: [Matcher]
    /// The pattern as text, prefixes in front.
    var text: String
    /// The scheme that the pattern asks for.
    var scheme: String?
    /// The host that the pattern asks for.
    var host: HostRule?
    /// The route's constraints on the query.
    var query: [TableSource.QueryConstraint]
    /// Whether the route keeps its links out of the app.
    var isExcluded: Bool

    /// The matchers of whole segments.
    var segments: ArraySlice<Matcher> { matchers.dropLast() }

    /// What ends the shape.
    var terminal: Matcher { matchers.last ?? .end }

    /// Most rewrites whose prefixes are exported: each doubles the number of forms.
    package static let maxRewrites = 6

    /// What of a block's links no shape says: the table takes them, and no other system is told so.
    static func notes(_ block: TableSource.LinkBlock) -> [String] {
        var notes = ["links that end with a slash are not exported, though the table takes them"]
        let left = block.rewrites.dropFirst(maxRewrites).map(\.text)
        if !left.isEmpty {
            notes.append(
                "only the first \(maxRewrites) rewrites are exported; links behind these are not: "
                    + left.joined(separator: ", "))
        }
        return notes
    }

    /// All forms of links that a block reads, the preferred ones first; of routes by id alone none.
    ///
    /// Prefixes come before what they may be mistaken for: a rewrite is carried out before a route is chosen. Each
    /// rule of `rewrites` is carried out once, so every choice of the first `maxRewrites` stands before a pattern.
    static func all(_ source: TableSource, block: TableSource.LinkBlock) -> [LinkShape] {
        var shapes: [(shape: LinkShape, precedence: Precedence)] = []
        for route in source.routes {
            var isExcluded = false
            if case .exclude = route.action { isExcluded = true }
            for pattern in route.patterns {
                let shape = LinkShape(
                    route: route.id.value, matchers: pattern.path.matchers, text: pattern.path.text,
                    scheme: pattern.scheme, host: pattern.host, query: route.query, isExcluded: isExcluded)
                shapes.append((shape, route.precedence(of: pattern)))
            }
        }
        let plain = shapes.sorted { Precedence.compare($0.precedence, $1.precedence) < 0 }.map(\.shape)
        var prefixes: [(matchers: [Matcher], text: String)] = [([], "")]
        for rewrite in block.rewrites.prefix(maxRewrites) {
            let added = prefixes.map {
                ($0.matchers + rewrite.pattern.matchers.dropLast(), $0.text + rewrite.text)
            }
            prefixes += added
        }
        return prefixes.reversed().flatMap { prefix in
            plain.compactMap { shape in
                guard !prefix.matchers.isEmpty else { return shape }
                // A prefix stands before a path; a segment that may be anywhere is found behind it anyway.
                if case .anySegment = shape.terminal { return nil }
                var longer = shape
                longer.matchers = prefix.matchers + shape.matchers
                longer.text = prefix.text + (shape.text == "/" ? "" : shape.text)
                return longer
            }
        }
    }
}

/// A block of links that browsers open: one with the scheme https or http and a host.
package enum WebBlock {
    /// The block of https links, or of http where there is none; one that takes every scheme takes these too.
    package static func first(_ source: TableSource) -> (block: TableSource.LinkBlock, schemes: [String])? {
        let blocks = source.blocks.filter { $0.hostRole == .authority }
        let secure = blocks.filter { $0.schemes.contains { $0.value == "https" } }
        for block in secure + blocks {
            let named = block.schemes.map(\.value).filter { $0 == "https" || $0 == "http" }
            if !named.isEmpty { return (block, named) }
            if block.takesOtherSchemes { return (block, ["https"]) }
        }
        return nil
    }

    /// The hosts of a block that can be looked up: those by name, and those below a name.
    package static func hosts(_ block: TableSource.LinkBlock) -> [HostRule] {
        block.hosts.map(\.value).filter {
            switch $0 {
            case .exact, .suffix: true
            case .any, .empty: false
            }
        }
    }
}

/// What an export has to tell its reader, beside the export itself.
package struct ExportNotes {
    /// Lines in the order in which they arose, each once.
    package private(set) var lines: [String] = []
    private var seen: Set<String> = []

    /// Adds a line unless it was said before.
    mutating func add(_ line: String) {
        if seen.insert(line).inserted { lines.append(line) }
    }
}
