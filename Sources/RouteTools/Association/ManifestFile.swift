/// The intent filters of an Android manifest that receive links.
package struct ManifestFile {
    private(set) var filters: [AndroidFilter] = []
    /// The problems of the file.
    package private(set) var problems: [AssociationProblem] = []
    /// The package of the app, or nil if the manifest does not state it.
    private(set) var packageName: String?
    /// A Boolean value that indicates whether a filter has a value that is only known when the app is built.
    private(set) var isUnresolved = false

    private let lines: LineIndex
    private var values = 0

    private static let android = "http://schemas.android.com/apk/res/android"

    /// A Boolean value that indicates whether the file has only filters, to be pasted into a manifest.
    private var isFragment = false

    /// Reads a manifest, or only its intent filters, as `linkd routes export --format android` writes them.
    ///
    /// Filters without a manifest have the prefix `android` undeclared.
    package init(_ xml: [UInt8]) throws(AssociationProblem) {
        let roots = try XMLTreeReader.roots(xml, ofFragment: "intent-filter")
        let root = roots[0]
        lines = LineIndex(xml)
        isFragment = root.name == "intent-filter"
        if isFragment {
            for element in roots { try read(element) }
            if filters.isEmpty { warn(.dead, "no filter is for links, so no link is handed to the app", root) }
            return
        }
        guard root.name == "manifest" else {
            throw AssociationProblem(
                .error, .value, "expected the element `manifest`, or `intent-filter` elements", at: place(root))
        }
        packageName = root.value("package", "")
        for application in root.children where application.name == "application" {
            for component in application.children where ["activity", "activity-alias"].contains(component.name) {
                for element in component.children where element.name == "intent-filter" { try read(element) }
            }
        }
        if filters.isEmpty {
            warn(.dead, "no activity has an intent filter for links, so no link is handed to the app", root)
        }
    }

    // MARK: Filters

    private mutating func read(_ element: XMLNode) throws(AssociationProblem) {
        var filter = AndroidFilter(place: place(element))
        filter.isVerified = value("autoVerify", element) == "true"
        let names = element.children.reduce(into: Set<String>()) { names, child in
            if ["action", "category"].contains(child.name) { names.insert(value("name", child) ?? "") }
        }
        let data = element.children.filter { $0.name == "data" }
        guard !data.isEmpty else { return }
        if !isFragment, let other = data.first(where: { $0.attributes.contains { $0.namespace == "android" } }) {
            return warn(
                .ignored, "the prefix `android` is not declared: add xmlns:android=\"\(Self.android)\" to the manifest",
                other)
        }
        let wanted = [
            "android.intent.action.VIEW", "android.intent.category.DEFAULT", "android.intent.category.BROWSABLE",
        ]
        let missing = wanted.filter { !names.contains($0) }
        // A filter with another action is not for links, unless it is complete but for the action.
        if missing.first == wanted[0], missing.count > 1 || data.allSatisfy({ value("scheme", $0) == nil }) { return }
        guard missing.isEmpty else {
            return warn(
                .ignored, "a filter for links from other apps needs \(missing.joined(separator: " and "))", element)
        }
        if let other = data.first(where: { value("mimeType", $0) != nil }) {
            return warn(.ignored, "a filter with `mimeType` does not match links without data of a type", other)
        }
        if let other = data.first(where: { node in Self.parts.contains { value($0, node) != nil } }) {
            return warn(.ignored, "`ssp` attributes are not evaluated, so the filter is skipped", other)
        }
        for node in data { try readData(node, &filter) }
        for group in element.children where group.name == "uri-relative-filter-group" {
            try readGroup(group, &filter)
        }
        guard !filter.schemes.isEmpty else {
            return warn(.ignored, "a filter without `scheme` ignores hosts and paths, and matches no link", element)
        }
        if filter.hosts.isEmpty, !filter.paths.isEmpty || !filter.groups.isEmpty {
            warn(.ignored, "without `host`, the filter matches every path", element)
        }
        let isWeb = filter.schemes.contains { $0 == "https" || $0 == "http" }
        if isWeb, !filter.isVerified {
            warn(
                .unverified,
                "without `autoVerify`, Android 12 and newer open the web links of the filter in a browser", element)
        }
        filters.append(filter)
    }

    private static let parts = ["ssp", "sspPrefix", "sspPattern", "sspAdvancedPattern", "sspSuffix"]

    /// Removes the filters that would match fewer links if all their values were known.
    mutating func removeTooWide() { filters.removeAll(where: \.isTooWide) }

    private mutating func readData(_ node: XMLNode, _ filter: inout AndroidFilter) throws(AssociationProblem) {
        for name in ["host", "port"] + AndroidPatternText.Kind.allCases.map(\.rawValue) {
            if value(name, node).map(Self.isUnresolved) == true { filter.unresolved.insert(name) }
        }
        if let scheme = try text("scheme", node) {
            if scheme != scheme.lowercased() {
                warn(.dead, "Android compares schemes exactly: write `\(scheme.lowercased())`", node)
            }
            filter.schemes.append(scheme)
        }
        if let host = try text("host", node) {
            filter.hosts.append(AndroidFilter.Host(name: host, port: try text("port", node)))
        } else if value("port", node) != nil, value("host", node) == nil {
            warn(.ignored, "`port` is ignored without `host` in the same element", node)
        }
        for kind in AndroidPatternText.Kind.allCases {
            guard let text = try text(kind.rawValue, node) else { continue }
            if kind != .suffix, !text.isEmpty, !text.hasPrefix("/"), !text.hasPrefix("."), !text.hasPrefix("[") {
                warn(.dead, "a path begins with `/`, so `\(kind.rawValue)` \(text) never matches", node)
            }
            let pattern = try pattern(text, kind, node)
            filter.paths.append(
                AndroidFilter.Path(pattern: pattern, text: "\(kind.rawValue) \(text)", place: place(node)))
        }
    }

    private mutating func readGroup(_ element: XMLNode, _ filter: inout AndroidFilter) throws(AssociationProblem) {
        var group = AndroidFilter.Group(isAllowed: value("allow", element) != "false", conditions: [])
        for node in element.children where node.name == "data" {
            for part in AndroidFilter.Condition.Part.allCases {
                for kind in AndroidPatternText.Kind.allCases {
                    let attribute = part.rawValue + kind.rawValue.dropFirst("path".count)
                    guard let text = try text(attribute, node) else { continue }
                    group.conditions.append(
                        AndroidFilter.Condition(part: part, pattern: try pattern(text, kind, node)))
                }
            }
        }
        guard !group.conditions.isEmpty else {
            return warn(.ignored, "a group without conditions has no effect", element)
        }
        filter.groups.append(group)
    }

    private func pattern(
        _ text: String, _ kind: AndroidPatternText.Kind, _ node: XMLNode
    ) throws(AssociationProblem) -> AndroidPatternText {
        guard text.utf16.count <= AssociationLimits.maxPattern else {
            throw AssociationProblem(
                .error, .limit, "a pattern has more than \(AssociationLimits.maxPattern) characters",
                at: place(node))
        }
        do throws(AndroidPatternText.Invalid) {
            return try AndroidPatternText(text, kind)
        } catch {
            throw AssociationProblem(.error, .value, "\(kind.rawValue): \(error.text)", at: place(node))
        }
    }

    // MARK: Values

    private func value(_ name: String, _ node: XMLNode) -> String? {
        node.value(name, Self.android) ?? (isFragment ? node.value(name, "android") : nil)
    }

    /// Returns the value of an attribute without the escapes of the manifest, or nil if it is absent or only known when
    /// the app is built.
    private mutating func text(_ name: String, _ node: XMLNode) throws(AssociationProblem) -> String? {
        guard let raw = value(name, node) else { return nil }
        values += 1
        if values > AssociationLimits.maxPaths {
            throw AssociationProblem(
                .error, .limit, "the filters have more than \(AssociationLimits.maxPaths) schemes, hosts, and paths",
                at: place(node))
        }
        guard !Self.isUnresolved(raw) else {
            isUnresolved = true
            warn(
                .unresolved,
                "`\(name)` is only known when the app is built, so it is skipped: check the merged manifest", node)
            return nil
        }
        return Self.unescaped(raw)
    }

    private static func isUnresolved(_ raw: String) -> Bool { raw.hasPrefix("@") || raw.contains("${") }

    /// Removes one level of backslashes, as the compiler of resources does.
    static func unescaped(_ text: String) -> String {
        guard text.contains("\\") else { return text }
        var result = String.UnicodeScalarView()
        var rest = Substring(text).unicodeScalars
        while let scalar = rest.popFirst() {
            guard scalar == "\\", let next = rest.popFirst() else {
                result.append(scalar)
                continue
            }
            switch next {
            case "n": result.append("\n")
            case "t": result.append("\t")
            case "u":
                let digits = rest.prefix(4)
                if digits.count == 4, let value = UInt32(String(Substring(digits)), radix: 16),
                    let own = Unicode.Scalar(value)
                {
                    rest = rest.dropFirst(4)
                    result.append(own)
                } else {
                    result.append(next)
                }
            default: result.append(next)
            }
        }
        return String(result)
    }

    // MARK: Problems

    private func place(_ node: XMLNode) -> AssociationProblem.Place {
        let (line, column) = lines.location(of: node.offset)
        return AssociationProblem.Place(line: line, column: column)
    }

    private mutating func warn(_ code: AssociationProblem.Code, _ message: String, _ node: XMLNode) {
        guard problems.count < AssociationJSON.maxProblems else { return }
        problems.append(AssociationProblem(.warning, code, message, at: place(node)))
    }
}
