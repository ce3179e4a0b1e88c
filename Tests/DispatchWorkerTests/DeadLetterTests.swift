@testable import DispatchWorker
@testable import KafkaClient
import ByteStorage
import LinkIngest
import Testing
import LinkDecider

/// The headers of dead letters, and their truncation.
@Suite struct DeadLetterTests {
    static let worker = WorkerIdentity(group: "g", instance: "i.0", version: "1.2.3")

    /// A dead letter as plain values.
    struct Letter: Equatable {
        var key: [UInt8]?
        var value: [UInt8]?
        var timestamp: Int64?
        var partition: Int32
        var headers: [String]
        var headerBytes: [RecordHeader]
    }

    /// Returns the dead letter of a record in `in` [5] at offset 77.
    static func letter(
        key: String? = "k", value: [UInt8]? = Array("v".utf8), timestamp: Int64 = 1_000,
        headers: [(String, String?)] = [],
        cause: DeadLetterCause = DeadLetterCause(reason: .badJSON, detail: "expected an object", pointer: "/a"),
        limit: Int = 1_000_000, partitions: Int32 = 4, worker: WorkerIdentity = Self.worker,
        hasBrokerTimestamp: Bool = false, failedAt: Int64 = 5_000
    ) -> Letter {
        var arena = OutputArena()
        func view(_ bytes: [UInt8]?) -> ByteView? {
            guard let bytes else { return nil }
            arena.begin()
            arena.append(bytes)
            return arena.finish()
        }
        let record = ConsumedRecord(
            topic: 0, partition: 5, offset: 77, timestamp: timestamp, key: view(key.map { Array($0.utf8) }),
            value: view(value), index: 0, hasHeaders: !headers.isEmpty)
        let views = headers.map { name, value in
            HeaderView(name: view(Array(name.utf8)) ?? .empty, value: view(value.map { Array($0.utf8) }))
        }
        let source = DeadLetterSource(
            record: record, topic: ByteView("in"), headers: views, cause: cause,
            hasBrokerTimestamp: hasBrokerTimestamp)
        let output = DeadLetterOutput(
            of: source, worker: worker, to: OpenTopic(handle: 1, partitions: partitions, messageLimit: limit),
            failedAt: failedAt, arena: &arena)
        return Letter(
            key: output.key?.array, value: output.value?.array, timestamp: output.timestamp,
            partition: output.partition,
            headers: output.headers.map { "\($0.name.string)=\($0.value?.string ?? "null")" },
            headerBytes: output.headers.map(\.copied))
    }

