package import LinkCoordinator

/// A table as intent filters of an Android manifest.
///
/// The attributes of all `<data>` of a filter combine with each other, so each set of schemes and hosts is a filter of
/// its own. A manifest excludes nothing; queries are not looked at.
package struct AndroidFilters {
    /// One `<intent-filter>`.
    package struct Filter {
        var schemes: [String]
        /// Hosts with their ports, as `<data>` writes them.
        var hosts: [Host]
        /// Paths with what they are for, in the order of the table.
        var paths: [(path: AndroidPath, comment: String)] = []

        /// Whether Android may ask the site whether the app may open its links.
        var isVerified: Bool {
            schemes.allSatisfy { $0 == "https" || $0 == "http" } && !hosts.contains { $0.name == "*" }
        }
    }

    /// A host as `<data>` writes it: a name, `*.name` or `*`.
    struct Host: Hashable {
        var name: String
        var port: UInt16?
    }

    /// The filters: web links first.
    package private(set) var filters: [Filter] = []
    /// What a manifest cannot say.
    package private(set) var notes = ExportNotes()

    private let coordinators: [String]
    private let foldsCase: Bool

    /// The filters of a table.
    package init(_ table: RouteTable) {
        coordinators = table.source.coordinators.map(\.name.value)
        foldsCase = table.source.foldsPathCase
        for block in table.source.blocks {
            if block.takesOtherSchemes { notes.add("the scheme * cannot be said: name schemes to export them") }
            let web = block.schemes.map(\.value).filter { $0 == "https" || $0 == "http" }
            let own = block.schemes.map(\.value).filter { $0 != "https" && $0 != "http" }
            for schemes in [web, own] where !schemes.isEmpty {
                for shape in LinkShape.all(table.source, block: block) { add(shape, schemes, block) }
            }
        }
        for block in table.source.blocks { LinkShape.notes(block).forEach { notes.add($0) } }
        filters = filters.filter(\.isVerified) + filters.filter { !$0.isVerified }
    }

    private mutating func add(_ shape: LinkShape, _ all: [String], _ block: TableSource.LinkBlock) {
        let schemes = all.filter { shape.scheme == nil || shape.scheme == $0 }
        guard !schemes.isEmpty else { return }
        let text = "\(shape.route) \(shape.text)"
        if shape.isExcluded {
            notes.add(
                "route \(shape.route) is excluded, which a manifest cannot say: links of it that another filter takes "
                    + "open the app"
            )
            return
        }
        if !shape.query.isEmpty { notes.add("route \(shape.route) takes more than its patterns: any query") }
        if block.hostRole == .segment {
            guard shape.host == nil else { return }
            addSegments(shape, schemes, text)
        } else if let hosts = hosts(shape, block, text, isWeb: schemes.contains { $0 == "https" || $0 == "http" }) {
            add(shape.segments, shape.terminal, Filter(schemes: schemes, hosts: hosts), text)
        }
    }

    /// The hosts of a pattern; nil where no link can have one of them.
    private mutating func hosts(
        _ shape: LinkShape, _ block: TableSource.LinkBlock, _ text: String, isWeb: Bool
    ) -> [Host]? {
        var rules = block.hosts.map(\.value)
        if let rule = shape.host, rule != .any { rules = rules.contains { $0.meets(rule) } ? [rule] : [] }
        // A web link without a host is none.
        if isWeb { rules = rules.filter { $0 != .empty } }
        guard !rules.isEmpty else { return nil }
        if rules.contains(.empty), !rules.contains(.any) {
            notes.add("links without a host cannot be said: those of every host open the app")
        }
        if rules.contains(.any) || rules.contains(.empty) { return [Host(name: "*")] }
        return rules.map { rule in
            switch rule {
            case .exact(let host, let port): Host(name: String(decoding: host, as: UTF8.self), port: port)
            case .suffix, .any, .empty: Host(name: rule.text)
            }
        }
    }

    /// A link whose host is the first segment: the segment is the host, the others the path.
    private mutating func addSegments(_ shape: LinkShape, _ schemes: [String], _ text: String) {
        guard let first = shape.segments.first else {
            if shape.terminal == .end {
                add([], .end, Filter(schemes: schemes, hosts: [Host(name: "*")]), text)
                notes.add("route \(shape.route) takes more than its patterns: the root of every host")
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
            notes.add("route \(shape.route) takes more than its patterns: every host in the place of the first segment")
            add(rest, shape.terminal, Filter(schemes: schemes, hosts: [Host(name: "*")]), text, isHostFirst: true)
        }
    }

    /// A pattern that begins with its tail.
    private mutating func addOpen(_ shape: LinkShape, _ schemes: [String], _ text: String) {
        if case .coordinatorPath = shape.terminal {
            for name in coordinators {
                let filter = Filter(schemes: schemes, hosts: [Host(name: name)])
                add([], .restStar, filter, text, isHostFirst: true)
            }
            return
        }
        if case .anySegment = shape.terminal {
            notes.add("route \(shape.route) takes more than its patterns: every link")
        }
        let filter = Filter(schemes: schemes, hosts: [Host(name: "*")])
        add([], .restStar, filter, text, isHostFirst: true)
    }

    private static func hostNames(_ matcher: Matcher) -> [String]? {
        switch matcher {
        case .literal(let text): [String(decoding: text, as: UTF8.self)]
        case .enumeration(let values): values.map { String(decoding: $0, as: UTF8.self) }
        case .bool: ["true", "false", "1", "0"]
        default: nil
        }
    }

    private mutating func add(
        _ segments: ArraySlice<Matcher>, _ terminal: Matcher, _ filter: Filter, _ text: String,
        isHostFirst: Bool = false
    ) {
        let pattern = AndroidPattern(segments, terminal, coordinators: coordinators, foldsCase: foldsCase)
        if let wider = pattern.wider {
            notes.add("route \(text.prefix { $0 != " " }) takes more than its patterns: \(wider)")
        }
        var paths = pattern.paths
        if isHostFirst, segments.isEmpty {
            // `scheme://first` has the empty path, which is the same as none behind it.
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

    /// The filters as XML, to be put inside `<activity>`.
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
                // The manifest takes one level of backslashes away before Android reads the pattern.
                let value = Markup.xml(path.value).replacing("\\", with: "\\\\")
                lines.append(
                    "    <data android:\(path.attribute.rawValue)=\"\(value)\" /> "
                        + "<!-- \(Self.comment(comment)) -->")
            }
            lines.append("</intent-filter>")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Text of a comment, in which XML allows no two dashes together (XML 1.0, 2.5).
    private static func comment(_ text: String) -> String {
        Escaping.visible(text).replacing("--", with: "- -").replacing("--", with: "- -")
    }
}
