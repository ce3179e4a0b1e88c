internal import ByteStorage

/// The headers of a worker on a dead letter.
///
/// Whoever can write to the topic can write any bytes, so everything is checked. A member is nil if its header is
/// absent or is not of its form. The views are valid as long as the record.
struct DeadLetterHead {
    /// The headers of the worker, from `dlq.schema` on.
    private let own: ArraySlice<HeaderView>
    /// The headers of the source, which come before the worker's headers.
    let original: ArraySlice<HeaderView>

    /// Reads the headers of a record, or returns nil if it has no header `dlq.schema`.
    init?(_ record: ScannedRecord) {
        guard let start = record.headers.firstIndex(where: { $0.name.equals("dlq.schema") }) else { return nil }
        own = record.headers[start...]
        original = record.headers[..<start]
    }

    private func value(_ name: StaticString) -> ByteView? { own.last { $0.name.equals(name) }?.value }

    private func number(_ name: StaticString) -> Int64? { value(name).flatMap(Self.decimal) }

    var reason: ByteView? { value("dlq.reason") }
    /// The time of the failure in milliseconds since 1970, or 0 if it is absent.
    var failedAt: Int64 { number("dlq.failed.at") ?? 0 }
    var sourceTopic: ByteView? { value("dlq.source.topic") }
    var sourcePartition: Int32? { number("dlq.source.partition").flatMap { Int32(exactly: $0) } }
    var sourceOffset: Int64? { number("dlq.source.offset") }
    /// The index of the item that the dead letter is of, or nil for a whole record.
    ///
    /// A header that is not an index counts as one that no record has, so that no other items are replayed.
    var item: Int? { value("dlq.item").map { Self.decimal($0).flatMap { Int(exactly: $0) } ?? -1 } }
    /// The consumer group of the worker.
    var group: ByteView? { value("dlq.group") }
    /// The number of earlier replays.
    ///
    /// A header that is not a number counts as the greatest number, so no cap is passed.
    var replayCount: Int64 { value("dlq.replay.count").map { Self.decimal($0) ?? .max } ?? 0 }
    /// The position at which the record first became a dead letter.
    var origin: ByteView? { value("dlq.origin") }
    /// A Boolean value that indicates whether the value was truncated.
    var isTruncated: Bool { own.contains { $0.name.equals("dlq.truncated") } }

    /// Returns a decimal number of at most 19 digits, or nil.
    static func decimal(_ text: ByteView) -> Int64? {
        guard (1...19).contains(text.count) else { return nil }
        var number: Int64 = 0
        for byte in text.buffer {
            guard (0x30...0x39).contains(byte) else { return nil }
            let (product, isLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isLarger) = product.addingReportingOverflow(Int64(byte - 0x30))
            guard !isLarge, !isLarger else { return nil }
            number = sum
        }
        return number
    }
}

/// The identity of a dead letter.
///
/// The time of the failure distinguishes a record from one at the same offset of a topic that was created again.
struct DeadLetterPosition: Hashable {
    /// The partition of the dead letter.
    var partition: Int32
    /// The offset of the dead letter.
    var offset: Int64
    /// The time of the failure in milliseconds since 1970, or 0.
    var failedAt: Int64
}

extension DeadLetterPosition {
    /// Creates the identity of a record, with the time of `head`.
    init(_ record: ScannedRecord, _ head: DeadLetterHead?) {
        self.init(partition: record.partition, offset: record.offset, failedAt: head?.failedAt ?? 0)
    }
}
