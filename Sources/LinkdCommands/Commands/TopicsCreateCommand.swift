internal import RouteTools
internal import KafkaClient
internal import StrictJSON

/// `linkd topics create`: creates the missing topics.
enum TopicsCreateCommand {
    static let command = Command(
        path: ["topics", "create"],
        summary: "Create the missing topics",
        discussion: [
            "Creates the input, output, and dead-letter topics of the settings, with `cleanup.policy=delete`. An "
                + "existing topic is not changed. If it has fewer partitions than requested, the exit code is 1. If "
                + "the input is a regular expression, only the output topic and the dead-letter topics of matching "
                + "inputs are created.",
            "With `--replay`, also creates the two topics that `linkd dlq replay` needs for each dead-letter topic: "
                + "`<dlq>.replayed`, which lists the replayed dead letters and keeps an entry 37 days longer than they "
                + "are kept, and `<dlq>.parked`, for dead letters that are not replayed. Both have as many partitions "
                + "as the dead-letter topic.",
        ],
        flags: [
            FlagDeclaration(
                "--partitions", type: .integer(1...10_000), default: "6",
                "Number of partitions of each topic."),
            FlagDeclaration(
                "--replication", type: .integer(-1...100), default: "-1, the broker's default",
                "Number of replicas of each partition."),
            FlagDeclaration(
                "--retention", type: .duration(1000...(3650 * 86_400_000)), default: "7d",
                "Retention time of records."),
            FlagDeclaration(
                "--dlq-retention", type: .duration(1000...(3650 * 86_400_000)), default: "30d",
                "Retention time of dead letters."),
            FlagDeclaration("--replay", type: .boolean, "Also create the topics of `linkd dlq replay`."),
            FlagDeclaration(
                "--set", type: .pairs(count: 0...64), repeats: true, "Kafka setting of each new topic."),
            FlagDeclaration("--dry-run", type: .boolean, "Validate the request with the broker, and create nothing."),
            FlagDeclaration("--json", type: .boolean, "Print one JSON object."),
        ],
        settings: .topics,
        examples: [
            CommandExample(
                line: "linkd topics create -b localhost:9092", description: "All topics with their defaults."),
            CommandExample(
                line:
                    "linkd topics create -b localhost:9092 --partitions 24 --replication 3 --set min.insync.replicas=2",
                description: "Topics for a cluster of three brokers."),
        ],
        run: run)

