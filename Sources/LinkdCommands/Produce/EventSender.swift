internal import KafkaClient
internal import ByteStorage

/// A producer for one topic that counts deliveries.
struct EventSender {
    private let producer: KafkaProducer
    private let topic: ProducerTopic
    private let name: String
    private(set) var sent = 0

    /// Creates an idempotent producer that assigns keys to partitions as the Java client does.
    init(_ connection: Connection, topic name: String) throws(CommandFailure) {
        let configuration = connection.configuration(
            .producer,
            [
                "enable.idempotence": "true", "acks": "all", "partitioner": "murmur2_random", "linger.ms": "5",
                "compression.codec": LibraryInfo.hasLZ4 ? "lz4" : "none", "message.max.bytes": "67108864",
                "queue.buffering.max.messages": "100000", "delivery.report.only.error": "false",
            ])
        do {
            producer = try KafkaProducer(configuration)
        } catch {
            throw connection.configurationFailure(error)
        }
        self.name = name
        do throws(KafkaError) {
            topic = try producer.topic(name)
            // Before librdkafka 2.10.1 the first record waits up to a second for the topic's metadata (issue 5032).
            _ = try producer.partitionCount(of: topic, timeoutMilliseconds: 10_000)
        } catch {
            throw CommandFailure(
                error, while: "sending to \(name)", needing: AccessRight("Write", on: .topic, name),
                as: connection.principal)
        }
    }

    /// Sends a record, waiting while the queue is full.
    ///
    /// Does nothing after the user has interrupted the command.
    mutating func send(key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader]) throws(CommandFailure) {
        while Interruption.signalNumber == nil {
            do throws(KafkaError) {
                try produce(key, value, headers)
                sent += 1
                producer.poll(timeoutMilliseconds: 0)
                return
            } catch {
                guard error.code == .queueFull else { throw CommandFailure(error, while: "sending to \(name)") }
                producer.poll(timeoutMilliseconds: 50)
            }
        }
    }

    /// Handles delivery reports for the given time.
    func wait(milliseconds: Int32) { producer.poll(timeoutMilliseconds: milliseconds) }

    /// Waits until every record is delivered or has failed, and calls `progress` repeatedly while it waits.
    ///
    /// After an interruption it waits at most 5 more seconds. Records in flight then count as not delivered.
    func finish(progress: (DeliveryCounts) -> Void) {
        var remainingWaits = 25
        while producer.outstanding > 0, producer.fatalError == nil, remainingWaits > 0 {
            if Interruption.signalNumber != nil { remainingWaits -= 1 }
            do throws(KafkaError) {
                try producer.flush(timeoutMilliseconds: 200)
            } catch {
                progress(producer.deliveries)
            }
        }
    }

    /// The deliveries so far.
    var deliveries: DeliveryCounts { producer.deliveries }

    /// The errors of failed records, most frequent first.
    var failures: [(code: KafkaErrorCode, count: Int)] {
        producer.deliveries.failures.map { ($0.key, $0.value) }
            .sorted { ($1.count, $0.code.rawValue) < ($0.count, $1.code.rawValue) }
    }

    private func produce(_ key: [UInt8]?, _ value: [UInt8]?, _ headers: [RecordHeader]) throws(KafkaError) {
        try Views.with(key) { key throws(KafkaError) in
            try Views.with(value) { value throws(KafkaError) in
                try Views.with(headers) { headers throws(KafkaError) in
                    try producer.produce(topic, partition: nil, key: key, value: value, headers: headers)
                }
            }
        }
    }
}

/// Views of bytes that are valid during a call.
private enum Views {
    /// Calls `body` with a view of the bytes, or with nil if there are none.
    static func with(_ bytes: [UInt8]?, _ body: (ByteView?) throws(KafkaError) -> Void) throws(KafkaError) {
        guard let bytes else { return try body(nil) }
        try bytes.withUnsafeBufferPointer { bytes throws(KafkaError) in try body(ByteView(bytes)) }
    }

    /// Calls `body` with views of the headers.
    static func with(
        _ headers: [RecordHeader], _ body: ([HeaderView]) throws(KafkaError) -> Void
    ) throws(KafkaError) {
        try with(headers[...], [], body)
    }

    private static func with(
        _ headers: ArraySlice<RecordHeader>, _ views: [HeaderView], _ body: ([HeaderView]) throws(KafkaError) -> Void
    ) throws(KafkaError) {
        guard let header = headers.first else { return try body(views) }
        try with(header.name) { name throws(KafkaError) in
            try with(header.value) { value throws(KafkaError) in
                let view = HeaderView(name: name ?? .empty, value: value)
                try with(headers.dropFirst(), views + [view], body)
            }
        }
    }
}
