internal import ByteStorage
internal import DispatchWorker
internal import LinkDecider
internal import LinkIngest
internal import RouteTools

/// The effective settings, with the source of each value.
struct Settings: Sendable {
    /// The effective value of one setting.
    struct Entry: Sendable, Equatable {
        /// The value, or nil if it is not set and has no default.
        var value: SettingValue?
        /// The source of the value.
        var source: SettingSource
    }

    private var entries: [String: Entry] = [:]

    /// The properties of librdkafka sorted by name, each from the source with the highest precedence.
    private(set) var properties: [LibrdkafkaPair] = []

    /// Merges flags, environment, file, and defaults, in descending precedence, and checks every value.
    ///
    /// - Parameters:
    ///   - flags: The texts of flags by the name of the setting.
    ///   - isKnownProperty: A closure that returns true if librdkafka has a property of that name.
    init(
        flags: [String: SettingTexts], environment: [String: String],
        configFile: (path: String, source: SettingSource)?,
        isKnownProperty: (String) -> Bool
    ) throws(CommandFailure) {
        let variables = try EnvironmentSource(environment, isKnownProperty: isKnownProperty)
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
        for pair in properties { try Self.check(pair, isKnownProperty: isKnownProperty) }
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
        guard let value = row.type.parse(texts.texts, splitting: texts.splitting) else {
            throw invalidValue(row, texts)
        }
        return Entry(value: value, source: texts.source)
    }

    private static func pairs(_ texts: SettingTexts) throws(CommandFailure) -> [LibrdkafkaPair] {
        guard let row = SettingsTable.row("librdkafka") else { return [] }
        guard case .pairs(let pairs) = row.type.parse(texts.texts, splitting: texts.splitting) else {
            throw CommandFailure(
                texts.source.code, "\(texts.source.description): a property of librdkafka is not key=value",
                advice: "write -X key=value, at most 128 times")
        }
        return pairs.map { LibrdkafkaPair(key: $0.key, value: $0.value, source: texts.source) }
    }

    /// Returns the failure for an invalid value, with its source and the expected value.
    private static func invalidValue(_ row: SettingRow, _ texts: SettingTexts) -> CommandFailure {
        let shown = Escaping.visible(DisplayWidth.cut(texts.texts.joined(separator: ","), to: 80))
        return CommandFailure(
            texts.source.code, "\(texts.source.description): `\(shown)` is not a valid value for `\(row.name)`",
            advice: "specify \(row.type.expectation)")
    }

    /// Returns the value and the source of a setting.
    func entry(_ name: String) -> Entry { entries[name] ?? Entry(value: nil, source: .default) }

    /// Returns the text of a setting, or nil if it has none.
    func text(_ name: String) -> String? {
        if case .text(let text) = entry(name).value { return text }
        return nil
    }

    /// Returns the items of a setting, or an empty array if it is not set.
    func list(_ name: String) -> [String] {
        if case .list(let items) = entry(name).value { return items }
        return []
    }

    /// Returns the number of a setting (a count, bytes, milliseconds, or units of the last decimal place), or 0 if it
    /// is not set.
    func number(_ name: String) -> Int64 {
        switch entry(name).value {
        case .integer(let number), .decimal(let number, _), .size(let number), .duration(let number): number
        default: 0
        }
    }

    /// Returns the property of librdkafka that applies to one client.
    func property(_ key: String, client: String) -> LibrdkafkaPair? {
        properties.first { $0.key == "\(client).\(key)" } ?? properties.first { $0.key == key }
    }

    /// Returns the brokers, or throws a failure if there are none.
    func requireBootstrap() throws(CommandFailure) -> [String] {
        let brokers = list("bootstrap")
        guard !brokers.isEmpty else {
            throw CommandFailure(
                .usage, "no broker is specified",
                advice: "pass --bootstrap HOST:PORT or set KAFKA_BOOTSTRAP_SERVERS (`linkd demo` needs no broker)")
        }
        return brokers
    }

    /// Returns the topic of the registry of devices.
    func requireDevicesTopic() throws(CommandFailure) -> String {
        if let topic = text("devices.topic") { return topic }
        throw CommandFailure(
            .usage, "the setting `devices.topic` names no topic",
            advice: "pass --devices-topic TOPIC, or set LINKD_DEVICES_TOPIC")
    }

    /// The facts of the registry that are stored, joined, and published.
    var deviceMembers: DeviceMembers {
        get throws(CommandFailure) {
            if let members = DeviceMembers(list("devices.members")) { return members }
            throw failure(
                "devices.members", "`devices.members` has an unknown name",
                advice: "use \(DeviceMembers.standard.text), attributes, or attributes.NAME for one attribute")
        }
    }

