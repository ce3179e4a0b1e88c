package import LinkCoordinator
internal import StrictJSON

/// Apple's `apple-app-site-association` file for a table, which lists the links of a site that open the app.
///
/// The first component that matches a link decides, so exclusions come before the links that open the app. A component
/// matches at least the links of its pattern, and its comment states whether it matches others. A link that selects a
/// route of the app is never excluded.
package struct AppleAssociation {
    /// A member of `components`.
    struct Component {
        var path: String
        /// The items of the query by name.
        var query: [(name: String, value: String)] = []
        var isExcluded = false
        var comment: String

        /// The properties that identify a component: all except the comment.
        fileprivate var key: [String] { [path, isExcluded ? "-" : "+"] + query.flatMap { [$0.name, $0.value] } }
    }

    /// The components in order.
    private(set) var components: [Component] = []
    /// The variables that they refer to.
    private(set) var variables: [(name: String, values: [String])] = []
    /// A Boolean value that indicates whether paths are case-sensitive.
    let caseSensitive: Bool
    /// Notes about the parts of the table that the file cannot express.
    package private(set) var notes = ExportNotes()

    private var seen: Set<[String]> = []

    private struct Entry {
        var shape: LinkShape
        var pattern: ApplePattern
        var query: [(name: String, value: String)] = []
        var glob: Glob?
    }

    /// Creates the association of one host, or of all hosts of the table.
    ///
    /// Returns nil if the table has no web links.
    package init?(_ table: RouteTable, host: String?) {
        guard let (block, schemes) = WebBlock.first(table.source) else { return nil }
        caseSensitive = !table.source.foldsPathCase
        let hostBytes = host.map { Array($0.utf8) }
        var maker = ApplePatternMaker(coordinators: table.source.coordinators.map(\.name.value))
        var entries: [Entry] = []
        for shape in LinkShape.all(table.source, block: block) {
            if let scheme = shape.scheme, !schemes.contains(scheme) { continue }
            if let hostBytes, let rule = shape.host, !rule.matches(host: hostBytes, port: nil) { continue }
            for var pattern in maker.patterns(shape) {
                if host == nil, let rule = shape.host, rule != .any {
                    pattern.additionalMatches = "links of other hosts than \(rule.text)"
                }
                var query: [(name: String, value: String)] = []
                for constraint in shape.query {
                    guard caseSensitive, let item = maker.query(constraint) else {
                        pattern.additionalMatches = pattern.additionalMatches ?? "any query"
                        continue
                    }
                    query.append((item.name, item.value))
                    if item.alsoMatchesEmpty {
                        pattern.additionalMatches = pattern.additionalMatches ?? "an empty \(item.name) in the query"
                    }
                }
                entries.append(Entry(shape: shape, pattern: pattern, query: query))
            }
        }
        variables = maker.variables
        for index in entries.indices { entries[index].glob = glob(entries[index].pattern.path) }
        let openingPatterns = GlobIndex(entries.map { $0.shape.isExcluded ? nil : $0.glob })
        for (index, entry) in entries.enumerated() { add(entry, index, openingPatterns) }
        LinkShape.notes(block, ignoresTrailingSlash: true).forEach { notes.add($0) }
    }

    private mutating func add(_ entry: Entry, _ index: Int, _ openingPatterns: GlobIndex) {
        let shape = entry.shape
        var additionalMatches = entry.pattern.additionalMatches
        let text = "\(shape.route) \(shape.text)"
        if shape.isExcluded {
            let reach = ([entry.pattern.path] + entry.pattern.exclusions).map(glob)
            let isExact = additionalMatches == nil && entry.pattern.exclusions.isEmpty
            if !isExact, reach.contains(where: { openingPatterns.overlaps($0, after: index) }) {
                notes.add(
                    "route \(shape.route) is excluded, but an exclusion would also affect links of other routes: "
                        + "its links open the app")
                return
            }
            append(Component(path: entry.pattern.path, query: entry.query, isExcluded: true, comment: text))
            return
        }
        for extra in entry.pattern.exclusions {
            if openingPatterns.overlaps(glob(extra), after: index) {
                additionalMatches = additionalMatches ?? "more segments in place of a capture"
            } else {
                append(Component(path: extra, isExcluded: true, comment: "more segments than \(text)"))
            }
        }
        if let additionalMatches { notes.add("route \(shape.route): the export also matches \(additionalMatches)") }
        append(
            Component(
                path: entry.pattern.path, query: entry.query,
                comment: text + (additionalMatches.map { "; also matches \($0)" } ?? "")))
    }

    private mutating func append(_ component: Component) {
        if seen.insert(component.key).inserted { components.append(component) }
    }

    private func glob(_ pattern: String) -> Glob {
        Glob(pattern, variables: variables, foldsCase: !caseSensitive)
    }

    /// Returns a note about a file that is larger than Apple's systems read, or nil.
    package static func sizeNote(_ json: String) -> String? {
        let count = json.utf8.count
        guard count > AssociationLimits.appleBytes else { return nil }
        return "the file has \(count) bytes, but Apple's systems read at most \(AssociationLimits.appleBytes): split "
            + "the hosts of the table with --host, or use patterns with fewer values"
    }

    /// Returns the file for some application identifiers.
    package func json(appIDs: [String]) -> String {
        var lines = ["{", "  \"applinks\": {"]
        if !variables.isEmpty {
            lines.append("    \"substitutionVariables\": {")
            lines += variables.enumerated().map { index, variable in
                let values = variable.values.map(Self.quoted).joined(separator: ", ")
                return "      \(Self.quoted(variable.name)): [\(values)]" + (index + 1 < variables.count ? "," : "")
            }
            lines.append("    },")
        }
        lines += ["    \"details\": [", "      {"]
        lines.append("        \"appIDs\": [" + appIDs.map(Self.quoted).joined(separator: ", ") + "],")
        if !caseSensitive { lines.append("        \"defaults\": { \"caseSensitive\": false },") }
        lines.append("        \"components\": [")
        for (index, component) in components.enumerated() {
            var members = ["\"/\": \(Self.quoted(component.path))"]
            if !component.query.isEmpty {
                let items = component.query.map { "\(Self.quoted($0.name)): \(Self.quoted($0.value))" }
                members.append("\"?\": { \(items.joined(separator: ", ")) }")
            }
            if component.isExcluded { members.append("\"exclude\": true") }
            members.append("\"comment\": \(Self.quoted(component.comment))")
            lines.append(
                "          { \(members.joined(separator: ", ")) }" + (index + 1 < components.count ? "," : ""))
        }
        return (lines + ["        ]", "      }", "    ]", "  }", "}"]).joined(separator: "\n") + "\n"
    }

    private static func quoted(_ text: String) -> String {
        var json = JSONText()
        json.text(nil, text)
        return json.finish()
    }
}
