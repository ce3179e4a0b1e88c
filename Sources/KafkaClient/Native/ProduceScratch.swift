internal import CRdKafka
internal import ByteStorage

/// Reused message structures for `rd_kafka_produce_batch`.
struct ProduceScratch: ~Copyable {
    private var messages: UnsafeMutablePointer<rd_kafka_message_t>
    private var capacity: Int

    init() {
        capacity = 1024
        messages = .allocate(capacity: capacity)
        messages.initialize(repeating: rd_kafka_message_t(), count: capacity)
    }

    deinit { messages.deallocate() }

    /// Produces records to one partition without copying their values.
    ///
    /// See `KafkaProducer.produceBatch`.
    mutating func produce(
        _ topic: OpaquePointer, partition: Int32, _ records: UnsafeBufferPointer<OutboundRecord>
    ) -> (accepted: Int, error: KafkaError?) {
        reserve(records.count)
        for index in 0..<records.count {
            let record = records[index]
            let message = messages + index
            message.pointee.err = RD_KAFKA_RESP_ERR_NO_ERROR
            message.pointee.payload = UnsafeMutableRawPointer(mutating: record.value.start)
            message.pointee.len = record.value.count
            if let key = record.key {
                message.pointee.key = UnsafeMutableRawPointer(mutating: key.start)
                message.pointee.key_len = key.count
            } else {
                message.pointee.key = nil
                message.pointee.key_len = 0
            }
        }
        let good = rd_kafka_produce_batch(topic, partition, 0, messages, Int32(truncatingIfNeeded: records.count))
        if Int(good) == records.count { return (records.count, nil) }
        return firstFailure(records.count)
    }

    private func firstFailure(_ count: Int) -> (accepted: Int, error: KafkaError?) {
        for index in 0..<count where messages[index].err != RD_KAFKA_RESP_ERR_NO_ERROR {
            return (index, KafkaError(code: KafkaErrorCode(messages[index].err)))
        }
        return (count, nil)
    }

    private mutating func reserve(_ count: Int) {
        if count <= capacity { return }
        messages.deallocate()
        capacity = count
        messages = .allocate(capacity: count)
        messages.initialize(repeating: rd_kafka_message_t(), count: count)
    }
}
