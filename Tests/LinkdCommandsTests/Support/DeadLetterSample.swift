internal import KafkaClient

@testable internal import LinkdCommands
import ByteStorage

/// Dead letters for tests.
enum DeadLetterSample {
    /// The headers that a worker writes for the record `link-events-PARTITION-OFFSET`.
    static func headers(
        reason: String = "bad_json", topic: String = "link-events", partition: Int = 3, offset: Int = 40,
        failedAt: Int = 1000
    ) -> [(String, String?)] {
        [
            ("dlq.schema", "1"), ("dlq.reason", reason), ("dlq.stage", "decode"), ("dlq.source.topic", topic),
            ("dlq.source.partition", "\(partition)"), ("dlq.source.offset", "\(offset)"),
            ("dlq.failed.at", "\(failedAt)"), ("dlq.replay.count", "0"),
        ]
    }

    /// Returns a record of the topic `link-events.dlq`.
    static func record(
        _ headers: [(String, String?)] = headers(), partition: Int32 = 1, offset: Int64 = 7,
        key: String? = "d-1", value: String? = "{"
    ) -> InspectedRecord {
        InspectedRecord(
            topic: "link-events.dlq", partition: partition, offset: offset, timestamp: 5,
            key: key.map { Array($0.utf8) }, value: value.map { Array($0.utf8) },
            headers: headers.map { RecordHeader(name: Array($0.0.utf8), value: $0.1.map { Array($0.utf8) }) })
    }

    /// Returns the headers with a value in place of another one, or without it if `value` is nil.
    static func headers(_ name: String, _ value: String?) -> [(String, String?)] {
        let others = headers().filter { $0.0 != name }
        return value.map { others + [(name, $0)] } ?? others
    }
}
