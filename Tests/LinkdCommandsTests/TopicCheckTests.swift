@testable import KafkaClient
internal import Testing

@testable internal import LinkdCommands

@Suite struct TopicCheckTests {
    /// The metadata of a new topic with two partitions, and what is missing.
    static let newTopics: [(topic: TopicDescription?, missing: String?)] = [
        (nil, "the brokers do not know it"),
        (description([], error: .unknownTopicOrPartition), "the brokers do not know it"),
        (description([], error: .leaderNotAvailable), "the brokers answer LEADER_NOT_AVAILABLE"),
        (description([]), "0 of 2 partitions are visible"), (description([1]), "1 of 2 partitions are visible"),
        (description([1, -1]), "1 of 2 partitions have no leader"), (description([1, 2]), nil),
    ]

    private static func description(_ leaders: [Int32], error: KafkaErrorCode? = nil) -> TopicDescription {
        TopicDescription(
            name: "t",
            partitions: leaders.enumerated().map { id, leader in
                PartitionDescription(id: Int32(id), leader: leader, replicas: [1], inSyncReplicas: [1], error: nil)
            }, error: error.map { KafkaError(code: $0) })
    }

    @Test("A new topic is created when clients see all partitions with their leaders", arguments: newTopics.indices)
    func visibility(row: Int) {
        let (topic, missing) = Self.newTopics[row]
        #expect(TopicsCreateCommand.missingPart(topic, partitions: 2) == missing)
        guard let missing else { return }
        let failure = TopicsCreateCommand.invisibleTopic("t", missing)
        #expect(failure.code == .finding && failure.reason.contains(missing))
        #expect(failure.advice.contains("linkd topics check"))
    }

    @Test("A failed request for the brokers is reported, and is not read as a cluster of one broker")
    func failed() {
        let error = #expect(throws: CommandFailure.self) {
            try attempt("counting brokers") { () throws(KafkaError) in throw KafkaError(code: .transport) }
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

    @Test("The finding of a compacted input names the witness", arguments: [TopicDeclaration.Role.input, .output])
    func compacted(role: TopicDeclaration.Role) throws {
        let partition = PartitionDescription(id: 0, leader: 1, replicas: [1], inSyncReplicas: [1], error: nil)
        let state = TopicState(
            descriptions: [TopicDescription(name: "in", partitions: [partition], error: nil)],
            settings: ["in": ["cleanup.policy": "compact,delete"]])
        let declaration = TopicDeclaration(name: "in", role: role, input: nil, deadLetters: nil)
        let findings = TopicChecks.findings(declaration, state, TopicExpectations(brokers: 1))
        let finding = try #require(findings.first { $0.code == "compacted" })
        #expect(finding.text.contains("the witness, the last decided record") == (role == .input))
        #expect(finding.advice.contains("cleanup.policy=delete"))
    }

    @Test(
        "A registry of devices must be compacted, and keep devices for any time",
        arguments: [
            ("compact", nil), ("delete", "no worker with `devices.topic` starts"),
            ("compact,delete", "deletes devices after retention.ms"), ("delete,compact", "deletes devices"),
        ] as [(String, String?)])
    func registry(policy: String, text: String?) {
        let partition = PartitionDescription(id: 0, leader: 1, replicas: [1], inSyncReplicas: [1], error: nil)
        let state = TopicState(
            descriptions: [TopicDescription(name: "d", partitions: [partition], error: nil)],
            settings: ["d": ["cleanup.policy": policy, "retention.ms": "1000"]])
        let declaration = TopicDeclaration(name: "d", role: .devices, input: nil)
        let findings = TopicChecks.findings(declaration, state, TopicExpectations(lanes: 6, brokers: 1))
        #expect(findings.map(\.code) == (text == nil ? [] : ["not_compacted"]))
        if let text { #expect(findings.first?.text.contains(text) == true, "\(findings)") }
        #expect(findings.allSatisfy { $0.advice == "set cleanup.policy=compact" })
        #expect(TopicRow(declaration, state).retention == (policy == "compact" ? nil : 1000))
    }

    @Test("A registry that may not be described lacks Read")
    func deniedRegistry() {
        let error = KafkaError(code: .topicAuthorizationFailed)
        let state = TopicState(
            descriptions: [TopicDescription(name: "d", partitions: [], error: error)], settings: [:])
        let declaration = TopicDeclaration(name: "d", role: .devices, input: nil)
        let findings = TopicChecks.findings(declaration, state, TopicExpectations(brokers: 1))
        #expect(findings.map(\.right) == [AccessRight("Read", on: .topic, "d")])
    }

    @Test("The retention of a ledger is that of its dead letters and a margin, without an overflow")
    func ledgerMargin() {
        #expect(TopicDeclaration.ledgerRetention(deadLetters: 2_592_000_000) == 5_788_800_000)
        #expect(TopicDeclaration.ledgerRetention(deadLetters: -1) == -1)
        #expect(TopicDeclaration.ledgerRetention(deadLetters: .max, margin: .min) == .max)
    }
}
