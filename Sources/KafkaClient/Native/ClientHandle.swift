internal import CRdKafka

/// Owns a client instance (`rd_kafka_t`) and the two queues that every client of ours polls.
///
/// The only way to the instance, and the only place where one is destroyed: what may wait goes through `call`, which
/// names and times it and lets a watchdog see it. What hangs on the instance (topics, lists, messages, other queues)
/// is to be released before: `rd_kafka_destroy` waits for it.
final class ClientHandle {
    /// Where this instance's calls stand while they last.
    let watch: CallWatch
    private var instance: OpaquePointer?
    private var mainQueue: OpaquePointer?
    private var logQueue: OpaquePointer?

    /// The instance.
    ///
    /// Using it after `destroy` is a fault of ours.
    private var pointer: OpaquePointer {
        // A call after close would reach into freed memory: a fault of the caller, never of what comes from outside.
        guard let instance else { preconditionFailure("a Kafka client was used after it was closed") }
        return instance
    }

    /// Whether the instance is still there.
    var isOpen: Bool { instance != nil }

    /// Makes an instance whose log lines, statistics and errors are polled, never called back: callbacks for them
    /// would come from librdkafka's own threads.
    init(
        _ role: ClientRole, configuration: consuming NativeConfiguration, watch: CallWatch
    ) throws(ConfigurationError) {
        self.watch = watch
        try configuration.set("log.queue", "true")
        configuration.enableEvents(RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS)
        let instance = try configuration.makeClient(role, watch)
        self.instance = instance
        mainQueue = rd_kafka_queue_get_main(instance)
        logQueue = rd_kafka_queue_new(instance)
        rd_kafka_set_log_queue(instance, logQueue)
    }

    deinit { destroy(flags: RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE) }

    /// Calls something that may wait.
    func call<Result>(_ call: LibraryCall, _ body: (OpaquePointer) -> Result) -> Result {
        let client = pointer
        return watch.during(call) { body(client) }
    }

    /// Calls something that waits for nothing but short locks.
    @inline(__always)
    func quickly<Result>(_ body: (OpaquePointer) -> Result) -> Result { body(pointer) }

    /// Waits for an event of a queue of this instance; the caller destroys it.
    func poll(_ queue: OpaquePointer?, _ timeoutMilliseconds: Int32) -> OpaquePointer? {
        watch.during(.queuePoll) { rd_kafka_queue_poll(queue, timeoutMilliseconds) }
    }

    /// Destroys queues and instance; a second call does nothing.
    func destroy(flags: Int32 = RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE) {
        guard let instance else { return }
        self.instance = nil
        if let mainQueue { rd_kafka_queue_destroy(mainQueue) }
        mainQueue = nil
        if let logQueue { rd_kafka_queue_destroy(logQueue) }
        logQueue = nil
        watch.during(.destroy) { rd_kafka_destroy_flags(instance, flags) }
    }

    /// Serves the main queue: delivery callbacks run, statistics and errors go to `inbox`.
    ///
    /// Waits for the first event up to the timeout, then takes what is there.
    func serveMain(timeoutMilliseconds: Int32, into inbox: inout ClientInbox) {
        var timeout = timeoutMilliseconds
        while let event = poll(mainQueue, timeout) {
            inbox.take(event)
            rd_kafka_event_destroy(event)
            timeout = 0
        }
    }

    /// Takes the log lines that have come since the last call.
    func drainLog(into inbox: inout ClientInbox) {
        while let event = poll(logQueue, 0) {
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
}
