internal import ByteStorage
package import KafkaClient

/// The production environment of a lane: librdkafka clients and the system clocks.
final class KafkaLaneEnvironment: LaneEnvironment {
    private let configuration: WorkerConfiguration
    private let identity: LaneIdentity
    private let limits: [String: Int]
    /// The size of the largest message that the producer accepts, in bytes.
    private let messageBytes: Int
    private let watch: CallWatch

    /// Creates an environment.
    ///
    /// - Parameters:
    ///   - configuration: The worker's configuration.
    ///   - identity: The lane's names.
    ///   - limits: `max.message.bytes` of the topics for which it is known.
    ///   - watch: The watch that records the clients' calls.
    init(
        configuration: WorkerConfiguration, identity: LaneIdentity, limits: [String: Int], watch: CallWatch
    ) {
        self.watch = watch
        self.configuration = configuration
        self.identity = identity
        self.limits = limits
        messageBytes = ClientSettings.messageBytes(
            ClientSettings.properties(of: .producer, configuration: configuration, identity: identity))
    }

    func makeConsumer(rebalance: @escaping (RebalanceEvent) -> Void) throws(KafkaError) -> KafkaConsumer {
        do {
            return try KafkaConsumer(properties(of: .consumer), watch: watch) { _, event in rebalance(event) }
        } catch {
            throw KafkaError(code: .invalidArgument, text: error.text)
        }
    }

    func subscribe(_ consumer: KafkaConsumer) throws(KafkaError) {
        switch configuration.input {
        case .topics(let topics): try consumer.subscribe(topics)
        case .pattern(let pattern): try consumer.subscribe([pattern])
        }
    }

    func makeProducer() throws(KafkaError) -> KafkaLaneProducer {
        do {
            return try KafkaLaneProducer(properties(of: .producer), watch: watch)
        } catch {
            throw KafkaError(code: .invalidArgument, text: error.text)
        }
    }

    func instanceHolders(timeoutMilliseconds: Int32) throws(KafkaError) -> InstanceHolders {
        let admin: KafkaAdmin
        do {
            admin = try KafkaAdmin(ClientSettings.adminConfiguration(configuration, identity), watch: watch)
        } catch {
            throw KafkaError(code: .invalidArgument, text: error.text)
        }
        defer { admin.close() }
        let group = try admin.describe(group: configuration.group, timeoutMilliseconds: timeoutMilliseconds)
        return InstanceHolders(
            members: group.members.filter { member in identity.groupInstanceID.map(member.isInstance) ?? false }
                .map(\.id),
            coordinator: group.coordinator)
    }

    private func properties(of client: ClientKind) -> ClientConfiguration {
        ClientSettings.clientConfiguration(
            of: client, configuration: configuration, identity: identity, messageLimit: limits.values.min())
    }

    var isMock: Bool { configuration.isMockBroker }

    func messageLimit(of topic: String) -> Int { min(limits[topic] ?? TopicFacts.assumedMessageLimit, messageBytes) }

    func setUnmetNeeds(_ needs: [ClientNeed]) { watch.setUnmetNeeds(needs) }

    func now() -> UInt64 { SystemClock.monotonicNanoseconds() }

    func wallMilliseconds() -> Int64 { SystemClock.wallMilliseconds() }

    func sleep(milliseconds: Int) { SystemClock.sleep(milliseconds: milliseconds) }
}

extension KafkaConsumer: LaneConsumer {
    /// Answers an assignment.
    package func assign(_ added: [PartitionOffset], all: [PartitionOffset]) throws(KafkaError) {
        if isCooperative { try incrementalAssign(added) } else { try assign(all) }
    }

    /// Answers a revocation.
    package func unassign(_ revoked: [TopicPartition]) throws(KafkaError) {
        if isCooperative { try incrementalUnassign(revoked) } else { try unassign() }
    }

    /// Removes owned partitions and assigns them again.
    package func reassign(_ offsets: [PartitionOffset], all: [PartitionOffset]) throws(KafkaError) {
        endPauses()
        guard isCooperative else { return try assign(all) }
        try incrementalUnassign(offsets.map(\.partition))
        try incrementalAssign(offsets)
    }
}

/// A lane's producer, implemented with librdkafka.
///
/// Every transaction call has an explicit time limit instead of the library's own (-1). If a request of a call times
/// out, librdkafka 2.0.2 and 2.16.0 may lose track of the call, which then waits forever, even when brokers are back.
/// With a limit, a commit or an abort returns, but a repeated call may never succeed. A commit or an abort that exceeds
/// its limit therefore fails with an error that is not retriable, and a new producer ends the transaction.
///
/// `send_offsets_to_transaction` may exceed its limit if a reply never arrives (seen with 2.16.0 after a broker was
/// stopped for half a minute). The call then does not return, and the watchdog ends the process.
final class KafkaLaneProducer: LaneProducer {
    /// The time limit of an abort, in milliseconds.
    ///
    /// A new producer aborts the transaction as well, so a longer wait has no benefit.
    private static let abortTimeout: Int32 = 5_000

    private let producer: KafkaProducer
    /// `transaction.timeout.ms`, after which the transaction cannot succeed.
    private let transactionTimeout: Int32
    private var topics: [ProducerTopic] = []

    init(_ configuration: ClientConfiguration, watch: CallWatch) throws(ConfigurationError) {
        transactionTimeout = configuration["transaction.timeout.ms"].flatMap { Int32($0) } ?? 60_000
        producer = try KafkaProducer(configuration, watch: watch)
    }

    func initTransactions(timeoutMilliseconds: Int32) throws(KafkaError) {
        try producer.initTransactions(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// A Boolean value that indicates whether a broker lacks the requests that fence a group's generation:
    /// TxnOffsetCommit v3 and OffsetFetch v7 (Kafka 2.5).
    ///
    /// librdkafka silently falls back to older versions, which do not fence.
    var isFencingUnsupported: Bool {
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
        _ offsets: [PartitionOffset], _ group: GroupMetadata, timeoutMilliseconds: Int32?
    ) throws(KafkaError) {
        try producer.sendOffsets(offsets, group, timeoutMilliseconds: timeoutMilliseconds ?? transactionTimeout)
    }

    func commit(timeoutMilliseconds: Int32?) throws(KafkaError) {
        do throws(KafkaError) {
            try producer.commitTransaction(timeoutMilliseconds: timeoutMilliseconds ?? transactionTimeout)
        } catch {
            throw timeoutMilliseconds == nil ? Self.withoutRetry(error) : error
        }
    }

    func abort() throws(KafkaError) {
        do throws(KafkaError) {
            try producer.abortTransaction(timeoutMilliseconds: min(Self.abortTimeout, transactionTimeout))
        } catch {
            throw Self.withoutRetry(error)
        }
    }

    /// Returns an error that is not retriable instead of a timeout.
    ///
    /// Repeating the call after its full time limit would not succeed.
    private static func withoutRetry(_ error: KafkaError) -> KafkaError {
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
