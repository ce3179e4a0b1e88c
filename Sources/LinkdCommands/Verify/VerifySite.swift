internal import KafkaClient
internal import LinkDecider
internal import RouteTools

/// The topics and offsets of a check, determined in an order in which a running worker cannot be taken for a wrong one.
///
/// First it asks for the group's offsets, then for the ends of the topics, and waits for every transaction that is open
/// at that time. So the outcomes of all records below these offsets are there. Then it asks for the
/// offsets again. Outcomes of records at or beyond these cannot be there.
struct VerifySite {
    /// The partitions of a topic with their first offset and their stable end.
    typealias Bounds = [Int32: Watermarks]

    /// The inputs, the outputs, and the dead letters.
    let topics: ClusterTopics
    /// The group.
    let group: String
    /// The bounds of the inputs, the outputs, and the dead-letter topics.
    private(set) var bounds: [String: Bounds] = [:]
    /// The topics that are compacted, as far as this user may read their settings.
    private(set) var compacted: Set<String> = []
    /// The offsets that were committed before the ends of the topics were determined.
    private(set) var before: [TopicPartition: Int64] = [:]
    /// The offsets that were committed after the ends of the topics were determined.
    private(set) var after: [TopicPartition: Int64] = [:]
    /// The partitions with a transaction that did not end in time, and the ends that they had.
    private(set) var unfinished: [TopicPartition: Int64] = [:]

    /// Determines the topics and offsets.
    ///
    /// - Parameter wait: Called again and again while transactions are open.
    init(
        _ settings: Settings, _ connection: Connection, _ scan: TopicScan, wait: () -> Void
    ) throws(CommandFailure) {
        let admin = try connection.makeAdmin()
        topics = try ClusterTopics(settings, admin)
        guard !topics.inputs.isEmpty else {
            throw CommandFailure(
                .configuration,
                "no topic that this user may see matches `\(Escaping.visible(settings.list("input").first ?? ""))`",
                advice: "correct the regular expression in --input, or grant the right Describe on its topics")
        }
        group = settings.text("group") ?? "linkd"
        let outcomes = Set(topics.outputs.names + topics.deadLetters).sorted()
        let found = try? admin.settings(ofTopics: topics.inputs + outcomes, timeoutMilliseconds: 10_000)
        for result in found ?? [] where result.values["cleanup.policy"]?.contains("compact") == true {
            compacted.insert(result.name)
        }
        for topic in topics.inputs { bounds[topic] = try scan.description(of: topic) }
        let offsets = GroupOffsets(connection, group, bounds)
        try offsets.checkRight(admin)
        before = try offsets.committed()
        let open = try OpenTransactions(in: topics.inputs + outcomes, settings, connection, scan, wait: wait)
        (bounds, unfinished) = (open.bounds, open.unfinished)
        // A partition can have been added.
        after = try GroupOffsets(connection, group, bounds.filter { topics.inputs.contains($0.key) }).committed()
    }
}

/// The transactions that are open in topics, after a wait for their ends.
struct OpenTransactions {
    /// The bounds of the topics after the wait.
    private(set) var bounds: [String: VerifySite.Bounds] = [:]
    /// The partitions with a transaction that did not end in time, and the ends that they had.
    private(set) var unfinished: [TopicPartition: Int64] = [:]

    /// Waits until everything that the topics have now is committed or aborted, or until the time in which brokers end
    /// a worker's transaction is over.
    ///
    /// - Parameter wait: Called again and again while transactions are open.
    init(
        in names: [String], _ settings: Settings, _ connection: Connection, _ scan: TopicScan,
        wait: () throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        for name in names { bounds[name] = try scan.description(of: name) }
        unfinished = try ends(names, connection)
        let limit = settings.property("transaction.timeout.ms", client: "producer").flatMap { Double($0.value) }
        // Brokers look for transactions beyond their limit every 10 s.
        let deadline = Platform.monotonicSeconds + (limit ?? 30_000) / 1_000 + 10
        while true {
            for name in names { bounds[name] = try scan.description(of: name) }
            let bounds = bounds
            unfinished = unfinished.filter { (bounds[$0.key.topic]?[$0.key.partition]?.high ?? .max) < $0.value }
            if unfinished.isEmpty || Platform.monotonicSeconds > deadline { return }
            try wait()
            Platform.sleep(milliseconds: 200)
        }
    }

    /// Returns the ends of all partitions of topics, with the records of open transactions.
    private func ends(_ names: [String], _ connection: Connection) throws(CommandFailure) -> [TopicPartition: Int64] {
        let configuration = connection.configuration(
            .consumer, ["group.id": "linkd-verify", "isolation.level": "read_uncommitted"])
        let reader = try connection.make(configuration) { config throws(ConfigurationError) in
            try KafkaReader(config)
        }
        defer { reader.close() }
        var found: [TopicPartition: Int64] = [:]
        for name in names {
            for number in bounds[name, default: [:]].keys {
                let partition = TopicPartition(topic: name, partition: number)
                found[partition] = try attempt("asking for the end of \(name)") { () throws(KafkaError) in
                    try reader.watermarks(of: partition, timeoutMilliseconds: 10_000).high
                }
            }
        }
        return found
    }
}

/// The questions for the offsets of a group, which is not joined.
private struct GroupOffsets {
    let connection: Connection
    let group: String
    let partitions: [TopicPartition]

    init(_ connection: Connection, _ group: String, _ bounds: [String: VerifySite.Bounds]) {
        self.connection = connection
        self.group = group
        partitions = bounds.flatMap { topic in
            topic.value.keys.map { TopicPartition(topic: topic.key, partition: $0) }
        }.sorted()
    }

    private var right: AccessRight { AccessRight("Describe", on: .group, group) }

    /// Checks that this user may ask for the offsets.
    ///
    /// librdkafka repeats a question that brokers refuse until its time limit.
    func checkRight(_ admin: KafkaAdmin) throws(CommandFailure) {
        try attempt("describing the group \(Escaping.visible(group))", needing: right, as: connection.principal) {
            () throws(KafkaError) in
            let refusal = try admin.refusal(toDescribe: group, timeoutMilliseconds: 10_000)
            if let refusal, refusal.code == .groupAuthorizationFailed { throw refusal }
        }
    }

    /// Returns the committed offsets, without partitions that have none.
    ///
    /// Brokers answer after the transactions that have changed the offsets.
    func committed() throws(CommandFailure) -> [TopicPartition: Int64] {
        let configuration = connection.configuration(
            .consumer, ["group.id": group, "isolation.level": "read_committed"])
        let member = try connection.make(configuration) { config throws(ConfigurationError) in
            try KafkaConsumer(config) { _, _ in }
        }
        defer { member.abandon() }
        let results = try attempt(
            "asking for the offsets of the group \(Escaping.visible(group))",
            needing: right, as: connection.principal
        ) { () throws(KafkaError) in
            let results = try member.committed(partitions, timeoutMilliseconds: 60_000)
            if let error = results.compactMap(\.error).first { throw error }
            return results
        }
        var offsets: [TopicPartition: Int64] = [:]
        for result in results { offsets[result.partition] = result.offset.flatMap { $0 >= 0 ? $0 : nil } }
        return offsets
    }
}
