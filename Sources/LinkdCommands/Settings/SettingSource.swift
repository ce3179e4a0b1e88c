internal import DispatchWorker
internal import KafkaClient
internal import LinkCoordinator
internal import RouteAnalysis
internal import StrictJSON

/// The source of a setting's value.
enum SettingSource: Equatable, Sendable {
    case `default`
    /// A file, and the line in it.
    case file(String, line: Int)
    /// An environment variable.
    case environment(String)
    /// A command-line flag.
    case flag(String)

    /// The description of the source in messages.
    var description: String {
        switch self {
        case .default: "default"
        case .file(let path, let line): "\(path):\(line)"
        case .environment(let name): "environment \(name)"
        case .flag(let name): "flag \(name)"
        }
    }

    /// The exit code for a wrong value: 64 from a flag, 78 from the environment or a file.
    var code: ExitCode {
        if case .flag = self { return .usage }
        return .configuration
    }
}

/// The unparsed texts of a setting from one source.
struct SettingTexts: Sendable {
    /// The repetitions of a flag, the elements of an array, or a single text.
    var texts: [String]
    /// A Boolean value that indicates whether commas separate the items of a list.
    var splitting: Bool
    /// The source of the texts.
    var source: SettingSource
}

/// A property of librdkafka with its source.
struct LibrdkafkaPair: Equatable, Sendable {
    /// The key, optionally with the prefix `consumer.` or `producer.`.
    var key: String
    /// The value.
    ///
    /// It is never printed if the key is a secret.
    var value: String
    /// The source of the property.
    var source: SettingSource

    /// The value for output, with asterisks for a secret and for the user and password of a URL.
    var shown: String { LibrdkafkaKeys.isSecret(key) ? "****" : value.withoutUserOfURL }
}

/// The settings of the environment: `LINKD_…` variables, and `KAFKA_…` variables as properties of librdkafka.
struct EnvironmentSource {
    /// The texts by the name of the setting.
    var settings: [String: SettingTexts] = [:]
    /// The properties of librdkafka.
    var properties: [LibrdkafkaPair] = []

    /// `LINKD_…` variables that are not settings.
    private static let others: Set<String> = ["LINKD_CONFIG", "LINKD_HOME", "LINKD_FAULTS"]

    /// Reads the variables of an environment.
    ///
    /// - Parameter isKnownProperty: A closure that returns true if librdkafka has a property of that name.
    init(_ environment: [String: String], isKnownProperty: (String) -> Bool) throws(CommandFailure) {
        for (variable, value) in environment.sorted(by: { $0.key < $1.key }) where !value.isEmpty {
            if variable.hasPrefix("LINKD_") {
                try readSetting(variable, value)
            } else if variable.hasPrefix("KAFKA_") {
                try readProperty(variable, value, isKnownProperty: isKnownProperty)
            }
        }
    }

    private mutating func readSetting(_ variable: String, _ value: String) throws(CommandFailure) {
        if Self.others.contains(variable) || variable.hasPrefix("LINKD_TEST_") { return }
        guard let row = SettingsTable.rows.first(where: { $0.variable == variable }) else {
            if Self.isOfService(variable) {
                throw CommandFailure(
                    .configuration,
                    "environment variable \(variable) is not a setting: Kubernetes sets it for a Service named linkd",
                    advice: "set `enableServiceLinks: false` in the pod")
            }
            let nearest = NearestName.of(variable, among: SettingsTable.rows.map(\.variable))
            throw CommandFailure(
                .configuration, "environment variable \(variable) is not a setting",
                advice: nearest.map { "set \($0) instead" }
                    ?? "unset it, or see `linkd config --reference` for all settings")
        }
        settings[row.name] = SettingTexts(texts: [value], splitting: true, source: .environment(variable))
    }

    /// Returns a Boolean value that indicates whether Kubernetes sets a variable in pods beside a Service named linkd.
    private static func isOfService(_ variable: String) -> Bool {
        variable == "LINKD_PORT" || variable.hasPrefix("LINKD_PORT_") || variable.hasPrefix("LINKD_SERVICE_")
    }

    private mutating func readProperty(
        _ variable: String, _ value: String, isKnownProperty: (String) -> Bool
    ) throws(CommandFailure) {
        let source = SettingSource.environment(variable)
        if variable == "KAFKA_BOOTSTRAP_SERVERS" {
            guard settings["bootstrap"] == nil else { return }
            settings["bootstrap"] = SettingTexts(texts: [value], splitting: true, source: source)
            return
        }
        let key = String(variable.dropFirst(6)).lowercased().replacing("_", with: ".")
        if isKnownProperty(key) {
            properties.append(LibrdkafkaPair(key: key, value: value, source: source))
            return
        }
        guard key.hasSuffix(".file"), isKnownProperty(String(key.dropLast(5))) else { return }
        properties.append(
            LibrdkafkaPair(key: String(key.dropLast(5)), value: try secret(in: value, variable), source: source))
    }

