internal import CRdKafka

/// The context that passes a rebalance from librdkafka's callback to the consumer's handler, on the polling thread.
final class RebalanceContext {
    /// A Boolean value that indicates whether only partitions that move are revoked and assigned.
    ///
    /// It comes from the configuration. `rd_kafka_rebalance_protocol` asks the library's main thread. If the group ends
    /// at that moment, the answer is lost, and a close hangs (librdkafka issue 4041).
    let isCooperative: Bool
    /// The consumer's instance, which is set after its creation.
    var handle: ClientHandle?
    /// The handler of rebalances, which is set after the consumer's creation.
    var handler: ((RebalanceEvent) -> Void)?
    /// A Boolean value that indicates whether the group has assigned partitions.
    private(set) var wasAssigned = false
    /// The number of callbacks that ran.
    private(set) var count = 0
    /// A Boolean value that indicates whether the handler has called assign, unassign, or one of their incremental
    /// forms.
    var isAnswered = false

    /// Creates the context of a consumer with these properties.
    init(_ configuration: ClientConfiguration) {
        isCooperative =
            configuration["partition.assignment.strategy"]?.contains("cooperative") ?? false
            || configuration["group.protocol"]?.lowercased() == "consumer"
    }

    /// The C callback.
    ///
    /// Its opaque pointer is an unretained context, which the consumer keeps alive.
    static let callback:
        @convention(c) (
            OpaquePointer?, rd_kafka_resp_err_t, UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?,
            UnsafeMutableRawPointer?
        ) -> Void = { _, code, list, opaque in
            guard let opaque else { return }
            let context = Unmanaged<RebalanceContext>.fromOpaque(opaque).takeUnretainedValue()
            guard let handle = context.handle else { return }
            handle.watch.during(.rebalanceCallback) { context.rebalance(handle, code: code, list: list) }
        }

    private func rebalance(
        _ client: ClientHandle, code: rd_kafka_resp_err_t,
        list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
    ) {
        count += 1
        isAnswered = false
        if code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS { wasAssigned = true }
        let partitions = list.map { PartitionList.partitions(of: $0) } ?? []
        handler?(event(client, code: code, partitions: partitions))
        if !isAnswered { answer(client, code: code, list: list) }
    }

    private func event(
        _ client: ClientHandle, code: rd_kafka_resp_err_t, partitions: [TopicPartition]
    ) -> RebalanceEvent {
        switch code {
        case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS: .assign(partitions)
        case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS:
            client.callWithoutWaiting { rd_kafka_assignment_lost($0) } != 0 ? .lost(partitions) : .revoke(partitions)
        default: .failed(KafkaError(code: KafkaErrorCode(code)))
        }
    }

    /// Answers a rebalance as librdkafka does without a callback, because the group waits for an answer to every
    /// rebalance.
    private func answer(
        _ client: ClientHandle, code: rd_kafka_resp_err_t,
        list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
    ) {
        switch code {
        case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS where isCooperative:
            _ = KafkaError.adopting(client.call(.incrementalAssign) { rd_kafka_incremental_assign($0, list) })
        case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS: _ = client.call(.assign) { rd_kafka_assign($0, list) }
        case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS where isCooperative:
            _ = KafkaError.adopting(client.call(.incrementalUnassign) { rd_kafka_incremental_unassign($0, list) })
        default: _ = client.call(.assign) { rd_kafka_assign($0, nil) }
        }
    }
}

/// The owner of a consumer's reference to its own queue.
///
/// Release it before the consumer is closed.
struct ConsumerQueue: ~Copyable {
    let pointer: OpaquePointer

    /// Gets the reference, or returns nil if the consumer has no queue (no `group.id`).
    init?(of handle: ClientHandle) {
        guard let queue = handle.callWithoutWaiting({ rd_kafka_queue_get_consumer($0) }) else { return nil }
        pointer = queue
    }

    deinit { rd_kafka_queue_destroy(pointer) }

    /// Waits for the first message up to the timeout, then appends the available ones, up to `limit` messages.
    func poll(
        _ handle: ClientHandle, into batch: inout MessageBatch, limit: Int, timeoutMilliseconds: Int32
    ) {
        guard let first = handle.call(.consumerPoll, { rd_kafka_consumer_poll($0, timeoutMilliseconds) }) else {
            return
        }
        batch.append(first)
        batch.drain(pointer, of: handle, upTo: limit)
    }
}