    @Test("The record's own headers precede the worker's in their documented order")
    func order() {
        let letter = Self.letter(headers: [("traceparent", "00-1"), ("mine", nil)])
        #expect(
            letter.headers == [
                "traceparent=00-1", "mine=null", "dlq.schema=1", "dlq.reason=bad_json",
                "dlq.detail=expected an object", "dlq.stage=decode", "dlq.pointer=/a", "dlq.source.topic=in",
                "dlq.source.partition=5", "dlq.source.offset=77", "dlq.source.timestamp=1000", "dlq.group=g",
                "dlq.instance=i.0", "dlq.app.version=1.2.3", "dlq.failed.at=5000", "dlq.attempts=1",
                "dlq.replay.count=0",
            ])
        #expect(letter.key == Array("k".utf8))
        #expect(letter.value == Array("v".utf8))
        #expect(letter.timestamp == 1_000)
        #expect(letter.partition == 1)
    }

    @Test("Null values stay null, and absent values have no header")
    func absent() {
        let letter = Self.letter(
            key: nil, value: nil, timestamp: -1,
            cause: DeadLetterCause(reason: .nullValue, detail: "d", event: Array("e-1".utf8)))
        #expect(letter.key == nil && letter.value == nil && letter.timestamp == nil)
        #expect(!letter.headers.contains { $0.hasPrefix("dlq.pointer") || $0.hasPrefix("dlq.source.timestamp") })
        #expect(letter.headers.contains("dlq.event=e-1"))
    }

    @Test("A replayed record loses the worker's old headers and keeps its first position")
    func replayed() {
        let once = Self.letter(headers: [
            ("dlq.schema", "1"), ("dlq.reason", "old"), ("dlq.source.topic", "first"), ("dlq.source.partition", "2"),
            ("dlq.source.offset", "9"), ("dlq.custom", "kept"),
        ])
        #expect(once.headers.contains("dlq.origin=first-2-9"))
        #expect(once.headers.first == "dlq.custom=kept")
        #expect(once.headers.filter { $0.hasPrefix("dlq.reason") } == ["dlq.reason=bad_json"])
        let again = Self.letter(headers: [("dlq.replay.count", "2"), ("dlq.origin", "first-2-9")])
        #expect(again.headers.contains("dlq.replay.count=2"))
        #expect(again.headers.contains("dlq.origin=first-2-9"))
        let bad = Self.letter(headers: [("dlq.replay.count", "many")])
        #expect(bad.headers.contains("dlq.replay.count=0"))
    }

    @Test("A value that is too long is truncated, and a header contains its length")
    func truncated() {
        let letter = Self.letter(value: [UInt8](repeating: 1, count: 50_000), limit: 20_000)
        #expect(letter.headers.last == "dlq.truncated=50000")
        let headerBytes = letter.headers.reduce(0) { $0 + $1.utf8.count - 1 + 10 }
        #expect((letter.value?.count ?? 0) + headerBytes + 1 + 512 == 20_000)
    }

    @Test("A key and headers that are too long are left out and do not stop the worker")
    func hopeless() {
        let letter = Self.letter(
            key: String(repeating: "k", count: 5_000), headers: [("big", String(repeating: "h", count: 9_000))],
            limit: 4_000)
        #expect(letter.key == nil)
        #expect(!letter.headers.contains { $0.hasPrefix("big") })
        #expect(letter.headers.contains("dlq.source.offset=77"))
    }

    @Test("A record without a value whose key or headers are left out is marked as truncated, so it is not replayed")
    func hopelessNull() {
        let letter = Self.letter(
            value: nil, headers: [("big", String(repeating: "h", count: 9_000))], limit: 4_000)
        #expect(letter.value == nil && letter.headers.last == "dlq.truncated=0")
        #expect(!Self.letter(value: nil, limit: 4_000).headers.contains("dlq.truncated=0"))
    }

    @Test("A refused record keeps at most 64 KiB of its value and gets a new timestamp")
    func refused() {
        let letter = Self.letter(
            value: [UInt8](repeating: 1, count: 100_000), cause: DeadLetterCause(reason: .refusedOutput, detail: "d"))
        #expect(letter.value?.count == 65_536)
        #expect(letter.timestamp == nil)
        #expect(letter.headers.contains("dlq.stage=publish"))
    }

    @Test("A timestamp more than an hour ahead, which brokers refuse, is replaced by the current time")
    func future() {
        let latest: Int64 = 3_605_000
        #expect(Self.letter(timestamp: latest).timestamp == latest)
        #expect(Self.letter(timestamp: latest + 1).timestamp == nil)
    }

    @Test("A timestamp more than a day old, by which retention would remove the dead letter, is replaced as well")
    func past() {
        let (now, oldest): (Int64, Int64) = (1_700_000_000_000, 1_699_913_600_000)
        #expect(Self.letter(timestamp: oldest, failedAt: now).timestamp == oldest)
        for old in [oldest - 1, 1_700_000_000, 0] {
            let letter = Self.letter(timestamp: old, failedAt: now)
            #expect(letter.timestamp == nil && letter.headers.contains("dlq.source.timestamp=\(old)"))
        }
    }

    @Test("A detail has at most 512 bytes and is truncated between characters")
    func detail() {
        let letter = Self.letter(
            cause: DeadLetterCause(reason: .badJSON, detail: String(repeating: "é", count: 400)))
        let detail = letter.headers.first { $0.hasPrefix("dlq.detail=") }
        #expect(detail == "dlq.detail=" + String(repeating: "é", count: 256))
    }
}
