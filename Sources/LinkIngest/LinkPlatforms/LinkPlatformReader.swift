internal import StrictJSON

/// Reads the file of link platforms and collects its faults.
struct LinkPlatformReader {
    /// The limits of a file.
    ///
    /// The positions of a platform, and of a parameter among those of all rules, are at most `Int16.max`, because an
    /// unwrapped link stores them in this type.
    enum Limit {
        static let platforms = 1024
        static let rules = 1024
        static let names = 64
        /// The limit of parameters with a destination in one rule.
        static let parameters = 16
    }

    private(set) var source = LinkPlatformSource()
    private(set) var problems: [LinkPlatformProblem] = []
    private var ruleCount = 0

    init(_ file: JSONValue) {
        guard has(file, at: "", ["$schema", "schemaVersion", "platforms"]) else { return }
        if file["schemaVersion"]?.integer != 1 { fail("/schemaVersion", "expected the schema version 1") }
        let platforms = list(file["platforms"], "/platforms")
        if platforms.count > Limit.platforms {
            fail("/platforms/\(Limit.platforms)", "expected at most \(Limit.platforms) platforms")
        }
        for (value, pointer) in platforms.prefix(Limit.platforms) {
            guard let platform = platform(value, pointer) else { continue }
            if source.platforms.contains(where: { $0.id == platform.id }) {
                fail(pointer + "/id", "`\(platform.id)` occurs twice")
            }
            source.platforms.append(platform)
        }
        if source.platforms.isEmpty { fail("/platforms", "expected at least one platform") }
    }

    private mutating func platform(_ value: JSONValue, _ at: String) -> LinkPlatformSource.Platform? {
        guard has(value, at: at, ["id", "name", "sources", "rules", "examples"]) else { return nil }
        var platform = LinkPlatformSource.Platform()
        platform.id = text(value["id"], at + "/id") ?? ""
        let isName = platform.id.utf8.allSatisfy { byte in
            byte &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "-")
        }
        if !isName || platform.id.utf8.count > 32 {
            fail(at + "/id", "expected 1 to 32 lowercase letters, digits, and hyphens")
        }
        _ = text(value["name"], at + "/name")
        if value["sources"] != nil { _ = texts(value["sources"], at + "/sources") }
        for (rule, pointer) in list(value["rules"], at + "/rules") {
            platform.rules.append(self.rule(rule, pointer))
        }
        for (example, pointer) in list(value["examples"], at + "/examples", isOptional: true) {
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
        if ruleCount > Limit.rules { fail(at, "expected at most \(Limit.rules) rules") }
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
                fail(at + "/prefix", "expected a path such as `/ulink`")
            }
        }
        rule.origin = origin(value["origin"], at + "/origin")
        if let result = value["result"] { rule.result = kind(result, at + "/result") }
        check(rule, at)
        return rule
    }

    private mutating func check(_ rule: LinkPlatformSource.Rule, _ at: String) {
        if rule.result != nil && rule.strips { fail(at, "expected `result`, or `strip` and `prefix`, not both") }
        if rule.unwrap.isEmpty && rule.result == nil && !rule.strips && rule.origin.isEmpty {
            fail(at, "expected `unwrap`, `strip`, `prefix`, `origin`, or `result`")
        }
        let isAnyHost = rule.hosts.contains { $0.name.isEmpty }
        if isAnyHost && rule.marks.isEmpty { fail(at + "/hosts", "expected `marks` in a rule for every host") }
        if isAnyHost && rule.hosts.count > 1 { fail(at + "/hosts", "expected no other host beside `*`") }
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
            fail(at, "expected a host in lowercase, `*.` and a domain, or `*`")
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
            fail(at, "expected `/`, a path such as `/a/b`, or a path and `/*`")
            return .any
        }
        return isBelow ? .below(path) : .exact(path)
    }

    private mutating func parameters(_ value: JSONValue?, _ at: String) -> [LinkPlatformSource.Parameter] {
        let items = list(value, at, isOptional: true)
        if items.count > Limit.parameters { fail(at, "expected at most \(Limit.parameters) items") }
        return items.compactMap { item, pointer in
            if let name = item.string, !name.isEmpty { return LinkPlatformSource.Parameter(name: name, device: nil) }
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
            fail(at, "expected `scheme://` or `scheme://host`")
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
            fail(at, "expected `destination` or `result`")
        }
        return example
    }

    private mutating func kind(_ value: JSONValue, _ at: String) -> UnwrappedLink.Kind? {
        switch value.string {
        case "itself": return .itself
        case "no_link": return .noLink
        case "needs_resolution": return .needsResolution
        default:
            fail(at, "expected `itself`, `no_link`, or `needs_resolution`")
            return nil
        }
    }

    // MARK: - Values

    private mutating func fail(_ pointer: String, _ text: String) {
        if problems.count < 100 { problems.append(LinkPlatformProblem(pointer: pointer, text: text)) }
    }

    /// Returns a Boolean value that indicates whether the value is an object, and reports its unknown members.
    private mutating func has(_ value: JSONValue, at: String, _ names: [String]) -> Bool {
        guard let members = value.object else {
            fail(at, "expected an object")
            return false
        }
        for member in members where !names.contains(member.name) {
            fail(at + JSONLocation.step(member.name), "unknown key `\(member.name)`")
        }
        return true
    }

    private mutating func list(
        _ value: JSONValue?, _ at: String, isOptional: Bool = false
    ) -> [(JSONValue, String)] {
        guard let elements = value?.array, !elements.isEmpty else {
            if value != nil || !isOptional { fail(at, "expected a list that is not empty") }
            return []
        }
        return elements.enumerated().map { ($0.element, "\(at)/\($0.offset)") }
    }

    private mutating func texts(
        _ value: JSONValue?, _ at: String, isOptional: Bool = false
    ) -> [(String, String)] {
        let elements = list(value, at, isOptional: isOptional)
        if elements.count > Limit.names { fail(at, "expected at most \(Limit.names) items") }
        return elements.compactMap { element, pointer in text(element, pointer).map { ($0, pointer) } }
    }

    private mutating func text(_ value: JSONValue?, _ at: String) -> String? {
        guard let text = value?.string, !text.isEmpty, text.utf8.count <= 8192 else {
            fail(at, "expected a string that is not empty")
            return nil
        }
        return text
    }

    private mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ value: JSONValue?, _ at: String
    ) -> Choice? {
        guard let value else { return nil }
        if let choice = value.string.flatMap(Choice.init(rawValue:)) { return choice }
        let names = Choice.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
        fail(at, "expected one of \(names)")
        return nil
    }
}
