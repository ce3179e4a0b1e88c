internal import ByteStorage
internal import DispatchWorker
internal import KafkaClient

/// A producer for one topic that attributes deliveries to the numbers of entries.
struct EventSender {
    /// The time without a delivery after which an interrupted command gives up, in seconds.
    static let patience = 10.0

    private let producer: KafkaProducer
    private let topic: ProducerTopic
    /// The name of the topic.
    let name: String
    private let partition: Int32?
    private(set) var sent = 0

    /// Creates an idempotent producer that assigns keys to partitions like the Java client.
    ///
    /// All records have the same partition if it is not nil. `messageLimit` is the topic's `max.message.bytes`, or nil.
    /// A broker refuses a larger batch as a whole, so batches are kept smaller.
    init(
        _ connection: Connection, topic name: String, partition: Int32? = nil, messageLimit: Int? = nil
    ) throws(CommandFailure) {
        var configuration = connection.configuration(
            .producer,
            [
                "enable.idempotence": "true", "acks": "all", "partitioner": "murmur2_random", "linger.ms": "5",
                "compression.codec": LibraryInfo.hasLZ4 ? "lz4" : "none", "message.max.bytes": "67108864",
                "queue.buffering.max.messages": "500000", "delivery.report.only.error": "false",
            ])
        if let bytes = ClientSettings.batchBytes(messageLimit: messageLimit), configuration["batch.size"] == nil {
            configuration["batch.size"] = "\(bytes)"
        }
        let client = try connection.make(configuration) { config throws(ConfigurationError) in
            try KafkaProducer(config)
        }
        producer = client
        self.name = name
        self.partition = partition
        let right = AccessRight("Write", on: .topic, name)
        topic = try attempt("sending to \(name)", needing: right, as: connection.principal) { () throws(KafkaError) in
            let topic = try client.topic(name)
            // Before librdkafka 2.10.1 the first record waits up to a second for the topic's metadata (issue 5032).
            _ = try client.partitionCount(of: topic, timeoutMilliseconds: 10_000)
            return topic
        }
    }

    /// Creates a producer for the topic of a call, after a broker has confirmed that the topic and the partition exist.
    init(_ call: Invocation, _ settings: Settings) throws(CommandFailure) {
        let topic = call.isOn("devices") ? try settings.requireDevicesTopic() : try Self.topic(call, settings)
        let connection = try Connection(settings)
        let admin = try connection.makeAdmin()
        let described = try attempt("describing topic \(topic)") { () throws(KafkaError) in
            try admin.describe(topics: [topic], timeoutMilliseconds: 10_000)
        }
        if let error = described.first?.error {
            throw CommandFailure(
                error, while: "sending to \(topic)", needing: AccessRight("Write", on: .topic, topic),
                as: connection.principal)
        }
        let partition = call.number("partition").map { Int32($0) }
        let partitions = (described.first?.partitions ?? []).map(\.id).sorted()
        if let partition, !partitions.contains(partition) {
            throw CommandFailure.noPartition(partition, of: topic, among: partitions)
        }
        try self.init(
            connection, topic: topic, partition: partition, messageLimit: admin.messageLimits(of: [topic])[topic])
    }

    /// Returns the topic of events.
    private static func topic(_ call: Invocation, _ settings: Settings) throws(CommandFailure) -> String {
        let inputs = settings.list("input")
        if let topic = call.text("topic") ?? (inputs.count == 1 && !inputs[0].hasPrefix("^") ? inputs[0] : nil) {
            return topic
        }
        throw CommandFailure(
            .usage, "the setting `input` does not name exactly one topic", advice: "select a topic with --topic")
    }

    /// Sends the record of an entry, waiting while the queue is full.
    ///
    /// Returns false if the record was not passed to the client, because the user has interrupted the command.
    mutating func send(
        key: ByteView?, value: ByteView?, headers: [HeaderView], entry: Int
    ) throws(CommandFailure) -> Bool {
        while StopSignals.number == nil {
            do throws(KafkaError) {
                try producer.produce(
                    topic, partition: partition, key: key, value: value, headers: headers, number: UInt(entry))
                sent += 1
                return true
            } catch {
                guard error.code == .queueFull else {
                    throw CommandFailure(producer.fatalError ?? error, while: "sending to \(name)")
                }
                producer.poll(timeoutMilliseconds: 50)
            }
        }
        return false
    }

    /// Handles delivery reports for the given time.
    func wait(milliseconds: Int32) { producer.poll(timeoutMilliseconds: milliseconds) }

    /// Waits until every record is delivered or has failed, and calls `progress` repeatedly while it waits.
    ///
    /// After an interruption it gives up if no report arrives for ten seconds. The records that were not sent then
    /// differ from the ones in flight, which a broker can have stored.
    func finish(progress: (DeliveryCounts) -> Void) {
        var reported = producer.deliveries.reported
        var since = Platform.monotonicSeconds
        while producer.outstanding > 0, producer.fatalError == nil {
            do throws(KafkaError) {
                try producer.flush(timeoutMilliseconds: 200)
            } catch {
                progress(producer.deliveries)
            }
            if producer.deliveries.reported != reported || StopSignals.number == nil {
                reported = producer.deliveries.reported
                since = Platform.monotonicSeconds
            }
            if Platform.monotonicSeconds - since >= Self.patience { break }
        }
        giveUp()
    }

    /// Ends the delivery of the records without a report.
    private func giveUp() {
        guard producer.deliveries.reported < sent else { return }
        try? producer.purge()
        let deadline = Platform.monotonicSeconds + 5
        while producer.deliveries.reported < sent, Platform.monotonicSeconds < deadline {
            producer.poll(timeoutMilliseconds: 50)
        }
    }

    /// The deliveries so far.
    var deliveries: DeliveryCounts { producer.deliveries }

    /// The records without an acknowledgment.
    var undelivered: [UndeliveredRecord] { producer.undelivered }

    /// The number of records without a report, which should be zero after `finish`.
    var unreported: Int { sent - producer.deliveries.reported }

    /// The number of the last stored entry, or 0.
    var lastDelivered: Int { Int(producer.lastDelivered) }

    /// The errors of failed records, most frequent first.
    var failures: [(code: KafkaErrorCode, count: Int)] {
        producer.deliveries.failures.map { ($0.key, $0.value) }
            .sorted { ($1.count, $0.code.rawValue) < ($0.count, $1.code.rawValue) }
    }
}

extension OutputArena {
    /// Returns a copy of the bytes, which is valid until `reset`.
    mutating func copy(_ bytes: [UInt8]) -> ByteView {
        begin()
        append(bytes)
        return finish()
    }

    /// Returns copies of headers, which are valid until `reset`.
    mutating func copy(_ headers: [RecordHeader]) -> [HeaderView] {
        var views: [HeaderView] = []
        for header in headers {
            let name = copy(header.name)
            var value: ByteView?
            if let bytes = header.value { value = copy(bytes) }
            views.append(HeaderView(name: name, value: value))
        }
        return views
    }
}

/// The headers of every record, with the memory of their bytes.
final class HeaderCopies {
    private(set) var views: [HeaderView] = []
    private var arena = OutputArena(chunkBytes: 4096)

    init(_ pairs: [KeyValue]) {
        views = arena.copy(pairs.map { RecordHeader(name: Array($0.key.utf8), value: Array($0.value.utf8)) })
    }
}
