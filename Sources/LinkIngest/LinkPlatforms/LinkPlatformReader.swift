internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

/// Reads the file of link platforms, collects its problems, and writes the compiled form.
struct LinkPlatformReader {
    /// The limits of a file.
    ///
    /// The position of a platform, and the position of a parameter among the parameters of all rules, are at most
    /// `Int16.max`, because an unwrapped link stores them in this type.
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
    }

    /// A link with its destination.
    private struct Example {
        var link = ""
        var device = DeviceClass.unknown
        var destination: String?
        var kind = UnwrappedLink.Kind.itself
        var offset: Int
    }

    /// The memory of the compiled form.
    let memory = TableStorage()
    private var log = RuleFileLog()
    private var ids: [String] = []
    private var examples: [Example] = []
    private var rules: [LinkPlatformImage.Rule] = []
    /// The places of the rules, and of the platforms without an example.
    private var ruleOffsets: [Int] = []
    private var withoutExample: [Int] = []
    private var parameters: [LinkPlatformImage.Parameter] = []
    private var ruleCount = 0

    /// The compiled form of what was read.
    var image: LinkPlatformImage {
        let marks = rules.filter(\.isAnyHost).flatMap { Array($0.marks) }
        var starts = ByteSet()
        for mark in marks { starts.insert(mark[0]) }
        if !marks.isEmpty { starts.insert(UInt8(ascii: "%")) }
        return LinkPlatformImage(
            platforms: memory.store(ids.map(view)), rules: memory.store(rules), parameters: memory.store(parameters),
            anyHostMarks: memory.store(marks), markStarts: starts,
            endings: HostEndings(rules.flatMap { $0.hosts.map(\.name) }))
    }

    /// Reads a file.
    mutating func read(_ file: [UInt8]) throws(RuleFileFailure) {
        if let json = log.parse(file) { read(json) }
        if !log.isEmpty { throw RuleFileFailure(problems: log.problems(in: file)) }
    }

    private mutating func read(_ file: JSONValue) {
        guard has(file, ["$schema", "schemaVersion", "platforms"]) else { return }
        if file["schemaVersion"]?.integer != 1 {
            log.add(.version, "schemaVersion", of: file, "expected the schema version 1")
        }
        for value in list(file, "platforms", most: Limit.platforms) { readPlatform(value) }
    }

    private mutating func readPlatform(_ value: JSONValue) {
        guard has(value, ["id", "name", "sources", "rules", "examples"]) else { return }
        let id = text(value, "id") ?? ""
        if !id.utf8.allSatisfy(RuleFileLog.isInID) || id.utf8.count > 32 {
            log.add(.badValue, "id", of: value, "expected 1 to 32 lowercase letters, digits, and hyphens")
        }
        _ = text(value, "name")
        _ = texts(value, "sources", isOptional: true)
        for rule in list(value, "rules", most: Limit.rules) { readRule(rule) }
        let examples = list(value, "examples", isOptional: true, most: Limit.examples)
        for example in examples { readExample(example) }
        if examples.isEmpty { withoutExample.append(value.offset) }
        if ids.contains(id) { log.add(.duplicate, "id", of: value, "expected an id that no other platform has") }
        ids.append(id)
    }

    // MARK: - Rules

    private mutating func readRule(_ value: JSONValue) {
        let known = [
            "schemes", "hosts", "path", "marks", "unwrap", "accepts", "strip", "prefix", "origin", "result",
        ]
        guard has(value, known) else { return }
        ruleCount += 1
        if ruleCount > Limit.rules {
            log.add(.tooMany, at: value.offset, "expected at most \(Limit.rules) rules in the file")
        }
        var rule = LinkPlatformImage.Rule(platform: ids.count)
        rule.schemes = choice(value, "schemes") ?? .web
        rule.accepts = choice(value, "accepts") ?? .any
        let hosts = texts(value, "hosts").compactMap { name, element in host(name, element) }
        rule.isAnyHost = hosts.contains { $0.name.isEmpty }
        rule.hosts = memory.store(rule.isAnyHost ? [] : hosts)
        if let path = value["path"] { rule.path = self.path(path) }
        rule.marks = memory.store(texts(value, "marks", isOptional: true).map { view($0.0) })
        rule.unwrap = readParameters(of: value)
        rule.strip = memory.store(
            texts(value, "strip", isOptional: true).map { name, _ in
                let isPrefix = name.count > 1 && name.hasSuffix("*")
                return LinkPlatformImage.Strip(
                    name: view(isPrefix ? String(name.dropLast()) : name), isPrefix: isPrefix)
            })
        if let prefix = value["prefix"] {
            if case .exact(let path) = self.path(prefix), !path.isEmpty {
                rule.prefix = path
            } else {
                log.add(.badValue, at: prefix.offset, "expected a path such as `/ulink`")
            }
        }
        rule.origin = origin(value)
        rule.result = kind(value, "result")
        let strips = !rule.strip.isEmpty || !rule.prefix.isEmpty
        rule.rewrites = rule.result == nil && (strips || !rule.origin.isEmpty)
        if rule.result != nil && strips {
            log.add(.badValue, at: value.offset, "expected `result`, or `strip` and `prefix`, not both")
        }
        if rule.unwrap.isEmpty && rule.result == nil && !strips && rule.origin.isEmpty {
            log.add(
                .missingMember, at: value.offset, "expected `unwrap`, `strip`, `prefix`, `origin`, or `result`")
        }
        if rule.isAnyHost && rule.marks.isEmpty {
            log.add(.missingMember, "hosts", of: value, "expected `marks` in a rule for every host")
        }
        if rule.isAnyHost && hosts.count > 1 {
            log.add(.badValue, "hosts", of: value, "expected no other host beside `*`")
        }
        rules.append(rule)
        ruleOffsets.append(value.offset)
    }

    /// Reads a host: `name`, `*.name`, or `*`, whose name is empty.
    private mutating func host(_ text: String, _ value: JSONValue) -> LinkPlatformImage.Host? {
        if text == "*" { return LinkPlatformImage.Host(name: .empty, isSuffix: false) }
        let isSuffix = text.hasPrefix("*.")
        let name = isSuffix ? String(text.dropFirst(2)) : text
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        let isName = labels.allSatisfy { label in
            !label.isEmpty && label.utf8.allSatisfy { RuleFileLog.isInID($0) || $0 == UInt8(ascii: "_") }
        }
        guard isName, labels.count > 1 || !isSuffix else {
            log.add(.badValue, at: value.offset, "expected a host in lowercase, `*.` and a domain, or `*`")
            return nil
        }
        return LinkPlatformImage.Host(name: view(name), isSuffix: isSuffix)
    }

    /// Reads a path: `/`, `/a/b`, or `/a/*`.
    private mutating func path(_ value: JSONValue) -> LinkPlatformImage.Path {
        guard let text = text(value) else { return .any }
        let isBelow = text.hasSuffix("/*")
        let path = isBelow ? String(text.dropLast(2)) : text == "/" ? "" : text
        let isPlain = !path.utf8.contains { "*?# \\".utf8.contains($0) || $0 < 0x21 }
        guard text.hasPrefix("/"), isPlain, !path.hasSuffix("/") else {
            log.add(.badValue, at: value.offset, "expected `/`, a path such as `/a/b`, or a path and `/*`")
            return .any
        }
        return isBelow ? .below(view(path)) : .exact(view(path))
    }

    private mutating func readParameters(of rule: JSONValue) -> UnsafeBufferPointer<LinkPlatformImage.Parameter> {
        let first = parameters.count
        for item in list(rule, "unwrap", isOptional: true, most: Limit.parameters) {
            var device: DeviceClass?
            var name: String?
            if item.object == nil {
                name = text(item)
            } else if has(item, ["name", "on"]) {
                name = text(item, "name")
                if name != nil { device = choice(item, "on") }
            }
            guard let name else { continue }
            parameters.append(
                LinkPlatformImage.Parameter(name: view(name), number: parameters.count, device: device))
        }
        return memory.store(Array(parameters[first...]))
    }

    /// Reads the start of the app's links: `scheme://`, or `scheme://host`.
    private mutating func origin(_ rule: JSONValue) -> ByteView {
        guard let value = rule["origin"], let text = text(value) else { return .empty }
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        let isWeb = text.lowercased().hasPrefix("http:") || text.lowercased().hasPrefix("https:")
        let isScheme = parts.count == 2 && !parts[0].isEmpty && text.allSatisfy { $0.isASCII && !$0.isWhitespace }
        guard isScheme, !parts[1].contains(where: { "/?#@\\".contains($0) }), !isWeb || !parts[1].isEmpty else {
            log.add(.badValue, at: value.offset, "expected `scheme://` or `scheme://host`")
            return .empty
        }
        if RuleFileProblem.isUnsafeScheme(String(parts[0])) {
            let expected = "expected the scheme of the app or `https`, not one of the system or the browser"
            log.add(.badValue, at: value.offset, expected)
            return .empty
        }
        return view(text)
    }

    private mutating func readExample(_ value: JSONValue) {
        guard has(value, ["link", "on", "destination", "result"]) else { return }
        var example = Example(offset: value.offset)
        example.link = text(value, "link") ?? ""
        example.device = choice(value, "on") ?? .unknown
        if let destination = value["destination"] {
            example.destination = text(destination)
            example.kind = .link
        }
        if value["result"] != nil { example.kind = kind(value, "result") ?? .itself }
        if (value["destination"] == nil) == (value["result"] == nil) {
            log.add(.badValue, at: value.offset, "expected either `destination` or `result`")
        }
        examples.append(example)
    }

    private static let kinds: [(name: String, kind: UnwrappedLink.Kind)] = [
        ("itself", .itself), ("no_link", .noLink), ("needs_resolution", .needsResolution),
    ]

    private mutating func kind(_ object: JSONValue, _ name: String) -> UnwrappedLink.Kind? {
        guard let value = object[name] else { return nil }
        if let found = Self.kinds.first(where: { $0.name == value.string }) { return found.kind }
        refuse(value, Self.kinds.map(\.name))
        return nil
    }

    // MARK: - Values

    private func view(_ text: String) -> ByteView { ByteView(memory.store(Array(text.utf8))) }

    /// Returns a Boolean value that indicates whether the value is an object, and reports its unknown members.
    private mutating func has(_ value: JSONValue, _ names: [String]) -> Bool {
        log.members(value, names, "expected an object")
    }

    private mutating func list(
        _ object: JSONValue, _ name: String, isOptional: Bool = false, most: Int = Limit.names
    ) -> [JSONValue] {
        let value = object[name]
        if isOptional && value == nil { return [] }
        guard let value, let elements = value.array, !elements.isEmpty else {
            let code: RuleFileProblem.Code =
                value == nil ? .missingMember : value?.array == nil ? .wrongType : .badValue
            log.add(code, name, of: object, "expected a list that is not empty")
            return []
        }
        return log.elements(elements, of: value, most: most) ?? []
    }

    private mutating func texts(
        _ object: JSONValue, _ name: String, isOptional: Bool = false
    ) -> [(String, JSONValue)] {
        list(object, name, isOptional: isOptional).compactMap { element in text(element).map { ($0, element) } }
    }

    private mutating func text(_ object: JSONValue, _ name: String) -> String? {
        if let value = object[name] { return text(value) }
        log.add(.missingMember, name, of: object, "expected a string of 1 to \(Limit.textBytes) bytes")
        return nil
    }

    private mutating func text(_ value: JSONValue) -> String? {
        if let text = value.string, (1...Limit.textBytes).contains(text.utf8.count) { return text }
        log.add(
            value.string == nil ? .wrongType : .badValue, at: value.offset,
            "expected a string of 1 to \(Limit.textBytes) bytes")
        return nil
    }

    private mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ object: JSONValue, _ name: String
    ) -> Choice? {
        guard let value = object[name] else { return nil }
        if let choice = value.string.flatMap(Choice.init(rawValue:)) { return choice }
        refuse(value, Choice.allCases.map(\.rawValue))
        return nil
    }

    private mutating func refuse(_ value: JSONValue, _ words: [String]) {
        log.refuse(value, words, "expected one of \(RuleFileLog.list(words))")
    }
}

