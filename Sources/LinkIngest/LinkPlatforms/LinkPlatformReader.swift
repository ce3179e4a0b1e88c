internal import LinkCoordinator
internal import StrictJSON

/// Reads the file of link platforms and collects its problems.
struct LinkPlatformReader {
    /// The limits of a file.
    ///
    /// The positions of a platform, and of a parameter among those of all rules, are at most `Int16.max`, because an
    /// unwrapped link stores them in this type.
    enum Limit {
        static let platforms = 256
        /// The limit of the rules of all platforms.
        static let rules = 1024
        static let examples = 1024
        /// The limit of hosts, names, parameters, sources, and conditions.
        static let names = 64
        /// The limit of parameters with a destination in one rule.
        static let parameters = 16
        static let textBytes = 8192
        static let problems = 100
    }

    /// A problem whose location is the value at a pointer, or the innermost one on the way to it that is present.
    struct Found {
        var code: RuleFileProblem.Code
        var pointer: String
        var expected: String
        var nearest: String?
    }

    private(set) var source = LinkPlatformSource()
    private(set) var found: [Found] = []
    private var ruleCount = 0

    init(_ file: JSONValue) {
        guard has(file, at: "", ["$schema", "schemaVersion", "platforms"]) else { return }
        if file["schemaVersion"]?.integer != 1 { fail("/schemaVersion", .version, "expected the schema version 1") }
        for (value, pointer) in list(file["platforms"], "/platforms", most: Limit.platforms) {
            guard let platform = platform(value, pointer) else { continue }
            if source.platforms.contains(where: { $0.id == platform.id }) {
                fail(pointer + "/id", .duplicate, "expected an id that no other platform has")
            }
            source.platforms.append(platform)
        }
    }

