package import LinkCoordinator

/// The intent filters of an Android manifest for a table.
///
/// The attributes of all `<data>` elements of a filter combine with each other, so each set of schemes and hosts has
/// its own filter. A manifest cannot exclude links, and Android does not match queries.
package struct AndroidFilters {
    /// An `<intent-filter>` element.
    package struct Filter {
        var schemes: [String]
        /// The hosts with their ports, in the form of `<data>` elements.
        var hosts: [Host]
        /// The paths with their comments, in the order of the table.
        var paths: [(path: AndroidPath, comment: String)] = []

        /// A Boolean value that indicates whether Android can verify with the site that the app opens its links.
        var isVerified: Bool {
            schemes.allSatisfy { $0 == "https" || $0 == "http" } && !hosts.contains { $0.name == "*" }
        }
    }

    /// A host in the form of a `<data>` element: a name, `*.name` or `*`.
    struct Host: Hashable {
        var name: String
        var port: UInt16?
    }

    /// The filters, with those of web links first.
    package private(set) var filters: [Filter] = []
    /// Notes about the parts of the table that a manifest cannot express.
    package private(set) var notes = ExportNotes()

    private let coordinators: [String]
    private let foldsCase: Bool

    /// Creates the filters of a table.
    package init(_ table: RouteTable) {
        coordinators = table.source.coordinators.map(\.name.value)
        foldsCase = table.source.foldsPathCase
        for block in table.source.blocks {
            if block.acceptsOtherSchemes { notes.add("the scheme `*` cannot be exported: list the schemes to export") }
            let web = block.schemes.map(\.value).filter { $0 == "https" || $0 == "http" }
            let own = block.schemes.map(\.value).filter { $0 != "https" && $0 != "http" }
            for schemes in [web, own] where !schemes.isEmpty {
                for shape in LinkShape.all(table.source, block: block) { add(shape, schemes, block) }
            }
        }
        for block in table.source.blocks {
            LinkShape.notes(block, ignoresTrailingSlash: false).forEach { notes.add($0) }
        }
        filters = filters.filter(\.isVerified) + filters.filter { !$0.isVerified }
    }

    private mutating func add(_ shape: LinkShape, _ all: [String], _ block: TableSource.LinkBlock) {
        let schemes = all.filter { shape.scheme == nil || shape.scheme == $0 }
        guard !schemes.isEmpty else { return }
        let text = "\(shape.route) \(shape.text)"
        if shape.isExcluded {
            notes.add(
                "route \(shape.route) is excluded, which a manifest cannot express: its links that match another "
                    + "filter open the app"
            )
            return
        }
        if !shape.query.isEmpty { notes.add("route \(shape.route): the export also matches any query") }
        if block.hostRole == .segment {
            guard shape.host == nil else { return }
            addSegments(shape, schemes, text)
        } else if let hosts = hosts(shape, block, text, isWeb: schemes.contains { $0 == "https" || $0 == "http" }) {
            add(shape.segments, shape.terminal, Filter(schemes: schemes, hosts: hosts), text)
        }
    }

    /// Returns the hosts of a pattern, or nil if no link can have one of them.
    private mutating func hosts(
        _ shape: LinkShape, _ block: TableSource.LinkBlock, _ text: String, isWeb: Bool
    ) -> [Host]? {
        var rules = block.hosts.map(\.value)
        if let rule = shape.host, rule != .any { rules = rules.contains { $0.overlaps(rule) } ? [rule] : [] }
        // A web link must have a host.
        if isWeb { rules = rules.filter { $0 != .empty } }
        guard !rules.isEmpty else { return nil }
        if rules.contains(.empty), !rules.contains(.any) {
            notes.add("links without a host cannot be expressed: links of every host open the app")
        }
        if rules.contains(.any) || rules.contains(.empty) { return [Host(name: "*")] }
        return rules.map { rule in
            switch rule {
            case .exact(let host, let port): Host(name: String(decoding: host, as: UTF8.self), port: port)
            case .suffix, .any, .empty: Host(name: rule.text)
            }
        }
    }

    /// Adds a form of links whose host is their first segment: the segment becomes the host, the others the path.
    private mutating func addSegments(_ shape: LinkShape, _ schemes: [String], _ text: String) {
        guard let first = shape.segments.first else {
            if shape.terminal == .end {
                add([], .end, Filter(schemes: schemes, hosts: [Host(name: "*")]), text)
                notes.add("route \(shape.route): the export also matches the root of every host")
            } else {
                addOpen(shape, schemes, text)
            }
            return
        }
        let rest = shape.segments.dropFirst()
        for host in Self.hostNames(first) ?? [] {
            add(rest, shape.terminal, Filter(schemes: schemes, hosts: [Host(name: host)]), text, isHostFirst: true)
        }
        if Self.hostNames(first) == nil {
            notes.add("route \(shape.route): the export also matches any host as the first segment")
            add(rest, shape.terminal, Filter(schemes: schemes, hosts: [Host(name: "*")]), text, isHostFirst: true)
        }
    }

    /// Adds a pattern that begins with its tail.
    private mutating func addOpen(_ shape: LinkShape, _ schemes: [String], _ text: String) {
        if case .coordinatorPath = shape.terminal {
            for name in coordinators {
                let filter = Filter(schemes: schemes, hosts: [Host(name: name)])
                add([], .restStar, filter, text, isHostFirst: true)
            }
            return
        }
        if case .anySegment = shape.terminal {
            notes.add("route \(shape.route): the export also matches every link")
        }
        let filter = Filter(schemes: schemes, hosts: [Host(name: "*")])
        add([], .restStar, filter, text, isHostFirst: true)
    }

    private static func hostNames(_ matcher: Matcher) -> [String]? {
        matcher.finiteTexts?.map { String(decoding: $0, as: UTF8.self) }
    }

    private mutating func add(
        _ segments: ArraySlice<Matcher>, _ terminal: Matcher, _ filter: Filter, _ text: String,
        isHostFirst: Bool = false
    ) {
        let pattern = AndroidPattern(segments, terminal, coordinators: coordinators, foldsCase: foldsCase)
        if let additionalMatches = pattern.additionalMatches {
            notes.add("route \(text.prefix { $0 != " " }): the export also matches \(additionalMatches)")
        }
        var paths = pattern.paths
        if isHostFirst, segments.isEmpty {
            // `scheme://first` has an empty path, which none of the other path attributes matches.
            let none = AndroidPath(attribute: .path, value: "")
            switch terminal {
            case .end: paths = [none]
            case .restStar: paths = [none] + paths
            default: break
            }
        }
        let index: Int
        if let known = filters.firstIndex(where: { $0.schemes == filter.schemes && $0.hosts == filter.hosts }) {
            index = known
        } else {
            filters.append(filter)
            index = filters.count - 1
        }
        for path in paths where !filters[index].paths.contains(where: { $0.path == path }) {
            filters[index].paths.append((path, text))
        }
    }

    /// The filters as XML, for the inside of an `<activity>` element.
    package var xml: String {
        var lines: [String] = []
        if filters.contains(where: { $0.paths.contains { $0.path.attribute == .pathAdvancedPattern } }) {
            lines.append("<!-- android:pathAdvancedPattern needs Android 12 (API level 31). -->")
        }
        for filter in filters {
            lines.append(filter.isVerified ? "<intent-filter android:autoVerify=\"true\">" : "<intent-filter>")
            lines += [
                "    <action android:name=\"android.intent.action.VIEW\" />",
                "    <category android:name=\"android.intent.category.DEFAULT\" />",
                "    <category android:name=\"android.intent.category.BROWSABLE\" />",
            ]
            lines += filter.schemes.map { "    <data android:scheme=\"\(Markup.xml($0))\" />" }
            lines += filter.hosts.map { host in
                let port = host.port.map { " android:port=\"\($0)\"" } ?? ""
                return "    <data android:host=\"\(Markup.xml(host.name))\"\(port) />"
            }
            for (path, comment) in filter.paths {
                // The manifest parser removes one level of backslashes before Android reads the pattern.
                let value = Markup.xml(path.value).replacing("\\", with: "\\\\")
                lines.append(
                    "    <data android:\(path.attribute.rawValue)=\"\(value)\" /> "
                        + "<!-- \(Self.comment(comment)) -->")
            }
            lines.append("</intent-filter>")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns text for a comment, in which XML does not allow two consecutive hyphens (XML 1.0, 2.5).
    private static func comment(_ text: String) -> String {
        Escaping.visible(text).replacing("--", with: "- -").replacing("--", with: "- -")
    }
}