// MARK: - Examples and cycles

extension LinkPlatformReader {
    /// Returns the problems that only the compiled rules have.
    func problems(of platforms: LinkPlatforms, in file: [UInt8]) -> [RuleFileProblem] {
        var log = RuleFileLog(most: .max)
        for offset in withoutExample {
            let expected = "expected `examples` with at least one link and its destination"
            log.add(.missingMember, at: offset, expected)
        }
        let marks = allMarks
        for (rule, offset) in zip(rules, ruleOffsets) where platforms.leadsToCycle(rule, marks) {
            log.add(.badValue, at: offset, "expected a rule whose result no other rule rewrites back to this one")
        }
        for example in examples {
            let (kind, link) = platforms.destination(of: example.link, for: example.device)
            if kind == example.kind && (kind != .link || link == example.destination) { continue }
            let actual = Self.kinds.first { $0.kind == kind }?.name ?? link
            let wanted = example.destination.map { "destination `\($0)`" } ?? "stated result"
            log.add(.example, at: example.offset, "expected the \(wanted), found `\(actual)`")
        }
        return log.problems(in: file)
    }

    /// The marks of the rules that rewrite, each once, as many as a link may have.
    private var allMarks: [String] {
        var seen: Set<String> = []
        let all = rules.filter(\.rewrites).flatMap { $0.marks.map(\.string) }
        return Array(all.filter { seen.insert($0).inserted }.prefix(LinkPlatforms.maxQueryItems))
    }
}

