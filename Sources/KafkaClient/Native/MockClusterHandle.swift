internal import CRdKafka

/// Owns an `rd_kafka_mock_cluster_t`; to be destroyed before the client that it hangs on.
final class MockClusterHandle {
    private let handle: ClientHandle
    private var cluster: OpaquePointer?

    init?(_ handle: ClientHandle, brokers: Int32) {
        guard let cluster = handle.call(.mock, { rd_kafka_mock_cluster_new($0, brokers) }) else { return nil }
        self.handle = handle
        self.cluster = cluster
    }

    deinit { destroy() }

    /// Ends the cluster; a second call does nothing.
    func destroy() {
        call { rd_kafka_mock_cluster_destroy($0) }
        cluster = nil
    }

    /// Calls something of the cluster; nothing once it has ended.
    @discardableResult
    func call<Result>(_ body: (OpaquePointer) -> Result) -> Result? {
        guard let cluster else { return nil }
        return handle.watch.during(.mock) { body(cluster) }
    }

    /// The same for a call that may fail.
    func check(_ body: (OpaquePointer) -> rd_kafka_resp_err_t) throws(KafkaError) {
        try KafkaError.check(call(body) ?? RD_KAFKA_RESP_ERR__DESTROY)
    }

    /// Where clients connect.
    var bootstrapServers: String { cluster.map { String(cString: rd_kafka_mock_cluster_bootstraps($0)) } ?? "" }
}
