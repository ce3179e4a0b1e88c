/// The one table of settings: flags, environment, file, manual and `linkd config` all come from it.
enum SettingsTable {
    /// All rows, in the order of the manual.
    static let rows: [SettingRow] = connection + topics + group + tables + flow + limits + logging

    /// The row with this name.
    static func row(_ name: String) -> SettingRow? { rows.first { $0.name == name } }

    private static let connection: [SettingRow] = [
        SettingRow(
            "bootstrap", .addresses(count: 1...32), default: .none(words: "required"), flags: ["--bootstrap", "-b"],
            .connecting, "Brokers to ask first for the cluster's metadata."),
        SettingRow(
            "librdkafka", .pairs(count: 0...128), default: .none(words: "none"), flags: ["-X", "--librdkafka"],
            .connecting,
            "Properties of librdkafka; `consumer.` or `producer.` before one sets it for that client alone. "
                + "Those that linkd needs for itself are refused. In a file an object."),
        SettingRow(
            "start.timeout", .duration(1000...600_000), default: .value("30s"), .connecting,
            "How long to wait at the start for a broker."),
    ]

    private static let topics: [SettingRow] = [
        SettingRow(
            "input", .topics(count: 1...64), default: .value("link-events"), [.worker, .topics, .config],
            bounds: "or one regular expression from `^`", "Topics with link events."),
        SettingRow(
            "output", .topic, default: .value("link-decisions"), [.worker, .topics, .config],
            bounds: "none of the input or dead-letter topics", "Topic for decisions."),
        SettingRow(
            "dlq.topic", .topicTemplate, default: .value("{input}.dlq"), [.worker, .inspect, .topics, .config],
            bounds: "must hold `{input}` when there are several inputs", "Topic for dead letters of an input topic."),
    ]

    private static let group: [SettingRow] = [
        SettingRow(
            "group", .text(bytes: 1...200), default: .value("linkd"), [.worker, .config], "Consumer group."),
        SettingRow(
            "instance", .name(bytes: 1...64), default: .none(words: "unset: a new name at every start"),
            [.worker, .config],
            "Stable name of this process, for a fixed fleet: static membership, and a restart takes over at once. "
                + "No two processes may have the same."),
        SettingRow(
            "lanes", .integer(1...64),
            default: .computed(words: "processors, at most 8") { "\(min(8, Platform.processors))" },
            [.worker, .config],
            "Threads, each with its own consumer and producer."),
        SettingRow(
            "guarantee", .choice(["exactly-once", "at-least-once"]), default: .value("exactly-once"),
            [.worker, .config], "Transactions, or an idempotent producer whose records may double after a failure."),
    ]

    private static let tables: [SettingRow] = [
        SettingRow(
            "tables", .files(count: 1...64), default: .none(words: "required by `worker`; elsewhere the shipped ones"),
            flags: ["--table"], [.worker, .resolve, .routes, .config], bounds: "64MiB each",
            "Route tables, one file each."),
        SettingRow(
            "passthrough", .texts(count: 0...16, bytes: 1...128), default: .none(words: "none"),
            [.worker, .config], bounds: "4KiB of values in one event",
            "Members of an event that are copied into the decision's `context`."),
    ]

    private static let flow: [SettingRow] = [
        SettingRow(
            "from", .choice(["earliest", "latest", "fail"]), default: .value("earliest"), [.worker, .config],
            "Where a partition without a committed offset starts; `fail` ends with 78."),
        SettingRow(
            "data.loss", .choice(["stop", "earliest", "latest"]), default: .value("stop"), [.worker, .config],
            "What to do when the broker no longer has the wanted offset; `stop` ends with 65."),
        SettingRow(
            "assignor", .choice(["range", "cooperative-sticky"]), default: .value("range"), [.worker, .config],
            "How partitions are shared out in the group; the same in all its processes."),
        SettingRow(
            "commit.interval", .durationOrAuto(5...10_000), default: .value("100ms"), [.worker, .config],
            bounds: "at most a third of `transaction.timeout.ms`",
            "Age at which a transaction is committed; `auto` takes ten times the measured commit, 50 to 500 ms."),
        SettingRow(
            "commit.records", .integer(1...500_000), default: .value("50000"), [.worker, .config],
            "Input records after which a transaction is committed."),
        SettingRow(
            "commit.bytes", .size(64 << 10...128 << 20), default: .value("32MiB"), [.worker, .config],
            "Bytes of output after which a transaction is committed."),
        SettingRow(
            "commit.idle", .duration(1...1000), default: .value("10ms"), [.worker, .config],
            "Quiet time at the end of all partitions after which a transaction is committed."),
        SettingRow(
            "batch.records", .integer(1...10_000), default: .value("1000"), [.worker, .config],
            "Records taken at once."),
        SettingRow(
            "stop.after", .integer(0...(1 << 53)), default: .value("0"), [.worker, .config],
            "Input records, of all lanes, after which the worker ends; 0 is never."),
        SettingRow(
            "report", .choice(["text", "json"]), default: .none(words: "none"), [.worker, .config],
            bounds: "with `stop.after`", "What was done and how fast, on standard output at the end."),
        SettingRow(
            "shutdown.grace", .duration(3000...600_000), default: .value("30s"), [.worker, .config],
            "Time for a clean end after SIGTERM or SIGINT; 2 s before it is over the process ends with 80."),
    ]

    private static let limits: [SettingRow] = [
        SettingRow(
            "limits.record.bytes", .size(1 << 10...32 << 20), default: .value("1MiB"), [.worker, .resolve, .config],
            "Largest value of an input record that is read; a larger one is a dead letter."),
        SettingRow(
            "limits.decision.bytes", .size(1 << 10...32 << 20), default: .value("1000000"), [.worker, .config],
            "Largest decision, with key and headers, that is written; a larger one makes its record a dead letter."),
        SettingRow(
            "limits.output.bytes", .size(64 << 10...128 << 20), default: .value("8MiB"), [.worker, .config],
            "All decisions of one record together; more make it a dead letter."),
        SettingRow(
            "limits.devices", .integer(1...500), default: .value("500"), [.worker, .resolve, .config],
            "Devices of one event."),
        SettingRow(
            "limits.json.depth", .integer(8...512), default: .value("64"), [.worker, .resolve, .config],
            "Nested objects and arrays in an event."),
    ]

    private static let logging: [SettingRow] = [
        SettingRow(
            "log.level", .choice(["error", "warning", "info", "debug"]), default: .value("info"), [.worker, .config],
            "How much is logged."),
        SettingRow(
            "log.format", .choice(["text", "json"]), default: .none(words: "text on a terminal, else json"),
            [.worker, .config], "How a log line looks."),
    ]
}
