import ByteStorage
import Foundation
import KafkaClient
import StrictJSON
import TestSupport

/// A record that a test has read.
struct ReadRecord: Sendable {
    var partition: Int32
    var offset: Int64
    var timestamp: Int64
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [RecordHeader]

    /// Returns the last header of this name, as text.
    func header(_ name: String) -> String? {
        headers.last { $0.name == Array(name.utf8) }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The topics and the group of one run, and queries to the broker.
final class RunTopics {
    let bootstrap: String
    let input: String
    let output: String
    let deadLetters: String
    let group: String
    let partitions: Int32 = 6
    /// The application whose decisions have a topic of their own, or nil.
    private let application: String?
    private let committedView: KafkaConsumer
    private let uncommittedView: KafkaConsumer

    /// Creates topics with unique names, as an operator does.
    init(bootstrap: String, settings: [String], application: String? = nil) throws {
        self.application = application
        self.bootstrap = bootstrap
        input = BrokerEnvironment.uniqueName("exact")
        output = input + ".out"
        deadLetters = input + ".dlq"
        group = input + ".group"
        let created = try ChildProcess.run(
            [BuiltProgram.linkd, "topics", "create", "-b", bootstrap, "--input", input, "--output", output]
                + (application.map { [input] in ["--output-applications", "\($0)=\(input).app"] } ?? [])
                + ["--partitions", String(partitions)] + settings.flatMap { ["--set", $0] })
        guard created.status == 0 else { throw RunFailure("linkd topics create failed: \(created.errors)") }
        let views = try ["read_committed", "read_uncommitted"].map { [group] isolation in
            try KafkaConsumer(["bootstrap.servers": bootstrap, "group.id": group, "isolation.level": isolation]) {
                _, _ in
            }
        }
        committedView = views[0]
        uncommittedView = views[1]
    }

    /// The topics of decisions.
    var outputs: [String] { [output] + (application == nil ? [] : [input + ".app"]) }

    /// The flags of the topics of decisions.
    var outputFlags: [String] {
        ["--output", output] + (application.map { ["--output-applications", "\($0)=\(input).app"] } ?? [])
    }

    /// The compacted topic of the registry of devices, which `createRegistry` creates.
    var devices: String { input + ".devices" }

    /// A second input with another number of partitions, which `createSecond` creates.
    var second: String { input + ".second" }
    let secondPartitions: Int32 = 4

    /// Creates the topic of the registry.
    ///
    /// - Parameters:
    ///   - settings: Settings in addition to `cleanup.policy`.
    ///   - count: The number of partitions, or nil for those of the input.
    func createRegistry(_ settings: [String: String] = [:], partitions count: Int32? = nil) throws {
        let settings = settings.merging(["cleanup.policy": "compact"]) { $1 }
        try create([TopicSpecification(name: devices, partitions: count ?? partitions, settings: settings)])
    }

    /// Settings with which a topic is compacted within about a second, if records are written meanwhile.
    static let compactedSoon = ["segment.ms": "200", "min.cleanable.dirty.ratio": "0"]

    /// Creates the second input, and its topic of dead letters.
    func createSecond() throws {
        try create([
            TopicSpecification(name: second, partitions: secondPartitions),
            TopicSpecification(name: second + ".dlq", partitions: partitions),
        ])
    }

    private func create(_ topics: [TopicSpecification]) throws {
        let admin = try KafkaAdmin(["bootstrap.servers": bootstrap])
        defer { admin.close() }
        for result in try admin.create(topics: topics, timeoutMilliseconds: 20_000) {
            if let error = result.error { throw RunFailure("\(result.name) was not created: \(error.text)") }
        }
    }

    /// Deletes the topic of the registry, and waits until it is gone.
    func deleteRegistry() throws {
        let admin = try KafkaAdmin(["bootstrap.servers": bootstrap])
        defer { admin.close() }
        for result in try admin.delete(topics: [devices], timeoutMilliseconds: 20_000) {
            if let error = result.error { throw RunFailure("\(devices) was not deleted: \(error.text)") }
        }
        let isGone = try becomesTrue(withinSeconds: 60) {
            try admin.metadata(timeoutMilliseconds: 10_000).topics.allSatisfy { $0.name != devices }
        }
        if !isGone { throw RunFailure("\(devices) was not deleted in time") }
    }

    /// Closes the clients.
    func close() {
        committedView.abandon()
        uncommittedView.abandon()
    }

    private func partitions(_ topic: String) -> [TopicPartition] {
        (0..<(topic == second ? secondPartitions : partitions)).map { TopicPartition(topic: topic, partition: $0) }
    }

    /// Returns the group's committed offset of each partition of an input, or 0 for none, without waiting for open
    /// transactions.
    func committed(_ topic: String? = nil) throws -> [Int64] {
        try uncommittedView.committed(partitions(topic ?? input), timeoutMilliseconds: 20_000)
            .map { max(0, $0.offset ?? 0) }
    }

    /// Returns the end of each partition of a topic.
    func ends(_ topic: String) throws -> [Int64] {
        try partitions(topic).map { try uncommittedView.watermarks(of: $0, timeoutMilliseconds: 20_000).high }
    }

    /// Returns the last stable offset of each partition of a topic, which is below its end while a transaction is open.
    func stableEnds(_ topic: String) throws -> [Int64] {
        try partitions(topic).map { try committedView.watermarks(of: $0, timeoutMilliseconds: 20_000).high }
    }

    /// Returns the end of each partition of the topics of decisions.
    func outputEnds() throws -> [Int64] { try outputs.flatMap { try ends($0) } }

    /// Returns the last stable offset of each partition of the topics of decisions.
    func outputStableEnds() throws -> [Int64] { try outputs.flatMap { try stableEnds($0) } }

    /// Runs `linkd verify`, which must find nothing, also while workers run and are killed.
    ///
    /// - Returns: The number of records that it has checked.
    func verify(_ inputs: [String]? = nil) throws -> Int64? {
        let inputs = (inputs ?? [input]).joined(separator: ",")
        let result = try ChildProcess.run(
            [BuiltProgram.linkd, "verify", "-b", bootstrap, "--input", inputs] + outputFlags
                + ["--group", group, "--json"], seconds: 120)
        guard result.status == 0 else { throw RunFailure("linkd verify: \(result.output)\(result.errors)") }
        return try JSONValue.parse(Array(result.output.utf8))["records"]?.integer
    }

    /// Returns all records of a topic, sorted by partition and offset.
    func read(_ topic: String, isolation: String = "read_committed") throws -> [ReadRecord] {
        let reader = try KafkaReader([
            "bootstrap.servers": bootstrap, "isolation.level": isolation, "enable.partition.eof": "true",
            "group.id": "reader", "fetch.wait.max.ms": "50", "fetch.message.max.bytes": "10000000",
        ])
        defer { reader.close() }
        try reader.start(partitions(topic).map { PartitionOffset($0, offset: LogicalOffset.beginning) })
        var result: [ReadRecord] = []
        var ended: Set<Int32> = []
        let isWhole = becomesTrue(withinSeconds: 120) {
            _ = reader.poll(max: 10_000, timeoutMilliseconds: 200)
            for record in reader.records {
                result.append(
                    ReadRecord(
                        partition: record.partition, offset: record.offset, timestamp: record.timestamp,
                        key: record.key?.array, value: record.value?.array,
                        headers: record.hasHeaders ? reader.headers(of: record.index) : []))
            }
            for event in reader.events where event.kind == .endOfPartition { ended.insert(event.partition) }
            return ended.count == partitions(topic).count
        }
        if !isWhole { throw RunFailure("\(topic) was not read to its end in time") }
        return result.sorted { ($0.partition, $0.offset) < ($1.partition, $1.offset) }
    }
}
