@testable import KafkaClient
import Testing

@testable import DispatchWorker
import LinkDecider

/// The texts of missing rights.
struct RightsTextTests {
    private static var configuration: WorkerConfiguration {
        var configuration = WorkerConfiguration(bootstrap: ["b:9092"])
        configuration.input = .topics(["events"])
        configuration.outputs = OutputTopics("decisions")
        configuration.group = "g"
        configuration.clientProperties = [
            ClientProperty("security.protocol", "SASL_SSL"), ClientProperty("sasl.username", "linkd"),
        ]
        return configuration
    }

    @Test(
        "A refused call names the operation, the resource, and the principal",
        arguments: [
            (
                LaneCall.produce, KafkaResource.topic,
                "User:linkd lacks Write on Topic decisions or events.dlq (produce:"
            ),
            (.consume, .topic, "User:linkd lacks Read on Topic events ("),
            (.sendOffsets, .topic, "User:linkd lacks Write on Topic decisions or events.dlq (send_offsets"),
            (.commit, .topic, "User:linkd lacks Write on Topic decisions or events.dlq (commit_transaction:"),
            (.sendOffsets, .group, "User:linkd lacks Read on Group g (send_offsets_to_transaction:"),
            (.initTransactions, .transactionalID, "User:linkd lacks Write on TransactionalId linkd.g. (prefixed) ("),
            (.initTransactions, .cluster, "User:linkd lacks IdempotentWrite on Cluster kafka-cluster ("),
        ] as [(LaneCall, KafkaResource, String)])
    func right(call: LaneCall, resource: KafkaResource, expected: String) {
        let exit = RightsText(Self.configuration).exit(call, KafkaError(code: .topicAuthorizationFailed), resource)
        #expect(exit.code == .denied)
        #expect(exit.reason.hasPrefix(expected), "\(exit.reason)")
        #expect(exit.advice.contains("linkd doctor --print-acls"))
    }

    /// An error of `send_offsets_to_transaction`, and the expected right.
    static let refusedOffsets = [
        (
            "Failed to add partition(s) to transaction on broker TxnCoordinator/1: Broker: Topic authorization failed",
            "Write on Topic decisions or events.dlq"
        ),
        (
            "ProduceRequest for decisions [3] with 10 message(s) failed: Broker: Topic authorization failed",
            "Write on Topic decisions or events.dlq"
        ),
        (
            "Failed to commit offsets to transaction on broker b:9092/1: Broker: Topic authorization failed",
            "Read on Topic events"
        ),
    ]

    @Test("Refused offsets name the input, and a refused write before them names the output", arguments: refusedOffsets)
    func offsets(text: String, expected: String) {
        let error = KafkaError(code: .topicAuthorizationFailed, text: text)
        #expect(RightsText(Self.configuration).right(for: .sendOffsets, error, .topic) == expected)
    }

    @Test("All topics that cannot be described are named at once")
    func denied() {
        let texts = RightsText(Self.configuration)
        #expect(
            texts.exit(deniedInputs: ["a", "b"], deniedOutputs: ["c"]).reason
                == "User:linkd lacks Read on Topic a, b; Write on Topic c")
        #expect(
            texts.exit(deniedInputs: [], deniedOutputs: ["c"]).reason == "User:linkd lacks Write on Topic c")
    }

    @Test(
        "The principal is presumed from the properties",
        arguments: [
            ([:], "User:ANONYMOUS"), (["security.protocol": "SSL"], nil),
            (["security.protocol": "sasl_plaintext", "sasl.username": "u"], "User:u"),
            (["security.protocol": "SASL_SSL"], nil), (["sasl.username": "u"], "User:ANONYMOUS"),
        ] as [([String: String], String?)])
    func principal(properties: [String: String], expected: String?) {
        #expect(RightsText.principal { properties[$0] } == expected)
    }
}
