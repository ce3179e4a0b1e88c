internal import CRdKafka

/// librdkafka's cluster inside the process, for `linkd demo` and for tests of what a client does.
///
/// It has no transactions: transactional offsets are thrown away, aborted records are visible, nobody is fenced (before
/// librdkafka 2.15). It can never show that something happens exactly once.
package final class MockCluster {
    private let handle: ClientHandle
    private let cluster: MockClusterHandle

    /// Starts a cluster; it ends with this object.
    package init(brokers: Int32 = 1) throws(ConfigurationError) {
        // Its log lines have no reader; a queue of them would only grow.
        handle = try ClientHandle(
            .producer, configuration: try NativeConfiguration(ClientConfiguration(["log_level": "0"])),
            watch: CallWatch())
        guard let cluster = MockClusterHandle(handle, brokers: brokers) else {
            throw ConfigurationError(
                kind: .refused, property: nil, text: "librdkafka could not start a mock cluster of \(brokers) brokers")
        }
        self.cluster = cluster
    }

    deinit {
        cluster.destroy()
        handle.destroy()
    }

    /// Where clients connect: a list for `bootstrap.servers`.
    ///
    /// Other processes may use it too.
    package var bootstrapServers: String { cluster.bootstrapServers }

    /// Creates a topic.
    package func createTopic(_ name: String, partitions: Int32, replication: Int32 = 1) throws(KafkaError) {
        try cluster.check { rd_kafka_mock_topic_create($0, name, partitions, replication) }
    }

    /// Makes every request of a broker (from 1, or -1 for all) take this much longer.
    package func setRoundTripTime(ofBroker id: Int32 = -1, milliseconds: Int32) throws(KafkaError) {
        try cluster.check { rd_kafka_mock_broker_set_rtt($0, id, milliseconds) }
    }

    /// Answers the next requests of a kind with these errors, one each; `.transport` cuts the connection.
    ///
    /// - Parameters:
    ///   - errors: The answers, in order; `.none` lets a request through.
    ///   - key: The request's key in Kafka's protocol, such as 26 for EndTxn.
    package func push(errors: [KafkaErrorCode], forRequest key: Int16) {
        let codes = errors.map(\.native)
        cluster.call { rd_kafka_mock_push_request_errors_array($0, key, codes.count, codes) }
    }

    /// Forgets the errors that were pushed for a kind of request and not used.
    package func clearErrors(forRequest key: Int16) {
        cluster.call { rd_kafka_mock_clear_request_errors($0, key) }
    }

    /// Answers everything about a topic with this error, until `.none` is set.
    package func setError(ofTopic name: String, _ code: KafkaErrorCode) {
        cluster.call { rd_kafka_mock_topic_set_error($0, name, code.native) }
    }

    /// Makes a broker the coordinator of a group (`group`) or a transactional id (`transaction`).
    package func setCoordinator(of kind: String, key: String, broker id: Int32) throws(KafkaError) {
        try cluster.check { rd_kafka_mock_coordinator_set($0, kind, key, id) }
    }

    /// Cuts a broker's connections (-1: all brokers') and refuses new ones.
    package func setDown(broker id: Int32 = -1) throws(KafkaError) {
        try cluster.check { rd_kafka_mock_broker_set_down($0, id) }
    }

    /// Takes connections to a broker (-1: all) again.
    package func setUp(broker id: Int32 = -1) throws(KafkaError) {
        try cluster.check { rd_kafka_mock_broker_set_up($0, id) }
    }
}
