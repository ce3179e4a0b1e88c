internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest

/// The commands that accept a setting as a flag.
struct CommandSet: OptionSet, Sendable {
    let rawValue: Int

    static let worker = CommandSet(rawValue: 1 << 0)
    static let produce = CommandSet(rawValue: 1 << 1)
    static let inspect = CommandSet(rawValue: 1 << 2)
    static let topics = CommandSet(rawValue: 1 << 3)
    static let resolve = CommandSet(rawValue: 1 << 4)
    static let routes = CommandSet(rawValue: 1 << 5)
    static let config = CommandSet(rawValue: 1 << 6)
    static let vendors = CommandSet(rawValue: 1 << 7)
    static let diff = CommandSet(rawValue: 1 << 8)
    static let doctor = CommandSet(rawValue: 1 << 9)
    static let deadLetters = CommandSet(rawValue: 1 << 10)
    static let console = CommandSet(rawValue: 1 << 11)
    static let forecast = CommandSet(rawValue: 1 << 12)
    static let tables = CommandSet(rawValue: 1 << 13)
    static let bisect = CommandSet(rawValue: 1 << 14)
    static let recall = CommandSet(rawValue: 1 << 15)
    static let verify = CommandSet(rawValue: 1 << 16)

    /// The commands that connect to a broker, and `config`, which shows their settings.
    static let connecting: CommandSet = [
        .worker, .produce, .inspect, .deadLetters, .topics, .doctor, .console, .forecast, .tables,
        .bisect, .recall, .verify, .config,
    ]

    /// The commands that read push messages, and the commands that show how they are read.
    static let reading: CommandSet = [
        .worker, .produce, .inspect, .resolve, .vendors, .diff, .console, .forecast, .recall, .config,
    ]

    /// The names of the commands, for the reference.
    var names: [String] {
        let all: [(CommandSet, String)] = [
            (.worker, "worker"), (.produce, "produce"), (.inspect, "inspect"), (.topics, "topics"),
            (.resolve, "resolve"), (.routes, "routes"), (.vendors, "vendors"), (.diff, "routes diff"),
            (.doctor, "doctor"), (.deadLetters, "dlq"), (.console, "console"), (.forecast, "forecast"),
            (.verify, "verify"),
            (.tables, "tables"), (.bisect, "bisect"), (.recall, "recall"),
        ]
        return all.filter { contains($0.0) }.map(\.1)
    }
}

/// The default of a setting.
enum SettingDefault: Sendable, ExpressibleByStringLiteral {
    /// A constant value, in the form of a flag.
    case value(String)
    /// A value that depends on the machine, with its description.
    case computed(String, @Sendable () -> String)
    /// No value, with a description of the consequence.
    case none(String)

    init(stringLiteral text: String) { self = .value(text) }
}

/// A row of the settings table.
struct SettingRow: Sendable {
    /// The name, with dots, as in the reference and, nested, in the settings file.
    let name: String
    /// The type of the value.
    let type: ValueType
    /// The default value.
    let `default`: SettingDefault
    /// The flags that set it.
    ///
    /// Help texts and errors show the first one.
    let flags: [String]
    /// The commands that accept the setting as a flag.
    let commands: CommandSet
    /// A sentence that describes the effect.
    let help: String
    /// A description of bounds that the type does not express.
    let boundsNote: String?

    /// Creates a row.
    ///
    /// Without `flags` the flag is the name with dashes for dots.
    init(
        _ name: String, _ type: ValueType, default: SettingDefault, flags: [String]? = nil, _ commands: CommandSet,
        bounds: String? = nil, _ help: String
    ) {
        self.name = name
        self.type = type
        self.default = `default`
        self.flags = flags ?? ["--" + name.replacing(".", with: "-")]
        self.commands = commands
        boundsNote = bounds
        self.help = help
    }

    /// The environment variable of the setting.
    var variable: String { "LINKD_" + name.uppercased().replacing(".", with: "_") }

    /// The default as text.
    var defaultText: String {
        switch self.default {
        case .value(let text): text
        case .computed(let words, _), .none(let words): words
        }
    }

    /// The bounds, as shown in the reference, or an empty text.
    var bounds: String {
        guard let boundsNote else { return type.bounds }
        return type.bounds.isEmpty ? boundsNote : type.bounds + "; " + boundsNote
    }
}

/// The settings table, the only source for flags, environment variables, the file, the reference, and `linkd config`.
enum SettingsTable {
    /// All rows, in the order of the reference.
    static let rows: [SettingRow] =
        connection + topics + group + tables + flow + limits + monitoring + logging

    /// Returns the row with a name.
    static func row(_ name: String) -> SettingRow? { rows.first { $0.name == name } }