    private mutating func platform(_ value: JSONValue, _ at: String) -> LinkPlatformSource.Platform? {
        guard has(value, at: at, ["id", "name", "sources", "rules", "examples"]) else { return nil }
        var platform = LinkPlatformSource.Platform()
        platform.id = text(value["id"], at + "/id") ?? ""
        let isName = platform.id.utf8.allSatisfy { byte in
            byte &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "-")
        }
        if !isName || platform.id.utf8.count > 32 {
            fail(at + "/id", .badValue, "expected 1 to 32 lowercase letters, digits, and hyphens")
        }
        _ = text(value["name"], at + "/name")
        if value["sources"] != nil { _ = texts(value["sources"], at + "/sources") }
        for (rule, pointer) in list(value["rules"], at + "/rules", most: Limit.rules) {
            platform.rules.append(self.rule(rule, pointer))
        }
        let examples = list(value["examples"], at + "/examples", isOptional: true, most: Limit.examples)
        for (example, pointer) in examples {
            platform.examples.append(self.example(example, pointer))
        }
        return platform
    }

    // MARK: - Rules

    private mutating func rule(_ value: JSONValue, _ at: String) -> LinkPlatformSource.Rule {
        var rule = LinkPlatformSource.Rule()
        let known = [
            "schemes", "hosts", "path", "marks", "unwrap", "accepts", "strip", "prefix", "origin", "result",
        ]
        guard has(value, at: at, known) else { return rule }
        ruleCount += 1
        if ruleCount > Limit.rules { fail(at, .tooMany, "expected at most \(Limit.rules) rules in the file") }
        rule.schemes = choice(value["schemes"], at + "/schemes") ?? .web
        rule.accepts = choice(value["accepts"], at + "/accepts") ?? .any
        for (name, pointer) in texts(value["hosts"], at + "/hosts") {
            if let host = host(name, pointer) { rule.hosts.append(host) }
        }
        if let path = value["path"] { rule.path = self.path(path, at + "/path") }
        rule.marks = texts(value["marks"], at + "/marks", isOptional: true).map(\.0)
        rule.unwrap = parameters(value["unwrap"], at + "/unwrap")
        rule.strip = texts(value["strip"], at + "/strip", isOptional: true).map(\.0)
        if let prefix = value["prefix"] {
            if case .exact(let path) = self.path(prefix, at + "/prefix"), !path.isEmpty {
                rule.prefix = path
            } else {
                fail(at + "/prefix", .badValue, "expected a path such as `/ulink`")
            }
        }
        rule.origin = origin(value["origin"], at + "/origin")
        if let result = value["result"] { rule.result = kind(result, at + "/result") }
        check(rule, at)
        return rule
    }

    private mutating func check(_ rule: LinkPlatformSource.Rule, _ at: String) {
        if rule.result != nil && rule.strips {
            fail(at, .badValue, "expected `result`, or `strip` and `prefix`, not both")
        }
        if rule.unwrap.isEmpty && rule.result == nil && !rule.strips && rule.origin.isEmpty {
            fail(at, .missingMember, "expected `unwrap`, `strip`, `prefix`, `origin`, or `result`")
        }
        let isAnyHost = rule.hosts.contains { $0.name.isEmpty }
        if isAnyHost && rule.marks.isEmpty {
            fail(at + "/hosts", .missingMember, "expected `marks` in a rule for every host")
        }
        if isAnyHost && rule.hosts.count > 1 { fail(at + "/hosts", .badValue, "expected no other host beside `*`") }
    }

    /// Reads a host: `name`, `*.name`, or `*`.
    private mutating func host(_ text: String, _ at: String) -> LinkPlatformSource.Host? {
        if text == "*" { return LinkPlatformSource.Host(name: "", isSuffix: false) }
        let isSuffix = text.hasPrefix("*.")
        let name = isSuffix ? String(text.dropFirst(2)) : text
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        let isName = labels.allSatisfy { label in
            !label.isEmpty
                && label.utf8.allSatisfy { byte in
                    byte &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "-")
                        || byte == UInt8(ascii: "_")
                }
        }
        guard isName, labels.count > 1 || !isSuffix else {
            fail(at, .badValue, "expected a host in lowercase, `*.` and a domain, or `*`")
            return nil
        }
        return LinkPlatformSource.Host(name: name, isSuffix: isSuffix)
    }

    /// Reads a path: `/`, `/a/b`, or `/a/*`.
    private mutating func path(_ value: JSONValue, _ at: String) -> LinkPlatformSource.Path {
        guard let text = text(value, at) else { return .any }
        let isBelow = text.hasSuffix("/*")
        let path = isBelow ? String(text.dropLast(2)) : text == "/" ? "" : text
        let isPlain = !path.utf8.contains { "*?# \\".utf8.contains($0) || $0 < 0x21 }
        guard text.hasPrefix("/"), isPlain, !path.hasSuffix("/") else {
            fail(at, .badValue, "expected `/`, a path such as `/a/b`, or a path and `/*`")
            return .any
        }
        return isBelow ? .below(path) : .exact(path)
    }

    private mutating func parameters(_ value: JSONValue?, _ at: String) -> [LinkPlatformSource.Parameter] {
        list(value, at, isOptional: true, most: Limit.parameters).compactMap { item, pointer in
            if item.object == nil {
                return text(item, pointer).map { LinkPlatformSource.Parameter(name: $0, device: nil) }
            }
            guard has(item, at: pointer, ["name", "on"]), let name = text(item["name"], pointer + "/name") else {
                return nil
            }
            let device: DeviceClass? = choice(item["on"], pointer + "/on")
            return LinkPlatformSource.Parameter(name: name, device: device)
        }
    }

    /// Reads the start of the app's links: `scheme://`, or `scheme://host`.
    private mutating func origin(_ value: JSONValue?, _ at: String) -> String {
        guard let value, let text = text(value, at) else { return "" }
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        let isWeb = text.lowercased().hasPrefix("http:") || text.lowercased().hasPrefix("https:")
        let isScheme = parts.count == 2 && !parts[0].isEmpty && text.allSatisfy { $0.isASCII && !$0.isWhitespace }
        guard isScheme, !parts[1].contains(where: { "/?#@\\".contains($0) }), !isWeb || !parts[1].isEmpty else {
            fail(at, .badValue, "expected `scheme://` or `scheme://host`")
            return ""
        }
        return text
    }

    // MARK: - Examples

    private mutating func example(_ value: JSONValue, _ at: String) -> LinkPlatformSource.Example {
        var example = LinkPlatformSource.Example()
        example.pointer = at
        guard has(value, at: at, ["link", "on", "destination", "result"]) else { return example }
        example.link = text(value["link"], at + "/link") ?? ""
        example.device = choice(value["on"], at + "/on") ?? .unknown
        if let destination = value["destination"] {
            example.destination = text(destination, at + "/destination")
            example.kind = .link
        }
        if let result = value["result"] { example.kind = kind(result, at + "/result") ?? .itself }
        if (value["destination"] == nil) == (value["result"] == nil) {
            fail(at, .badValue, "expected either `destination` or `result`")
        }
        return example
    }

    private mutating func kind(_ value: JSONValue, _ at: String) -> UnwrappedLink.Kind? {
        switch value.string {
        case "itself": return .itself
        case "no_link": return .noLink
        case "needs_resolution": return .needsResolution
        default:
            refuseWord(value, at, ["itself", "no_link", "needs_resolution"])
            return nil
        }
    }

    // MARK: - Values

    private mutating func fail(
        _ pointer: String, _ code: RuleFileProblem.Code, _ expected: String, nearest: String? = nil
    ) {
        guard found.count < Limit.problems else { return }
        found.append(Found(code: code, pointer: pointer, expected: expected, nearest: nearest))
    }

    /// Returns a Boolean value that indicates whether the value is an object, and reports its unknown members.
    private mutating func has(_ value: JSONValue, at: String, _ names: [String]) -> Bool {
        guard let members = value.object else {
            fail(at, .wrongType, "expected an object")
            return false
        }
        for member in members where !names.contains(member.name) {
            let known = names.sorted().map { "`\($0)`" }.joined(separator: ", ")
            fail(
                at + JSONLocation.step(member.name), .unknownMember, "expected only the members \(known)",
                nearest: NearestName.of(member.name, among: names))
        }
        return true
    }

    private mutating func list(
        _ value: JSONValue?, _ at: String, isOptional: Bool = false, most: Int = Limit.names
    ) -> [(JSONValue, String)] {
        guard let value else {
            if !isOptional { fail(at, .missingMember, "expected a list that is not empty") }
            return []
        }
        guard let elements = value.array, !elements.isEmpty else {
            fail(at, value.array == nil ? .wrongType : .badValue, "expected a list that is not empty")
            return []
        }
        guard elements.count <= most else {
            fail(at, .tooMany, "expected at most \(most) elements")
            return []
        }
        return elements.enumerated().map { ($0.element, "\(at)/\($0.offset)") }
    }

    private mutating func texts(
        _ value: JSONValue?, _ at: String, isOptional: Bool = false
    ) -> [(String, String)] {
        let elements = list(value, at, isOptional: isOptional)
        return elements.compactMap { element, pointer in text(element, pointer).map { ($0, pointer) } }
    }

    private mutating func text(_ value: JSONValue?, _ at: String) -> String? {
        guard let text = value?.string, (1...Limit.textBytes).contains(text.utf8.count) else {
            let code: RuleFileProblem.Code =
                value == nil ? .missingMember : value?.string == nil ? .wrongType : .badValue
            fail(at, code, "expected a string of 1 to \(Limit.textBytes) bytes")
            return nil
        }
        return text
    }

    private mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ value: JSONValue?, _ at: String
    ) -> Choice? {
        guard let value else { return nil }
        if let choice = value.string.flatMap(Choice.init(rawValue:)) { return choice }
        refuseWord(value, at, Choice.allCases.map(\.rawValue))
        return nil
    }

    private mutating func refuseWord(_ value: JSONValue, _ at: String, _ words: [String]) {
        let names = words.map { "`\($0)`" }.joined(separator: ", ")
        fail(
            at, value.string == nil ? .wrongType : .badValue, "expected one of \(names)",
            nearest: value.string.flatMap { NearestName.of($0, among: words) })
    }
}
