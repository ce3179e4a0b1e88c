internal import CRdKafka

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

    func offsets(
        forTimes times: [PartitionOffset], timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [PartitionResult] {
        let list = PartitionList(times)
        try KafkaError.check(
            handle.call(.offsetsForTimes) { rd_kafka_offsets_for_times($0, list.pointer, timeoutMilliseconds) })
        return list.results
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
