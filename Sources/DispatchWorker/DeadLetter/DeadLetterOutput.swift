package import ByteStorage
package import LinkDecider
internal import LinkIngest

/// The worker that writes dead letters: its names in their headers, and the headers that it adds for other tools.
package struct WorkerIdentity: Sendable, Equatable {
    /// The consumer group.
    package var group: String
    /// `<instance>.<lane>`.
    package var instance: String
    /// The lane's number.
    package var lane: Int = 0
    /// The program's version.
    package var version: String
    /// `dlq.headers`: the headers that are added for other tools.
    package var profile: HeaderProfile = .native
}

/// A record that becomes a dead letter, with the cause.
package struct DeadLetterSource {
    package var record: ConsumedRecord
    /// The name of the record's topic.
    package var topic: ByteView
    /// The record's headers.
    package var headers: [HeaderView]
    /// The cause of the failure.
    package var cause: DeadLetterCause
    /// The number of attempts.
    package var attempts: Int = 1
    /// A Boolean value that indicates whether a broker has set the record's timestamp.
    package var hasBrokerTimestamp: Bool = false
}

/// The record of a dead letter: the original bytes with headers, truncated to the size that its topic accepts.
package struct DeadLetterOutput {
    /// The original key, or nil if the key and the headers alone exceed the limit.
    package var key: ByteView?
    /// The original value, truncated if it is too long.
    package var value: ByteView?
    /// All headers.
    package var headers: [HeaderView]
    /// The original timestamp, or nil for the current time.
    package var timestamp: Int64?
    /// The source partition modulo the partition count of the dead-letter topic, which preserves the order.
    package var partition: Int32

    /// The reserve for the framing of a record and its batch, in bytes.
    package static let frameBytes = 512
    /// The maximum size of the value of a record whose outputs were refused, in bytes.
    ///
    /// The value itself may be the reason for the refusal.
    package static let refusedValueLimit = 64 << 10
    /// The largest lead of a timestamp over the current time, in milliseconds: brokers since 4.0 refuse a larger one.
    private static let timestampLeadMilliseconds: Int64 = 3_600_000
    /// The greatest age of a timestamp, in milliseconds.
    ///
    /// Retention removes a dead letter by its timestamp, and would remove an old one before anybody has seen it.
    private static let timestampAgeMilliseconds: Int64 = 86_400_000

    /// Creates the record for a topic.
    ///
    /// The bytes of new headers are written to `arena`.
    package init(
        of source: DeadLetterSource, worker: WorkerIdentity, to topic: OpenTopic, failedAt: Int64,
        arena: inout OutputArena
    ) {
        let record = source.record
        let isRefused = source.cause.reason == .refusedOutput
        key = record.key
        value = record.value
        headers = []
        partition = record.partition % max(1, topic.partitions)
        let isUsable =
            record.timestamp >= max(0, failedAt &- Self.timestampAgeMilliseconds)
            && record.timestamp <= failedAt &+ Self.timestampLeadMilliseconds
        timestamp = isUsable && !isRefused ? record.timestamp : nil
        DeadLetterHeaders.append(of: source, worker: worker, failedAt: failedAt, into: &headers, arena: &arena)
        cut(limit: topic.messageLimit, valueLimit: isRefused ? Self.refusedValueLimit : .max, &arena)
    }

    private mutating func cut(
        limit: Int, valueLimit: Int, _ arena: inout OutputArena
    ) {
        let length = value?.count ?? 0
        if length <= min(valueLimit, room(limit)) { return }
        // Without a value, headers or the key are cut, and such a record must not be replayed either.
        DeadLetterHeaders.insertTruncated(originalLength: length, into: &headers, arena: &arena)
        // A topic whose limit is smaller than the key and the headers must not stop the worker at every start.
        if room(limit) < 0 { headers.removeAll { !DeadLetterHeaders.isWorkerHeader($0.name) } }
        if room(limit) < 0 { key = nil }
        value = value.map { $0.slice(0, max(0, min(length, valueLimit, room(limit)))) }
    }

    /// Returns the number of bytes that remain for the value.
    private func room(_ limit: Int) -> Int {
        let headerBytes = headers.reduce(0) { $0 + $1.name.count + ($1.value?.count ?? 0) + 10 }
        return limit - Self.frameBytes - (key?.count ?? 0) - headerBytes
    }
}

/// A topic that a lane produces to.
package struct OpenTopic: Sendable, Equatable {
    /// The producer's handle of the topic.
    package var handle: Int
    /// The number of partitions, at least 1.
    package var partitions: Int32
    /// `max.message.bytes` of the topic.
    package var messageLimit: Int
}
