internal import ByteStorage
internal import CLibrary
internal import CRdKafka
internal import CWideBytes

/// The messages of one poll and the records that were read from them.
///
/// Memory is reused between batches.
struct MessageBatch: ~Copyable {
    private var messages: UnsafeMutablePointer<UnsafeMutablePointer<rd_kafka_message_t>?>
    private var recordStorage: UnsafeMutablePointer<ConsumedRecord>
    private var capacity: Int
    private var messageCount = 0
    private var recordCount = 0
    private(set) var events: [ConsumerEvent] = []

    init() {
        capacity = 1
        messages = .allocate(capacity: 1)
        recordStorage = .allocate(capacity: 1)
    }

    deinit {
        Self.destroyAll(messages, messageCount)
        messages.deallocate()
        recordStorage.deallocate()
    }

    /// The records, with views into the messages.
    var records: UnsafeBufferPointer<ConsumedRecord> {
        UnsafeBufferPointer(start: recordStorage, count: recordCount)
    }

    /// Reserves memory for `count` messages.
    ///
    /// The batch must be released.
    mutating func reserve(_ count: Int) {
        if count <= capacity { return }
        messages.deallocate()
        recordStorage.deallocate()
        capacity = count
        messages = .allocate(capacity: count)
        recordStorage = .allocate(capacity: count)
    }

    /// Appends one message and takes ownership of it.
    mutating func append(_ message: UnsafeMutablePointer<rd_kafka_message_t>) {
        messages[messageCount] = message
        messageCount += 1
    }

    /// Appends the available messages of a queue, up to `limit` messages in all.
    mutating func drain(_ queue: OpaquePointer, of handle: ClientHandle, upTo limit: Int) {
        let room = limit - messageCount
        if room <= 0 { return }
        let free = messages + messageCount
        let received = handle.call(.consumeBatch) { _ in rd_kafka_consume_batch_queue(queue, 0, free, room) }
        if received > 0 { messageCount += received }
    }

    /// Reads the fields of all messages.
    ///
    /// Messages that are not records become events.
    mutating func read(_ topics: inout TopicNames) {
        topics.beginBatch()
        var count = 0
        for index in 0..<messageCount {
            let message = messages[index].unsafelyUnwrapped
            prefetch(index &+ Self.prefetchDistance)
            guard message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR else {
                events.append(Self.event(message, &topics))
                continue
            }
            let fields = message.pointee
            var headers: OpaquePointer?
            (recordStorage + count).initialize(
                to: ConsumedRecord(
                    topic: topics.index(of: fields.rkt.unsafelyUnwrapped), partition: fields.partition,
                    offset: fields.offset, timestamp: rd_kafka_message_timestamp(message, nil),
                    key: ByteView(pointer: fields.key, count: fields.key_len),
                    value: ByteView(pointer: fields.payload, count: fields.len),
                    index: Int32(truncatingIfNeeded: index),
                    hasHeaders: rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR))
            count &+= 1
        }
        recordCount = count
    }

    /// Prefetches the value of a message.
    ///
    /// A thread of librdkafka has written it, so it is not in the cache of this core.
    private func prefetch(_ index: Int) {
        guard index < messageCount, let message = messages[index] else { return }
        wide_prefetch(message.pointee.payload, UInt(min(message.pointee.len, 1024)))
    }

    /// The number of messages between the one that is read and the one that is prefetched.
    private static let prefetchDistance = 12