    private static let connection: [SettingRow] = [
        SettingRow(
            "bootstrap", .addresses(count: 1...32), default: .none("none, required"), flags: ["--bootstrap", "-b"],
            .connecting, "Brokers for the first connection to the cluster."),
        SettingRow(
            "librdkafka", .pairs(count: 0...128), default: .none("none"), flags: ["-X", "--librdkafka"], .connecting,
            "Properties of librdkafka. The prefix `consumer.` or `producer.` limits a property to that client. "
                + "Properties that linkd sets itself are refused. In the settings file, write an object."),
        SettingRow(
            "start.timeout", .duration(1000...600_000), default: "30s", .connecting,
            "Time to wait for a broker at the start."),
        SettingRow(
            "sasl.token.file", .file, default: .none("none"), .connecting,
            bounds: "64KiB; with `sasl.mechanisms=OAUTHBEARER`",
            "File with the token of OAUTHBEARER. It is read again before the token expires."),
        SettingRow(
            "sasl.token.command", .text(bytes: 1...4096), default: .none("none"), .connecting,
            bounds: "with `sasl.mechanisms=OAUTHBEARER`",
            "Command that prints the token of OAUTHBEARER. It runs without a shell, and again before the token "
                + "expires."),
    ]

    private static let topics: [SettingRow] = [
        SettingRow(
            "input", .topics(count: 1...64), default: "link-events",
            [.worker, .deadLetters, .topics, .doctor, .console, .bisect, .recall, .verify, .config],
            bounds: "or one regular expression that begins with `^`", "Topics with link events."),
        SettingRow(
            "output", .topic, default: "link-decisions",
            [.worker, .deadLetters, .topics, .doctor, .console, .bisect, .recall, .verify, .config],
            bounds: "not an input or dead-letter topic", "Topic for decisions."),
        SettingRow(
            "output.applications",
            .topicsByName(count: 1...OutputTopics.limit, bytes: 1...OutputTopics.nameBytes),
            default: .none("none, one topic"),
            [.worker, .inspect, .deadLetters, .topics, .doctor, .console, .bisect, .recall, .verify, .config],
            bounds: "no input or dead-letter topics",
            "Topics for the decisions of applications. A decision is for the application that its event names, or else "
                + "for the only one that the table lists. All other decisions go to `output`. In the settings file, "
                + "write an object under the name with its dot."),
        SettingRow(
            "devices.topic", .topic, default: .none("none, no registry"),
            [
                .worker, .produce, .inspect, .deadLetters, .topics, .doctor, .console, .bisect, .recall, .verify,
                .config,
            ],
            bounds: "compacted; not another topic of the worker",
            "Topic with the registry of devices. What an event does not say about a device is taken from it."),
        SettingRow(
            "devices.members", .texts(count: 1...73, bytes: 1...267), default: .value(DeviceMembers.standard.text),
            [.worker, .produce, .inspect, .console, .forecast, .config], bounds: "4KiB for each device",
            "Facts of the registry that are stored, joined, and published in decisions. `attributes` means all "
                + "attributes, and `attributes.NAME` one of them."),
        SettingRow(
            "devices.max", .integer(1...1_000_000_000), default: "20000000", [.worker, .forecast, .config],
            "Maximum number of devices in the registry. A worker that finds more ends with exit code 78."),
        SettingRow(
            "tables.topic", .topic, default: .none("none, no archive"),
            [
                .worker, .inspect, .deadLetters, .topics, .doctor, .console, .tables, .bisect, .recall, .verify,
                .config,
            ],
            bounds: "compacted; not another topic of the worker",
            "Topic with the archive of configurations. A worker serves tables only if the archive has them, and the "
                + "reason for an old decision can be found although no file has its table any more."),
        SettingRow(
            "dlq.topic", .topicTemplate, default: "{input}.dlq",
            [.worker, .inspect, .deadLetters, .topics, .doctor, .console, .verify, .config],
            bounds: "must contain `{input}` if there are several inputs",
            "Topic for the dead letters of an input topic."),
        SettingRow(
            "dlq.headers", .choice(["native", "connect", "spring", "streams", "all"]), default: "native",
            [.worker, .config],
            "Headers that dead letters have for other tools, in addition to linkd's own: for Kafka Connect, Spring "
                + "Kafka, or Kafka Streams."),
        SettingRow(
            "dlq.max.ratio", .decimal(0...10_000, places: 4), default: "0.95", [.worker, .config],
            "Share of dead letters among the last 1,000 records of a partition above which `dlq.excess` applies. 0 "
                + "means no limit."),
        SettingRow(
            "dlq.excess", .choice(["slow", "stop"]), default: "slow", [.worker, .config],
            "Reaction to a partition above `dlq.max.ratio`: slow its dead letters to `dlq.max.rate`, or end with exit "
                + "code 81."),
        SettingRow(
            "dlq.max.rate", .integer(1...1_000_000), default: "100", [.worker, .config],
            "Dead letters per second of a partition above `dlq.max.ratio`, with `dlq.excess` `slow`."),
        SettingRow(
            "dlq.max.consecutive", .integer(0...1_000_000), default: "0", [.worker, .config],
            "Consecutive dead letters of one partition above which the worker ends with exit code 81. 0 means no "
                + "limit."),
    ]

