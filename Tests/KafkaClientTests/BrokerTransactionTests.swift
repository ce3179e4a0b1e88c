import Foundation
@testable import KafkaClient
import ByteStorage
import Testing
import TestSupport

/// Transactions on a real broker.
///
/// Each of these tests needs a broker (`KAFKA_BOOTSTRAP_SERVERS`), because the mock cluster has no transactions.
@Suite(.enabled(if: BrokerEnvironment.hasBroker, "needs a broker: set KAFKA_BOOTSTRAP_SERVERS"))
struct BrokerTransactionTests {
    /// A broker with an input topic that contains these texts, and a unique output topic.
    final class Setting {
        let bootstrap = BrokerEnvironment.bootstrapServers ?? ""
        let input = BrokerEnvironment.uniqueName("in")
        let output = BrokerEnvironment.uniqueName("out")
        let id = BrokerEnvironment.uniqueName("tx")

        init(texts: [String] = []) throws {
            let admin = try KafkaAdmin(["bootstrap.servers": bootstrap])
            let results = try admin.create(
                topics: [input, output].map { TopicSpecification(name: $0, partitions: 1) },
                timeoutMilliseconds: 20_000)
            try #require(results.map(\.error) == [nil, nil])
            let producer = try KafkaProducer(["bootstrap.servers": bootstrap])
            try producer.send(try producer.topic(input), texts: texts)
            try producer.flush(timeoutMilliseconds: 20_000)
            try #require(producer.deliveries.delivered == texts.count)
        }

        var inputPartition: TopicPartition { TopicPartition(topic: input, partition: 0) }

        func producer(_ extra: ClientConfiguration = [:]) throws -> KafkaProducer {
            var configuration: ClientConfiguration = [
                "bootstrap.servers": bootstrap, "transactional.id": id, "transaction.timeout.ms": "10000",
                "debug": "eos,feature", "socket.nagle.disable": "true",
            ]
            configuration.merge(extra)
            let producer = try KafkaProducer(configuration)
            try BrokerTransactionTests.initialize(producer)
            return producer
        }

        func consumer() throws -> KafkaConsumer {
            let consumer = try KafkaConsumer([
                "bootstrap.servers": bootstrap, "group.id": id, "enable.auto.commit": "false",
                "enable.auto.offset.store": "false", "isolation.level": "read_committed",
                "auto.offset.reset": "error", "enable.partition.eof": "true",
            ]) { consumer, event in
                mustSucceed {
                    if case .assign(let partitions) = event {
                        try consumer.assign(partitions.map { PartitionOffset($0, offset: LogicalOffset.beginning) })
                    } else {
                        try consumer.unassign()
                    }
                }
            }
            try consumer.subscribe([input])
            return consumer
        }

        func texts(_ isolation: String) throws -> [String] {
            try KafkaReader.readAll(bootstrap, topic: output, isolation: isolation).map(\.text)
        }
    }

    /// Repeats the call while its error is retriable, as a worker does while a coordinator loads or a predecessor's
    /// transaction ends.
    static func initialize(_ producer: KafkaProducer) throws {
        var last: KafkaError?
        let done = try becomesTrue(withinSeconds: 30) {
            last = failure { try producer.initTransactions(timeoutMilliseconds: 1000) }
            if let last, !last.isRetriable { throw last }
            return last == nil
        }
        #expect(done, "\(String(describing: last))")
    }

