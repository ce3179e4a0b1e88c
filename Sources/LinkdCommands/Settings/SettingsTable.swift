/// The settings table, the only source for flags, environment variables, the file, the reference, and `linkd config`.
enum SettingsTable {
    /// All rows, in the order of the reference.
    static let rows: [SettingRow] =
        connection + topics + group + tables + flow + limits + monitoring + logging

    /// Returns the row with a name.
    static func row(_ name: String) -> SettingRow? { rows.first { $0.name == name } }

    private static let connection: [SettingRow] = [
        SettingRow(
            "bootstrap", .addresses(count: 1...32), default: .none(description: "none, required"),
            flags: ["--bootstrap", "-b"],
            .connecting, "Brokers for the first connection to the cluster."),
        SettingRow(
            "librdkafka", .pairs(count: 0...128), default: .none(description: "none"), flags: ["-X", "--librdkafka"],
            .connecting,
            "Properties of librdkafka. The prefix `consumer.` or `producer.` limits a property to that client. "
                + "Properties that linkd sets itself are refused. In the settings file, write an object."),
        SettingRow(
            "start.timeout", .duration(1000...600_000), default: .value("30s"), .connecting,
            "Time to wait for a broker at the start."),
        SettingRow(
            "sasl.token.file", .file, default: .none(description: "none"), .connecting,
            bounds: "64KiB; with `sasl.mechanisms=OAUTHBEARER`",
            "File with the token of OAUTHBEARER. It is read again before the token expires."),
        SettingRow(
            "sasl.token.command", .text(bytes: 1...4096), default: .none(description: "none"), .connecting,
            bounds: "with `sasl.mechanisms=OAUTHBEARER`",
            "Command that prints the token of OAUTHBEARER. It runs without a shell, and again before the token "
                + "expires."),
    ]

    private static let topics: [SettingRow] = [
        SettingRow(
            "input", .topics(count: 1...64), default: .value("link-events"),
            [.worker, .deadLetters, .topics, .doctor, .console, .config],
            bounds: "or one regular expression that begins with `^`", "Topics with link events."),
        SettingRow(
            "output", .topic, default: .value("link-decisions"),
            [.worker, .deadLetters, .topics, .doctor, .console, .config],
            bounds: "not an input or dead-letter topic", "Topic for decisions."),
        SettingRow(
            "dlq.topic", .topicTemplate, default: .value("{input}.dlq"),
            [.worker, .inspect, .deadLetters, .topics, .doctor, .console, .config],
            bounds: "must contain `{input}` if there are several inputs",
            "Topic for the dead letters of an input topic."),
        SettingRow(
            "dlq.headers", .choice(["native", "connect", "spring", "streams", "all"]), default: .value("native"),
            [.worker, .config],
            "Headers that dead letters have for other tools, in addition to those of linkd: of Kafka Connect, Spring "
                + "Kafka, or Kafka Streams."),
        SettingRow(
            "dlq.max.ratio", .decimal(0...10_000, places: 4), default: .value("0.95"), [.worker, .config],
            "Share of dead letters among a lane's last 1,000 records above which the worker ends with exit code 81. 0 "
                + "means no limit."),
        SettingRow(
            "dlq.max.consecutive", .integer(0...1_000_000), default: .value("0"), [.worker, .config],
            "Consecutive dead letters of one partition above which the worker ends with exit code 81. 0 means no "
                + "limit."),
    ]

    private static let group: [SettingRow] = [
        SettingRow(
            "group", .text(bytes: 1...200), default: .value("linkd"), [.worker, .doctor, .config], "Consumer group."),
        SettingRow(
            "instance", .name(bytes: 1...64), default: .none(description: "a new name at every start"),
            [.worker, .config],
            "Stable name of this process, for a fleet of fixed size: static group membership, and a restart takes over "
                + "at once. It must be unique."),
        SettingRow(
            "lanes", .integer(1...64),
            default: .computed(description: "processors, at most 8") { "\(min(8, Platform.processors))" },
            [.worker, .doctor, .config],
            "Threads, each with its own consumer and producer."),
        SettingRow(
            "guarantee", .choice(["exactly-once", "at-least-once"]), default: .value("exactly-once"),
            [.worker, .doctor, .config],
            "Transactions, or an idempotent producer that may repeat records after a failure."),
    ]

    private static let tables: [SettingRow] = [
        SettingRow(
            "tables", .files(count: 1...64),
            default: .none(
                description: "`worker` requires it or `table.directory`; otherwise the shipped tables"),
            flags: ["--table"], [.worker, .inspect, .resolve, .routes, .console, .config], bounds: "64MiB each",
            "Route tables, one file each."),
        SettingRow(
            "table.directory", .directory, default: .none(description: "none"), [.worker, .inspect, .console, .config],
            bounds: "at most 64 files of 64MiB each",
            "Directory of route tables. Each file whose name ends with `.json` is one, except names that begin with "
                + "`.`."),
        SettingRow(
            "canary.table", .file, default: .none(description: "none"), [.worker, .config], bounds: "64MiB",
            "Candidate for the served table with the same `id`."),
        SettingRow(
            "canary.percent", .decimal(0...10_000, places: 2), default: .value("0"), [.worker, .config],
            bounds: "with `canary.table`", "Percentage of devices for which the candidate decides."),
        SettingRow(
            "canary.compare", .decimal(0...10_000, places: 2), default: .value("1"), [.worker, .config],
            bounds: "with `canary.table`",
            "Percentage of the other devices for which the decisions of both tables are compared."),
        SettingRow(
            "vendors", .files(count: 1...16), default: .none(description: "none"), .reading, bounds: "16MiB each",
            "Vendor tables, by which push messages of vendors are recognized and read. They are added to the shipped "
                + "one: a row replaces the row with its id, and other rows have precedence over those of earlier "
                + "files."),
        SettingRow(
            "link.platforms", .file, default: .none(description: "the shipped `link-platforms.json`"), .reading,
            bounds: "16MiB",
            "Rules by which a link is taken out of the link of a link platform. They replace the shipped ones."),
        SettingRow(
            "passthrough", .texts(count: 0...16, bytes: 1...128), default: .none(description: "none"),
            [.worker, .inspect, .console, .config], bounds: "4KiB of values in one event",
            "Members of an event to copy into the decision's `context`."),
    ]

