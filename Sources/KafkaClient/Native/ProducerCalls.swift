internal import ByteStorage
internal import CRdKafka

/// A counter of delivery reports.
///
/// It has its own memory, so that the C callback can access it through an opaque pointer.
struct DeliveryCounter {
    /// The maximum number of records in `undelivered`, which is twice the greatest queue of a command.
    static let undeliveredLimit = 1_000_000

    private(set) var counts = DeliveryCounts()
    /// The numbered records that were not delivered, up to the limit.
    private(set) var undelivered: [UndeliveredRecord] = []
    /// The greatest number of a delivered record, or 0.
    private(set) var lastDelivered: UInt = 0

    /// Counts one report.
    @inline(__always)
    mutating func count(_ message: UnsafePointer<rd_kafka_message_t>) {
        if message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR {
            counts.delivered &+= 1
            lastDelivered = max(lastDelivered, UInt(bitPattern: message.pointee._private))
        } else {
            let code = KafkaErrorCode(message.pointee.err)
            if message.pointee._private != nil { note(message, code) }
            countFailure(code)
        }
    }

    @inline(never)
    private mutating func note(_ message: UnsafePointer<rd_kafka_message_t>, _ code: KafkaErrorCode) {
        guard undelivered.count < Self.undeliveredLimit else { return }
        // The library takes `UNKNOWN` for a refusal. A broker that fails inside, for example because its disk is full,
        // answers with it even if it has stored the record.
        let isRefused = code != .unknown && rd_kafka_message_status(message) == RD_KAFKA_MSG_STATUS_NOT_PERSISTED
        undelivered.append(
            UndeliveredRecord(
                number: UInt(bitPattern: message.pointee._private), code: code, mayBeStored: !isRefused))
    }

    @inline(never)
    private mutating func countFailure(_ code: KafkaErrorCode) {
        if code.isPurge {
            counts.purged += 1
            return
        }
        counts.failed += 1
        counts.failures[code, default: 0] += 1
        if counts.lastError?.code == code && !code.isRecordLevel { return }
        // The code's own message, because rd_kafka_message_errstr of a produced message may return its payload.
        let error = KafkaError(code: code)
        counts.lastError = error
        if code.isRecordLevel { counts.lastRecordError = error }
    }

    /// Resets the errors but not the counts.
    mutating func forgetErrors() {
        counts.failures.removeAll(keepingCapacity: true)
        counts.lastRecordError = nil
        counts.lastError = nil
    }
}

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

/// Produces one record.
func produceOne(
    _ client: OpaquePointer, _ topic: OpaquePointer, _ record: borrowing ProduceRequest
) -> KafkaError? {
    record.headers.isEmpty && record.timestamp == nil
        ? produceSimple(topic, record) : produceWithHeaders(client, topic, record)
}

/// Produces one record without headers and timestamp, at a third of the cost of the other call.
private func produceSimple(_ topic: OpaquePointer, _ record: borrowing ProduceRequest) -> KafkaError? {
    let result = rd_kafka_produce(
        topic, record.partition ?? RD_KAFKA_PARTITION_UA, record.copiesValue ? RD_KAFKA_MSG_F_COPY : 0,
        record.value.map { UnsafeMutableRawPointer(mutating: $0.start) }, record.value?.count ?? 0,
        record.key.map { UnsafeRawPointer($0.start) }, record.key?.count ?? 0,
        UnsafeMutableRawPointer(bitPattern: record.number))
    return result == 0 ? nil : KafkaError(code: KafkaErrorCode(rd_kafka_last_error()))
}

