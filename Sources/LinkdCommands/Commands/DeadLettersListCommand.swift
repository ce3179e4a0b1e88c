internal import RouteTools

/// `linkd dlq list`: counts dead letters by a property.
enum DeadLettersListCommand {
    static let command = Command(
        path: ["dlq", "list"],
        summary: "Count dead letters by reason, day, or another property",
        discussion: [
            "Reads the dead letters of the inputs, from their start to their end at the time of the call, without a "
                + "consumer group. REPLAYED is the number of those that `linkd dlq replay` has sent again or parked, "
                + "or `-` if no ledger exists or this user is not allowed to read it. LAST is the time of the last "
                + "failure, and EXAMPLE that dead letter.",
            "A record of Kafka does not name its producer. `--by producer` counts by the first of the headers "
                + "`ce_source`, `source`, `producer`, and `client.id` that is present.",
        ],
        flags: DeadLetterFilter.flags + [
            FlagDeclaration(
                "--offset", type: .texts(count: 1...1000, bytes: 3...31), repeats: true, placeholder: "P:N",
                "Read only this partition, from this offset on."),
            FlagDeclaration(
                "--by", type: .choice(DeadLetterKey.allCases.map(\.rawValue)), default: "reason",
                "Property by which dead letters are counted. `-` stands for none."),
            FlagDeclaration("--local", type: .boolean, "Print local times and count by local days."),
            FlagDeclaration("--json", type: .boolean, "Print one JSON object per line."),
            FlagDeclaration("--csv", type: .boolean, "Print comma-separated values (RFC 4180)."),
        ],
        settings: .deadLetters,
        examples: [
            CommandExample(
                line: "linkd dlq list -b localhost:9092", description: "The number of dead letters for each reason."),
            CommandExample(
                line: "linkd dlq list -b localhost:9092 --by day --reason missing_device",
                description: "The number of dead letters with a reason for each day."),
            CommandExample(
                line: "linkd dlq list -b localhost:9092 --by application --since 1h --json",
                description: "The failures of the last hour for each application, as JSON."),
        ],
        run: { call throws(CommandFailure) in
            if call.json, call.isOn("csv") {
                throw CommandFailure(.usage, "--json and --csv cannot be combined", advice: "pass only one of them")
            }
            let settings = try call.settings()
            let range = try InspectCommand.range(call, RecordFilter(isDeadLetters: true))
            let connection = try Connection(settings)
            let admin = try connection.makeAdmin()
            let topics = try DeadLetterTopics.all(call, settings, admin)
            guard range.offsets.isEmpty || topics.count == 1 else {
                throw CommandFailure(
                    .usage, "--offset needs one topic, and there are \(topics.count)",
                    advice: "pass its input with --topic")
            }
            try DeadLetterList(call).run(connection, topics, range, admin)
            return .success
        })
}
