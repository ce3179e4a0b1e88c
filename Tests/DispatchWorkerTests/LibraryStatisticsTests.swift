@testable import DispatchWorker
import Foundation
@testable import KafkaClient
import TestSupport
import Testing

/// The statistics documents of librdkafka.
@Suite struct LibraryStatisticsTests {
    /// Returns a document of a client with one topic `link-events`, after ten records of a transaction.
    static func document(_ name: String) throws -> [UInt8] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")
        return Array(try Data(contentsOf: folder.appendingPathComponent("statistics-\(name).json")))
    }

    static let ends: [(name: String, ends: [Int64])] = [("2.0.2", [3, 4, 2, 1]), ("2.16.0", [3, 4, 4, 3])]

    @Test("A consumer's document has the offsets of its partitions and the state of its group", arguments: ends)
    func consumer(name: String, ends: [Int64]) throws {
        let statistics = try #require(LibraryStatistics(try Self.document("consumer-\(name)")))
        let partitions = (0..<4).map { statistics.partitions[TopicPartition(topic: "link-events", partition: $0)] }
        #expect(statistics.partitions.count == 4)
        #expect(partitions.map { $0?.stable } == ends)
        #expect(partitions.map { $0?.high } == ends)
        #expect(partitions.map { $0?.low } == [0, 0, 0, 0])
        #expect(statistics.rebalances == 1)
        #expect(statistics.joinState == "steady")
        #expect(statistics.transactionState == nil)
        #expect(statistics.brokers.map(\.id) == [1])
        #expect(statistics.brokers.first?.roundTrip.p99 == 501_759)
        #expect(statistics.brokers.first?.roundTrip.count == 1)
    }

    @Test("A producer's document has the state of its transaction, and no offsets", arguments: ends.map(\.name))
    func producer(name: String) throws {
        let statistics = try #require(LibraryStatistics(try Self.document("producer-\(name)")))
        #expect(statistics.partitions.count == 4)
        #expect(statistics.partitions.values.allSatisfy { $0 == LibraryStatistics.Partition() })
        #expect(statistics.idempotenceState == "Assigned")
        #expect(statistics.transactionState == "Ready")
        #expect(statistics.producerEpoch == 0)
        #expect(statistics.epochs == 1)
        #expect(statistics.rebalances == nil)
        #expect(statistics.messages == 0)
    }

    @Test("A truncated document is refused at every length")
    func truncated() throws {
        let document = try Self.document("consumer-2.0.2")
        let whole = document.last == UInt8(ascii: "\n") ? document.count - 1 : document.count
        for count in stride(from: 0, to: whole, by: 7) {
            #expect(LibraryStatistics(Array(document[..<count])) == nil, "\(count) bytes")
        }
    }

    @Test("A damaged document is read or refused, and never traps")
    func damaged() throws {
        let document = try Self.document("consumer-2.16.0")
        var generator = SeededGenerator(seed: 13)
        for _ in 0..<500 {
            var bytes = document
            for _ in 0...Int.random(in: 0...3, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            _ = LibraryStatistics(bytes)
        }
    }

    @Test(
        "A document with a value of the wrong type is refused",
        arguments: [
            #"{"msg_cnt": "1"}"#, #"{"msg_cnt": 1.5}"#, #"{"msg_cnt": 9223372036854775808}"#, #"{"brokers": []}"#,
            #"{"brokers": {"b": 1}}"#, #"{"brokers": {"b": {"rtt": 3}}}"#, #"{"topics": {"t": {"partitions": []}}}"#,
            #"{"topics": {"t": {"partitions": {"0": {"ls_offset": null}}}}}"#, #"{"cgrp": {"join_state": 1}}"#, "[]",
            "", "{} x",
        ])
    func wrongTypes(text: String) { #expect(LibraryStatistics(Array(text.utf8)) == nil) }

    @Test("Unknown members are skipped, and logical offsets are unknown")
    func unknownMembers() throws {
        let text =
            #"{"new": [{"a": {}}], "topics": {"t": {"partitions": {"-1": {"ls_offset": 1}, "x": {}, "#
            + #""2": {"ls_offset": -1001, "hi_offset": 5, "new": null}}}}}"#
        let statistics = try #require(LibraryStatistics(Array(text.utf8)))
        let expected = [TopicPartition(topic: "t", partition: 2): LibraryStatistics.Partition(high: 5)]
        #expect(statistics.partitions == expected)
    }

    @Test("Partitions and brokers beyond their limits are skipped")
    func limits() throws {
        let partitions = (0...LibraryStatistics.partitionLimit).map { "\"\($0)\": {\"ls_offset\": 1}" }
        let brokers = (0...LibraryStatistics.brokerLimit).map { "\"b\($0)\": {\"nodeid\": \($0)}" }
        let text =
            "{\"brokers\": {\(brokers.joined(separator: ","))}, \"topics\": {\"t\": {\"partitions\": {"
            + partitions.joined(separator: ",") + "}}}}"
        let statistics = try #require(LibraryStatistics(Array(text.utf8)))
        #expect(statistics.partitions.count == LibraryStatistics.partitionLimit)
        #expect(statistics.brokers.count == LibraryStatistics.brokerLimit)
        let large = Array(repeating: UInt8(ascii: " "), count: LibraryStatistics.documentLimit) + Array("{}".utf8)
        #expect(LibraryStatistics(large) == nil)
    }
}
