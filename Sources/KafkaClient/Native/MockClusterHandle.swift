internal import CRdKafka

/// Owns an `rd_kafka_mock_cluster_t`; to be destroyed before the client that it hangs on.
final class MockClusterHandle {
    private var cluster: OpaquePointer?

    /// The cluster.
    var pointer: OpaquePointer? { cluster }

    init?(_ handle: ClientHandle, brokers: Int32) {
        guard let cluster = rd_kafka_mock_cluster_new(handle.pointer, brokers) else { return nil }
        self.cluster = cluster
    }

    deinit { destroy() }

    /// Ends the cluster; a second call does nothing.
    func destroy() {
        if let cluster { rd_kafka_mock_cluster_destroy(cluster) }
        cluster = nil
    }

    /// Where clients connect.
    var bootstrapServers: String { cluster.map { String(cString: rd_kafka_mock_cluster_bootstraps($0)) } ?? "" }
}
