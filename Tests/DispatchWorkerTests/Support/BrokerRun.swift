@testable import DispatchWorker
import LinkDecider
@testable import KafkaClient
import ByteStorage
import TestSupport

/// A record that a test has read.
struct ReadRecord: Sendable, Equatable {
    var partition: Int32
    var offset: Int64
    var timestamp: Int64
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [RecordHeader]

    var keyText: String? { key.map { String(decoding: $0, as: UTF8.self) } }
    var valueText: String? { value.map { String(decoding: $0, as: UTF8.self) } }

    func header(_ name: String) -> String? {
        headers.last { $0.name == Array(name.utf8) }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The topics of one test on a real broker, and operations on them.
struct BrokerRun: Sendable {
    let bootstrap: String
    let input: String
    let output: String
    let deadLetters: String
    let group: String

    /// Creates the three topics of a test with unique names.
    init(
        _ stem: String, bootstrap: String, partitions: Int32 = 6, settings: [String: [String: String]] = [:]
    ) throws {
        self.bootstrap = bootstrap
        input = BrokerEnvironment.uniqueName(stem)
        output = input + ".out"
        deadLetters = input + ".dlq"
        group = input + ".group"
        let admin = try KafkaAdmin(["bootstrap.servers": bootstrap])
        defer { admin.close() }
        let results = try admin.create(
            topics: [("in", input), ("out", output), ("dlq", deadLetters)].map { role, name in
                TopicSpecification(name: name, partitions: partitions, settings: settings[role] ?? [:])
            }, timeoutMilliseconds: 20_000)
        if let error = results.compactMap(\.error).first { throw error }
        let all = [input, output, deadLetters]
        _ = try becomesTrue(withinSeconds: 20) {
            try admin.describe(topics: all, timeoutMilliseconds: 5_000).allSatisfy { topic in
                topic.partitions.count == Int(partitions) && topic.partitions.allSatisfy { $0.leader >= 0 }
            }
        }
    }

    /// Returns a worker's configuration for these topics.
    func configuration(instance: String? = nil, lanes: Int = 1) -> WorkerConfiguration {
        var configuration = WorkerConfiguration(bootstrap: [bootstrap])
        configuration.input = .topics([input])
        configuration.outputs = OutputTopics(output)
        configuration.group = group
        configuration.instance = instance
        configuration.lanes = lanes
        configuration.clientProperties = [ClientProperty("session.timeout.ms", "6000")]
        return configuration
    }

    /// Produces records in order to the input, or another topic.
    ///
    /// `record` returns the key, value, and headers of each.
    func produce(
        count: Int, partitions: Int32 = 6, to name: String? = nil,
        _ record: (Int) -> (key: String?, value: [UInt8]?, headers: [RecordHeader])
    ) throws {
        let producer = try KafkaProducer([
            "bootstrap.servers": bootstrap, "enable.idempotence": "true", "linger.ms": "20",
            "message.max.bytes": "10000000",
        ])
        defer { producer.close() }
        let topic = try producer.topic(name ?? input)
        for index in 0..<count {
            let (key, value, headers) = record(index)
            try Self.withViews(key.map { Array($0.utf8) }, value, headers) { key, value, headers throws(KafkaError) in
                let partition = key.map { Murmur2.partition(of: $0, among: partitions) } ?? Int32(index) % partitions
                while true {
                    do throws(KafkaError) {
                        return try producer.produce(
                            topic, partition: partition, key: key, value: value, headers: headers)
                    } catch {
                        guard error.code == .queueFull else { throw error }
                        producer.poll(timeoutMilliseconds: 10)
                    }
                }
            }
        }
        try producer.flush(timeoutMilliseconds: 60_000)
    }

    private static func withViews(
        _ key: [UInt8]?, _ value: [UInt8]?, _ headers: [RecordHeader],
        _ body: (ByteView?, ByteView?, [HeaderView]) throws(KafkaError) -> Void
    ) throws {
        // The arena keeps all bytes valid during the call.
        var arena = OutputArena()
        func view(_ bytes: [UInt8]?) -> ByteView? {
            guard let bytes else { return nil }
            arena.begin()
            arena.append(bytes)
            return arena.finish()
        }
        let keyView = view(key)
        let valueView = view(value)
        let headerViews = headers.map { HeaderView(name: view($0.name) ?? .empty, value: view($0.value)) }
        try body(keyView, valueView, headerViews)
    }

    /// Returns all committed records of a topic.
    func read(_ topic: String, isolation: String = "read_committed") throws -> [ReadRecord] {
        let reader = try KafkaReader([
            "bootstrap.servers": bootstrap, "isolation.level": isolation, "enable.partition.eof": "true",
            "group.id": "reader", "fetch.wait.max.ms": "50", "fetch.message.max.bytes": "10000000",
        ])
        defer { reader.close() }
        let partitions = try reader.describe(topic: topic, timeoutMilliseconds: 10_000).partitions
        try reader.start(
            partitions.map { PartitionOffset(topic: topic, partition: $0.id, offset: LogicalOffset.beginning) })
        var result: [ReadRecord] = []
        var ended: Set<Int32> = []
        let isWhole = becomesTrue(withinSeconds: 60) {
            _ = reader.poll(max: 10_000, timeoutMilliseconds: 200)
            for record in reader.records {
                result.append(
                    ReadRecord(
                        partition: record.partition, offset: record.offset, timestamp: record.timestamp,
                        key: record.key?.array, value: record.value?.array,
                        headers: record.hasHeaders ? reader.headers(of: record.index) : []))
            }
            for event in reader.events where event.kind == .endOfPartition { ended.insert(event.partition) }
            return ended.count == partitions.count
        }
        if !isWhole { throw KafkaError(code: .timedOut) }
        return result
    }

    /// Returns the input partitions whose committed offset, last stable offset, and high watermark differ.
    ///
    /// The result is empty once everything is committed and no transaction is open.
    func unsettled(topic: String? = nil, partitions: Int32 = 6) throws -> [String] {
        let clients = try ["read_committed", "read_uncommitted"].map { isolation in
            try KafkaConsumer([
                "bootstrap.servers": bootstrap, "group.id": group, "isolation.level": isolation,
            ]) { _, _ in }
        }
        var result: [String] = []
        for partition in 0..<partitions {
            let topicPartition = TopicPartition(topic: input, partition: partition)
            let stable = try clients[0].watermarks(of: topicPartition, timeoutMilliseconds: 10_000).high
            let high = try clients[1].watermarks(of: topicPartition, timeoutMilliseconds: 10_000).high
            let committed = try clients[0].committed([topicPartition], timeoutMilliseconds: 10_000).first?.offset ?? 0
            if stable != high || committed != high {
                result.append("\(topicPartition): committed \(committed), stable \(stable), end \(high)")
            }
            for topic in [output, deadLetters] {
                let topicPartition = TopicPartition(topic: topic, partition: partition)
                let stable = try clients[0].watermarks(of: topicPartition, timeoutMilliseconds: 10_000).high
                let high = try clients[1].watermarks(of: topicPartition, timeoutMilliseconds: 10_000).high
                if stable != high { result.append("\(topicPartition): stable \(stable), end \(high)") }
            }
        }
        for client in clients { client.abandon() }
        return result
    }
}
