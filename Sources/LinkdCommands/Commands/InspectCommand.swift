internal import DecisionIndex
internal import KafkaClient
internal import LinkCoordinator
internal import LinkDecider
internal import RouteTools

/// `linkd inspect`: prints decisions or dead letters, or what is known about devices.
enum InspectCommand {
    static let command = Command(
        path: ["inspect"],
        summary: "Print decisions or dead letters, or what the registry says about devices",
        discussion: [
            "Reads the committed records of a topic, from its start to its end at the time of the call, without a "
                + "consumer group. With --follow, it reads new records only, and ends after the time of --until.",
            "Up to 1 GiB of records is fetched in advance. The property `queued.max.messages.kbytes` limits it.",
            "--devices and --user read the topic of the registry (`devices.topic`), and print what its last records "
                + "say, and since when. A malformed record changes nothing, as in a worker. All partitions are read, "
                + "because other programs can write a device to any of them. --partition reads only one.",
            "Format tokens: %t topic, %p partition, %o offset, %k key, %K length of the key, %s value, %S length of "
                + "the value, %T timestamp in milliseconds, %h headers, %% percent sign, \\n, \\t, %{outcome} member "
                + "of the decision, %{context.push.campaign} path into the decision, %{dlq.reason} header with this "
                + "name. Keys and values are printed as they are, with their tabs and line ends, so programs should "
                + "read --json.",
        ],
        flags: [
            Flag(
                "--topic", .topic, default: "the settings `output` and `output.applications`: link-decisions",
                "Topic to read."),
            Flag("--dlq", "Read the dead-letter topics of the inputs, or with --topic the one of this topic."),
            Flag("--device", .text(bytes: 1...256), placeholder: "ID", "Print records of this device only."),
            Flag(
                "--event", .text(bytes: 1...1024), placeholder: "ID",
                "Print the decisions and dead letters of the event with this id only."),
            Flag("--route", .text(bytes: 1...256), placeholder: "ID", "Print decisions of this route only."),
            Flag(
                "--outcome", .choice(["navigate", "external", "deferred", "none", "reject"]),
                "Print decisions with this outcome only."),
            Flag("--reason", .text(bytes: 1...64), "Print decisions and dead letters with this reason only."),
            Flag(
                "--campaign", .text(bytes: 1...256), placeholder: "ID",
                "Print decisions of this campaign only: `context.push.campaign`, else `context.campaign`."),
            Flag(
                "--since", .time,
                "Print records from this time on, such as `16:30`, `yesterday`, or `1d2h` before now. With --dlq, it "
                    + "is the time of the failure (`dlq.failed.at`), and the whole topic is read."),
            Flag(
                "--until", .time,
                "Print records up to this time. A partition ends at its first record that is more than a minute later. "
                    + "With --dlq, it is the time of the failure, and the whole topic is read."),
            Flag("--partition", .integer(0...2_147_483_647), "Read this partition only."),
            Flag(
                "--offset", .texts(count: 1...1000, bytes: 0...256), repeats: true, placeholder: "P:N",
                "Read only this partition, from this offset on."),
            Flag(
                "--last", .integer(1...100_000), placeholder: "N",
                "Print the last N matching records, in the order of their times."),
            Flag("--count", .integer(0...(1 << 53)), "Stop after this number of records."),
            Flag("--follow", "Wait for new records. With --since, --offset, or --last, print those records first."),
            Flag(
                "--group-by", .text(bytes: 1...128), placeholder: "PROPERTY",
                "Count the records by this property instead of printing them: "
                    + RecordGroup.fields.map { "`\($0.rawValue)`" }.joined(separator: ", ")
                    + ", or an item of the link's query such as `context.query.utm_campaign`. `-` stands for none."),
            Flag("--json", "Print one JSON object per line."),
            Flag(
                "--csv",
                "Print comma-separated values (RFC 4180). A cell that begins with =, +, -, @, a tab, or a line end "
                    + "gets an apostrophe, so that no spreadsheet reads it as a formula."),
            Flag(
                "--why", .text(bytes: 0...300), placeholder: "ID",
                "Explain the decision with this id, or at this position: its event, its table, and the reason. --topic "
                    + "is the topic of the decision. Pass the worker's settings of tables, vendors, and limits."),
            Flag(
                "--devices", .text(bytes: 1...256), placeholder: "ID",
                "Print what the registry says about the device with this id."),
            Flag(
                "--user", .text(bytes: 1...256), placeholder: "ID",
                "Print what the registry says about all devices of this user."),
            Flag("--local", "Print local times in text and CSV, and read `yesterday` and `16:30` as local times."),
            Flag(
                "--format", or: "-f", .text(bytes: 0...65536), placeholder: "FORMAT",
                "Print each record in this format."),
        ],
        settings: .inspect,
        main: [
            "--bootstrap", "--topic", "--dlq", "--device", "--event", "--route", "--outcome", "--reason", "--since",
            "--last", "--follow", "--group-by", "--why", "--devices", "--user",
        ],
        examples: [
            "linkd inspect -b localhost:9092 --device d-0042": "The decisions of one device.",
            "linkd inspect -b localhost:9092 --outcome reject --since 1h --json":
                "The links rejected in the last hour, as JSON.",
            "linkd inspect -b localhost:9092 --outcome reject --since 1h --group-by reason":
                "The number of rejections in the last hour by reason.",
            "linkd inspect -b localhost:9092 --why link-events-0-42-0 --state-dir /var/lib/linkd":
                "The reason for a decision, with the table that made it.",
            "linkd inspect -b localhost:9092 --dlq -f '%{dlq.reason}\\t%t-%p-%o\\n'":
                "The dead letters with their reasons.",
            "linkd inspect -b localhost:9092 --last 100 --follow":
                "The last 100 decisions, then new ones as they arrive.",
            "linkd inspect -b localhost:9092 --devices-topic devices --user u-17":
                "The devices of a user in the registry, with their facts.",
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let settings = try call.settings()
        if let why = call.text("why") { return try explain(why, call, settings) }
        if let job = try RegistryJob(call, settings) {
            try checkAlone(job.isOfUser ? "user" : "devices", with: ["json", "local", "partition"], call)
            try job.run(Connection(settings))
            return .success
        }
        let filter = try RecordFilter(call, ofDeadLetters: call.isOn("dlq"))
        let mode = try mode(call)
        let range = try filter.range(call)
        let connection = try Connection(settings)
        let topics = try topics(call, settings, connection.makeAdmin())
        guard range.offsets.isEmpty || topics.count == 1 else {
            throw CommandFailure(
                .usage, "--offset needs one topic, and there are \(topics.count)", advice: "pass it with --topic")
        }
        try InspectJob(call, filter, mode).run(connection, topics, range)
        return .success
    }

    /// Explains a decision.
    private static func explain(
        _ text: String, _ call: Invocation, _ settings: Settings
    ) throws(CommandFailure) -> ExitCode {
        try checkAlone("why", with: ["json", "topic"], call)
        let outputs = call.text("topic").map { [$0] } ?? settings.outputs.names
        guard let reference = DecisionReference(text, outputs: outputs) else {
            throw CommandFailure(
                .usage, "--why: `\(Escaping.visible(text))` is not the id of a decision",
                advice:
                    "pass the member `decision` of a decision, TOPIC-PARTITION-OFFSET-INDEX, with .ITEM after the "
                    + "offset in a list and ~N for a correction, or \(outputs[0])-PARTITION-OFFSET, its position")
        }
        let connection = try Connection(settings)
        let job = try WhyJob(call, settings)
        _ = try connection.makeAdmin()
        return try job.run(reference, connection, outputs: outputs)
    }

    /// Checks that no flag of this command is given beside a flag and those that it allows.
    private static func checkAlone(
        _ flag: String, with allowed: Set<String>, _ call: Invocation
    ) throws(CommandFailure) {
        for other in command.flags.map({ String($0.names[0].dropFirst(2)) }) where other != flag {
            guard !allowed.contains(other), isGiven(other, call) || !call.list(other).isEmpty else { continue }
            throw CommandFailure(
                .usage, "--\(flag) and --\(other) cannot be combined", advice: "pass only one of them")
        }
    }

    /// Returns the output format, after a check of the flags that exclude each other.
    private static func mode(_ call: Invocation) throws(CommandFailure) -> RecordPrinter.Mode {
        let formats = ["json", "csv", "format"]
        let others = ["format", "count", "follow"]
        let pairs = [(formats[0], formats[1]), (formats[0], formats[2]), (formats[1], formats[2])]
        for (a, b) in pairs + others.map({ ("group-by", $0) }) where isGiven(a, call) && isGiven(b, call) {
            throw CommandFailure(.usage, "--\(a) and --\(b) cannot be combined", advice: "pass only one of them")
        }
        if let name = call.text("group-by"), RecordGroup(name) == nil {
            let names = RecordGroup.fields.map(\.rawValue)
            throw CommandFailure(
                .usage, "--group-by: `\(Escaping.visible(name))` is not a property",
                advice: NearestName.of(name, among: names).map { "pass --group-by \($0)" }
                    ?? "pass \(names.joined(separator: ", ")), or context.query.NAME")
        }
        if let format = call.text("format") { return .format(try FormatTokens(format)) }
        return call.json ? .json : call.isOn("csv") ? .csv : .readable
    }

    private static func isGiven(_ flag: String, _ call: Invocation) -> Bool {
        call.isOn(flag) || call.text(flag) != nil || call.number(flag) != nil
    }

    private static func topics(
        _ call: Invocation, _ settings: Settings, _ admin: KafkaAdmin
    ) throws(CommandFailure) -> [String] {
        if let topic = call.text("topic") { return [call.isOn("dlq") ? settings.deadLetterTopic(of: topic) : topic] }
        guard call.isOn("dlq") else { return settings.outputs.names }
        return try ClusterTopics(settings, admin).deadLetters
    }
}
