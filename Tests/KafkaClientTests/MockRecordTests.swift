@testable import KafkaClient
import ByteStorage
import Testing
import TestSupport

/// Records on librdkafka's mock cluster.
///
/// They must be returned unchanged, byte for byte.
struct MockRecordTests {
    @Test("Null and empty keys, values, and header values are preserved, and headers keep their order")
    func nullAndEmpty() async throws {
        try await onThread {
            let cluster = try MockCluster()
            try cluster.createTopic("t", partitions: 1)
            let producer = try KafkaProducer(["bootstrap.servers": cluster.bootstrapServers, "linger.ms": "0"])
            let topic = try producer.topic("t")
            let name = Array("h".utf8)
            let headers: [RecordHeader] = [
                RecordHeader(name: name, value: [1, 0, 2]), RecordHeader(name: name, value: nil),
                RecordHeader(name: name, value: []), RecordHeader(name: Array("π".utf8), value: [255]),
            ]
            try producer.send(topic, key: nil, value: nil, timestamp: 1_700_000_000_123)
            try producer.send(topic, key: [], value: [], headers: headers)
            try producer.send(topic, key: [0, 255], value: [7])
            try producer.flush(timeoutMilliseconds: 10_000)
            #expect(producer.deliveries == DeliveryCounts(delivered: 3))

            let found = try KafkaReader.readAll(cluster.bootstrapServers, topic: "t")
            #expect(found.map(\.key) == [nil, [], [0, 255]])
            #expect(found.map(\.value) == [nil, [], [7]])
            #expect(found.map(\.headers) == [[], headers, []])
            #expect(found.map(\.offset) == [0, 1, 2])
            #expect(found.first?.timestamp == 1_700_000_000_123)
            let inPlace = found.allSatisfy { $0.topic == "t" && $0.partition == 0 }
            #expect(inPlace)
        }
    }

    @Test("A full queue accepts the first records of a batch, and the rest follows in order")
    func queueFull() async throws {
        try await onThread {
            let cluster = try MockCluster()
            try cluster.createTopic("t", partitions: 2)
            let producer = try KafkaProducer([
                "bootstrap.servers": cluster.bootstrapServers, "queue.buffering.max.messages": "10",
                "linger.ms": "0", "enable.idempotence": "true",
            ])
            let topic = try producer.topic("t")
            let texts = (0..<137).map { Array("record \($0)".utf8) }
            var arena = OutputArena(chunkBytes: 4096)
            let records = texts.map { text in
                arena.begin()
                arena.append(text)
                return OutboundRecord(key: nil, value: arena.finish())
            }
            var next = 0
            var fullTimes = 0
            let done = records.withUnsafeBufferPointer { records in
                becomesTrue(withinSeconds: 15) {
                    let rest = UnsafeBufferPointer(rebasing: records[next...])
                    let (accepted, error) = producer.produceBatch(topic, partition: 1, rest)
                    next += accepted
                    if let error {
                        #expect(error.code == .queueFull)
                        fullTimes += 1
                        producer.poll(timeoutMilliseconds: 20)
                    }
                    return next == records.count
                }
            }
            #expect(done)
            #expect(fullTimes > 0, "a queue of 10 was never full")
            try producer.flush(timeoutMilliseconds: 10_000)
            #expect(producer.deliveries.delivered == 137)
            #expect(producer.outstanding == 0)
            let found = try KafkaReader.readAll(cluster.bootstrapServers, topic: "t", partitions: 2)
            #expect(found.map(\.value) == texts)
            let inPlace = found.allSatisfy { $0.partition == 1 }
            #expect(inPlace)
        }
    }

    @Test("A batch keeps null keys null and copies keys")
    func batchKeys() async throws {
        try await onThread {
            let cluster = try MockCluster()
            try cluster.createTopic("t", partitions: 1)
            let producer = try KafkaProducer(["bootstrap.servers": cluster.bootstrapServers, "linger.ms": "50"])
            let topic = try producer.topic("t")
            var arena = OutputArena()
            arena.begin()
            arena.append("value")
            let value = arena.finish()
            for key: [UInt8]? in [nil, [], [1, 2, 3]] {
                withViews(key, nil) { key, _ in
                    withUnsafePointer(to: OutboundRecord(key: key, value: value)) { record in
                        let result = producer.produceBatch(
                            topic, partition: 0, UnsafeBufferPointer(start: record, count: 1))
                        #expect(result.accepted == 1 && result.error == nil)
                    }
                }
            }
            try producer.flush(timeoutMilliseconds: 10_000)
            let found = try KafkaReader.readAll(cluster.bootstrapServers, topic: "t")
            #expect(found.map(\.key) == [nil, [], [1, 2, 3]])
        }
    }

    @Test("A record that is too large for the client is rejected, and later ones are still accepted")
    func tooLarge() async throws {
        try await onThread {
            let cluster = try MockCluster()
            try cluster.createTopic("t", partitions: 1)
            let producer = try KafkaProducer([
                "bootstrap.servers": cluster.bootstrapServers, "message.max.bytes": "2000",
            ])
            let topic = try producer.topic("t")
            let large = failure { try producer.send(topic, value: [UInt8](repeating: 1, count: 5000)) }
            #expect(large?.code == .messageTooLarge)
            let nowhere = failure { try producer.send(topic, partition: 9, value: [1]) }
            // Before the first metadata arrives, the partition may exist.
            #expect(nowhere == nil || nowhere?.code == .unknownPartition)
            try producer.send(topic, value: [1])
            try producer.purge()
            _ = becomesTrue(withinSeconds: 5) {
                producer.poll(timeoutMilliseconds: 20)
                return producer.outstanding == 0
            }
            #expect(producer.deliveries.reported == (nowhere == nil ? 2 : 1))
        }
    }

    @Test("Purged records are counted as purged, not as failed")
    func purged() async throws {
        try await onThread {
            let producer = try KafkaProducer(["bootstrap.servers": "127.0.0.1:1", "linger.ms": "1000"])
            let topic = try producer.topic("t")
            try producer.send(topic, texts: ["a", "b", "c"])
            try producer.purge()
            let empty = becomesTrue(withinSeconds: 5) {
                producer.poll(timeoutMilliseconds: 20)
                return producer.outstanding == 0
            }
            #expect(empty)
            #expect(producer.deliveries == DeliveryCounts(purged: 3))
        }
    }

    @Test("A failed delivery is counted by its code, and resetting the errors keeps the counts")
    func failedDelivery() async throws {
        try await onThread {
            let producer = try KafkaProducer(["bootstrap.servers": "127.0.0.1:1", "message.timeout.ms": "50"])
            let topic = try producer.topic("t")
            try producer.send(topic, texts: ["a", "b"])
            try producer.flush(timeoutMilliseconds: 10_000)
            #expect(producer.deliveries.failures == [.messageTimedOut: 2])
            #expect(producer.deliveries.lastError?.code == .messageTimedOut)
            #expect(producer.deliveries.lastRecordError == nil)
            producer.forgetDeliveryErrors()
            #expect(producer.deliveries == DeliveryCounts(failed: 2))
        }
    }
}
