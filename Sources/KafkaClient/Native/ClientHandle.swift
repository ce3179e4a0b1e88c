internal import ByteStorage
internal import CRdKafka
internal import Synchronization
internal import SystemThreads

/// The owner of a client instance (`rd_kafka_t`) and of the two queues that every client polls.
///
/// This is the only access to the instance, and the only place that destroys one. Calls that may wait use `call`. It
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
        guard let instance = releaseQueues() else { return }
        watch.during(.destroy) { rd_kafka_destroy_flags(instance, flags) }
    }

    /// Destroys the queues and the instance on another thread, and waits for it for a time.
    ///
    /// Returns false if the instance still exists then.
    func destroy(withinMilliseconds milliseconds: Int) -> Bool {
        guard let instance = releaseQueues() else { return true }
        // Only the thread uses it from here on.
        nonisolated(unsafe) let client = instance
        let isDestroyed = Monitor(false)
        return watch.during(.destroy) {
            let isStarted = SystemThread.start("destroy") {
                rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)
                isDestroyed.signal { $0 = true }
            }
            return isStarted && (isDestroyed.wait(milliseconds: milliseconds) { $0 ? true : nil } ?? false)
        }
    }

    /// Destroys the queues, and returns the instance, which is to be destroyed, or nil if that was done before.
    private func releaseQueues() -> OpaquePointer? {
        guard let instance else { return nil }
        self.instance = nil
        tokens?.detach(instance)
        if let mainQueue { rd_kafka_queue_destroy(mainQueue) }
        mainQueue = nil
        if let logQueue { rd_kafka_queue_destroy(logQueue) }
        logQueue = nil
        return instance
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

// Consumer groups, described without joining them.
//
// A worker does not use `rd_kafka_DescribeConsumerGroups`, which ends the process with an assertion if its connection
// to the group's coordinator is lost before the request is sent (librdkafka issues 3663 and 4605).
extension ClientHandle {
    /// Describes a consumer group.
    ///
    /// Each broker is asked for its groups, and the group's coordinator for its members.
    func group(_ name: String, timeoutMilliseconds: Int32) throws(KafkaError) -> GroupDescription {
        var list: UnsafePointer<rd_kafka_group_list>?
        let code = call(.listGroups) { rd_kafka_list_groups($0, name, &list, timeoutMilliseconds) }
        defer { if let list { rd_kafka_group_list_destroy(list) } }
        let groups = UnsafeBufferPointer(start: list?.pointee.groups, count: Int(list?.pointee.group_cnt ?? 0))
        // A broker that did not answer may have the group.
        guard let group = groups.first(where: { String(cString: $0.group) == name }) else {
            try KafkaError.check(code)
            return GroupDescription(name: name, state: "Dead", members: [])
        }
        try KafkaError.check(group.err)
        let members = UnsafeBufferPointer(start: group.members, count: Int(group.member_cnt))
        return GroupDescription(
            name: name, state: String(cString: group.state),
            members: members.map { member in
                let bytes = UnsafeRawBufferPointer(
                    start: member.member_assignment, count: max(0, Int(member.member_assignment_size)))
                return GroupMember(
                    id: String(cString: member.member_id), clientID: String(cString: member.client_id),
                    partitions: AssignmentReader(bytes).partitions())
            }, coordinator: group.broker.id)
    }

    /// Returns the id of the cluster, or nil if no broker reports it within the time limit.
    func clusterID(timeoutMilliseconds: Int32) -> String? {
        guard let text = call(.clusterID, { rd_kafka_clusterid($0, timeoutMilliseconds) }) else { return nil }
        defer { rd_kafka_mem_free(nil, text) }
        return String(cString: text)
    }
}

/// A reader of the assignment of a member: `ConsumerProtocolAssignment` of Kafka's protocol.
struct AssignmentReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    /// Creates a reader of the bytes that the leader of the group has written.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Returns the partitions, or an empty array if the assignment has another form.
    func partitions() -> [TopicPartition] {
        var reader = self
        return reader.read() ?? []
    }

    private mutating func read() -> [TopicPartition]? {
        guard integer(Int16.self) != nil, let topics = integer(Int32.self) else { return nil }
        var found: [TopicPartition] = []
        for _ in 0..<max(0, topics) {
            guard let length = integer(Int16.self), length >= 0, bytes.count - position >= Int(length) else {
                return nil
            }
            let topic = String(decoding: bytes[position..<position + Int(length)], as: UTF8.self)
            position += Int(length)
            guard let count = integer(Int32.self) else { return nil }
            for _ in 0..<max(0, count) {
                guard let partition = integer(Int32.self) else { return nil }
                found.append(TopicPartition(topic: topic, partition: partition))
            }
        }
        return found
    }

    /// Returns the next number, in network byte order, or nil at the end.
    private mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
        guard bytes.count - position >= MemoryLayout<Value>.size else { return nil }
        defer { position += MemoryLayout<Value>.size }
        return Value(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: Value.self))
    }
}

// The passing of tokens to clients of librdkafka.
extension TokenSource {
    /// Passes a token to a new client, and later ones until `detach`.
    ///
    /// The first client waits for the token.
    func attach(_ client: OpaquePointer) {
        if state.withLock({ $0.token == nil }) { renew() }
        let address = UInt(bitPattern: client)
        state.withLock { state in
            state.clients[address] = { result in OpaquePointer(bitPattern: address).map { Self.send(result, to: $0) } }
            Self.send(state.result, to: client)
        }
    }

