internal import CRdKafka

extension ClusterMetadata {
    /// Fetches metadata from a broker.
    ///
    /// `topic` is a topic handle, or nil for all topics of the cluster.
    init(from handle: ClientHandle, topic: OpaquePointer?, timeoutMilliseconds: Int32) throws(KafkaError) {
        var native: UnsafePointer<rd_kafka_metadata>?
        let code = handle.call(.metadata) { client in
            rd_kafka_metadata(client, topic == nil ? 1 : 0, topic, &native, timeoutMilliseconds)
        }
        try KafkaError.check(code)
        guard let native else { throw KafkaError(code: .unknown) }
        defer { rd_kafka_metadata_destroy(native) }
        self.init(native.pointee)
    }

    private init(_ native: rd_kafka_metadata) {
        let brokers = UnsafeBufferPointer(start: native.brokers, count: Int(native.broker_cnt)).map {
            BrokerDescription(id: $0.id, host: String(cString: $0.host), port: $0.port)
        }
        let topics = UnsafeBufferPointer(start: native.topics, count: Int(native.topic_cnt)).map(TopicDescription.init)
        self.init(brokers: brokers, topics: topics)
    }
}

extension TopicDescription {
    fileprivate init(_ native: rd_kafka_metadata_topic) {
        let partitions = UnsafeBufferPointer(start: native.partitions, count: Int(native.partition_cnt)).map {
            PartitionDescription($0)
        }
        self.init(
            name: String(cString: native.topic), partitions: partitions.sorted { $0.id < $1.id },
            error: KafkaError(native.err))
    }
}

extension PartitionDescription {
    fileprivate init(_ native: rd_kafka_metadata_partition) {
        self.init(
            id: native.id, leader: native.leader,
            replicas: Array(UnsafeBufferPointer(start: native.replicas, count: Int(native.replica_cnt))),
            inSyncReplicas: Array(UnsafeBufferPointer(start: native.isrs, count: Int(native.isr_cnt))),
            error: KafkaError(native.err))
    }
}
