internal import KafkaClient
internal import StrictJSON

/// A lane's producer on librdkafka.
final class KafkaLaneProducer: LaneProducer {
    private let producer: KafkaProducer
    private var topics: [ProducerTopic] = []

    init(_ configuration: ClientConfiguration, watch: CallWatch) throws(ConfigurationError) {
        producer = try KafkaProducer(configuration, watch: watch)
    }

    func initTransactions(timeoutMilliseconds: Int32) throws(KafkaError) {
        try producer.initTransactions(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Requests that fence a group's generation: TxnOffsetCommit v3 and OffsetFetch v7 (Kafka 2.5).
    ///
    /// librdkafka falls back to older ones without a word, and those do not fence.
    var lacksFencing: Bool {
        let versions = producer.debugLog.requestVersions
        return [(Int32(28), Int32(3)), (9, 7)].contains { key, least in versions[key].map { $0.max < least } ?? false }
    }

    func open(_ topic: String, timeoutMilliseconds: Int32) throws(KafkaError) -> (handle: Int, partitions: Int32) {
        let handle = try producer.topic(topic)
        let partitions = try producer.partitionCount(of: handle, timeoutMilliseconds: timeoutMilliseconds)
        if partitions < 1 { throw KafkaError(code: .unknownTopicOrPartition) }
        if let known = topics.firstIndex(of: handle) { return (known, partitions) }
        topics.append(handle)
        return (topics.count - 1, partitions)
    }

    func begin() throws(KafkaError) { try producer.beginTransaction() }

    func produce(
        topic: Int, partition: Int32, _ records: UnsafeBufferPointer<OutboundRecord>
    ) -> (accepted: Int, error: KafkaError?) {
        producer.produceBatch(topics[topic], partition: partition, records)
    }

    func produce(
        topic: Int, partition: Int32, key: ByteView?, value: ByteView?, headers: [HeaderView], timestamp: Int64?
    ) throws(KafkaError) {
        try producer.produce(
            topics[topic], partition: partition, key: key, value: value, headers: headers, timestamp: timestamp,
            copy: true)
    }

    func poll(timeoutMilliseconds: Int32) { producer.poll(timeoutMilliseconds: timeoutMilliseconds) }

    func sendOffsets(
        _ offsets: [PartitionOffset], _ group: GroupPlace, timeoutMilliseconds: Int32
    ) throws(KafkaError) {
        try producer.sendOffsets(offsets, group.metadata, timeoutMilliseconds: timeoutMilliseconds)
    }

    func commit(timeoutMilliseconds: Int32) throws(KafkaError) {
        try producer.commitTransaction(timeoutMilliseconds: timeoutMilliseconds)
    }

    func abort() throws(KafkaError) { try producer.abortTransaction(timeoutMilliseconds: -1) }

    func flush(timeoutMilliseconds: Int32) throws(KafkaError) -> Int {
        do {
            try producer.flush(timeoutMilliseconds: timeoutMilliseconds)
            return 0
        } catch {
            if error.code == .timedOut { return max(1, producer.outstanding) }
            throw error
        }
    }

    var refusal: KafkaError? { producer.deliveries.lastRecordError }

    var deliveryError: KafkaError? { producer.fatalError ?? producer.deliveries.lastError }

    func forgetErrors() { producer.forgetDeliveryErrors() }

    var coordinatorDrops: Int { producer.debugLog.coordinatorDrops }

    var fatalError: KafkaError? { producer.fatalError }

    func takeEvents() -> [ClientEvent] { producer.takeEvents() }

    func close() { producer.close() }
}
