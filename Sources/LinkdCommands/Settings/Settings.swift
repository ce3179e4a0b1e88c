internal import RouteTools

/// The effective settings: what applies and where it came from.
struct Settings: Sendable {
    /// One setting that applies.
    struct Entry: Sendable, Equatable {
        /// The value, or nil when nobody set it and there is no default.
        var value: SettingValue?
        /// Where it came from.
        var source: SettingSource
    }

    private var entries: [String: Entry] = [:]

    /// Properties of librdkafka in the order of their names, each from the source that goes before the others.
    private(set) var properties: [LibrdkafkaPair] = []

    /// Puts flags over environment over file over defaults, and checks every value.
    ///
    /// `flags` are texts by the setting's name; `knows` says whether librdkafka has a property of that name.
    init(
        flags: [String: SettingTexts], environment: [String: String],
        configFile: (path: String, source: SettingSource)?,
        knows: (String) -> Bool
    ) throws(CommandFailure) {
        let variables = try EnvironmentSource(environment, knows: knows)
        let file =
            if let configFile { try FileSource(path: configFile.path, namedBy: configFile.source) } else {
                FileSource()
            }
        for row in SettingsTable.rows where row.name != "librdkafka" {
            let texts = flags[row.name] ?? variables.settings[row.name] ?? file.settings[row.name]
            entries[row.name] = try Self.entry(row, texts)
        }
        var merged: [String: LibrdkafkaPair] = [:]
        for pair in file.properties { merged[pair.key] = pair }
        for texts in [variables.settings["librdkafka"], file.settings["librdkafka"]].compactMap(\.self) {
            for pair in try Self.pairs(texts) { merged[pair.key] = pair }
        }
        for pair in variables.properties { merged[pair.key] = pair }
        if let texts = flags["librdkafka"] {
            for pair in try Self.pairs(texts) { merged[pair.key] = pair }
        }
        properties = merged.values.sorted { $0.key < $1.key }
        for pair in properties { try Self.check(pair, knows: knows) }
        try checkTogether()
    }

    private static func entry(_ row: SettingRow, _ texts: SettingTexts?) throws(CommandFailure) -> Entry {
        guard let texts else {
            switch row.default {
            case .none: return Entry(value: nil, source: .default)
            case .value(let text): return Entry(value: row.type.parse([text], splitting: true), source: .default)
            case .computed(_, let make):
                return Entry(value: row.type.parse([make()], splitting: true), source: .default)
            }
        }
        guard let value = row.type.parse(texts.texts, splitting: texts.splitting) else { throw wrong(row, texts) }
        return Entry(value: value, source: texts.source)
    }

    private static func pairs(_ texts: SettingTexts) throws(CommandFailure) -> [LibrdkafkaPair] {
        guard let row = SettingsTable.row("librdkafka") else { return [] }
        guard case .pairs(let pairs) = row.type.parse(texts.texts, splitting: texts.splitting) else {
            throw CommandFailure(
                texts.source.code, "\(texts.source.description): a property of librdkafka is not key=value",
                advice: "write -X key=value, 0..128 of them")
        }
        return pairs.map { LibrdkafkaPair(key: $0.key, value: $0.value, source: texts.source) }
    }

    /// What a wrong value ends with: source, value, what was expected.
    private static func wrong(_ row: SettingRow, _ texts: SettingTexts) -> CommandFailure {
        let shown = Escaping.visible(DisplayWidth.cut(texts.texts.joined(separator: ","), to: 80))
        return CommandFailure(
            texts.source.code, "\(texts.source.description): `\(shown)` is no value for `\(row.name)`",
            advice: "give \(row.type.expectation)")
    }

    /// Value and source of a setting.
    func entry(_ name: String) -> Entry { entries[name] ?? Entry(value: nil, source: .default) }

    /// The text of a setting, if it has one.
    func text(_ name: String) -> String? {
        if case .text(let text) = entry(name).value { return text }
        return nil
    }

    /// The items of a setting; none when it is unset.
    func list(_ name: String) -> [String] {
        if case .list(let items) = entry(name).value { return items }
        return []
    }

    /// The number of a setting: a count, bytes, or milliseconds; 0 when it is unset.
    func number(_ name: String) -> Int64 {
        switch entry(name).value {
        case .integer(let number), .size(let number), .duration(let number): number
        default: 0
        }
    }

    /// The value of a property of librdkafka, as one client sees it.
    func property(_ key: String, client: String) -> LibrdkafkaPair? {
        properties.first { $0.key == "\(client).\(key)" } ?? properties.first { $0.key == key }
    }

    /// The brokers; without any the command cannot start.
    func requireBootstrap() throws(CommandFailure) -> [String] {
        let brokers = list("bootstrap")
        guard !brokers.isEmpty else {
            throw CommandFailure(
                .usage, "no broker is named",
                advice: "give --bootstrap HOST:PORT, or set KAFKA_BOOTSTRAP_SERVERS; `linkd demo` needs none")
        }
        return brokers
    }

    /// The dead-letter topic of an input topic.
    func deadLetterTopic(of input: String) -> String {
        (text("dlq.topic") ?? "{input}.dlq").replacing("{input}", with: input)
    }
}
