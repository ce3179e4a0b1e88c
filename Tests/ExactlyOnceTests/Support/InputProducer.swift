import ByteStorage
import DispatchWorker
import KafkaClient

/// A producer that writes the records to the input topic in portions.
///
/// It is idempotent, and it partitions records by key.
final class InputProducer {
    private let producer: KafkaProducer
    private let topic: ProducerTopic
    private let records: [InputRecord]
    /// The number of records that were produced.
    private(set) var sent = 0
    /// The time at which each of them was produced, in milliseconds since 1970.
    private(set) var times: [Int64] = []

    /// Creates a producer that writes to the input, or to another topic.
    init(_ records: [InputRecord], to topics: RunTopics, topic name: String? = nil) throws {
        self.records = records
        producer = try KafkaProducer([
            "bootstrap.servers": topics.bootstrap, "enable.idempotence": "true", "partitioner": "murmur2_random",
            "linger.ms": "2", "message.max.bytes": "10000000",
        ])
        topic = try producer.topic(name ?? topics.input)
    }

    /// Sends records until this number has been sent in all.
    func send(upTo end: Int) throws {
        while sent < min(end, records.count) {
            let record = records[sent]
            do throws(KafkaError) {
                times.append(SystemClock.wallMilliseconds())
                try produce(record)
                sent += 1
            } catch {
                times.removeLast()
                guard error.code == .queueFull else { throw error }
                producer.poll(timeoutMilliseconds: 10)
            }
        }
    }

    private func produce(_ record: InputRecord) throws(KafkaError) {
        var arena = OutputArena(chunkBytes: 4096)
        func view(_ bytes: [UInt8]?) -> ByteView? {
            guard let bytes else { return nil }
            arena.begin()
            arena.append(bytes)
            return arena.finish()
        }
        let headers = record.headers.map { HeaderView(name: view($0.name) ?? .empty, value: view($0.value)) }
        try producer.produce(
            topic, partition: nil, key: view(record.key), value: view(record.value), headers: headers)
    }

    /// Serves the producer for a number of milliseconds.
    func pause(milliseconds: Int32) { producer.poll(timeoutMilliseconds: milliseconds) }

    /// Waits until all sent records are delivered.
    func flush() throws { try producer.flush(timeoutMilliseconds: 120_000) }

    /// Waits until all sent records are delivered and closes the producer.
    ///
    /// Throws if a record was not delivered.
    func finish() throws {
        try flush()
        let deliveries = producer.deliveries
        producer.close()
        guard deliveries.delivered == sent, deliveries.failed == 0 else {
            throw RunFailure("\(deliveries.delivered) of \(sent) records were delivered")
        }
    }
}
