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
}