    /// Returns the contents of a secret's file, without the newline that editors append.
    private func secret(in path: String, _ variable: String) throws(CommandFailure) -> String {
        var bytes = try Platform.required(path, limit: 65536, as: "environment variable \(variable): file \(path)")
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The settings of a JSON file, such as `{"commit": {"interval": "100ms"}}` for `commit.interval`.
struct FileSource {
    /// The texts by the name of the setting.
    var settings: [String: SettingTexts] = [:]
    /// The properties of librdkafka, from the member `librdkafka`.
    var properties: [LibrdkafkaPair] = []

    /// The size limit of the file.
    static let limitBytes = 1 << 20

    private let path: String
    private let text: [UInt8]

    /// Creates a source without settings, for a command line without a settings file.
    init() {
        path = ""
        text = []
    }

    /// Reads the file.
    ///
    /// - Parameter source: The flag or variable that named the file.
    init(path: String, namedBy source: SettingSource) throws(CommandFailure) {
        self.path = path
        text = try Platform.required(
            path, limit: Self.limitBytes, as: "settings file \(path) (\(source.description))",
            advice: "specify a JSON file that this user can read")
        let root: JSONValue
        do throws(JSONError) {
            root = try JSONValue.parse(text)
        } catch {
            let cause = JSONAdvice.cause(of: error, in: text) ?? (error.text, error.offset)
            throw failure(cause.message, at: cause.offset, advice: "write strict JSON (RFC 8259) in UTF-8")
        }
        guard case .object(let members) = root.kind else {
            throw failure(
                "the settings file is not a JSON object", at: root.offset,
                advice: "write {\"bootstrap\": [\"host:9092\"]}")
        }
        for member in members { try readMember(member, path: member.name) }
    }

    private mutating func readMember(_ member: JSONMember, path name: String) throws(CommandFailure) {
        if member.value.isNull { return }
        if name == "librdkafka", case .object(let pairs) = member.value.kind {
            for pair in pairs { try readProperty(pair) }
            return
        }
        if let row = SettingsTable.row(name), !member.name.contains(".") || Self.keepsDot(name) {
            settings[name] = try texts(member.value, row)
            return
        }
        let inside = SettingsTable.rows.contains { $0.name.hasPrefix(name + ".") }
        guard inside, case .object(let members) = member.value.kind else { throw unknown(member, name) }
        for next in members { try readMember(next, path: name + "." + next.name) }
    }

    /// Returns a Boolean value that indicates whether a name cannot be nested, because its beginning has a value too.
    private static func keepsDot(_ name: String) -> Bool {
        name.lastIndex(of: ".").map { SettingsTable.row(String(name[..<$0])) != nil } ?? false
    }

    private mutating func readProperty(_ pair: JSONMember) throws(CommandFailure) {
        guard let value = scalar(pair.value) else {
            throw failure(
                "a property of librdkafka must be a string, a number, or a Boolean", at: pair.value.offset,
                advice: "write \"key\": \"value\"")
        }
        properties.append(LibrdkafkaPair(key: pair.name, value: value, source: source(pair.nameOffset)))
    }

    private func texts(_ value: JSONValue, _ row: SettingRow) throws(CommandFailure) -> SettingTexts {
        let source = source(value.offset)
        if row.type.isList, case .array(let elements) = value.kind {
            let strings = elements.compactMap(\.string)
            if strings.count == elements.count { return SettingTexts(texts: strings, splitting: false, source: source) }
        } else if case .topicsByName = row.type, case .object(let members) = value.kind {
            let strings = members.compactMap { member in member.value.string.map { "\(member.name)=\($0)" } }
            if strings.count == members.count { return SettingTexts(texts: strings, splitting: false, source: source) }
        } else if let text = scalar(value), fits(value, row.type) {
            return SettingTexts(texts: [text], splitting: true, source: source)
        }
        throw failure(
            "the value of `\(row.name)` has the wrong type", at: value.offset,
            advice: "write \(row.type.expectation)")
    }

    /// Returns a Boolean value that indicates whether a JSON value has a valid kind for a type.
    ///
    /// A number is valid for numbers and sizes only, and a Boolean for Booleans only.
    private func fits(_ value: JSONValue, _ type: ValueType) -> Bool {
        switch (value.kind, type) {
        case (.number, .integer), (.number, .decimal), (.number, .size), (.bool, .boolean): true
        case (.string, .integer), (.string, .decimal), (.string, .boolean): false
        case (.string, _): true
        default: false
        }
    }

    private func scalar(_ value: JSONValue) -> String? {
        switch value.kind {
        case .string(let text), .number(let text): text
        case .bool(let value): value ? "true" : "false"
        default: nil
        }
    }

    private func unknown(_ member: JSONMember, _ name: String) -> CommandFailure {
        let names = SettingsTable.rows.map(\.name)
        if member.name.contains("."), names.contains(name), !Self.keepsDot(name) {
            let parts = name.split(separator: ".")
            let nested = parts.map { "{\"\($0)\": " }.joined() + "…" + String(repeating: "}", count: parts.count)
            return failure("`\(name)` must be nested", at: member.nameOffset, advice: "write \(nested)")
        }
        let nearest = NearestName.of(name, among: names)
        return failure(
            "`\(name)` is not a setting", at: member.nameOffset,
            advice: nearest.map { "write `\($0)` instead" }
                ?? "remove it, or see `linkd config --reference` for all settings")
    }

    private func source(_ offset: Int) -> SettingSource {
        .file(path, line: JSONLocation.locate(offset: offset, in: text).line)
    }

    private func failure(_ reason: String, at offset: Int, advice: String) -> CommandFailure {
        let location = JSONLocation.locate(offset: offset, in: text)
        return CommandFailure(
            .configuration, "settings file \(path), line \(location.line), column \(location.column): \(reason)",
            advice: advice)
    }
}

/// The format of the log before the settings are known, for an error in the command line or in the settings.
enum EarlyLogFormat {
    private static let flag = "--log-format"

    /// Returns the format of the flag or the environment, or nil if neither is valid.
    ///
    /// The words of the command line are searched, because they may not follow its declaration. The configuration file
    /// is not read, because the error may be in it.
    static func of(_ words: [String], _ environment: [String: String]) -> LogFormat? {
        let text = flagValue(words) ?? SettingsTable.row("log.format").flatMap { environment[$0.variable] }
        return text.flatMap(LogFormat.init)
    }

    private static func flagValue(_ words: [String]) -> String? {
        guard let index = words.lastIndex(where: { $0 == flag || $0.hasPrefix(flag + "=") }) else { return nil }
        if words[index] != flag { return String(words[index].dropFirst(flag.utf8.count + 1)) }
        return words.dropFirst(index + 1).first
    }
}

/// Rules for the properties of librdkafka: those that linkd sets itself, and those that hold secrets.
enum LibrdkafkaKeys {
    /// Returns the alternative to a property that linkd sets itself, or nil for a property that a user can set.
    static func alternative(to key: String) -> String? {
        guard ClientSettings.refused.contains(key) else { return nil }
        return switch key {
        case "bootstrap.servers", "metadata.broker.list": "use --bootstrap"
        case "group.id": "use --group"
        case "group.instance.id", "client.id": "use --instance, which determines it"
        case "transactional.id": "use --group and --instance, which determine it"
        case "auto.offset.reset": "use --from and --data-loss"
        case "partition.assignment.strategy": "use --assignor"
        case "enable.idempotence": "use --guarantee"
        case "isolation.level": "remove it, because linkd reads only committed records"
        case "partitioner": "remove it, because linkd assigns devices to partitions as the Java client does"
        default: "remove it, because the guarantees of linkd depend on it"
        }
    }

    /// The properties that linkd sets itself, sorted by name, with the alternative to each.
    static var reserved: [(key: String, instead: String)] {
        ClientSettings.refused.sorted().compactMap { key in alternative(to: key).map { (key, $0) } }
    }

    /// Returns the known property with the most similar name, or nil.
    static func nearest(_ key: String) -> String? { NearestName.of(key, among: KnownProperties.all.map(\.name)) }

    /// Returns a Boolean value that indicates whether the value of a property is a secret.
    static func isSecret(_ key: String) -> Bool { KnownProperties.isSecret(bare(key)) }

    /// Returns a Boolean value that indicates whether a property is refused as a flag.
    ///
    /// Secrets are refused, because other processes can read flags.
    static func isForbiddenAsFlag(_ key: String) -> Bool { isSecret(key) && bare(key) != "sasl.username" }

    /// Returns the property without the prefix `consumer.` or `producer.`.
    static func bare(_ key: String) -> String { ClientSettings.split(key).key }
}