    @Test("Committed records and offsets are visible, and the broker's versions are known")
    func commit() async throws {
        try await onThread {
            let setting = try Setting(texts: ["a", "b", "c"])
            let producer = try setting.producer()
            let topic = try producer.topic(setting.output)
            let consumer = try setting.consumer()
            #expect(consumer.collect(3).map(\.text) == ["a", "b", "c"])
            try producer.beginTransaction()
            try producer.send(topic, texts: ["A", "B"])
            let group = try consumer.currentGroup()
            try producer.sendOffsets(
                [PartitionOffset(setting.inputPartition, offset: 2)], group, timeoutMilliseconds: 10_000)
            let unstable = failure {
                _ = try consumer.committed([setting.inputPartition], timeoutMilliseconds: 100)
            }
            #expect(unstable?.code == .timedOut, "an offset of an open transaction is not stable yet")
            try producer.commitTransaction(timeoutMilliseconds: 10_000)

            #expect(producer.deliveries == DeliveryCounts(delivered: 2))
            #expect(try setting.texts("read_committed") == ["A", "B"])
            #expect(try setting.texts("read_uncommitted") == ["A", "B"])
            #expect(
                try consumer.committed([setting.inputPartition], timeoutMilliseconds: 10_000)
                    == [PartitionResult(partition: setting.inputPartition, offset: 2)])
            #expect((producer.debugLog.requestVersions[28]?.max ?? 0) >= 3)
            #expect((producer.debugLog.requestVersions[9]?.max ?? 0) >= 7)
            try consumer.close()
        }
    }

    @Test("Aborted records are visible only with read_uncommitted, and the offsets are unchanged")
    func abort() async throws {
        try await onThread {
            let setting = try Setting(texts: ["a", "b"])
            let producer = try setting.producer()
            let topic = try producer.topic(setting.output)
            let consumer = try setting.consumer()
            #expect(consumer.collect(2).count == 2)
            try producer.beginTransaction()
            try producer.send(topic, texts: (0..<10).map(String.init))
            try producer.flush(timeoutMilliseconds: 10_000)
            let group = try consumer.currentGroup()
            try producer.sendOffsets(
                [PartitionOffset(setting.inputPartition, offset: 2)], group, timeoutMilliseconds: 10_000)
            try producer.abortTransaction(timeoutMilliseconds: 10_000)

            #expect(try setting.texts("read_committed") == [])
            #expect(try setting.texts("read_uncommitted") == (0..<10).map(String.init))
            #expect(
                try consumer.committed([setting.inputPartition], timeoutMilliseconds: 10_000)
                    == [PartitionResult(partition: setting.inputPartition, offset: nil)])

            // After a rewind, the records are returned again.
            let moved = try consumer.seek([PartitionOffset(setting.inputPartition, offset: 0)])
            #expect(moved == [PartitionResult(partition: setting.inputPartition, offset: 0)])
            #expect(consumer.collect(2).map(\.text) == ["a", "b"])
            try consumer.close()
        }
    }

    @Test("An open transaction holds back only the last stable offset")
    func watermarks() async throws {
        try await onThread {
            let setting = try Setting()
            let producer = try setting.producer()
            try producer.beginTransaction()
            try producer.send(try producer.topic(setting.output), texts: ["A", "B"])
            try producer.flush(timeoutMilliseconds: 10_000)
            func high(_ isolation: String) throws -> Watermarks {
                let reader = try KafkaReader(["bootstrap.servers": setting.bootstrap, "isolation.level": isolation])
                let partition = TopicPartition(topic: setting.output, partition: 0)
                return try reader.watermarks(of: partition, timeoutMilliseconds: 10_000)
            }
            #expect(try high("read_committed") == Watermarks(low: 0, high: 0))
            #expect(try high("read_uncommitted") == Watermarks(low: 0, high: 2))
            try producer.commitTransaction(timeoutMilliseconds: 10_000)
            // The additional offset is that of the control record, which is written a moment after the commit returns.
            #expect(try becomesTrue(withinSeconds: 10) { try high("read_committed") == Watermarks(low: 0, high: 3) })
        }
    }

    @Test("A producer with the transactional id of a newer one is fenced with a fatal error, and the newer one commits")
    func fenced() async throws {
        try await onThread {
            let setting = try Setting()
            let old = try setting.producer()
            try old.beginTransaction()
            try old.send(try old.topic(setting.output), texts: ["old"])
            try old.flush(timeoutMilliseconds: 10_000)
            let new = try setting.producer()
            try new.beginTransaction()
            try new.send(try new.topic(setting.output), texts: ["new"])
            try new.commitTransaction(timeoutMilliseconds: 10_000)

            let refusal = failure { try old.commitTransaction(timeoutMilliseconds: 10_000) }
            let error = try #require(refusal)
            #expect(KafkaErrorClass(error) == .fenced, "\(error)")
            #expect(error.isFatal)
            #expect(old.fatalError?.isFatal == true)
            let error1 = failure { try old.send(try old.topic(setting.output), texts: ["more"]) }
            #expect(error1 != nil)
            #expect(try setting.texts("read_committed") == ["new"])
        }
    }

    @Test("A transaction preserves headers, null and empty values, keys, timestamps, and the order of a batch")
    func records() async throws {
        try await onThread {
            let setting = try Setting()
            let producer = try setting.producer(["compression.codec": "lz4"])
            let topic = try producer.topic(setting.output)
            let headers = [
                RecordHeader(name: Array("traceparent".utf8), value: Array("00-1".utf8)),
                RecordHeader(name: Array("n".utf8), value: nil), RecordHeader(name: Array("n".utf8), value: []),
            ]
            var arena = OutputArena()
            let batch = (0..<2000).map { number in
                arena.begin()
                arena.append(decimal: Int64(number))
                return OutboundRecord(key: nil, value: arena.finish())
            }
            try producer.beginTransaction()
            // Within the topic's retention, or the broker would delete the record at once.
            let timestamp = Int64(Date().timeIntervalSince1970 * 1000) - 3_600_000
            try producer.send(topic, key: [1], value: nil, headers: headers, timestamp: timestamp)
            let result = batch.withUnsafeBufferPointer { producer.produceBatch(topic, partition: 0, $0) }
            #expect(result.accepted == 2000 && result.error == nil)
            try producer.send(topic, key: [], value: [])
            try producer.commitTransaction(timeoutMilliseconds: 20_000)

            let found = try KafkaReader.readAll(setting.bootstrap, topic: setting.output)
            #expect(found.count == 2002)
            #expect(found.first?.headers == headers)
            #expect(found.first?.value == nil && found.first?.key == [1])
            #expect(found.first?.timestamp == timestamp)
            let isInOrder = found.dropFirst().dropLast().map(\.text) == (0..<2000).map(String.init)
            #expect(isInOrder)
            #expect(found.last?.key == [] && found.last?.value == [])
            let isWhole = found.map(\.offset) == Array(0..<2002)
            #expect(isWhole)
        }
    }

    @Test("A record that the broker rejects makes the transaction abortable and is counted as record-level")
    func refusedRecord() async throws {
        try await onThread {
            let setting = try Setting()
            let producer = try setting.producer(["message.max.bytes": "8000000"])
            let topic = try producer.topic(setting.output)
            try producer.beginTransaction()
            try producer.send(topic, value: [UInt8](repeating: 1, count: 4_000_000))
            let refused = failure { try producer.commitTransaction(timeoutMilliseconds: 10_000) }
            let error = try #require(refused)
            #expect(KafkaErrorClass(error) == .abortable, "\(error)")
            #expect(producer.deliveries.failures == [.messageTooLarge: 1])
            #expect(producer.deliveries.lastRecordError?.code == .messageTooLarge)
            try producer.abortTransaction(timeoutMilliseconds: 10_000)

            // 2.0.2 continues with the refused record's sequence number. The next transaction must also be aborted,
            // which increments the epoch.
            var errors: [KafkaErrorCode] = []
            for _ in 0..<3 {
                try producer.beginTransaction()
                let outcome = failure {
                    try producer.send(topic, texts: ["small"])
                    try producer.commitTransaction(timeoutMilliseconds: 10_000)
                }
                guard let outcome else { break }
                errors.append(outcome.code)
                try #require(KafkaErrorClass(outcome) == .abortable, "\(outcome)")
                try producer.abortTransaction(timeoutMilliseconds: 10_000)
            }
            #expect(errors == [] || errors == [.outOfOrderSequence])
            #expect(try setting.texts("read_committed") == ["small"])
        }
    }

    @Test("A transaction timeout above the broker's is a configuration error")
    func timeoutTooLong() async throws {
        try await onThread {
            let setting = try Setting()
            let error = failure { _ = try setting.producer(["transaction.timeout.ms": "2000000"]) }
            #expect(error.map(KafkaErrorClass.init) == .configuration, "\(String(describing: error))")
        }
    }
}