extension LinkPlatforms {
    /// Compiles the rules of a file.
    ///
    /// - Parameter file: The bytes of the file.
    /// - Throws: The problems of the file with their locations.
    package convenience init(file: [UInt8]) throws(RuleFileFailure) {
        var reader = LinkPlatformReader()
        try reader.read(file)
        self.init(reader)
    }

    /// Reads a file and runs its examples.
    ///
    /// - Parameter file: The bytes of the file.
    /// - Returns: The rules, or nil if the file is not valid, and the problems with the file and its examples.
    package static func check(_ file: [UInt8]) -> (platforms: LinkPlatforms?, problems: [RuleFileProblem]) {
        do throws(RuleFileFailure) {
            var reader = LinkPlatformReader()
            try reader.read(file)
            let platforms = LinkPlatforms(reader)
            return (platforms, reader.problems(of: platforms, in: file))
        } catch {
            return (nil, error.problems)
        }
    }

    fileprivate func destination(of link: String, for device: DeviceClass) -> (UnwrappedLink.Kind, String) {
        var arena = OutputArena(chunkBytes: 4096)
        return [UInt8](link.utf8).withUnsafeBufferPointer { bytes in
            let found = destination(of: ByteView(bytes), device: device, into: &arena)
            return (found.kind, found.link.string)
        }
    }

