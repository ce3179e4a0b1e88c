internal import LinkCoordinator
internal import StrictJSON

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
        switch Platform.contents(of: path, limit: Self.limitBytes) {
        case .failure(let error):
            throw CommandFailure(
                .configuration, "settings file \(path) (\(source.description)) cannot be read: \(error.text)",
                advice: "specify a JSON file that this user can read")
        case .success(let bytes): text = bytes
        }
        let root: JSONValue
        do {
            root = try JSONValue.parse(text)
        } catch {
            throw failure(error.text, at: error.offset, advice: "write strict JSON (RFC 8259)")
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
        if let row = SettingsTable.row(name), !member.name.contains(".") {
            settings[name] = try texts(member.value, row)
            return
        }
        let inside = SettingsTable.rows.contains { $0.name.hasPrefix(name + ".") }
        guard inside, case .object(let members) = member.value.kind else { throw unknown(member, name) }
        for next in members { try readMember(next, path: name + "." + next.name) }
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
        if member.name.contains("."), names.contains(name) {
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
