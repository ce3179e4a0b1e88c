internal import StrictJSON

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

    private mutating func readData(_ node: XMLNode, _ filter: inout AndroidFilter) throws(AssociationProblem) {
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
        guard !raw.hasPrefix("@"), !raw.contains("${") else {
            isUnresolved = true
            warn(
                .unresolved,
                "`\(name)` is only known when the app is built, so it is skipped: check the merged manifest", node)
            return nil
        }
        return Self.unescaped(raw)
    }

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

/// An `assetlinks.json` file: the apps that can open the links of a site, and the rules of their Dynamic App Links.
///
/// Android reads it strictly. A single bad statement makes the whole file useless.
package struct AssetLinksFile {
    /// A statement that an Android app can open the links of the site.
    struct Statement {
        /// The package of the app.
        var package: String
        /// The rules, or nil if the statement has none or they are malformed.
        var rules: [DynamicRule]?
    }

    private(set) var statements: [Statement] = []
    /// A Boolean value that indicates whether the file has rules of Dynamic App Links, which are its only paths.
    package var hasRules: Bool { statements.contains { $0.rules != nil } }
    /// The statements about the apps that count.
    var selected: [Statement] { apps.isEmpty ? statements : statements.filter { apps.contains($0.package) } }
    /// The packages of the apps that count, or none for all apps of the file.
    private let apps: Set<String>
    /// The problems of the file.
    package private(set) var problems: [AssociationProblem] = []

    private let places: JSONPlaces
    private var count = 0

    private static let relation = "delegate_permission/common.handle_all_urls"

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - json: The bytes of the file.
    ///   - apps: The packages of the apps that count, or none for all apps of the file.
    package init(_ json: [UInt8], apps: [String] = []) throws(AssociationProblem) {
        let root = try AssociationJSON.read(json)
        self.apps = Set(apps)
        places = JSONPlaces(json)
        guard let list = root.array else { throw error("expected an array of statements", root, "") }
        for (index, statement) in list.enumerated() { try read(statement, "/\(index)") }
        if selected.isEmpty, !statements.isEmpty {
            let names = apps.sorted().joined(separator: ", ")
            problems.append(
                AssociationProblem(
                    .warning, .notAssociated, "the file does not name the app \(names)", at: places.place(root, "")))
        }
        if statements.isEmpty {
            problems.append(
                AssociationProblem(
                    .warning, .dead, "no statement lets an Android app open the links of the site",
                    at: places.place(root, "")))
        }
    }

    // MARK: Statements

    private mutating func read(_ value: JSONValue, _ pointer: String) throws(AssociationProblem) {
        guard value.object != nil else { throw error("expected an object", value, pointer) }
        guard let relation = value["relation"]?.array?.map(\.string), !relation.isEmpty, !relation.contains(nil) else {
            throw error("expected `relation`, an array of strings", value, pointer)
        }
        for text in relation where text?.split(separator: "/", omittingEmptySubsequences: false).count != 2 {
            throw error("a relation has the form kind/detail", value, pointer + "/relation")
        }
        guard let target = value["target"], target.object != nil, let namespace = target["namespace"]?.string else {
            throw error("expected `target`, an object with a `namespace`", value, pointer)
        }
        guard namespace == "android_app" else { return }
        let own = pointer + "/target"
        guard let package = target["package_name"]?.string, !package.isEmpty else {
            throw error("expected `package_name`, a string", target, own)
        }
        guard let prints = target["sha256_cert_fingerprints"]?.array?.map(\.string), !prints.isEmpty else {
            throw error("expected `sha256_cert_fingerprints`, an array of strings", target, own)
        }
        for (index, print) in prints.enumerated() {
            guard let print, AssetLinks.isFingerprint(print), print == print.uppercased() else {
                throw error(
                    "a fingerprint has 32 uppercase hexadecimal bytes, separated by colons", target,
                    own + "/sha256_cert_fingerprints/\(index)")
            }
        }
        guard relation.contains(Self.relation) else { return }
        let rules = try rules(value, pointer)
        if rules != nil, statements.contains(where: { $0.package == package && $0.rules != nil }) {
            warn(.ignored, "a second set of dynamic rules for the same app is not used", value, pointer)
            return
        }
        statements.append(Statement(package: package, rules: rules))
    }

    /// Reads the dynamic rules of a statement.
    ///
    /// Malformed rules have no effect, and the manifest alone decides.
    private mutating func rules(_ value: JSONValue, _ pointer: String) throws(AssociationProblem) -> [DynamicRule]? {
        guard let extensions = value["relation_extensions"]?[Self.relation],
            let components = extensions["dynamic_app_link_components"]
        else { return nil }
        let own =
            pointer + "/relation_extensions" + JSONLocation.step(Self.relation) + "/dynamic_app_link_components"
        guard let list = components.array else {
            discard("expected an array of objects", components, own)
            return nil
        }
        var rules: [DynamicRule] = []
        for (index, component) in list.enumerated() {
            count += 1
            if count > AssociationLimits.maxComponents {
                throw AssociationProblem(
                    .error, .limit, "the file has more than \(AssociationLimits.maxComponents) components",
                    at: places.place(component, own))
            }
            let place = own + "/\(index)"
            guard let rule = rule(component, place) else {
                discard("a component is malformed", component, place)
                return nil
            }
            rules.append(rule)
        }
        return rules
    }

    private func rule(_ value: JSONValue, _ pointer: String) -> DynamicRule? {
        guard value.object != nil else { return nil }
        var rule = DynamicRule(place: places.place(value, pointer))
        if let path = value["/"] {
            guard let text = path.string, text.utf16.count <= AssociationLimits.maxPattern else { return nil }
            rule.path = AndroidPatternText(dynamic: text)
        }
        if let fragment = value["#"] {
            guard let text = fragment.string else { return nil }
            rule.fragment = AndroidPatternText(dynamic: text)
        }
        if let query = value["?"] {
            guard let items = query.object else { return nil }
            for item in items {
                guard let text = item.value.string else { return nil }
                rule.query.append((item.name, AndroidPatternText(dynamic: text)))
            }
        }
        if let flag = value["exclude"] {
            guard case .bool(let isExcluded) = flag.kind else { return nil }
            rule.isExcluded = isExcluded
        }
        return rule
    }

    // MARK: Problems

    private mutating func discard(_ message: String, _ value: JSONValue, _ pointer: String) {
        warn(.ignored, message + ", so all dynamic rules are discarded and the manifest decides", value, pointer)
    }

    private mutating func warn(
        _ code: AssociationProblem.Code, _ message: String, _ value: JSONValue, _ pointer: String
    ) {
        guard problems.count < AssociationJSON.maxProblems else { return }
        problems.append(AssociationProblem(.warning, code, message, at: places.place(value, pointer)))
    }

    private func error(_ message: String, _ value: JSONValue, _ pointer: String) -> AssociationProblem {
        AssociationProblem(.error, .value, message, at: places.place(value, pointer))
    }
}
