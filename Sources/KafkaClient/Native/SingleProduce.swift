internal import CRdKafka
internal import ByteStorage

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