/// The owner of the queue for the answer to a commit.
///
/// Release it before the consumer is closed.
struct CommitQueue: ~Copyable {
    /// The answer to a commit.
    struct Answer {
        /// The error, or nil if all partitions were committed.
        var error: KafkaError?
    }

    private let queue: OpaquePointer
    private let handle: ClientHandle

    init?(of handle: ClientHandle) {
        guard let queue = handle.callWithoutWaiting({ rd_kafka_queue_new($0) }) else { return nil }
        self.handle = handle
        self.queue = queue
    }

    deinit { rd_kafka_queue_destroy(queue) }

    /// Sends a commit.
    ///
    /// `answer` returns the answer to it.
    func start(_ offsets: [PartitionOffset]) throws(KafkaError) {
        let list = PartitionList(offsets)
        try KafkaError.check(handle.call(.commit) { rd_kafka_commit_queue($0, list.pointer, queue, nil, nil) })
    }

    /// Waits for the answer to one commit up to the timeout.
    ///
    /// Returns nil if none has arrived.
    func answer(timeoutMilliseconds: Int32) -> Answer? {
        guard let event = handle.poll(queue, timeoutMilliseconds) else { return nil }
        defer { rd_kafka_event_destroy(event) }
        var error = KafkaError(rd_kafka_event_error(event))
        if let list = rd_kafka_event_topic_partition_list(event) {
            error = error ?? PartitionList.firstError(of: list)
        }
        return Answer(error: error)
    }
}

/// A consumer's group metadata (member and generation), which fences a transaction's offsets.
///
/// Get a new one for every commit.
package final class GroupMetadata {
    let pointer: OpaquePointer

    init(adopting pointer: OpaquePointer) { self.pointer = pointer }

    deinit { rd_kafka_consumer_group_metadata_destroy(pointer) }
}

/// The owner of a reader's queue, topic handles, and started partitions.
///
/// It uses librdkafka's consumer without groups (`rd_kafka_consume_start_queue`), as kcat does.
final class ReaderSource {
    private let handle: ClientHandle
    private var queue: OpaquePointer?
    private var topics = TopicHandles()
    private var started: Set<TopicPartition> = []

    init(_ handle: ClientHandle) {
        self.handle = handle
        queue = handle.callWithoutWaiting { rd_kafka_queue_new($0) }
    }

    private func topic(_ name: String) throws(KafkaError) -> OpaquePointer {
        topics[try topics.add(name, to: handle)]
    }

    func describe(_ name: String, timeoutMilliseconds: Int32) throws(KafkaError) -> TopicDescription {
        let metadata = try ClusterMetadata(
            from: handle, topic: try topic(name), timeoutMilliseconds: timeoutMilliseconds)
        return metadata.topics.first
            ?? TopicDescription(name: name, partitions: [], error: KafkaError(code: .unknownTopicOrPartition))
    }

    func start(_ offset: PartitionOffset) throws(KafkaError) {
        let topic = try topic(offset.partition.topic)
        let result = handle.call(.consumeStart) { _ in
            rd_kafka_consume_start_queue(topic, offset.partition.partition, offset.offset, queue)
        }
        if result == -1 { throw KafkaError(code: KafkaErrorCode(rd_kafka_last_error())) }
        started.insert(offset.partition)
    }

    func stop(_ partition: TopicPartition) throws(KafkaError) {
        guard started.remove(partition) != nil else { return }
        let topic = try topic(partition.topic)
        if handle.call(.consumeStop, { _ in rd_kafka_consume_stop(topic, partition.partition) }) == -1 {
            throw KafkaError(code: KafkaErrorCode(rd_kafka_last_error()))
        }
    }

    func poll(into batch: inout MessageBatch, limit: Int, timeoutMilliseconds: Int32) {
        guard let queue,
            let first = handle.call(.consumeQueue, { _ in rd_kafka_consume_queue(queue, timeoutMilliseconds) })
        else { return }
        batch.append(first)
        batch.drain(queue, of: handle, upTo: limit)
    }

    /// Stops all partitions, then releases the topics and the queue, because destroying the instance waits until they
    /// are released.
    func release() {
        for partition in started {
            guard let topic = try? topic(partition.topic) else { continue }
            _ = handle.call(.consumeStop) { _ in rd_kafka_consume_stop(topic, partition.partition) }
        }
        started.removeAll()
        topics.release()
        if let queue { rd_kafka_queue_destroy(queue) }
        queue = nil
    }
}
