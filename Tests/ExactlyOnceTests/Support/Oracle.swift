import DispatchWorker
import Foundation
import KafkaClient
import LinkCoordinator
import LinkIngest
import ByteStorage
import TestSupport
import LinkDecider

/// The position of a record in the input.
struct SourcePosition: Hashable, CustomStringConvertible {
    var partition: Int32
    var offset: Int64

    var description: String { "\(partition)-\(offset)" }
}

/// The expected result of each input record, computed by the same code in this process without a broker, threads, or
/// faults.
struct Oracle {
    /// The decision of each record that has one, by each of the tables.
    private(set) var decisions: [SourcePosition: (key: [UInt8], values: [[UInt8]])] = [:]
    /// The records that must become dead letters.
    private(set) var deadLetters: [SourcePosition: (kind: BadKind, record: ReadRecord)] = [:]
    /// Results that contradict the kinds of the test's records.
    private(set) var contradictions: [String] = []

    /// Computes the results of records, which workers resolve with any of the tables.
    init(_ records: [ReadRecord], topic: String, tables: [[UInt8]]) throws {
        for table in tables { try add(records, topic: topic, RouteTable(json: table)) }
    }

    private mutating func add(_ records: [ReadRecord], topic: String, _ table: RouteTable) throws {
        var decider = Decider(
            DeciderConfiguration(
                tables: TableSet([table]), passthrough: .campaign, contextQuery: QueryNames.campaign))
        var arena = OutputArena(chunkBytes: 1 << 16)
        let topicBytes = Array(topic.utf8)
        for record in records {
            let position = SourcePosition(partition: record.partition, offset: record.offset)
            let kind = record.header("kind").flatMap(BadKind.init)
            if let kind, kind.reason != nil {
                deadLetters[position] = (kind, record)
                continue
            }
            var produced: [ProducedDecision] = []
            arena.reset()
            let cause = Self.withRecord(record) { consumed in
                let cause = topicBytes.withUnsafeBufferPointer {
                    decider.decide(consumed, topicName: ByteView($0), into: &arena, decisions: &produced)
                }
                if let first = produced.first {
                    let before = decisions[position]?.values ?? []
                    decisions[position] = (first.key.array, before + [first.value.array])
                }
                return cause
            }
            let isAsMade = cause == nil && produced.count == 1 && (kind == nil || produced[0].outcome == .reject)
            if !isAsMade { contradictions.append("\(position): \(kind?.rawValue ?? "good") \(cause?.detail ?? "")") }
        }
    }

    static func withRecord<Result>(_ record: ReadRecord, _ body: (ConsumedRecord) -> Result) -> Result {
        (record.key ?? []).withUnsafeBufferPointer { key in
            (record.value ?? []).withUnsafeBufferPointer { value in
                body(
                    ConsumedRecord(
                        topic: 0, partition: record.partition, offset: record.offset, timestamp: record.timestamp,
                        key: record.key.map { _ in ByteView(key) }, value: record.value.map { _ in ByteView(value) },
                        index: 0, hasHeaders: !record.headers.isEmpty))
            }
        }
    }
}