    /// Returns a Boolean value that indicates whether the links of a rule have no end, because its results are
    /// rewritten again and again.
    ///
    /// Two links are followed: one with the marks of the rule, and one with the marks of all rules, so that each rule
    /// on the way reads it. They contain no other link, so only rules that rewrite can go on.
    ///
    /// - Parameter marks: The marks of all rules.
    fileprivate func leadsToCycle(_ rule: LinkPlatformImage.Rule, _ marks: [String]) -> Bool {
        let own = rule.marks.map(\.string)
        if Self.samples(of: rule, own).contains(where: hasNoEnd) { return true }
        return own != marks && Self.samples(of: rule, marks).contains(where: hasNoEnd)
    }

    /// Returns a Boolean value that indicates whether following a link leads to a link that was followed before.
    private func hasNoEnd(_ link: String) -> Bool {
        var link = link
        var seen: Set<String> = []
        while seen.insert(link).inserted {
            guard let next = linkAfterAllSteps(link) else { return false }
            link = next
        }
        return true
    }

    /// Returns the last link that is taken out of a link, or nil if that link contains no further link.
    private func linkAfterAllSteps(_ link: String) -> String? {
        var arena = OutputArena(chunkBytes: 4096)
        return [UInt8](link.utf8).withUnsafeBufferPointer { bytes in
            let found = destination(of: ByteView(bytes), limit: Self.mostBytes, into: &arena)
            return found.notes.contains(.tooDeep) ? found.link.string : nil
        }
    }

    /// Returns a link for each host and scheme of a rule, with its path and some marks.
    private static func samples(of rule: LinkPlatformImage.Rule, _ names: [String]) -> [String] {
        let schemes = rule.schemes == .any ? ["https", "app"] : rule.schemes == .web ? ["https"] : ["app"]
        let path =
            switch rule.path {
            case .any: "/p"
            case .exact(let path): path.string
            case .below(let start): start.string + "/p"
            }
        let marks = names.map { $0 + "=1" }.joined(separator: "&")
        let hosts =
            rule.isAnyHost ? ["host.example"] : rule.hosts.map { ($0.isSuffix ? "h." : "") + $0.name.string }
        return schemes.flatMap { scheme in
            hosts.map { "\(scheme)://\($0)\(path)" + (marks.isEmpty ? "" : "?" + marks) }
        }
    }
}
