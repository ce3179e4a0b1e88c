internal import KafkaClient

/// `linkd inspect`: prints decisions or dead letters.
enum InspectCommand {
    static let command = Command(
        path: ["inspect"],
        summary: "Print decisions or dead letters",
        discussion: [
            "Reads the committed records of a topic, from its start to its end at the time of the call, without a "
                + "consumer group.",
            "Format tokens: %t topic, %p partition, %o offset, %k key, %K length of the key, %s value, %S length of "
                + "the value, %T timestamp in milliseconds, %h headers, %% percent sign, \\n, \\t, %{member} member "
                + "of the decision, %{dlq.reason} header with this name.",
        ],
        flags: [
            FlagDeclaration("--topic", type: .topic, default: "the setting `output`: link-decisions", "Topic to read."),
            FlagDeclaration("--dlq", type: .boolean, "Read the dead-letter topics of the inputs."),
            FlagDeclaration(
                "--device", type: .text(bytes: 1...256), placeholder: "ID",
                "Print records of this device only."),
            FlagDeclaration(
                "--route", type: .text(bytes: 1...256), placeholder: "ID",
                "Print decisions of this route only."),
            FlagDeclaration(
                "--outcome", type: .choice(["navigate", "external", "deferred", "none", "reject"]),
                "Print decisions with this outcome only."
            ),
            FlagDeclaration(
                "--reason", type: .text(bytes: 1...64), "Print decisions and dead letters with this reason only."),
            FlagDeclaration("--since", type: .time, "Print records from this time on."),
            FlagDeclaration("--until", type: .time, "Print records up to this time."),
            FlagDeclaration("--partition", type: .integer(0...2_147_483_647), "Read this partition only."),
            FlagDeclaration("--count", type: .integer(0...(1 << 53)), "Stop after this number of records."),
            FlagDeclaration("--follow", type: .boolean, "Wait for new records at the end."),
            FlagDeclaration("--json", type: .boolean, "Print one JSON object per line."),
            FlagDeclaration(
                "--format", "-f", type: .text(bytes: 0...65536), placeholder: "FORMAT",
                "Print each record in this format."),
        ],
        settings: .inspect,
        examples: [
            CommandExample(
                line: "linkd inspect -b localhost:9092 --device d-0042",
                description: "The decisions of one device."),
            CommandExample(
                line: "linkd inspect -b localhost:9092 --outcome reject --since 1h --json",
                description: "The links rejected in the last hour, as JSON."),
            CommandExample(
                line: "linkd inspect -b localhost:9092 --dlq -f '%{dlq.reason}\\t%t-%p-%o\\n'",
                description: "The dead letters with their reasons."),
            CommandExample(
                line: "linkd inspect -b localhost:9092 --follow",
                description: "All decisions, then new ones as they arrive."),
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let settings = try call.settings()
        let filter = filter(call)
        let printer = RecordPrinter(try mode(call), on: call.console.out)
        let connection = try Connection(settings)
        let topics = try topics(call, settings, connection.makeAdmin())
        var scan = try TopicScan(
            connection, topics: topics, partition: call.number("partition").map { Int32($0) }, since: filter.since,
            follow: call.isOn("follow"))
        var remaining = call.number("count") ?? .max
        while remaining > 0, !scan.isDone {
            let more = try scan.next { record in
                let json = record.json
                if filter.matches(record, json) {
                    printer.print(record, json)
                    remaining -= 1
                }
                return remaining > 0
            }
            call.console.out.flush()
            if !more { break }
        }
        return .success
    }

    private static func mode(_ call: Invocation) throws(CommandFailure) -> RecordPrinter.Mode {
        guard let format = call.text("format") else { return call.json ? .json : .readable }
        if call.json {
            throw CommandFailure(.usage, "--json and --format cannot be combined", advice: "pass only one of them")
        }
        return .format(try FormatTokens(format))
    }

    private static func filter(_ call: Invocation) -> RecordFilter {
        let now = Platform.nowMilliseconds
        return RecordFilter(
            device: call.text("device"), route: call.text("route"), outcome: call.text("outcome"),
            reason: call.text("reason"), since: call.text("since").flatMap { Timestamps.parse($0, now: now) },
            until: call.text("until").flatMap { Timestamps.parse($0, now: now) })
    }

    private static func topics(
        _ call: Invocation, _ settings: Settings, _ admin: KafkaAdmin
    ) throws(CommandFailure) -> [String] {
        if let topic = call.text("topic") { return [topic] }
        guard call.isOn("dlq") else { return [settings.text("output") ?? "link-decisions"] }
        return try TopicNames(settings, admin).deadLetters
    }
}