    private static let group: [SettingRow] = [
        SettingRow(
            "group", .text(bytes: 1...200), default: "linkd", [.worker, .doctor, .verify, .config], "Consumer group."),
        SettingRow(
            "instance", .name(bytes: 1...64), default: .none("a new name at every start"), [.worker, .config],
            "Stable name of this process, for a fleet of fixed size: static group membership, and a restart takes over "
                + "at once. It must be unique."),
        SettingRow(
            "lanes", .integer(1...64), default: .computed("processors, at most 8") { "\(min(8, Platform.processors))" },
            [.worker, .doctor, .config], "Threads, each with its own consumer and producer."),
        SettingRow(
            "guarantee", .choice(["exactly-once", "at-least-once"]), default: "exactly-once",
            [.worker, .doctor, .verify, .config],
            "Transactions, or an idempotent producer that may repeat records after a failure."),
    ]

    private static let tables: [SettingRow] = [
        SettingRow(
            "tables", .files(count: 1...64),
            default: .none("`worker` requires it or `table.directory`; otherwise the shipped tables"),
            flags: ["--table"], [.worker, .inspect, .resolve, .routes, .doctor, .console, .forecast, .config],
            bounds: "64MiB each", "Route tables, one file each."),
        SettingRow(
            "table.directory", .directory, default: .none("none"), [.worker, .inspect, .doctor, .console, .config],
            bounds: "at most 64 files of 64MiB each",
            "Directory of route tables. Each file whose name ends with `.json` is one, except names that begin with "
                + "`.`."),
        SettingRow(
            "canary.table", .file, default: .none("none"), [.worker, .config], bounds: "64MiB",
            "Candidate for the served table with the same `id`."),
        SettingRow(
            "canary.percent", .decimal(0...10_000, places: 2), default: "0", [.worker, .config],
            bounds: "with `canary.table`", "Percentage of devices for which the candidate decides."),
        SettingRow(
            "canary.compare", .decimal(0...10_000, places: 2), default: "1", [.worker, .config],
            bounds: "with `canary.table`",
            "Percentage of the other devices for which the decisions of both tables are compared."),
        SettingRow(
            "properties", .files(count: 1...64), default: .none("none"), [.worker, .config], bounds: "1MiB each",
            "Properties of the tables, one file each. A table that breaks one is refused, at the start, when the files "
                + "change, and as a canary. A property that is not proved is only logged."),
        SettingRow(
            "vendors", .files(count: 1...16), default: .none("none"), .reading, bounds: "16MiB each",
            "Vendor tables, by which push messages of vendors are recognized and read. They are added to the shipped "
                + "one: a row replaces the row with its id, and other rows have precedence over the rows of earlier "
                + "files. `none` leaves out the shipped one, without which a worker does not start."),
        SettingRow(
            "link.platforms", .file, default: .none("the shipped `link-platforms.json`"), .reading, bounds: "16MiB",
            "Rules by which a link is taken out of the link of a link platform. They replace the shipped ones, without "
                + "which a worker does not start. `none` means no rules."),
        SettingRow(
            "short.links", .file, default: .none("none"),
            [.worker, .doctor, .produce, .resolve, .diff, .console, .forecast, .config], bounds: "40GiB",
            "File with the destinations of short links, which `linkd short-links build` writes. Short links that it "
                + "does not have need resolution. Replace it by a rename only."),
        SettingRow(
            "passthrough", .texts(count: 0...16, bytes: 1...128), default: "campaign",
            [.worker, .inspect, .console, .recall, .config], bounds: "4KiB of values in one event",
            "Members of an event to copy into the decision's `context`. By default the `campaign`, if it is a string "
                + "of at most 256 bytes. A list replaces it, with values of any type. `none` copies none."),
        SettingRow(
            "context.query", .texts(count: 0...16, bytes: 1...64),
            default: .value(QueryNames.campaign.joined(separator: ",")),
            [.worker, .inspect, .console, .recall, .config], bounds: "1KiB of values in one decision",
            "Names of items of the link's query whose values are copied into the decision's `context.query`: from the "
                + "destination, else from the wrappers that were unwrapped. `none` copies none."),
    ]

