internal import KafkaClient
internal import ByteStorage

/// A lane's producer on librdkafka.
///
/// No transaction call is left to the library's own bound (-1): after a request of one timed out, librdkafka 2.0.2 and
/// 2.16.0 may forget the call, which then waits for ever, whether brokers are back or not. A commit or an abort with a
/// bound returns, but is still forgotten and may be repeated in vain. So one that is not over within its bound is given
/// up: its error is not retriable, and asks for a new producer, which ends the transaction.
///
/// `send_offsets_to_transaction` leaves its bound to the replies it waits for (2.16.0; seen after a broker was stopped
/// for half a minute): when one never comes, the call does not return. Only the watch over the calls ends that.
final class KafkaLaneProducer: LaneProducer {
    /// The longest that an abort is worth waiting for, in milliseconds: a new producer aborts as well.
    private static let abortPatience: Int32 = 5_000

    private let producer: KafkaProducer
    /// `transaction.timeout.ms`: nothing can come of the transaction after it.
    private let patience: Int32
    private var topics: [ProducerTopic] = []

    init(_ configuration: ClientConfiguration, watch: CallWatch) throws(ConfigurationError) {
        patience = configuration["transaction.timeout.ms"].flatMap { Int32($0) } ?? 60_000
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
        let bound = timeoutMilliseconds < 0 ? patience : timeoutMilliseconds
        try producer.sendOffsets(offsets, group.metadata, timeoutMilliseconds: bound)
    }

    func commit(timeoutMilliseconds: Int32) throws(KafkaError) {
        let isUnbound = timeoutMilliseconds < 0
        do throws(KafkaError) {
            try producer.commitTransaction(timeoutMilliseconds: isUnbound ? patience : timeoutMilliseconds)
        } catch {
            throw isUnbound ? Self.givenUp(error) : error
        }
    }

    func abort() throws(KafkaError) {
        do throws(KafkaError) {
            try producer.abortTransaction(timeoutMilliseconds: min(Self.abortPatience, patience))
        } catch {
            throw Self.givenUp(error)
        }
    }

    /// A timeout after the whole bound: the same call again would wait in vain.
    private static func givenUp(_ error: KafkaError) -> KafkaError {
        error.code == .timedOut && error.isRetriable ? KafkaError(code: .timedOut, text: error.text) : error
    }

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