    /// Appends a message's headers as views that are valid as long as the batch.
    func headers(of index: Int32, into views: inout [HeaderView]) {
        guard index >= 0, index < messageCount, let message = messages[Int(index)] else { return }
        var headers: OpaquePointer?
        guard rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR, let headers else { return }
        var name: UnsafePointer<CChar>?
        var value: UnsafeRawPointer?
        var size = 0
        var headerIndex = 0
        while rd_kafka_header_get_all(headers, headerIndex, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR,
            let name
        {
            views.append(
                HeaderView(
                    name: ByteView(cString: name),
                    value: ByteView(pointer: UnsafeMutableRawPointer(mutating: value), count: size)))
            headerIndex += 1
        }
    }

    /// Returns a Boolean value that indicates whether a broker has set a message's timestamp.
    func hasBrokerTimestamp(_ index: Int32) -> Bool {
        guard index >= 0, index < messageCount, let message = messages[Int(index)] else { return false }
        var type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        _ = rd_kafka_message_timestamp(message, &type)
        return type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME
    }

    /// Destroys the messages and invalidates all views into them.
    mutating func release() {
        Self.destroyAll(messages, messageCount)
        messageCount = 0
        recordCount = 0
        if !events.isEmpty { events.removeAll(keepingCapacity: true) }
    }

    private static func destroyAll(
        _ messages: UnsafeMutablePointer<UnsafeMutablePointer<rd_kafka_message_t>?>, _ count: Int
    ) {
        for index in 0..<count { rd_kafka_message_destroy(messages[index]) }
    }

    private static func event(
        _ message: UnsafeMutablePointer<rd_kafka_message_t>, _ topics: inout TopicNames
    ) -> ConsumerEvent {
        let fields = message.pointee
        let kind = kind(of: KafkaErrorCode(fields.err))
        let topic = fields.rkt.map { topics.index(of: $0) } ?? -1
        let error =
            kind == .endOfPartition
            ? nil
            : KafkaError(
                code: KafkaErrorCode(fields.err), text: String(cString: rd_kafka_message_errstr(message)),
                isFatal: kind == .fatal)
        return ConsumerEvent(
            kind: kind, topic: topic, partition: fields.rkt == nil ? -1 : fields.partition, offset: fields.offset,
            error: error)
    }

    private static func kind(of code: KafkaErrorCode) -> ConsumerEvent.Kind {
        switch code {
        case .partitionEOF: .endOfPartition
        case .autoOffsetReset, .offsetOutOfRange: .offsetOutOfRange
        case .topicAuthorizationFailed, .groupAuthorizationFailed, .clusterAuthorizationFailed: .authorization
        case .unknownTopic, .unknownPartition, .unknownTopicOrPartition: .unknownTopic
        case .maxPollExceeded: .maxPollExceeded
        case .fatal, .fencedInstanceID: .fatal
        default: .other
        }
    }
}

/// The indices of the topics of a consumer, so that a record carries an index instead of a name.
struct TopicNames: ~Copyable {
    private var names: [UnsafeMutablePointer<CChar>] = []
    private var strings: [String] = []
    // A topic object may be freed once no message refers to it, and its address may be reused. Pointers are therefore
    // only compared within one batch.
    private var lastPointer: OpaquePointer?
    private var lastIndex: Int32 = 0

    deinit {
        for name in names { free(name) }
    }

    /// Discards the pointer of the previous batch.
    mutating func beginBatch() { lastPointer = nil }

    /// Returns the index of a message's topic.
    @inline(__always)
    mutating func index(of topic: OpaquePointer) -> Int32 {
        if topic == lastPointer { return lastIndex }
        return find(topic)
    }

    /// Returns the name as text.
    func name(at index: Int32) -> String { strings[Int(index)] }

    /// Returns the name's bytes, which are valid as long as the consumer.
    func bytes(at index: Int32) -> ByteView { ByteView(cString: names[Int(index)]) }

    /// Returns the index of a name, which is added if it is new.
    mutating func index(ofName name: UnsafePointer<CChar>) -> Int32 {
        for (index, known) in names.enumerated() where strcmp(known, name) == 0 { return Int32(index) }
        names.append(strdup(name))
        strings.append(String(cString: name))
        return Int32(names.count - 1)
    }

    @inline(never)
    private mutating func find(_ topic: OpaquePointer) -> Int32 {
        lastIndex = index(ofName: rd_kafka_topic_name(topic))
        lastPointer = topic
        return lastIndex
    }
}
