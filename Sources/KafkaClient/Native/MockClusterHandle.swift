internal import CRdKafka

/// The owner of an `rd_kafka_mock_cluster_t`.
///
/// Destroy it before its client.
final class MockClusterHandle {
    private let handle: ClientHandle
    private var cluster: OpaquePointer?

    init?(_ handle: ClientHandle, brokers: Int32) {
        guard let cluster = handle.call(.mock, { rd_kafka_mock_cluster_new($0, brokers) }) else { return nil }
        self.handle = handle
        self.cluster = cluster
    }

    deinit { destroy() }

    /// Destroys the cluster.
    ///
    /// A second call has no effect.
    func destroy() {
        call { rd_kafka_mock_cluster_destroy($0) }
        cluster = nil
    }

    /// Makes a call to the cluster, or returns nil after it was destroyed.
    @discardableResult
    func call<Result>(_ body: (OpaquePointer) -> Result) -> Result? {
        guard let cluster else { return nil }
        return handle.watch.during(.mock) { body(cluster) }
    }

    /// Makes a call to the cluster that may fail.
    func check(_ body: (OpaquePointer) -> rd_kafka_resp_err_t) throws(KafkaError) {
        try KafkaError.check(call(body) ?? RD_KAFKA_RESP_ERR__DESTROY)
    }

    /// The addresses of the brokers.
    var bootstrapServers: String { cluster.map { String(cString: rd_kafka_mock_cluster_bootstraps($0)) } ?? "" }
}