    /// The result for one topic.
    private struct Outcome {
        var declaration: TopicDeclaration
        var state: String
        var partitions: Int
        var finding: CommandFailure?
    }

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let settings = try call.settings()
        let connection = try Connection(settings)
        let admin = try connection.makeAdmin()
        let names = try TopicNames(settings, admin)
        let all = TopicDeclaration.all(of: names, withReplay: call.isOn("replay"))
        let declarations = all.filter { !names.isPattern || $0.role != .input }
        let state = try TopicState(all, admin)
        try state.requireDescriptions(as: connection.principal)
        let missing = declarations.filter { state.description(of: $0.name)?.exists != true }
        let results = try create(missing, call, state, admin)
        let outcomes = declarations.map { declaration in
            outcome(declaration, state, results.first { $0.name == declaration.name }, call)
        }
        print(outcomes, call)
        guard let first = outcomes.compactMap(\.finding).max(by: { $0.code.rawValue < $1.code.rawValue }) else {
            return .success
        }
        throw first
    }

    private static func create(
        _ missing: [TopicDeclaration], _ call: Invocation, _ state: TopicState, _ admin: KafkaAdmin
    ) throws(CommandFailure) -> [TopicResult] {
        let specifications = missing.map { specification($0, call, state) }
        do throws(KafkaError) {
            let results = try admin.create(
                topics: specifications, validateOnly: call.isOn("dry-run"), timeoutMilliseconds: 30_000)
            if !call.isOn("dry-run") { try awaitTopics(results.filter { $0.error == nil }.map(\.name), admin) }
            return results
        } catch {
            throw CommandFailure(error, while: "creating topics")
        }
    }

    /// Waits until the brokers return the new topics to clients.
    ///
    /// They do so shortly after the controller's response.
    private static func awaitTopics(_ names: [String], _ admin: KafkaAdmin) throws(KafkaError) {
        let end = Platform.monotonicSeconds + 10
        while Platform.monotonicSeconds < end {
            let descriptions = try admin.describe(topics: names, timeoutMilliseconds: 10_000)
            if descriptions.allSatisfy({ $0.error == nil && $0.partitions.allSatisfy { $0.leader >= 0 } }) { return }
            Platform.sleep(milliseconds: 50)
        }
    }

    private static func specification(
        _ declaration: TopicDeclaration, _ call: Invocation, _ state: TopicState
    ) -> TopicSpecification {
        var settings = ["cleanup.policy": "delete", "retention.ms": String(retention(declaration.role, call))]
        for pair in call.pairs("set") { settings[pair.key] = pair.value }
        if let input = declaration.input {
            let own = settings["max.message.bytes"] ?? state.setting("max.message.bytes", of: input)
            let bytes = own.flatMap { Int64($0) } ?? TopicDeclaration.defaultMessageBytes
            let existing = declaration.deadLetters.flatMap { state.setting("max.message.bytes", of: $0) }
            settings["max.message.bytes"] = existing ?? String(bytes + TopicDeclaration.deadLetterHeaderBytes)
        }
        if declaration.role == .replayed {
            // The retention of the entries depends on that of the dead letters, which `--set` may change.
            settings["retention.ms"] = String(ledgerRetention(declaration, call, state))
            settings["retention.bytes"] = "-1"
        }
        return TopicSpecification(
            name: declaration.name, partitions: Int32(clamping: requestedPartitions(declaration, call, state)),
            replication: Int32(call.number("replication") ?? -1), settings: settings)
    }

    private static func retention(_ role: TopicDeclaration.Role, _ call: Invocation) -> Int64 {
        let day: Int64 = 86_400_000
        switch role {
        case .input, .output: return call.number("retention") ?? 7 * day
        case .deadLetters, .replayed, .parked: return call.number("dlq-retention") ?? 30 * day
        }
    }

    /// Returns the retention time of a ledger: a margin longer than that of its dead letters, or unlimited as they are.
    private static func ledgerRetention(
        _ declaration: TopicDeclaration, _ call: Invocation, _ state: TopicState
    ) -> Int64 {
        let existing = declaration.deadLetters.flatMap { state.setting("retention.ms", of: $0) }
        let requested = call.pairs("set").last { $0.key == "retention.ms" }?.value
        let deadLetters = (existing ?? requested).flatMap { Int64($0) } ?? retention(.deadLetters, call)
        return TopicDeclaration.ledgerRetention(deadLetters: deadLetters)
    }

    /// Returns the requested number of partitions: those of the dead letters for a topic that a replay writes.
    private static func requestedPartitions(
        _ declaration: TopicDeclaration, _ call: Invocation, _ state: TopicState
    ) -> Int {
        let existing = declaration.deadLetters.flatMap { state.description(of: $0) }?.partitions.count ?? 0
        return existing > 0 ? existing : Int(call.number("partitions") ?? 6)
    }

    private static func outcome(
        _ declaration: TopicDeclaration, _ state: TopicState, _ result: TopicResult?, _ call: Invocation
    ) -> Outcome {
        let requested = requestedPartitions(declaration, call, state)
        if let error = result?.error, error.code != .topicAlreadyExists {
            return Outcome(
                declaration: declaration, state: "failed", partitions: 0, finding: refused(declaration.name, error))
        }
        if let result {
            let word = result.error != nil ? "exists" : call.isOn("dry-run") ? "would be created" : "created"
            return Outcome(declaration: declaration, state: word, partitions: requested)
        }
        let existing = state.description(of: declaration.name)?.partitions.count ?? 0
        // A replay writes to as many partitions as there are.
        guard existing < requested, declaration.deadLetters == nil else {
            return Outcome(declaration: declaration, state: "exists", partitions: existing)
        }
        return Outcome(
            declaration: declaration, state: "exists", partitions: existing,
            finding: CommandFailure(
                .finding, "topic \(declaration.name) has \(Counts.text(existing, "partition")), \(requested) requested",
                advice: "add partitions with Kafka's own tools (which moves devices to other partitions), or pass "
                    + "--partitions \(existing)"
            ))
    }

    private static func refused(_ name: String, _ error: KafkaError) -> CommandFailure {
        if case .authorization = KafkaErrorClass(error) {
            return CommandFailure(
                error, while: "creating \(name)", needing: AccessRight("Create", on: .topic, name))
        }
        return CommandFailure(
            .configuration, "the broker refused to create \(name): \(Escaping.visible(error.description))",
            advice: "correct --partitions, --replication, or --set")
    }

    private static func print(_ outcomes: [Outcome], _ call: Invocation) {
        let out = call.console.out
        if call.json {
            var json = JSONText()
            json.beginObject()
            json.objects("topics", of: outcomes) { json, outcome in
                json.text("topic", outcome.declaration.name)
                json.text("role", outcome.declaration.role.rawValue)
                json.text("state", outcome.state)
                json.number("partitions", Int64(outcome.partitions))
            }
            json.endObject()
            return out.line(json.finish())
        }
        var table = TextTable([("TOPIC", .left), ("FOR", .left), ("PARTITIONS", .right), ("STATE", .left)])
        for outcome in outcomes {
            table.add([
                TextTable.Cell(outcome.declaration.name, .name), TextTable.Cell(outcome.declaration.role.rawValue),
                TextTable.Cell(String(outcome.partitions)),
                TextTable.Cell(outcome.state, outcome.finding == nil ? .good : .bad),
            ])
        }
        for line in table.lines(style: out.style) { out.line(line) }
    }
}
