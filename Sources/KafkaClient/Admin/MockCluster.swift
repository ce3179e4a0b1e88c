internal import CRdKafka

/// librdkafka's mock cluster, which runs inside the process, for `linkd demo` and for tests of clients.
///
/// It does not implement transactions. It discards transactional offsets, shows aborted records to all consumers, and
/// before librdkafka 2.15 does not fence producers. It can therefore never prove exactly-once processing.
package final class MockCluster {
    private let handle: ClientHandle
    private let cluster: MockClusterHandle

    /// Starts a cluster, which ends with this object.
    package init(brokers: Int32 = 1) throws(ConfigurationError) {
        // The cluster's log lines are never read, so a queue of them would only grow.
        handle = try ClientHandle(
            .producer, configuration: try NativeConfiguration(ClientConfiguration(["log_level": "0"])),
            watch: CallWatch())
        guard let cluster = MockClusterHandle(handle, brokers: brokers) else {
            throw ConfigurationError(
                kind: .refused, property: nil,
                text: "librdkafka did not start its mock cluster (number of brokers: \(brokers))")
        }
        self.cluster = cluster
    }

    deinit {
        cluster.destroy()
        handle.destroy()
    }

    /// The addresses of the brokers, for `bootstrap.servers`.
    ///
    /// Other processes can use them, too.
    package var bootstrapServers: String { cluster.bootstrapServers }

    /// Creates a topic.
    package func createTopic(_ name: String, partitions: Int32) throws(KafkaError) {
        try cluster.check { rd_kafka_mock_topic_create($0, name, partitions, 1) }
    }

    /// Adds a delay to every request of a broker, numbered from 1, or of all brokers with -1.
    package func setRoundTripTime(ofBroker id: Int32 = -1, milliseconds: Int32) throws(KafkaError) {
        try cluster.check { rd_kafka_mock_broker_set_rtt($0, id, milliseconds) }
    }

    /// Answers the next requests of a kind with these errors, one each.
    ///
    /// `.transport` closes the connection.
    ///
    /// - Parameters:
    ///   - errors: The answers, in order. `.none` lets a request succeed.
    ///   - key: The request's key in Kafka's protocol, such as 26 for EndTxn.
    package func push(errors: [KafkaErrorCode], forRequest key: Int16) {
        let codes = errors.map(\.native)
        cluster.call { rd_kafka_mock_push_request_errors_array($0, key, codes.count, codes) }
    }

    /// Removes the pushed errors of a kind of request that were not used.
    package func clearErrors(forRequest key: Int16) {
        cluster.call { rd_kafka_mock_clear_request_errors($0, key) }
    }

    /// Answers all requests about a topic with this error, until `.none` is set.
    package func setError(ofTopic name: String, _ code: KafkaErrorCode) {
        cluster.call { rd_kafka_mock_topic_set_error($0, name, code.native) }
    }

    /// Makes a broker the coordinator of a group (`group`) or a transactional id (`transaction`).
    package func setCoordinator(of kind: String, key: String, broker id: Int32) throws(KafkaError) {
        try cluster.check { rd_kafka_mock_coordinator_set($0, kind, key, id) }
    }

    /// Closes the connections of a broker, or of all brokers with -1, and refuses new ones.
    ///
    /// The library ends the process if it cannot bind the broker's port again at once. A child process between its
    /// `fork` and its `exec` still has the port, so a test that calls this runs in a process that starts no other one
    /// meanwhile.
    package func setDown(broker id: Int32 = -1) throws(KafkaError) {
        try cluster.check { rd_kafka_mock_broker_set_down($0, id) }
    }

    /// Accepts connections to a broker again, or to all brokers with -1.
    package func setUp(broker id: Int32 = -1) throws(KafkaError) {
        try cluster.check { rd_kafka_mock_broker_set_up($0, id) }
    }
}
