internal import KafkaClient
internal import StrictJSON

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