    private static let flow: [SettingRow] = [
        SettingRow(
            "from", .choice(["earliest", "latest", "fail"]), default: .value("earliest"), [.worker, .config],
            "Start of a partition without a committed offset. `fail` ends with exit code 78."),
        SettingRow(
            "data.loss", .choice(["stop", "earliest", "latest"]), default: .value("stop"), [.worker, .config],
            "Reaction when the broker no longer has the next offset. `stop` ends with exit code 65."),
        SettingRow(
            "assignor", .choice(["range", "cooperative-sticky"]), default: .value("range"), [.worker, .config],
            "Assignment of partitions within the group. All processes of the group must use the same value."),
        SettingRow(
            "commit.interval", .durationOrAuto(5...10_000), default: .value("100ms"), [.worker, .config],
            bounds: "at most a third of `transaction.timeout.ms`",
            "Age at which a transaction is committed. `auto` is ten times the measured duration of a commit, from 50 "
                + "to 500 ms."),
        SettingRow(
            "commit.records", .integer(1...500_000), default: .value("50000"), [.worker, .config],
            "Input records after which a transaction is committed."),
        SettingRow(
            "commit.bytes", .size(64 << 10...128 << 20), default: .value("32MiB"), [.worker, .config],
            "Bytes of output after which a transaction is committed."),
        SettingRow(
            "commit.idle", .duration(1...1000), default: .value("10ms"), [.worker, .config],
            "Idle time at the end of all partitions after which a transaction is committed."),
        SettingRow(
            "batch.records", .integer(1...10_000), default: .value("1000"), [.worker, .config],
            "Maximum number of records fetched from the client at once."),
        SettingRow(
            "stop.after", .integer(0...(1 << 53)), default: .value("0"), [.worker, .config],
            "Input records, of all lanes, after which the worker ends. 0 means no limit."),
        SettingRow(
            "report", .choice(["text", "json"]), default: .none(description: "none"), [.worker, .config],
            bounds: "with `stop.after`", "Counts and throughput on standard output at the end."),
        SettingRow(
            "shutdown.grace", .duration(3000...600_000), default: .value("30s"), [.worker, .config],
            "Time for a clean end after SIGTERM or SIGINT. A worker that has not ended 2 s before this time is over "
                + "ends with exit code 80."),
        SettingRow(
            "state.dir", .directory, default: .none(description: "none"), [.worker, .inspect, .console, .config],
            bounds: "of one process",
            "Directory in which the worker keeps the tables that it served last and the records that it was processing "
                + "when it crashed."),
    ]

    private static let limits: [SettingRow] = [
        SettingRow(
            "limits.record.bytes", .size(1 << 10...32 << 20), default: .value("1MiB"),
            [.worker, .inspect, .resolve, .console, .config],
            "Size limit of an input record's value. A record with a larger value becomes a dead letter."),
        SettingRow(
            "limits.decision.bytes", .size(1 << 10...32 << 20), default: .value("1000000"),
            [.worker, .inspect, .console, .config],
            "Size limit of a decision with key and headers. A record with a larger one becomes a dead letter."),
        SettingRow(
            "limits.output.bytes", .size(64 << 10...128 << 20), default: .value("8MiB"),
            [.worker, .inspect, .console, .config],
            "Size limit of all decisions of one record. A record with more becomes a dead letter."),
        SettingRow(
            "limits.devices", .integer(1...500), default: .value("500"),
            [.worker, .inspect, .resolve, .console, .config],
            "Maximum number of devices in one event."),
        SettingRow(
            "limits.json.depth", .integer(8...512), default: .value("64"),
            [.worker, .inspect, .resolve, .console, .config],
            "Maximum depth of nested objects and arrays in an event."),
    ]

    private static let monitoring: [SettingRow] = [
        SettingRow(
            "http.listen", .address, default: .none(description: "none, no HTTP server"), [.worker, .config],
            "Address of the HTTP server for `/ping`, `/ready`, `/metrics`, and `/status`. `:8080` listens on all "
                + "interfaces."),
        SettingRow(
            "http.max.loop.age", .duration(1000...3_600_000), default: .value("60s"), [.worker, .config],
            "Time since a lane's last step after which `/ping` fails. Time without a reachable broker does not "
                + "count."),
        SettingRow(
            "http.max.stall", .duration(1000...3_600_000), default: .value("120s"), [.worker, .config],
            "Time without progress of a partition with lag after which `/ping` fails. Time without a reachable broker "
                + "does not count."),
    ]

    private static let logging: [SettingRow] = [
        SettingRow(
            "log.level", .choice(["error", "warning", "info", "debug"]), default: .value("info"), [.worker, .config],
            "Least severe level that is logged."),
        SettingRow(
            "log.format", .choice(["text", "json"]), default: .none(description: "text on a terminal, otherwise json"),
            [.worker, .config], "Format of a log line."),
        SettingRow(
            "trace.log", .boolean, default: .value("false"), [.worker, .config],
            "One log line with the times of each record whose header `traceparent` has the sampled flag, at most 16 "
                + "per transaction."),
    ]
}
