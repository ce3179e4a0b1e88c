internal import KafkaClient

/// Something about a topic that should be otherwise.
struct TopicFinding: Equatable {
    /// The topic.
    var topic: String
    /// Stable code.
    var code: String
    /// What is so.
    var text: String
    /// What to do.
    var advice: String
    /// Whether a right is missing.
    var isRefusal = false
}

/// What was declared, to hold the cluster against.
struct TopicExpectations {
    /// Partitions, or nil for any number.
    var partitions: Int?
    /// Copies of each partition, or nil for any number.
    var replication: Int?
    /// Lanes of a worker, or nil when nobody said.
    var lanes: Int?
    /// Brokers of the cluster.
    var brokers: Int
}

/// Finds what is wrong with topics.
enum TopicChecks {
    /// All findings of one topic.
    static func findings(
        _ declaration: TopicDeclaration, _ state: TopicState, _ expected: TopicExpectations
    ) -> [TopicFinding] {
        let name = declaration.name
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
        if let wanted = expected.partitions, count < wanted {
            findings.append(
                TopicFinding(
                    topic: declaration.name, code: "partitions",
                    text: "has \(count) partitions, \(wanted) are declared",
                    advice: "add partitions with Kafka's own tools, or declare \(count)"))
        }
        if let lanes = expected.lanes, declaration.role == .input, count < lanes {
            findings.append(
                TopicFinding(
                    topic: declaration.name, code: "lanes", text: "has \(count) partitions for \(lanes) lanes",
                    advice: "run at most \(count) lanes in all processes together, or add partitions"))
        }
        if let broken = description.partitions.first(where: { $0.error != nil || $0.leader < 0 }) {
            findings.append(
                TopicFinding(
                    topic: declaration.name, code: "leader", text: "partition \(broken.id) has no leader",
                    advice: "start the brokers that hold it"))
        }
        return findings
    }

    private static func replicas(
        _ name: String, _ description: TopicDescription, _ expected: TopicExpectations
    ) -> [TopicFinding] {
        var findings: [TopicFinding] = []
        let fewest = description.partitions.map(\.replicas.count).min() ?? 0
        if let wanted = expected.replication, wanted > 0, fewest < wanted {
            findings.append(
                TopicFinding(
                    topic: name, code: "replication", text: "has \(fewest) replicas, \(wanted) are declared",
                    advice: "reassign its partitions with Kafka's own tools"))
        }
        let alone = description.partitions.filter { $0.inSyncReplicas.count == 1 }
        if let first = alone.first, expected.brokers > 1 {
            findings.append(
                TopicFinding(
                    topic: name, code: "in_sync",
                    text: "\(alone.count) of \(description.partitions.count) partitions have 1 in-sync replica "
                        + "(the first is \(first.id))",
                    advice: "bring the other brokers back, or give it replication 3 and min.insync.replicas 2"))
        }
        return findings
    }

    private static func policies(_ declaration: TopicDeclaration, _ state: TopicState) -> [TopicFinding] {
        var findings: [TopicFinding] = []
        let name = declaration.name
        if state.setting("cleanup.policy", of: name)?.contains("compact") == true {
            findings.append(
                TopicFinding(
                    topic: name, code: "compacted", text: "is compacted: older records of a device go away",
                    advice: "set cleanup.policy=delete"))
        }
        if let input = declaration.input, let own = bytes(name, state), let source = bytes(input, state),
            own < source + TopicDeclaration.deadLetterRoom
        {
            findings.append(
                TopicFinding(
                    topic: name, code: "message_bytes",
                    text: "takes \(own) bytes a record, less than its input's \(source) and room for headers: "
                        + "large dead letters are cut",
                    advice: "set max.message.bytes=\(source + TopicDeclaration.deadLetterRoom)"))
        }
        return findings
    }

    private static func bytes(_ topic: String, _ state: TopicState) -> Int64? {
        state.setting("max.message.bytes", of: topic).flatMap { Int64($0) }
    }
}
