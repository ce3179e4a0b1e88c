internal import CRdKafka

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
