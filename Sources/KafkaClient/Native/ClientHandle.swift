internal import CRdKafka

/// The owner of a client instance (`rd_kafka_t`) and of the two queues that every client polls.
///
/// This is the only access to the instance, and the only place that destroys one. Calls that may wait use `call`, which
/// names and times them for a watchdog. Everything that belongs to the instance (topics, lists, messages, other queues)
/// must be released first, because `rd_kafka_destroy` waits for it.
final class ClientHandle {
    /// The watch that lists this instance's calls.
    let watch: CallWatch
    private let tokens: TokenSource?
    private var instance: OpaquePointer?
    private var mainQueue: OpaquePointer?
    private var logQueue: OpaquePointer?

    /// The instance.
    ///
    /// Using it after `destroy` is a programming error.
    private var pointer: OpaquePointer {
        // A call after `close` would access freed memory. External input cannot cause it.
        guard let instance else { preconditionFailure("a Kafka client was used after it was closed") }
        return instance
    }

    /// A Boolean value that indicates whether the instance exists.
    var isOpen: Bool { instance != nil }

    /// Creates an instance whose log lines, statistics, and errors are polled.
    ///
    /// Callbacks for them would run on librdkafka's own threads.
    init(
        _ role: ClientRole, configuration: consuming NativeConfiguration, watch: CallWatch,
        tokens: TokenSource? = nil
    ) throws(ConfigurationError) {
        self.watch = watch
        self.tokens = tokens
        if tokens != nil { configuration.enableTokenQueue() }
        try configuration.set("log.queue", "true")
        configuration.enableEvents(RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS)
        let instance = try configuration.makeClient(role, watch)
        self.instance = instance
        tokens?.attach(instance)
        mainQueue = rd_kafka_queue_get_main(instance)
        logQueue = rd_kafka_queue_new(instance)
        rd_kafka_set_log_queue(instance, logQueue)
    }

    deinit { destroy(flags: RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE) }

    /// Makes a call that may wait.
    func call<Result>(_ call: LibraryCall, _ body: (OpaquePointer) -> Result) -> Result {
        let client = pointer
        return watch.during(call) { body(client) }
    }

    /// Makes a call that waits for nothing but short locks.
    @inline(__always)
    func callWithoutWaiting<Result>(_ body: (OpaquePointer) -> Result) -> Result { body(pointer) }

    /// Waits for an event of a queue of this instance.
    ///
    /// The caller destroys the event.
    func poll(_ queue: OpaquePointer?, _ timeoutMilliseconds: Int32) -> OpaquePointer? {
        watch.during(.queuePoll) { rd_kafka_queue_poll(queue, timeoutMilliseconds) }
    }

    /// Destroys the queues and the instance.
    ///
    /// A second call has no effect.
    func destroy(flags: Int32 = RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE) {
        guard let instance else { return }
        self.instance = nil
        tokens?.detach(instance)
        if let mainQueue { rd_kafka_queue_destroy(mainQueue) }
        mainQueue = nil
        if let logQueue { rd_kafka_queue_destroy(logQueue) }
        logQueue = nil
        watch.during(.destroy) { rd_kafka_destroy_flags(instance, flags) }
    }

    /// Serves the main queue: runs delivery callbacks and adds statistics and errors to `inbox`.
    ///
    /// Waits for the first event up to the timeout, then handles everything that is available.
    func serveMain(timeoutMilliseconds: Int32, into inbox: inout ClientInbox) {
        var timeout = timeoutMilliseconds
        while let event = poll(mainQueue, timeout) {
            inbox.add(event)
            rd_kafka_event_destroy(event)
            timeout = 0
        }
    }

    /// Adds the new log lines to `inbox`.
    func drainLog(into inbox: inout ClientInbox) {
        while let event = poll(logQueue, 0) {
            inbox.add(event)
            rd_kafka_event_destroy(event)
        }
    }

    /// The fatal error of the instance, or nil.
    var fatalError: KafkaError? {
        var message = [CChar](repeating: 0, count: 512)
        let code = rd_kafka_fatal_error(pointer, &message, message.count)
        if code == RD_KAFKA_RESP_ERR_NO_ERROR { return nil }
        return KafkaError(code: KafkaErrorCode(code), text: text(of: message), isFatal: true)
    }
}