    /// Forgets a client, which can then be destroyed.
    func detach(_ client: OpaquePointer) {
        state.withLock { $0.clients[UInt(bitPattern: client)] = nil }
    }

    /// Passes a token, or the reason why there is none, to a client.
    ///
    /// A failure becomes an error event of the client.
    private static func send(_ result: Result<ClientToken, TokenFailure>, to client: OpaquePointer) {
        switch result {
        case .success(let token):
            var message = [CChar](repeating: 0, count: 512)
            let code = rd_kafka_oauthbearer_set_token(
                client, token.value, token.expiresAt, token.principal, nil, 0, &message, message.count)
            if code != RD_KAFKA_RESP_ERR_NO_ERROR { rd_kafka_oauthbearer_set_token_failure(client, message) }
        case .failure(let failure): rd_kafka_oauthbearer_set_token_failure(client, failure.text)
        }
    }
}

/// The events of a client instance that the application has not taken yet.
///
/// The list is bounded. Further events are dropped.
struct ClientInbox {
    /// The maximum number of waiting events.
    private static let capacity = 1000
    /// The maximum size of a statistics document in bytes.
    ///
    /// A larger one is dropped. Documents have about 600 bytes per partition.
    private static let statisticsLimit = 4 << 20
    /// The least severe syslog level of log lines that are kept (info).
    ///
    /// Debug lines are only parsed.
    private static let leastSevereLevel: Int32 = 6

    /// The waiting events.
    private(set) var events: [ClientEvent] = []
    /// The information from debug lines.
    var watch = DebugLogWatch()
    /// The counter of delivery reports that arrive as events.
    var deliveries: UnsafeMutablePointer<DeliveryCounter>?

    /// Returns and removes the waiting events.
    mutating func takeEvents() -> [ClientEvent] {
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    /// Adds one event.
    ///
    /// The caller destroys it.
    mutating func add(_ event: OpaquePointer) {
        switch rd_kafka_event_type(event) {
        case RD_KAFKA_EVENT_LOG: addLog(event)
        case RD_KAFKA_EVENT_STATS:
            guard let text = rd_kafka_event_stats(event) else { return }
            keepStatistics(ByteView(cString: text))
        case RD_KAFKA_EVENT_ERROR:
            let error = KafkaError(
                code: KafkaErrorCode(rd_kafka_event_error(event)),
                text: String(cString: rd_kafka_event_error_string(event)),
                isFatal: rd_kafka_event_error_is_fatal(event) != 0)
            keep(.error(error))
        case RD_KAFKA_EVENT_DR:
            while let message = rd_kafka_event_message_next(event) {
                deliveries?.pointee.count(message)
            }
        default: break
        }
    }

    /// Keeps the newest statistics document.
    private mutating func keepStatistics(_ document: ByteView) {
        guard document.count <= Self.statisticsLimit else { return }
        events.removeAll { if case .statistics = $0 { true } else { false } }
        keep(.statistics(document.array))
    }

    private mutating func addLog(_ event: OpaquePointer) {
        var facility: UnsafePointer<CChar>?
        var text: UnsafePointer<CChar>?
        var level: Int32 = 0
        guard rd_kafka_event_log(event, &facility, &text, &level) == 0, let facility, let text else { return }
        watch.read(facility: ByteView(cString: facility), text: ByteView(cString: text))
        if level <= Self.leastSevereLevel {
            let text = String(cString: text).withoutSecret
            keep(.log(LogLine(level: level, facility: String(cString: facility), text: text)))
        }
    }

    private mutating func keep(_ event: ClientEvent) {
        if events.count < Self.capacity { events.append(event) }
    }
}

/// The owner of an `rd_kafka_mock_cluster_t`.
///
/// Destroy it before its client.
final class MockClusterHandle {
    private let handle: ClientHandle
    private var cluster: OpaquePointer?

    init?(_ handle: ClientHandle, brokers: Int32) {
        guard let cluster = handle.call(.mock, { rd_kafka_mock_cluster_new($0, brokers) }) else { return nil }
        self.handle = handle
        self.cluster = cluster
    }

    deinit { destroy() }

    /// Destroys the cluster.
    ///
    /// A second call has no effect.
    func destroy() {
        call { rd_kafka_mock_cluster_destroy($0) }
        cluster = nil
    }

    /// Makes a call to the cluster, or returns nil after it was destroyed.
    @discardableResult
    func call<Result>(_ body: (OpaquePointer) -> Result) -> Result? {
        guard let cluster else { return nil }
        return handle.watch.during(.mock) { body(cluster) }
    }

    /// Makes a call to the cluster that may fail.
    func check(_ body: (OpaquePointer) -> rd_kafka_resp_err_t) throws(KafkaError) {
        try KafkaError.check(call(body) ?? RD_KAFKA_RESP_ERR__DESTROY)
    }

    /// The addresses of the brokers.
    var bootstrapServers: String { cluster.map { String(cString: rd_kafka_mock_cluster_bootstraps($0)) } ?? "" }
}
