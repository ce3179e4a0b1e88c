internal import CRdKafka

/// Owns a client instance (`rd_kafka_t`) and the two queues that every client of ours polls.
///
/// The only place where an instance is destroyed. What hangs on the instance (topics, lists, messages, other queues)
/// is to be released before: `rd_kafka_destroy` waits for it.
final class ClientHandle {
    private var instance: OpaquePointer?
    private var mainQueue: OpaquePointer?
    private var logQueue: OpaquePointer?

    /// The instance.
    ///
    /// Using it after `destroy` is a fault of ours.
    var pointer: OpaquePointer {
        // A call after close would reach into freed memory: a fault of the caller, never of what comes from outside.
        guard let instance else { preconditionFailure("a Kafka client was used after it was closed") }
        return instance
    }

    /// Whether the instance is still there.
    var isOpen: Bool { instance != nil }

    /// Makes an instance whose log lines, statistics and errors are polled, never called back: callbacks for them
    /// would come from librdkafka's own threads.
    init(_ role: ClientRole, configuration: consuming NativeConfiguration) throws(ConfigurationError) {
        try configuration.set("log.queue", "true")
        configuration.enableEvents(RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS)
        let instance = try configuration.makeClient(role)
        self.instance = instance
        mainQueue = rd_kafka_queue_get_main(instance)
        logQueue = rd_kafka_queue_new(instance)
        rd_kafka_set_log_queue(instance, logQueue)
    }

    deinit { destroy(flags: RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE) }

    /// Destroys queues and instance; a second call does nothing.
    func destroy(flags: Int32 = RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE) {
        guard let instance else { return }
        self.instance = nil
        if let mainQueue { rd_kafka_queue_destroy(mainQueue) }
        mainQueue = nil
        if let logQueue { rd_kafka_queue_destroy(logQueue) }
        logQueue = nil
        rd_kafka_destroy_flags(instance, flags)
    }

    /// Serves the main queue: delivery callbacks run, statistics and errors go to `inbox`.
    ///
    /// Waits for the first event up to the timeout, then takes what is there.
    func serveMain(timeoutMilliseconds: Int32, into inbox: inout ClientInbox) {
        var timeout = timeoutMilliseconds
        while let event = rd_kafka_queue_poll(mainQueue, timeout) {
            inbox.take(event)
            rd_kafka_event_destroy(event)
            timeout = 0
        }
    }

    /// Takes the log lines that have come since the last call.
    func drainLog(into inbox: inout ClientInbox) {
        while let event = rd_kafka_queue_poll(logQueue, 0) {
            inbox.take(event)
            rd_kafka_event_destroy(event)
        }
    }

    /// The fatal error that the instance met, or nil.
    var fatalError: KafkaError? {
        var message = [CChar](repeating: 0, count: 512)
        let code = rd_kafka_fatal_error(pointer, &message, message.count)
        if code == RD_KAFKA_RESP_ERR_NO_ERROR { return nil }
        return KafkaError(code: KafkaErrorCode(code), text: text(of: message), isFatal: true)
    }

    /// The two ends of a partition, asked from its leader.
    func watermarks(of partition: TopicPartition, timeoutMilliseconds: Int32) throws(KafkaError) -> Watermarks {
        var low: Int64 = 0
        var high: Int64 = 0
        try KafkaError.check(
            rd_kafka_query_watermark_offsets(
                pointer, partition.topic, partition.partition, &low, &high, timeoutMilliseconds))
        return Watermarks(low: low, high: high)
    }
}
