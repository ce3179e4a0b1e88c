internal import KafkaClient
internal import Testing

@testable internal import LinkdCommands

@Suite struct TopicCheckTests {
    @Test("The number of brokers is that of the cluster")
    func brokers() throws {
        let brokers = (1...3).map { BrokerDescription(id: $0, host: "b\($0)", port: 9092) }
        #expect(try TopicExpectations.brokers { ClusterMetadata(brokers: brokers, topics: []) } == 3)
    }

    @Test("A failed request for the brokers is reported, and is not read as a cluster of one broker")
    func failed() {
        let error = #expect(throws: CommandFailure.self) {
            try TopicExpectations.brokers { () throws(KafkaError) in throw KafkaError(code: .transport) }
        }
        #expect(error?.line.contains("counting brokers") == true, "\(error?.line ?? "")")
    }

    /// Retention times of a ledger and of its dead letters, whose segments last 7 days, and whether the ledger keeps
    /// its entries for too short a time.
    static let retentions: [(ledger: String, deadLetters: String, isTooShort: Bool)] = [
        ("3196800000", "2592000000", true), ("3196800001", "2592000000", false), ("5788800000", "2592000000", false),
        ("2592000000", "2592000000", true), ("-1", "2592000000", false), ("-1", "-1", false),
        ("5788800000", "-1", true),
        ("9223372036854775806", "9223372036854775807", true), ("9223372036854775807", "9223372036854775807", false),
        ("", "2592000000", false), ("1", "x", false),
    ]

    @Test("A ledger whose entries expire before their dead letters is a finding", arguments: retentions.indices)
    func ledgerRetention(row: Int) {
        let (ledger, deadLetters, isTooShort) = Self.retentions[row]
        let names = ["in.dlq.replayed", "in.dlq"]
        let partition = PartitionDescription(id: 0, leader: 1, replicas: [1], inSyncReplicas: [1], error: nil)
        let state = TopicState(
            descriptions: names.map { TopicDescription(name: $0, partitions: [partition], error: nil) },
            settings: [
                "in.dlq.replayed": ["retention.ms": ledger, "cleanup.policy": "compact,delete"],
                "in.dlq": ["retention.ms": deadLetters, "segment.ms": "604800001"],
            ])
        let declaration = TopicDeclaration(
            name: "in.dlq.replayed", role: .replayed, input: nil, deadLetters: "in.dlq")
        let findings = TopicChecks.findings(declaration, state, TopicExpectations(brokers: 1))
        #expect(findings.map(\.code) == (isTooShort ? ["ledger_retention"] : []))
    }

    @Test(
        "A ledger whose entries are limited in bytes is a finding", arguments: [("-1", 0), ("0", 1), ("1048576", 1)])
    func ledgerBytes(limit: String, count: Int) {
        let name = "in.dlq.replayed"
        let partition = PartitionDescription(id: 0, leader: 1, replicas: [1], inSyncReplicas: [1], error: nil)
        let state = TopicState(
            descriptions: [TopicDescription(name: name, partitions: [partition], error: nil)],
            settings: [name: ["retention.bytes": limit, "retention.ms": "-1"]])
        let declaration = TopicDeclaration(name: name, role: .replayed, input: nil, deadLetters: "in.dlq")
        let findings = TopicChecks.findings(declaration, state, TopicExpectations(brokers: 1))
        #expect(findings.map(\.code) == Array(repeating: "ledger_retention", count: count))
    }

    @Test("The retention of a ledger is that of its dead letters and a margin, without an overflow")
    func ledgerMargin() {
        #expect(TopicDeclaration.ledgerRetention(deadLetters: 2_592_000_000) == 5_788_800_000)
        #expect(TopicDeclaration.ledgerRetention(deadLetters: -1) == -1)
        #expect(TopicDeclaration.ledgerRetention(deadLetters: .max, margin: .min) == .max)
    }
}
