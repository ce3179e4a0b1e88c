internal import RouteTools
internal import KafkaClient

/// A problem of a topic.
struct TopicFinding: Equatable {
    /// The name of the topic.
    var topic: String
    /// The stable code of the problem.
    var code: String
    /// A description of the problem.
    var text: String
    /// The suggested correction.
    var advice: String
    /// A Boolean value that indicates whether an access right is missing.
    var isRefusal = false
    /// The missing right, or nil if the problem is another one.
    var right: AccessRight?
}

extension TopicFinding {
    /// Creates the problem of a missing right.
    init(topic: String, missing right: AccessRight, _ principal: String) {
        self.init(
            topic: topic, code: "not_allowed", text: "cannot be used: \(principal) lacks \(right.description)",
            advice: AccessRight.advice([right], principal), isRefusal: true, right: right)
    }
}

/// The expected properties of the topics.
struct TopicExpectations {
    /// The number of partitions, or nil for any.
    var partitions: Int?
    /// The number of replicas of each partition, or nil for any.
    var replication: Int?
    /// The number of lanes of a worker, or nil if it is not specified.
    var lanes: Int?
    /// The number of brokers in the cluster.
    var brokers: Int

    /// Returns the number of brokers, on which the check of replicas depends.
    static func brokers(_ metadata: () throws(KafkaError) -> ClusterMetadata) throws(CommandFailure) -> Int {
        do throws(KafkaError) {
            return try metadata().brokers.count
        } catch {
            throw CommandFailure(error, while: "counting brokers")
        }
    }
}

/// The checks of topics.
enum TopicChecks {
    /// Returns the problems of one topic.
    static func findings(
        _ declaration: TopicDeclaration, _ state: TopicState, _ expected: TopicExpectations,
        as principal: String = AccessRight.unknownPrincipal
    ) -> [TopicFinding] {
        let name = declaration.name
        if let denied = state.description(of: name), denied.isDenied {
            // Read and Write include Describe, so that the right that a worker needs is missing too.
            let right = AccessRight(declaration.role == .input ? "Read" : "Write", on: .topic, name)
            return [TopicFinding(topic: name, missing: right, principal)]
        }
        guard let description = state.description(of: name), description.exists else {
            return [
                TopicFinding(topic: name, code: "missing", text: "does not exist", advice: "run `linkd topics create`")
            ]
        }
        return partitions(declaration, description, expected) + replicas(name, description, expected)
            + policies(declaration, state)
    }

    private static func partitions(
        _ declaration: TopicDeclaration, _ description: TopicDescription, _ expected: TopicExpectations
    ) -> [TopicFinding] {
        var findings: [TopicFinding] = []
        let count = description.partitions.count
        if let expectedCount = expected.partitions, count < expectedCount {
            findings.append(
                TopicFinding(
                    topic: declaration.name, code: "partitions",
                    text: "has \(Counts.text(count, "partition")), expected \(expectedCount)",
                    advice: "add partitions with Kafka's own tools, or pass --partitions \(count)"))
        }
        if let lanes = expected.lanes, declaration.role == .input, count < lanes {
            findings.append(
                TopicFinding(
                    topic: declaration.name, code: "lanes",
                    text: "has \(Counts.text(count, "partition")) for \(Counts.text(lanes, "lane"))",
                    advice: "run at most \(Counts.text(count, "lane")) in all processes together, or add partitions"))
        }
        if let broken = description.partitions.first(where: { $0.error != nil || $0.leader < 0 }) {
            findings.append(
                TopicFinding(
                    topic: declaration.name, code: "leader", text: "partition \(broken.id) has no leader",
                    advice: "start the brokers that store it"))
        }
        return findings
    }

    private static func replicas(
        _ name: String, _ description: TopicDescription, _ expected: TopicExpectations
    ) -> [TopicFinding] {
        var findings: [TopicFinding] = []
        let fewest = description.partitions.map(\.replicas.count).min() ?? 0
        if let expectedCount = expected.replication, expectedCount > 0, fewest < expectedCount {
            findings.append(
                TopicFinding(
                    topic: name, code: "replication",
                    text: "has \(Counts.text(fewest, "replica")), expected \(expectedCount)",
                    advice: "reassign its partitions with Kafka's own tools, or pass --replication \(fewest)"))
        }
        let alone = description.partitions.filter { $0.inSyncReplicas.count == 1 }
        if let first = alone.first, expected.brokers > 1 {
            findings.append(
                TopicFinding(
                    topic: name, code: "in_sync",
                    text: "has only 1 in-sync replica in \(alone.count) of "
                        + Counts.text(description.partitions.count, "partition") + " (the first is \(first.id))",
                    advice: "start the other brokers, or use replication 3 with min.insync.replicas 2"))
        }
        return findings
    }

    private static func policies(_ declaration: TopicDeclaration, _ state: TopicState) -> [TopicFinding] {
        var findings: [TopicFinding] = []
        let name = declaration.name
        // The entries of a ledger have different keys.
        if declaration.role != .replayed, state.setting("cleanup.policy", of: name)?.contains("compact") == true {
            findings.append(
                TopicFinding(
                    topic: name, code: "compacted", text: "is compacted, which deletes older records of a device",
                    advice: "set cleanup.policy=delete"))
        }
        if let input = declaration.input, let own = number("max.message.bytes", name, state),
            let source = number("max.message.bytes", input, state),
            own < source + TopicDeclaration.deadLetterHeaderBytes
        {
            findings.append(
                TopicFinding(
                    topic: name, code: "message_bytes",
                    text: "accepts \(own) bytes per record, less than the \(source) bytes of its input plus room for "
                        + "headers, so that large dead letters are truncated",
                    advice: "set max.message.bytes=\(source + TopicDeclaration.deadLetterHeaderBytes)"))
        }
        if declaration.role == .replayed, let finding = ledgerRetention(declaration, state) { findings.append(finding) }
        return findings
    }

    /// Returns the problem of a ledger whose entries can expire before their dead letters, or nil.
    private static func ledgerRetention(_ declaration: TopicDeclaration, _ state: TopicState) -> TopicFinding? {
        if let bytes = number("retention.bytes", declaration.name, state), bytes >= 0,
            state.setting("cleanup.policy", of: declaration.name)?.contains("delete") != false
        {
            return TopicFinding(
                topic: declaration.name, code: "ledger_retention",
                text: "keeps at most \(bytes) bytes of entries per partition, so that a replay can repeat dead letters",
                advice: "set retention.bytes=-1")
        }
        guard let deadLetters = declaration.deadLetters, let own = number("retention.ms", declaration.name, state),
            own >= 0, let source = number("retention.ms", deadLetters, state),
            let segment = number("segment.ms", deadLetters, state)
        else { return nil }
        let needed = TopicDeclaration.ledgerRetention(deadLetters: source, margin: segment)
        guard needed < 0 || own < needed else { return nil }
        let time = needed < 0 ? "without a limit" : "for \(TopicRow.retentionText(needed))"
        return TopicFinding(
            topic: declaration.name, code: "ledger_retention",
            text: "keeps entries for \(TopicRow.retentionText(own)), and dead letters exist \(time), so that a replay "
                + "can repeat them",
            advice: "set retention.ms=\(TopicDeclaration.ledgerRetention(deadLetters: source))")
    }

    private static func number(_ setting: String, _ topic: String, _ state: TopicState) -> Int64? {
        state.setting(setting, of: topic).flatMap { Int64($0) }
    }
}
