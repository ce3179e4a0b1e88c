@testable import KafkaClient
import ByteStorage
import Testing
import TestSupport

/// Numbered records on librdkafka's mock cluster.
struct UndeliveredTests {
    private static let records = 200
    private static let perBatch = 10

    /// Produces records with the numbers 1 to `count` to one partition.
    private static func produce(
        _ producer: KafkaProducer, _ topic: ProducerTopic, headers: [HeaderView], count: Int = records
    ) throws {
        for number in 1...UInt(count) {
            try withViews(Array("key".utf8), Array("record \(number)".utf8)) { key, value in
                try producer.produce(topic, partition: 0, key: key, value: value, headers: headers, number: number)
            }
        }
    }

    /// Waits until this number of records has a delivery report.
    private static func reports(_ count: Int, _ producer: KafkaProducer) -> Bool {
        becomesTrue(withinSeconds: 15) {
            producer.poll(timeoutMilliseconds: 20)
            return producer.deliveries.reported == count
        }
    }

    @Test("A purge distinguishes the records that were never sent from those without an answer", arguments: [0, 1])
    func purge(headers: Int) async throws {
        try await onThread {
            let cluster = try MockCluster()
            try cluster.createTopic("t", partitions: 1)
            let producer = try KafkaProducer([
                "bootstrap.servers": cluster.bootstrapServers, "enable.idempotence": "true",
                "batch.num.messages": "\(Self.perBatch)", "linger.ms": "0",
                "max.in.flight.requests.per.connection": "2",
            ])
            let topic = try producer.topic("t")
            let header = HeaderView(name: ByteView("h"), value: ByteView("v"))
            try producer.send(topic, texts: ["first"])
            try producer.flush(timeoutMilliseconds: 10_000)
            #expect(producer.undelivered.isEmpty)
            #expect(producer.lastDelivered == 0)

            // The mock cluster stores the records at once and delays the answers.
            try cluster.setRoundTripTime(milliseconds: 3_600_000)
            try Self.produce(producer, topic, headers: Array(repeating: header, count: headers))
            let isSent = becomesTrue(withinSeconds: 15) {
                producer.poll(timeoutMilliseconds: 20)
                return producer.outstanding == Self.records
            }
            #expect(isSent)
            _ = failure { try producer.flush(timeoutMilliseconds: 1_000) }
            try producer.purge()
            #expect(Self.reports(Self.records + 1, producer))
            #expect(producer.deliveries.purged == Self.records)

            let undelivered = producer.undelivered.sorted { $0.number < $1.number }
            #expect(undelivered.map(\.number) == Array(1...UInt(Self.records)))
            let unknown = undelivered.filter(\.mayBeStored).map(\.number)
            // Two requests can be in flight, and a request can be sent before its batch is full.
            #expect((1...2 * Self.perBatch).contains(unknown.count))
            #expect(unknown == Array(1...UInt(unknown.count)))
            for record in undelivered {
                #expect(record.code == (record.mayBeStored ? .purgedInFlight : .purgedFromQueue))
            }
        }
    }

    @Test("Delivered, refused, and possibly stored records are attributed by their numbers")
    func refused() async throws {
        try await onThread {
            let cluster = try MockCluster()
            try cluster.createTopic("t", partitions: 1)
            let producer = try KafkaProducer([
                "bootstrap.servers": cluster.bootstrapServers, "batch.num.messages": "1", "linger.ms": "0",
                "max.in.flight.requests.per.connection": "1",
            ])
            let topic = try producer.topic("t")
            let produce: Int16 = 0
            // A broker that fails inside can have stored the record.
            cluster.push(errors: [.none, .messageTooLarge, .none, .invalidRecord, .unknown], forRequest: produce)
            try Self.produce(producer, topic, headers: [])
            #expect(Self.reports(Self.records, producer))
            #expect(producer.deliveries.delivered == Self.records - 3)
            #expect(producer.lastDelivered == UInt(Self.records))
            #expect(producer.undelivered.map(\.number) == [2, 4, 5])
            #expect(producer.undelivered.map(\.code) == [.messageTooLarge, .invalidRecord, .unknown])
            #expect(producer.undelivered.map(\.mayBeStored) == [false, false, true])
        }
    }

    @Test(
        "A record that brokers answer only with errors after which it can be stored is possibly stored",
        arguments: [KafkaErrorCode.requestTimedOut, KafkaErrorCode(20), .unknown])
    func answeredWithErrors(code: KafkaErrorCode) async throws {
        try await onThread {
            let cluster = try MockCluster()
            try cluster.createTopic("t", partitions: 1)
            let producer = try KafkaProducer([
                "bootstrap.servers": cluster.bootstrapServers, "enable.idempotence": "true",
                "message.timeout.ms": "3000", "linger.ms": "0",
            ])
            let topic = try producer.topic("t")
            // The client is connected before the time of the record begins.
            try producer.send(topic, texts: ["first"])
            try producer.flush(timeoutMilliseconds: 10_000)
            let produce: Int16 = 0
            cluster.push(errors: Array(repeating: code, count: 1_000), forRequest: produce)
            try Self.produce(producer, topic, headers: [], count: 1)
            #expect(Self.reports(2, producer))
            #expect(producer.undelivered.map(\.mayBeStored) == [true])
        }
    }
}