    /// The topics of decisions.
    var outputs: OutputTopics {
        let main = text("output") ?? "link-decisions"
        guard case .pairs(let pairs) = entry("output.applications").value else { return OutputTopics(main) }
        return OutputTopics(main, applications: pairs.map { ($0.key, $0.value) })
    }

    /// Returns the dead-letter topic of an input topic.
    func deadLetterTopic(of input: String) -> String {
        (text("dlq.topic") ?? "{input}.dlq").replacing("{input}", with: input)
    }

    /// Returns the ledger of a dead-letter topic: the topic that lists the dead letters that were replayed.
    static func replayed(of deadLetters: String) -> String { deadLetters + ".replayed" }

    /// Returns the ledger of a topic of corrections: the topic that lists the decisions that were corrected.
    static func recalled(of corrections: String) -> String { corrections + ".recalled" }

    /// Returns the topic for dead letters that are not replayed.
    static func parked(of deadLetters: String) -> String { deadLetters + ".parked" }
}

// Rules between settings, and rules for properties of librdkafka.
extension Settings {
    /// Checks that a property is known, is not set by linkd itself, and is not a secret on the command line.
    static func check(_ pair: LibrdkafkaPair, isKnownProperty: (String) -> Bool) throws(CommandFailure) {
        let key = LibrdkafkaKeys.bare(pair.key)
        let source = pair.source.description
        if let instead = LibrdkafkaKeys.alternative(to: key) {
            throw CommandFailure(pair.source.code, "\(source): linkd sets `\(key)` itself", advice: instead)
        }
        guard isKnownProperty(key) else {
            throw CommandFailure(
                pair.source.code, "\(source): librdkafka has no property `\(Escaping.visible(key))`",
                advice: LibrdkafkaKeys.nearest(key).map { "use `\($0)`" }
                    ?? "see librdkafka's CONFIGURATION.md for the names")
        }
        if LibrdkafkaKeys.isForbiddenAsFlag(key), case .flag = pair.source {
            let variable = "KAFKA_" + key.uppercased().replacing(".", with: "_")
            throw CommandFailure(
                .usage, "\(source): the secret `\(key)` is not allowed on the command line, where others can read it",
                advice: "set \(variable), or \(variable)_FILE to the path of a file that contains it")
        }
    }

    /// Checks the rules between settings.
    func checkTogether() throws(CommandFailure) {
        try checkTopics()
        try checkDevices()
        try checkAlone("tables.topic", besides: [text("devices.topic")].compactMap(\.self))
        try checkLedgers()
        try checkCommit()
        try checkCanary()
        try checkToken()
        if let name = list("passthrough").first(where: Passthrough.reserved.contains) {
            throw failure(
                "passthrough", "`passthrough` names `\(name)`, which linkd itself writes into `context`",
                advice: "remove `\(name)`: a decision's `context` has it if there is something to say")
        }
        if text("report") != nil, number("stop.after") == 0 {
            throw failure(
                "report", "`report` needs `stop.after`",
                advice: "add --stop-after N, or remove `report`")
        }
    }

    /// The members of an event that are copied into decisions.
    var passthrough: Passthrough {
        if entry("passthrough").source == .default { return .campaign }
        let names = list("passthrough")
        return names == ["none"] ? [] : Passthrough(names)
    }

    /// The names of query items whose values are copied into decisions.
    var contextQuery: [String] {
        let names = list("context.query")
        return names == ["none"] ? [] : names
    }

    private func checkTopics() throws(CommandFailure) {
        let inputs = list("input")
        let pattern = inputs.first?.hasPrefix("^") == true
        let template = text("dlq.topic") ?? ""
        if inputs.count > 1 || pattern, !template.contains("{input}") {
            throw failure(
                "dlq.topic", "with several inputs, `dlq.topic` must contain `{input}`",
                advice: "write {input}.dlq")
        }
        if pattern {
            guard inputs.count == 1, PosixPattern(inputs[0]) == nil else { return }
            throw failure(
                "input", "`\(Escaping.visible(inputs[0]))` is not a valid regular expression",
                advice: "write a POSIX extended regular expression, such as ^links\\..*")
        }
        if let twice = Self.repeated(inputs) {
            throw failure("input", "input topic \(twice) is listed twice", advice: "list it once")
        }
        let deadLetters = inputs.map(deadLetterTopic)
        if let long = deadLetters.first(where: { !ValueType.isTopic($0) }) {
            throw failure(
                "dlq.topic", "`\(Escaping.visible(long))` is not a valid topic name",
                advice: "use a shorter template: a topic name has at most 249 characters")
        }
        if let same = deadLetters.first(where: inputs.contains) {
            throw failure(
                "dlq.topic", "dead-letter topic \(same) is an input topic", advice: "write {input}.dlq")
        }
        // The ledger and the list of replays belong to a dead-letter topic.
        let taken = inputs + deadLetters.flatMap { [$0, $0 + ".replayed", $0 + ".parked"] }
        for output in outputs.names where taken.contains(output) {
            guard output == outputs.main else {
                throw failure(
                    "output.applications", "output topic \(output) is also an input or dead-letter topic",
                    advice: "choose another topic in `output.applications`")
            }
            let named = entry("output").source
            let code = named == .default ? entry("input").source.code : named.code
            throw CommandFailure(
                code, "\(named.description): output topic \(output) is also an input or dead-letter topic",
                advice: "set --output to another topic")
        }
    }

