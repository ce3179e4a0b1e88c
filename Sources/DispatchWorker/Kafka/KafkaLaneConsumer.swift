internal import KafkaClient
internal import ByteStorage

/// A consumer's group metadata, stored so that a repeated call has the same arguments.
final class GroupMetadataBox {
    let metadata: GroupMetadata

    init(_ metadata: consuming GroupMetadata) { self.metadata = metadata }
}

/// A lane's consumer, implemented with librdkafka.
final class KafkaLaneConsumer: LaneConsumer {
    private let consumer: KafkaConsumer
    private let subscription: [String]
    private let isCooperative: Bool
    private var wasAssigned = false

    init(
        _ configuration: ClientConfiguration, subscription: [String], watch: CallWatch,
        rebalance: @escaping (RebalanceEvent) -> Void
    ) throws(ConfigurationError) {
        self.subscription = subscription
        isCooperative = configuration["partition.assignment.strategy"]?.contains("cooperative") ?? false
        consumer = try KafkaConsumer(configuration, watch: watch) { _, event in rebalance(event) }
    }

    func subscribe() throws(KafkaError) { try consumer.subscribe(subscription) }

    func poll(max limit: Int, timeoutMilliseconds: Int32) -> PollOutcome {
        consumer.poll(max: limit, timeoutMilliseconds: timeoutMilliseconds)
    }

    var records: UnsafeBufferPointer<ConsumedRecord> { consumer.records }

    var events: [ConsumerEvent] { consumer.events }

    func releaseBatch() { consumer.releaseBatch() }

    func headerViews(of index: Int32, into views: inout [HeaderView]) { consumer.headerViews(of: index, into: &views) }

    func hasBrokerTimestamp(_ index: Int32) -> Bool { consumer.hasBrokerTimestamp(index) }

    func topicNameBytes(at index: Int32) -> ByteView { consumer.topicNameBytes(at: index) }

    func topicIndex(of name: String) -> Int32 { consumer.topicIndex(of: name) }

    func committed(
        _ partitions: [TopicPartition], timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [PartitionResult] {
        try consumer.committed(partitions, timeoutMilliseconds: timeoutMilliseconds)
    }

    func watermarks(of partition: TopicPartition, timeoutMilliseconds: Int32) throws(KafkaError) -> Watermarks {
        try consumer.watermarks(of: partition, timeoutMilliseconds: timeoutMilliseconds)
    }

    func cachedWatermarks(of partition: TopicPartition) -> Watermarks? { consumer.cachedWatermarks(of: partition) }

    func assign(_ added: [PartitionOffset], all: [PartitionOffset]) throws(KafkaError) {
        wasAssigned = true
        switch consumer.rebalanceProtocol {
        case .cooperative: try consumer.incrementalAssign(added)
        case .eager, .none: try consumer.assign(all)
        }
    }

    func unassign(_ revoked: [TopicPartition]) throws(KafkaError) {
        switch consumer.rebalanceProtocol {
        case .cooperative: try consumer.incrementalUnassign(revoked)
        case .eager, .none: try consumer.unassign()
        }
    }

    func seek(_ offsets: [PartitionOffset]) throws(KafkaError) -> [PartitionResult] { try consumer.seek(offsets) }

    func pause(_ partitions: [TopicPartition]) throws(KafkaError) -> [PartitionResult] {
        try consumer.pause(partitions)
    }

    func resume(_ partitions: [TopicPartition]) throws(KafkaError) -> [PartitionResult] {
        try consumer.resume(partitions)
    }

    func reassign(_ offsets: [PartitionOffset], all: [PartitionOffset]) throws(KafkaError) {
        switch consumer.rebalanceProtocol {
        case .cooperative:
            try consumer.incrementalUnassign(offsets.map(\.partition))
            try consumer.incrementalAssign(offsets)
        case .eager, .none: try consumer.assign(all)
        }
    }

    func commit(_ offsets: [PartitionOffset], timeoutMilliseconds: Int32) throws(KafkaError) {
        try consumer.commit(offsets, timeoutMilliseconds: timeoutMilliseconds)
    }

    func group() -> GroupMetadataBox? {
        guard let metadata = consumer.groupMetadata() else { return nil }
        return GroupMetadataBox(metadata)
    }

    var fatalError: KafkaError? { consumer.fatalError }

    func takeEvents() -> [ClientEvent] { consumer.takeEvents() }

    func close() throws(KafkaError) {
        // Before 2.3.0, destroying a cooperative consumer that was never assigned a partition ends the process with a
        // failed assertion (librdkafka issue 4312). The consumer is leaked instead, because the process ends soon.
        if isCooperative && !wasAssigned && !LibraryInfo.isAtLeast(2, 3, 0) {
            _ = Unmanaged.passRetained(consumer)
            return
        }
        try consumer.close()
    }
}
