package import LinkCoordinator

/// A form of the links of a route: a pattern, optionally after prefixes that rewrites remove.
///
/// Exports to other systems consist of these forms, in order of precedence.
package struct LinkShape {
    /// The id of the route.
    var route: String
    /// The matchers of the prefixes and of the pattern, ending with a terminal one.
    var matchers: [Matcher]
    /// The pattern as text, with the prefixes before it.
    var text: String
    /// The scheme of the pattern, or nil for any.
    var scheme: String?
    /// The host of the pattern, or nil for any.
    var host: HostRule?
    /// The route's query constraints.
    var query: [TableSource.QueryConstraint]
    /// A Boolean value that indicates whether the route excludes its links from the app.
    var isExcluded: Bool

    /// The matchers of whole segments.
    var segments: ArraySlice<Matcher> { matchers.dropLast() }

    /// The terminal matcher of the shape.
    var terminal: Matcher { matchers.last ?? .end }

    /// The maximum number of rewrites whose prefixes are exported, because each doubles the number of forms.
    package static let maxRewrites = 6

    /// Returns notes about the links of a block that the table matches, but no shape does.
    ///
    /// - Parameters:
    ///   - block: The link block.
    ///   - ignoresTrailingSlash: A Boolean value that indicates whether the system ignores slashes at the end of
    ///     paths.
    static func notes(_ block: TableSource.LinkBlock, ignoresTrailingSlash: Bool) -> [String] {
        var notes: [String] = []
        if !ignoresTrailingSlash {
            notes.append("links that end with a slash are not exported, although the table matches them")
        }
        if block.emptySegments != .reject {
            notes.append("links with repeated slashes in the path are not exported, although the table matches them")
        }
        let omitted = block.rewrites.dropFirst(maxRewrites).map(\.text)
        if !omitted.isEmpty {
            notes.append(
                "only the first \(maxRewrites) rewrites are exported, but not links with the prefixes of these: "
                    + omitted.joined(separator: ", "))
        }
        return notes
    }

    /// Returns all forms of links that a block reads, in order of precedence, without routes by id.
    ///
    /// Forms with prefixes come first, because rewrites apply before the selection of a route. Each rule of `rewrites`
    /// applies once, so a pattern is combined with every subset of the first `maxRewrites` rules.
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
                // A pattern with `anySegment` also matches paths with a prefix, so it needs no form for it.
                if case .anySegment = shape.terminal { return nil }
                var longer = shape
                longer.matchers = prefix.matchers + shape.matchers
                longer.text = prefix.text + (shape.text == "/" ? "" : shape.text)
                return longer
            }
        }
    }
}

/// The link block of links that browsers open, which have the scheme https or http and a host.
package enum WebBlock {
    /// Returns the block of https links, or of http if there is none, even if it is a block for every scheme.
    package static func first(_ source: TableSource) -> (block: TableSource.LinkBlock, schemes: [String])? {
        let blocks = source.blocks.filter { $0.hostRole == .authority }
        let secure = blocks.filter { $0.schemes.contains { $0.value == "https" } }
        for block in secure + blocks {
            let named = block.schemes.map(\.value).filter { $0 == "https" || $0 == "http" }
            if !named.isEmpty { return (block, named) }
            if block.acceptsOtherSchemes { return (block, ["https"]) }
        }
        return nil
    }

    /// Returns the hosts of a block that can be looked up: names and subdomains of names.
    package static func hosts(_ block: TableSource.LinkBlock) -> [HostRule] {
        block.hosts.map(\.value).filter {
            switch $0 {
            case .exact, .suffix: true
            case .any, .empty: false
            }
        }
    }
}

/// Notes for the reader of an export, in addition to the export.
package struct ExportNotes {
    /// The lines in the order of their creation, without duplicates.
    package private(set) var lines: [String] = []
    private var seen: Set<String> = []

    /// Adds a line unless it exists.
    mutating func add(_ line: String) {
        if seen.insert(line).inserted { lines.append(line) }
    }
}