    /// Checks that the topic of a setting is no other topic of the worker.
    private func checkAlone(_ name: String, besides others: [String] = []) throws(CommandFailure) {
        guard let topic = text(name) else { return }
        let inputs = list("input")
        guard (inputs + outputs.names + inputs.map(deadLetterTopic) + others).contains(topic) else { return }
        let kinds =
            others.isEmpty ? "input, output, or dead-letter topic" : "input, output, dead-letter, or devices topic"
        throw failure(
            name, "the topic \(topic) of `\(name)` is also an \(kinds)",
            advice: "set --\(name.replacing(".", with: "-")) to another topic")
    }

    /// Checks that no topic of the worker is a ledger, or a topic with replayed or parked records, of another one.
    private func checkLedgers() throws(CommandFailure) {
        let inputs = list("input").filter { !$0.hasPrefix("^") }
        let deadLetters = inputs.map(deadLetterTopic)
        let topics =
            inputs.map { ($0, "input") } + deadLetters.map { ($0, "dlq.topic") }
            + outputs.names.map { ($0, $0 == outputs.main ? "output" : "output.applications") }
            + ["devices.topic", "tables.topic"].compactMap { name in text(name).map { ($0, name) } }
        let owners =
            deadLetters.flatMap { [($0 + ".replayed", $0), ($0 + ".parked", $0)] }
            + outputs.names.map { (Self.recalled(of: $0), $0) }
        for (topic, name) in topics {
            guard let owner = owners.first(where: { $0.0 == topic })?.1 else { continue }
            throw failure(
                name,
                "the topic \(topic) of `\(name)` is where `dlq replay` and `recall` keep what belongs to \(owner)",
                advice: "set --\(name.replacing(".", with: "-")) to another topic")
        }
    }

    private func checkDevices() throws(CommandFailure) {
        _ = try deviceMembers
        try checkAlone("devices.topic")
        guard text("devices.topic") != nil else { return }
        guard text("guarantee") == "at-least-once" else { return }
        // The exit code does not depend on the source: this is never a wrong flag alone.
        throw CommandFailure(
            .configuration,
            "`devices.topic` needs `guarantee` exactly-once, because a repeat of an event with `user` could give the "
                + "index of a decision to another device",
            advice: "set --guarantee exactly-once, or remove `devices.topic`")
    }

    private func checkCommit() throws(CommandFailure) {
        let timeout =
            property("transaction.timeout.ms", client: "producer").flatMap { Int64($0.value) } ?? 30_000
        let interval = number("commit.interval")
        guard interval > timeout / 3 else { return }
        throw failure(
            "commit.interval",
            "`commit.interval` \(Durations.text(interval)) is more than a third of "
                + "transaction.timeout.ms \(timeout)",
            advice: "set at most \(timeout / 3)ms, or raise -X transaction.timeout.ms")
    }

    private func checkCanary() throws(CommandFailure) {
        guard text("canary.table") == nil else { return }
        for name in ["canary.percent", "canary.compare"] where entry(name).source != .default {
            guard number(name) > 0 else { continue }
            throw failure(
                name, "`\(name)` needs `canary.table`", advice: "add --canary-table FILE, or remove `\(name)`")
        }
    }

    private func checkToken() throws(CommandFailure) {
        let given = ["sasl.token.file", "sasl.token.command"].filter { text($0) != nil }
        guard let name = given.last else { return }
        if given.count > 1 {
            throw failure(
                name, "`sasl.token.file` and `sasl.token.command` are both set",
                advice: "set one of them")
        }
        let mechanisms = ["sasl.mechanisms", "sasl.mechanism"].compactMap { property($0, client: "consumer")?.value }
        guard !mechanisms.contains("OAUTHBEARER") else { return }
        throw failure(
            name, "`\(name)` needs the SASL mechanism OAUTHBEARER",
            advice: "add -X sasl.mechanisms=OAUTHBEARER, or remove `\(name)`")
    }

    /// Returns the failure of a setting, whose exit code depends on the source of the setting.
    private func failure(_ name: String, _ text: String, advice: String) -> CommandFailure {
        let source = entry(name).source
        return CommandFailure(source.code, "\(source.description): \(text)", advice: advice)
    }

    private static func repeated(_ names: [String]) -> String? {
        var seen: Set<String> = []
        return names.first { !seen.insert($0).inserted }
    }
}