    private static let flow: [SettingRow] = [
        SettingRow(
            "from", .choice(["earliest", "latest", "fail"]), default: "earliest", [.worker, .config],
            "Start of a partition without a committed offset. `fail` ends with exit code 78."),
        SettingRow(
            "data.loss", .choice(["stop", "earliest", "latest"]), default: "stop", [.worker, .config],
            "Reaction when the broker no longer has the next offset. `stop` ends with exit code 65."),
        SettingRow(
            "assignor", .choice(["range", "cooperative-sticky"]), default: "range", [.worker, .config],
            "Assignment of partitions within the group. All processes of the group must use the same value."),
        SettingRow(
            "commit.interval", .durationOrAuto(5...10_000), default: "100ms", [.worker, .config],
            bounds: "at most a third of `transaction.timeout.ms`",
            "Age at which a transaction is committed, or a third of it at the end of all partitions. `auto` is ten "
                + "times the measured duration of a commit, from 50 to 500 ms."),
        SettingRow(
            "commit.records", .integer(1...500_000), default: "50000", [.worker, .config],
            "Input records after which a transaction is committed."),
        SettingRow(
            "commit.bytes", .size(64 << 10...128 << 20), default: "32MiB", [.worker, .config],
            "Bytes of output after which a transaction is committed."),
        SettingRow(
            "commit.idle", .duration(1...1000), default: "10ms", [.worker, .config],
            "Idle time at the end of all partitions after which a transaction is committed."),
        SettingRow(
            "batch.records", .integer(1...10_000), default: "1000", [.worker, .config],
            "Maximum number of records fetched from the client at once."),
        SettingRow(
            "stop.after", .integer(0...(1 << 53)), default: "0", [.worker, .config],
            "Input records, of all lanes, after which the worker ends. 0 means no limit."),
        SettingRow(
            "report", .choice(["text", "json"]), default: .none("none"), [.worker, .config],
            bounds: "with `stop.after`", "Counts and throughput on standard output at the end."),
        SettingRow(
            "shutdown.grace", .duration(3000...600_000), default: "30s", [.worker, .config],
            "Time for a clean end after SIGTERM or SIGINT. A worker that has not ended 2 s before this time is over "
                + "ends with exit code 80."),
        SettingRow(
            "state.dir", .directory, default: .none("none"), [.worker, .inspect, .doctor, .console, .recall, .config],
            bounds: "of one process",
            "Directory in which the worker keeps the tables that it served last and the records that it was processing "
                + "when it crashed."),
    ]

    private static let limits: [SettingRow] = [
        SettingRow(
            "limits.record.bytes", .size(1 << 10...32 << 20), default: "1MiB",
            [.worker, .inspect, .resolve, .console, .recall, .config],
            "Size limit of an input record's value. A record with a larger value becomes a dead letter."),
        SettingRow(
            "limits.decision.bytes", .size(1 << 10...32 << 20), default: "1000000",
            [.worker, .inspect, .console, .recall, .config],
            "Size limit of a decision with key and headers. A record with a larger one becomes a dead letter."),
        SettingRow(
            "limits.output.bytes", .size(64 << 10...128 << 20), default: "8MiB",
            [.worker, .inspect, .console, .recall, .config],
            "Size limit of all decisions of one record, with the dead letters of the items of a list. A record with "
                + "more becomes a dead letter."),
        SettingRow(
            "limits.devices", .integer(1...500), default: "500",
            [.worker, .inspect, .resolve, .console, .recall, .config],
            "Maximum number of devices in one event, or in all items of a list together."),
        SettingRow(
            "limits.json.depth", .integer(8...512), default: "64",
            [.worker, .inspect, .resolve, .console, .recall, .config],
            "Maximum depth of nested objects and arrays in an event."),
    ]

    private static let monitoring: [SettingRow] = [
        SettingRow(
            "http.listen", .address, default: .none("none, no HTTP server"), [.worker, .config],
            "Address of the HTTP server for `/ping`, `/ready`, `/metrics`, and `/status`. `:8080` listens on all "
                + "interfaces."),
        SettingRow(
            "http.max.loop.age", .duration(1000...3_600_000), default: "60s", [.worker, .config],
            "Time since a lane's last step after which `/ping` fails. Time without a reachable broker does not count."),
        SettingRow(
            "http.max.stall", .duration(1000...3_600_000), default: "120s", [.worker, .config],
            "Time without progress of a partition with lag after which `/ping` fails. Time without a reachable broker "
                + "does not count."),
    ]

    private static let logging: [SettingRow] = [
        SettingRow(
            "log.level", .choice(["error", "warning", "info", "debug"]), default: "info", [.worker, .config],
            "Least severe level that is logged."),
        SettingRow(
            "log.format", .choice(["text", "json"]), default: .none("text on a terminal, otherwise json"),
            [.worker, .config], "Format of a log line."),
        SettingRow(
            "trace.log", .boolean, default: "false", [.worker, .config],
            "One log line with the times of each record whose header `traceparent` has the sampled flag, at most 16 "
                + "per transaction."),
    ]
}
