package import KafkaClient
package import ByteStorage

/// Makes a dead letter's record: the original bytes with headers, no larger than its topic takes.
package struct DeadLetterOutput {
    /// The original key; nil when not even key and headers fit.
    package var key: ByteView?
    /// The original value, cut when it does not fit.
    package var value: ByteView?
    /// All headers.
    package var headers: [HeaderView]
    /// The original timestamp, or nil for now.
    package var timestamp: Int64?
    /// The source partition modulo the dead-letter topic's count, so that order is kept.
    package var partition: Int32

    /// Bytes that a record needs beside key, value and headers, generously: its frame and its batch's.
    package static let frameBytes = 512
    /// Most bytes of the value of a record whose outputs were refused: it may be the value that is refused.
    package static let refusedValueLimit = 64 << 10
    /// Brokers since 4.0 refuse timestamps more than an hour ahead.
    private static let timestampLeadMilliseconds: Int64 = 3_600_000

    /// Makes the record for a topic; the bytes of new headers go into `arena`.
    package init(
        of source: DeadLetterSource, maker: DeadLetterMaker, to topic: OpenTopic, failedAt: Int64,
        arena: inout OutputArena
    ) {
        let record = source.record
        let isRefused = source.cause.reason == .refusedOutput
        key = record.key
        value = record.value
        headers = []
        partition = record.partition % max(1, topic.partitions)
        let isUsable = record.timestamp >= 0 && record.timestamp <= failedAt &+ Self.timestampLeadMilliseconds
        timestamp = isUsable && !isRefused ? record.timestamp : nil
        DeadLetterHeaders.append(of: source, maker: maker, failedAt: failedAt, into: &headers, arena: &arena)
        cut(limit: topic.messageLimit, valueLimit: isRefused ? Self.refusedValueLimit : .max, &arena)
    }

    private mutating func cut(
        limit: Int, valueLimit: Int, _ arena: inout OutputArena
    ) {
        let length = value?.count ?? 0
        if length <= min(valueLimit, room(limit)) { return }
        if let whole = value {
            DeadLetterHeaders.appendTruncated(originalLength: whole.count, into: &headers, arena: &arena)
        }
        // A topic that does not even take key and headers must not stop the worker for ever.
        if room(limit) < 0 { headers.removeAll { !DeadLetterHeaders.isOurs($0.name) } }
        if room(limit) < 0 { key = nil }
        value = value.map { $0.slice(0, max(0, min(length, valueLimit, room(limit)))) }
    }

    /// Bytes that are left for the value.
    private func room(_ limit: Int) -> Int {
        let headerBytes = headers.reduce(0) { $0 + $1.name.count + ($1.value?.count ?? 0) + 10 }
        return limit - Self.frameBytes - (key?.count ?? 0) - headerBytes
    }
}
