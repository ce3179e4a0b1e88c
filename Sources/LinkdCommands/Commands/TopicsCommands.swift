internal import DispatchWorker
internal import KafkaClient
internal import RouteTools
internal import StrictJSON

/// `linkd topics create`: creates the missing topics.
enum TopicsCreateCommand {
    static let command = Command(
        path: ["topics", "create"],
        summary: "Create the missing topics",
        discussion: [
            "Creates the input, output, and dead-letter topics of the settings, with `cleanup.policy=delete`, and "
                + "`devices.topic`, if it is set, with `cleanup.policy=compact` and, without --partitions, as many "
                + "partitions as the inputs. `tables.topic`, if it is set, is compacted, too, and has one partition. "
                + "An existing topic is not changed. If it has fewer partitions than "
                + "requested, the exit code is 1. If the input is a regular expression, only the other topics are "
                + "created, with the dead-letter topics of matching inputs.",
            "With `--replay`, also creates the two topics that `linkd dlq replay` needs for each dead-letter topic: "
                + "`<dlq>.replayed`, which lists the replayed dead letters and keeps an entry 37 days longer than they "
                + "are kept, and `<dlq>.parked`, for dead letters that are not replayed. Both have as many partitions "
                + "as the dead-letter topic.",
            "With `--recall`, also creates `<output>.recalled`, which lists the decisions that `linkd recall` has "
                + "corrected, keeps an entry 37 days longer than they are kept, and has as many partitions as the "
                + "output.",
        ],
        flags: [
            Flag("--partitions", .integer(1...10_000), default: "6", "Number of partitions of each topic."),
            Flag(
                "--replication", .integer(-1...100), default: "-1, the broker's default",
                "Number of replicas of each partition."),
            Flag("--retention", .duration(1000...(3650 * 86_400_000)), default: "7d", "Retention time of records."),
            Flag(
                "--dlq-retention", .duration(1000...(3650 * 86_400_000)), default: "30d",
                "Retention time of dead letters."),
            Flag("--replay", "Also create the topics of `linkd dlq replay`."),
            Flag("--recall", "Also create the ledger of `linkd recall`."),
            Flag("--set", .pairs(count: 0...64), repeats: true, "Kafka setting of each new topic."),
            Flag("--dry-run", "Validate the request with the broker, and create nothing."),
            Flag("--json", "Print one JSON object."),
        ],
        settings: .topics,
        examples: [
            "linkd topics create -b localhost:9092": "All topics with their defaults.",
            "linkd topics create -b localhost:9092 --partitions 24 --replication 3 --set min.insync.replicas=2":
                "Topics for a cluster of three brokers.",
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
        let names = try ClusterTopics(settings, admin)
        let all = TopicDeclaration.all(of: names, withReplay: call.isOn("replay"), withRecall: call.isOn("recall"))
        let declarations = all.filter { !names.isPattern || $0.role != .input }
        let state = try TopicState(all, admin)
        try state.requireDescriptions(as: connection.principal)
        let missing = declarations.filter { state.description(of: $0.name)?.exists != true }
        let (results, invisible) = try create(missing, call, state, admin)
        let outcomes = declarations.map { declaration in
            outcome(declaration, state, results.first { $0.name == declaration.name }, invisible, call)
        }
        print(outcomes, call)
        guard let first = outcomes.compactMap(\.finding).max(by: { $0.code.rawValue < $1.code.rawValue }) else {
            return .success
        }
        throw first
    }

    private static func create(
        _ missing: [TopicDeclaration], _ call: Invocation, _ state: TopicState, _ admin: KafkaAdmin
    ) throws(CommandFailure) -> (results: [TopicResult], invisible: [String: String]) {
        let specifications = missing.map { specification($0, call, state) }
        return try attempt("creating topics") { () throws(KafkaError) in
            let results = try admin.create(
                topics: specifications, validateOnly: call.isOn("dry-run"), timeoutMilliseconds: 30_000)
            if call.isOn("dry-run") { return (results, [:]) }
            let created = Set(results.filter { $0.error == nil }.map(\.name))
            return (results, try awaitTopics(specifications.filter { created.contains($0.name) }, admin))
        }
    }

    /// Waits until the brokers return the new topics to clients, which they do shortly after the controller's response.
    ///
    /// Returns what is missing by the name of the topic if they do not within 10 s.
    private static func awaitTopics(
        _ topics: [TopicSpecification], _ admin: KafkaAdmin
    ) throws(KafkaError) -> [String: String] {
        guard !topics.isEmpty else { return [:] }
        let end = Platform.monotonicSeconds + 10
        while true {
            let descriptions = try admin.describe(topics: topics.map(\.name), timeoutMilliseconds: 10_000)
            let missing = topics.compactMap { topic in
                let description = descriptions.first { $0.name == topic.name }
                return missingPart(description, partitions: Int(topic.partitions)).map { (topic.name, $0) }
            }
            if missing.isEmpty || Platform.monotonicSeconds >= end { return Dictionary(missing) { first, _ in first } }
            Platform.sleep(milliseconds: 50)
        }
    }

    /// Returns what clients cannot see yet of a new topic, or nil if it is complete.
    static func missingPart(_ topic: TopicDescription?, partitions: Int) -> String? {
        guard let topic, topic.exists else { return "the brokers do not know it" }
        if let error = topic.error { return "the brokers answer \(error.name)" }
        guard topic.partitions.count >= partitions else {
            return "\(topic.partitions.count) of \(Counts.text(partitions, "partition")) are visible"
        }
        let leaderless = topic.partitions.count { $0.leader < 0 }
        return leaderless > 0 ? "\(leaderless) of \(Counts.text(partitions, "partition")) have no leader" : nil
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
        if declaration.role == .devices || declaration.role == .archive {
            settings["cleanup.policy"] = "compact"
            settings["retention.ms"] = nil
            if declaration.role == .archive { settings["max.message.bytes"] = nil }
        }
        if declaration.role.isLedger {
            // The retention of the entries depends on the retention of what they list, which `--set` may change.
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
        case .input, .output, .recalled, .devices, .archive: return call.number("retention") ?? 7 * day
        case .deadLetters, .replayed, .parked: return call.number("dlq-retention") ?? 30 * day
        }
    }

    /// Returns the retention time of a ledger: the time of its dead letters and a margin, or unlimited if theirs is.
    private static func ledgerRetention(
        _ declaration: TopicDeclaration, _ call: Invocation, _ state: TopicState
    ) -> Int64 {
        let existing = declaration.deadLetters.flatMap { state.setting("retention.ms", of: $0) }
        let requested = call.pairs("set").last { $0.key == "retention.ms" }?.value
        let deadLetters = (existing ?? requested).flatMap { Int64($0) } ?? retention(declaration.role, call)
        return TopicDeclaration.ledgerRetention(deadLetters: deadLetters)
    }

    /// Returns the requested number of partitions.
    ///
    /// A topic that a replay writes gets as many as the dead letters have, the registry as many as the inputs, and an
    /// archive one.
    private static func requestedPartitions(
        _ declaration: TopicDeclaration, _ call: Invocation, _ state: TopicState
    ) -> Int {
        if declaration.role == .archive { return 1 }
        let inputs = call.number("partitions") == nil ? declaration.inputs : []
        let models = inputs + [declaration.deadLetters].compactMap(\.self)
        let existing = models.compactMap { state.description(of: $0)?.partitions.count }.max() ?? 0
        return existing > 0 ? existing : Int(call.number("partitions") ?? 6)
    }

    private static func outcome(
        _ declaration: TopicDeclaration, _ state: TopicState, _ result: TopicResult?, _ invisible: [String: String],
        _ call: Invocation
    ) -> Outcome {
        let requested = requestedPartitions(declaration, call, state)
        if let error = result?.error, error.code != .topicAlreadyExists {
            return Outcome(
                declaration: declaration, state: "failed", partitions: 0, finding: refused(declaration.name, error))
        }
        if let missing = invisible[declaration.name] {
            return Outcome(
                declaration: declaration, state: "not visible", partitions: requested,
                finding: invisibleTopic(declaration.name, missing))
        }
        if let result {
            let word = result.error != nil ? "exists" : call.isOn("dry-run") ? "would be created" : "created"
            return Outcome(declaration: declaration, state: word, partitions: requested)
        }
        let existing = state.description(of: declaration.name)?.partitions.count ?? 0
        // A replay writes to as many partitions as there are, and a worker reads as many of the registry.
        let isFree = declaration.deadLetters != nil || declaration.role == .devices && call.number("partitions") == nil
        guard existing < requested, !isFree else {
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

    /// Returns the finding for a topic that was created and that clients cannot use yet.
    static func invisibleTopic(_ name: String, _ missing: String) -> CommandFailure {
        CommandFailure(
            .finding, "the controller has created topic \(name), but clients cannot use it after 10 s: \(missing)",
            advice:
                "check that the brokers are running and reach the controller, then run `linkd topics check`; do not "
                + "start a worker before it finds no problem")
    }

    private static func refused(_ name: String, _ error: KafkaError) -> CommandFailure {
        if case .authorization = KafkaErrorClass(error) {
            return CommandFailure(
                error, while: "creating \(name)", needing: AccessRight("Create", on: .topic, name))
        }
        return CommandFailure(
            .configuration, "the broker refused to create \(name): \(Escaping.visible(error.description))",
            advice: error.code == .invalidTopic
                ? WorkerExit.topicNameAdvice : "correct --partitions, --replication, or --set")
    }

    private static func print(_ outcomes: [Outcome], _ call: Invocation) {
        let out = call.console.out
        if call.json {
            return out.json { json in
                json.objects("topics", of: outcomes) { json, outcome in
                    json.text("topic", outcome.declaration.name)
                    json.text("role", outcome.declaration.role.rawValue)
                    json.text("state", outcome.state)
                    json.number("partitions", Int64(outcome.partitions))
                }
            }
        }
        var table = TextTable([("TOPIC", .left), ("FOR", .left), ("PARTITIONS", .right), ("STATE", .left)])
        for outcome in outcomes {
            table.add(
                [
                    outcome.declaration.name, outcome.declaration.role.rawValue, String(outcome.partitions),
                    outcome.state,
                ], [.name, nil, nil, outcome.finding == nil ? .good : .bad])
        }
        out.table(table)
    }
}

/// `linkd topics check`: reports the problems of the topics.
enum TopicsCheckCommand {
    static let command = Command(
        path: ["topics", "check"],
        summary: "Check the topics and report their problems",
        discussion: [
            "Ends with exit code 1 if there is a problem, and with 77 if an access right is missing. `--probe` also "
                + "tests the rights to write and to use a transactional id, with one aborted transaction for each "
                + "topic that a worker writes. The topics of a replay are checked if they exist."
        ],
        flags: [
            Flag("--partitions", .integer(1...10_000), "Expected number of partitions of each topic."),
            Flag("--replication", .integer(1...100), "Expected number of replicas of each partition."),
            Flag("--probe", "Also test the rights to write."),
            Flag("--json", "Print one JSON object."),
        ],
        settings: .topics,
        examples: [
            "linkd topics check -b localhost:9092": "The state of the topics, and their problems.",
            "linkd topics check -b localhost:9092 --partitions 24 --replication 3 --probe":
                "Checks partitions, replicas, and access rights.",
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let settings = try call.settings()
        let connection = try Connection(settings)
        let admin = try connection.makeAdmin()
        let names = try ClusterTopics(settings, admin)
        let all = TopicDeclaration.all(of: names, withReplay: true, withRecall: true)
        let state = try TopicState(all, admin)
        // A worker does not need the topics of a replay.
        let declarations = all.filter { $0.deadLetters == nil || state.isReadable($0.name) }
        let expected = TopicExpectations(
            partitions: call.number("partitions").map { Int($0) },
            replication: call.number("replication").map { Int($0) },
            lanes: settings.entry("lanes").source == .default ? nil : Int(settings.number("lanes")),
            brokers: try attempt("counting brokers") { () throws(KafkaError) in
                try admin.metadata(timeoutMilliseconds: 10_000).brokers.count
            })
        var findings = declarations.flatMap {
            TopicChecks.findings($0, state, expected, as: connection.principal)
        }
        if call.isOn("probe") {
            let writable = declarations.filter {
                $0.role.isWritten && $0.deadLetters == nil && state.isReadable($0.name)
            }
            findings += try TopicProbe(connection, group: settings.text("group") ?? "linkd", user: "topics-check")
                .findings(writable.map(\.name))
        }
        if call.json {
            printJSON(declarations, state, findings, call.console.out)
        } else {
            printTable(declarations, state, findings, call.console.out)
        }
        guard let first = findings.first(where: \.isRefusal) ?? findings.first else { return .success }
        throw CommandFailure(
            first.isRefusal ? .refused : .finding,
            findings.count == 1
                ? "topic \(first.topic) \(first.text)"
                : "\(findings.count) problems, the first: topic \(first.topic) \(first.text)",
            advice: first.advice)
    }

    private static func printTable(
        _ declarations: [TopicDeclaration], _ state: TopicState, _ findings: [TopicFinding], _ out: Channel
    ) {
        var table = TextTable([
            ("TOPIC", .left), ("FOR", .left), ("PARTITIONS", .right), ("REPLICAS", .right), ("MIN ISR", .right),
            ("RETENTION", .right), ("MAX BYTES", .right), ("CLEANUP", .left), ("TIMESTAMP", .left),
        ])
        for declaration in declarations {
            let row = TopicRow(declaration, state)
            table.add(
                [
                    declaration.name, declaration.role.rawValue, row.presence ?? String(row.partitions),
                    row.presence == nil ? String(row.replicas) : "-", row.minInSync ?? "-",
                    row.retention.map(TopicRow.retentionText) ?? "-", row.maxBytes ?? "-", row.cleanup ?? "-",
                    row.timestampType ?? "-",
                ], [.name, nil, row.presence == nil ? nil : .bad])
        }
        out.table(table)
        guard !findings.isEmpty else { return }
        out.line()
        for finding in findings {
            out.line(out.style.paint("\(finding.topic) \(finding.text)", .warning))
            out.line("  \(finding.advice)")
        }
    }

    private static func printJSON(
        _ declarations: [TopicDeclaration], _ state: TopicState, _ findings: [TopicFinding], _ out: Channel
    ) {
        out.json { json in
            json.objects("topics", of: declarations) { json, declaration in
                TopicRow(declaration, state).write(to: &json)
            }
            json.objects("findings", of: findings) { json, finding in
                json.text("topic", finding.topic)
                json.text("code", finding.code)
                json.text("text", finding.text)
                json.text("advice", finding.advice)
            }
        }
    }
}
