internal import StrictJSON

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

    /// The statements.
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
        guard let list = root.array else { throw places.error("expected an array of statements", root, "") }
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
        guard value.object != nil else { throw places.error("expected an object", value, pointer) }
        guard let relation = value["relation"]?.array?.map(\.string), !relation.isEmpty, !relation.contains(nil) else {
            throw places.error("expected `relation`, an array of strings", value, pointer)
        }
        for text in relation where text?.split(separator: "/", omittingEmptySubsequences: false).count != 2 {
            throw places.error("a relation has the form kind/detail", value, pointer + "/relation")
        }
        guard let target = value["target"], target.object != nil, let namespace = target["namespace"]?.string else {
            throw places.error("expected `target`, an object with a `namespace`", value, pointer)
        }
        guard namespace == "android_app" else { return }
        let own = pointer + "/target"
        guard let package = target["package_name"]?.string, !package.isEmpty else {
            throw places.error("expected `package_name`, a string", target, own)
        }
        guard let prints = target["sha256_cert_fingerprints"]?.array?.map(\.string), !prints.isEmpty else {
            throw places.error("expected `sha256_cert_fingerprints`, an array of strings", target, own)
        }
        for (index, print) in prints.enumerated() {
            guard let print, Self.isFingerprint(print), print == print.uppercased() else {
                throw places.error(
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

    /// Returns a Boolean value that indicates whether a text is a SHA-256 in the form that `keytool` prints.
    ///
    /// It has 32 bytes in hexadecimal, separated by colons.
    package static func isFingerprint(_ text: String) -> Bool {
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        return groups.count == 32
            && groups.allSatisfy { $0.count == 2 && $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    }
}
