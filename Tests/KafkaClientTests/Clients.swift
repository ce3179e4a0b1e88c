@testable import KafkaClient
import ByteStorage
import Testing
import TestSupport

/// A record with its own bytes, for comparisons.
struct CopiedRecord: Sendable, Equatable {
    var topic: String
    var partition: Int32
    var offset: Int64
    var timestamp: Int64
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [RecordHeader]

    /// The value as text, for tests that produce text.
    var text: String { String(decoding: value ?? [], as: UTF8.self) }
}

/// Returns the error of a call that must fail.
func failure(_ call: () throws -> Void) -> KafkaError? {
    do {
        try call()
        return nil
    } catch {
        return error as? KafkaError ?? KafkaError(code: .unknown, text: "not a Kafka error: \(error)")
    }
}

/// Records an issue if the call fails.
///
/// Use it instead of `#expect(throws: Never.self)`: in a nested closure, Swift 6.3.1 may compile a closure argument of
/// a macro to the code of a neighboring closure.
func mustSucceed(_ call: () throws -> Void) {
    if let error = failure(call) { Issue.record(error) }
}

/// Calls `body` with views of an optional key and an optional value.
func withViews<Result>(
    _ key: [UInt8]?, _ value: [UInt8]?, _ body: (ByteView?, ByteView?) throws -> Result
) rethrows -> Result {
    try (key ?? []).withUnsafeBufferPointer { keyBytes in
        try (value ?? []).withUnsafeBufferPointer { valueBytes in
            try body(key == nil ? nil : ByteView(keyBytes), value == nil ? nil : ByteView(valueBytes))
        }
    }
}

extension KafkaProducer {
    /// Produces one record from arrays, which are copied.
    func send(
        _ topic: ProducerTopic, partition: Int32? = 0, key: [UInt8]? = nil, value: [UInt8]?,
        headers: [RecordHeader] = [], timestamp: Int64? = nil
    ) throws {
        // One buffer for all names and values, so that one scope keeps the views valid.
        let bytes = headers.flatMap { $0.name + ($0.value ?? []) }
        try bytes.withUnsafeBufferPointer { bytes in
            var rest = ByteView(bytes)
            let views = headers.map { header in
                let name = rest.slice(0, header.name.count)
                rest = rest.dropFirst(name.count)
                let value = header.value.map { rest.slice(0, $0.count) }
                rest = rest.dropFirst(value?.count ?? 0)
                return HeaderView(name: name, value: value)
            }
            try withViews(key, value) { key, value in
                try produce(
                    topic, partition: partition, key: key, value: value, headers: views, timestamp: timestamp)
            }
        }
    }

    /// Produces texts to partition 0.
    func send(_ topic: ProducerTopic, texts: [String]) throws {
        for text in texts { try send(topic, value: Array(text.utf8)) }
    }
}

extension KafkaConsumer {
    /// Copies of the records of the last poll.
    var copies: [CopiedRecord] {
        records.map { record in
            CopiedRecord(
                topic: topicName(at: record.topic), partition: record.partition, offset: record.offset,
                timestamp: record.timestamp, key: record.key?.array, value: record.value?.array,
                headers: record.hasHeaders ? headers(of: record.index) : [])
        }
    }

    /// Returns the group metadata, which must exist.
    ///
    /// `#require` does not accept a noncopyable value.
    func currentGroup() throws -> GroupMetadata {
        guard let group = groupMetadata() else { throw KafkaError(code: .state) }
        return group
    }

    /// Assigns from the beginning and unassigns, with the group's protocol.
    func answer(_ event: RebalanceEvent) {
        mustSucceed {
            switch event {
            case .assign(let partitions):
                let offsets = partitions.map { PartitionOffset($0, offset: LogicalOffset.beginning) }
                if isCooperative { try incrementalAssign(offsets) } else { try assign(offsets) }
            case .revoke(let partitions), .lost(let partitions):
                if isCooperative { try incrementalUnassign(partitions) } else { try unassign() }
            case .failed: try unassign()
            }
        }
    }

    /// Polls until this number of records has arrived or 15 s have passed.
    func collect(_ count: Int) -> [CopiedRecord] {
        var found: [CopiedRecord] = []
        _ = becomesTrue(withinSeconds: 15) {
            _ = poll(max: 100, timeoutMilliseconds: 50)
            found += copies
            return found.count >= count
        }
        return found
    }

    /// Polls until an event of this kind arrives or 15 s have passed.
    func awaitEvent(_ kind: ConsumerEvent.Kind) -> ConsumerEvent? {
        var found: ConsumerEvent?
        _ = becomesTrue(withinSeconds: 15) {
            _ = poll(max: 100, timeoutMilliseconds: 50)
            found = events.first { $0.kind == kind }
            return found != nil
        }
        return found
    }
}

extension KafkaReader {
    /// Returns all records of a topic's partitions up to the end that this reader may see.
    static func readAll(
        _ bootstrap: String, topic: String, partitions: Int32 = 1, isolation: String = "read_committed"
    ) throws -> [CopiedRecord] {
        let reader = try KafkaReader([
            "bootstrap.servers": bootstrap, "isolation.level": isolation, "enable.partition.eof": "true",
        ])
        defer { reader.close() }
        try reader.start((0..<partitions).map { PartitionOffset(topic: topic, partition: $0, offset: -2) })
        var open = Set(0..<partitions)
        var found: [CopiedRecord] = []
        let ended = becomesTrue(withinSeconds: 15) {
            _ = reader.poll(max: 500, timeoutMilliseconds: 50)
            found += reader.records.map { record in
                CopiedRecord(
                    topic: reader.topicName(at: record.topic), partition: record.partition, offset: record.offset,
                    timestamp: record.timestamp, key: record.key?.array, value: record.value?.array,
                    headers: reader.headers(of: record.index))
            }
            for event in reader.events where event.kind == .endOfPartition { open.remove(event.partition) }
            return open.isEmpty
        }
        #expect(ended, "the end of \(topic) was not reached")
        return found
    }
}

/// The events of a rebalance handler.
final class RebalanceLog {
    var events: [RebalanceEvent] = []
}
