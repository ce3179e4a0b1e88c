internal import CRdKafka

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
