internal import KafkaClient

/// `linkd inspect`: reads decisions or dead letters.
enum InspectCommand {
    static let command = Command(
        path: ["inspect"],
        summary: "Read decisions or dead letters",
        discussion: [
            "Reads committed records from the start of a topic to its end as it is now; no consumer group is joined.",
            "Format tokens: %t topic, %p partition, %o offset, %k key, %K its length, %s value, %S its length, "
                + "%T timestamp in milliseconds, %h headers, %% a percent sign, \\n \\t, %{member} a member of the "
                + "decision, %{dlq.reason} a header.",
        ],
        flags: [
            FlagDeclaration("--topic", type: .topic, default: "the setting `output`: link-decisions", "What to read."),
            FlagDeclaration("--dlq", type: .boolean, "Read the dead-letter topics of the inputs."),
            FlagDeclaration("--device", type: .text(bytes: 1...256), placeholder: "ID", "Only this device."),
            FlagDeclaration("--route", type: .text(bytes: 1...256), placeholder: "ID", "Only this route."),
            FlagDeclaration(
                "--outcome", type: .choice(["navigate", "external", "deferred", "none", "reject"]), "Only this outcome."
            ),
            FlagDeclaration(
                "--reason", type: .text(bytes: 1...64), "Only this reason, of a decision or a dead letter."),
            FlagDeclaration("--since", type: .time, "Only from this time on."),
            FlagDeclaration("--until", type: .time, "Only up to this time."),
            FlagDeclaration("--partition", type: .integer(0...2_147_483_647), "Only this partition."),
            FlagDeclaration("--count", type: .integer(0...(1 << 53)), "Stop after so many."),
            FlagDeclaration("--follow", type: .boolean, "Wait for more at the end."),
            FlagDeclaration("--json", type: .boolean, "Print one JSON object a line."),
            FlagDeclaration(
                "--format", "-f", type: .text(bytes: 0...65536), placeholder: "FORMAT", "Print by this format."),
        ],
        settings: .inspect,
        examples: [
            CommandExample(line: "linkd inspect -b localhost:9092 --device d-0042", words: "One device's decisions."),
            CommandExample(
                line: "linkd inspect -b localhost:9092 --outcome reject --since 1h --json",
                words: "What was refused in the last hour, for a program."),
            CommandExample(
                line: "linkd inspect -b localhost:9092 --dlq -f '%{dlq.reason}\\t%t-%p-%o\\n'",
                words: "Dead letters with their reasons."),
            CommandExample(line: "linkd inspect -b localhost:9092 --follow", words: "Everything, and what comes next."),
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let settings = try call.settings()
        let filter = filter(call)
        let printer = RecordPrinter(try mode(call), on: call.console.out)
        let connection = try Connection(settings)
        let topics = try topics(call, settings, connection.admin())
        var scan = try TopicScan(
            connection, topics: topics, partition: call.number("partition").map { Int32($0) }, since: filter.since,
            follow: call.isOn("follow"))
        var left = call.number("count") ?? .max
        while left > 0, !scan.isDone {
            let more = try scan.next { record in
                let json = record.json
                if filter.takes(record, json) {
                    printer.print(record, json)
                    left -= 1
                }
                return left > 0
            }
            call.console.out.flush()
            if !more { break }
        }
        return .success
    }

    private static func mode(_ call: Invocation) throws(CommandFailure) -> RecordPrinter.Mode {
        guard let format = call.text("format") else { return call.json ? .json : .readable }
        if call.json {
            throw CommandFailure(.usage, "--json and --format exclude each other", advice: "give one of them")
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