/// Produces one record with `rd_kafka_produceva`, the only call with headers and a timestamp that Swift can use.
///
/// All headers are passed as one object. Single headers are freed twice if the partition does not exist (librdkafka
/// issue 4628, before 2.12.0).
private func produceWithHeaders(
    _ client: OpaquePointer, _ topic: OpaquePointer, _ record: borrowing ProduceRequest
) -> KafkaError? {
    let headers = HeaderList(record.headers)
    var arguments = (
        rd_kafka_vu_t(), rd_kafka_vu_t(), rd_kafka_vu_t(), rd_kafka_vu_t(), rd_kafka_vu_t(), rd_kafka_vu_t(),
        rd_kafka_vu_t(), rd_kafka_vu_t()
    )
    return withUnsafeMutableBytes(of: &arguments) { bytes in
        let list = bytes.bindMemory(to: rd_kafka_vu_t.self)
        var count = 0
        func add(_ type: rd_kafka_vtype_t, _ fill: (inout rd_kafka_vu_t) -> Void) {
            list[count].vtype = type
            fill(&list[count])
            count += 1
        }
        add(RD_KAFKA_VTYPE_RKT) { $0.u.rkt = topic }
        add(RD_KAFKA_VTYPE_PARTITION) { $0.u.i32 = record.partition ?? RD_KAFKA_PARTITION_UA }
        add(RD_KAFKA_VTYPE_MSGFLAGS) { $0.u.i = record.copiesValue ? RD_KAFKA_MSG_F_COPY : 0 }
        add(RD_KAFKA_VTYPE_VALUE) { argument in
            argument.u.mem.ptr = record.value.map { UnsafeMutableRawPointer(mutating: $0.start) }
            argument.u.mem.size = record.value?.count ?? 0
        }
        add(RD_KAFKA_VTYPE_KEY) { argument in
            argument.u.mem.ptr = record.key.map { UnsafeMutableRawPointer(mutating: $0.start) }
            argument.u.mem.size = record.key?.count ?? 0
        }
        if let timestamp = record.timestamp { add(RD_KAFKA_VTYPE_TIMESTAMP) { $0.u.i64 = timestamp } }
        if let number = UnsafeMutableRawPointer(bitPattern: record.number) {
            add(RD_KAFKA_VTYPE_OPAQUE) { $0.u.ptr = number }
        }
        if let headers = headers.pointer { add(RD_KAFKA_VTYPE_HEADERS) { $0.u.headers = headers } }
        if let error = KafkaError.adopting(rd_kafka_produceva(client, list.baseAddress, count)) {
            return error
        }
        headers.release()
        return nil
    }
}

/// The arguments of one record to produce.
struct ProduceRequest: ~Copyable {
    var partition: Int32?
    var key: ByteView?
    var value: ByteView?
    var headers: [HeaderView]
    var timestamp: Int64?
    var copiesValue: Bool
    /// The number that the delivery report returns, or 0 for none.
    var number: UInt = 0
}

/// The owner of an `rd_kafka_headers_t` until a produced message takes ownership.
private final class HeaderList {
    private(set) var pointer: OpaquePointer?

    init(_ headers: [HeaderView]) {
        if headers.isEmpty { return }
        let list = rd_kafka_headers_new(headers.count)
        for header in headers {
            let name = UnsafeRawPointer(header.name.start).assumingMemoryBound(to: CChar.self)
            rd_kafka_header_add(
                list, name, header.name.count, header.value.map { UnsafeRawPointer($0.start) },
                header.value?.count ?? 0)
        }
        pointer = list
    }

    deinit {
        if let pointer { rd_kafka_headers_destroy(pointer) }
    }

    /// Releases ownership of the headers after librdkafka has taken it.
    func release() { pointer = nil }
}

/// The owner of a client's topic handles.
///
/// A producer creates them at its start. Producing by name delays the first record of a new producer by up to a second
/// (librdkafka issue 5032).
struct TopicHandles: ~Copyable {
    private var handles: [OpaquePointer] = []
    private var names: [String] = []

    deinit {
        for handle in handles { rd_kafka_topic_destroy(handle) }
    }

    /// Returns the index of a topic's handle, which is created if it does not exist.
    mutating func add(_ name: String, to client: ClientHandle) throws(KafkaError) -> Int {
        if let known = names.firstIndex(of: name) { return known }
        guard let handle = client.callWithoutWaiting({ rd_kafka_topic_new($0, name, nil) }) else {
            let code = KafkaErrorCode(rd_kafka_last_error())
            throw KafkaError(code: code, text: "cannot open the topic \(name): \(code.text)")
        }
        handles.append(handle)
        names.append(name)
        return handles.count - 1
    }

    /// Returns the handle at an index.
    subscript(index: Int) -> OpaquePointer { handles[index] }

    /// Destroys all handles, because destroying the instance waits until they are destroyed.
    mutating func release() {
        for handle in handles { rd_kafka_topic_destroy(handle) }
        handles.removeAll()
        names.removeAll()
    }
}
