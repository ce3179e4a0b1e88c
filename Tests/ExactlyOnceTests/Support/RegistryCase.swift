import ByteStorage
import Foundation
import KafkaClient
import StrictJSON
import TestSupport

/// The topics, devices, and workers of a test about one behavior with a registry.
final class RegistryCase {
    let topics: RunTopics
    let folder: TemporaryFolder

    /// Creates the topics, the registry with more settings, and with as many partitions as the input unless another
    /// number is given.
    init(_ settings: [String: String] = [:], partitions: Int32? = nil) throws {
        topics = try RunTopics(bootstrap: BrokerEnvironment.bootstrapServers ?? "", settings: [])
        folder = try TemporaryFolder()
        try topics.createSecond()
        try topics.createRegistry(settings, partitions: partitions)
    }

    func close() { topics.close() }

    /// Writes devices to the registry with a number as the version of their app, or deletes them for nil.
    func write(_ devices: [(id: String, app: Int?)]) throws { try write(devices.map(Self.record)) }

    /// Writes records that are no valid devices to the registry.
    func writeMalformed(_ ids: [String]) throws {
        try write(ids.map { InputRecord(key: Array($0.utf8), value: Array(#"{"app":7"#.utf8)) })
    }

    private func write(_ records: [InputRecord]) throws {
        let registry = try InputProducer(records, to: topics, topic: topics.devices)
        try registry.send(upTo: records.count)
        try registry.finish()
    }

    /// Returns devices with a version, or each with its own number.
    static func devices(_ numbers: Range<Int>, app: Int? = nil) -> [(id: String, app: Int?)] {
        numbers.map { number in ("d\(number)", app ?? number) }
    }

    /// Returns the deletions of devices.
    static func deletions(_ numbers: Range<Int>) -> [(id: String, app: Int?)] {
        numbers.map { number in ("d\(number)", nil) }
    }

    static func record(_ id: String, _ app: Int?) -> InputRecord {
        InputRecord(key: Array(id.utf8), value: app.map { Array(#"{"app":"\#($0)"}"#.utf8) })
    }

    /// Sends a link for each device.
    func send(_ devices: [String]) throws {
        let events = devices.map { InputRecord(key: Array($0.utf8), value: Array("https://shop.example/p/new".utf8)) }
        let input = try InputProducer(events, to: topics)
        try input.send(upTo: events.count)
        try input.finish()
    }

    private func command(
        _ arguments: [String], group: String? = nil, output: String? = nil, registry: Bool = true,
        directory: String = "state"
    ) throws -> [String] {
        [BuiltProgram.linkd, "worker", "-b", topics.bootstrap]
            + (arguments.contains("--input") ? [] : ["--input", topics.input])
            + ["--output", output ?? topics.output, "--group", group.map { topics.group + $0 } ?? topics.group]
            + ["--log-format", "json", "--table", try ServedFile.shop.path] + arguments
            + (registry ? ["--devices-topic", topics.devices] : [])
            + (registry ? ["--state-dir", folder.url.appending(path: directory).path] : [])
    }

    /// Returns a worker that was not started.
    func worker(_ arguments: [String], environment: [String: String] = [:]) throws -> WorkerProcess {
        try WorkerProcess(name: "worker", command: command(arguments), logs: folder.url, environment: environment)
    }

    /// Runs a worker to its end.
    ///
    /// - Parameters:
    ///   - group: An addition to the name of the group.
    ///   - prefix: A program that runs the worker, and its arguments.
    ///   - directory: The name of the state directory.
    func run(
        _ arguments: [String], group: String? = nil, output: String? = nil, registry: Bool = true,
        prefix: [String] = [], directory: String = "state"
    ) throws -> ChildProcess.Result {
        try ChildProcess.run(
            prefix
                + command(arguments, group: group, output: output, registry: registry, directory: directory))
    }

    /// Returns the device of each decision, and the version of its app that came from the registry, ordered by the
    /// offsets.
    func facts() throws -> [(device: String, app: Int?)] {
        try topics.read(topics.output).map { decision in
            let json = try JSONValue.parse(decision.value ?? [])
            return (json["device"]?.string ?? "", json["facts"]?["app"]?.string.flatMap { Int($0) })
        }
    }

    func wait(for what: String, _ question: () throws -> Bool) throws {
        let isFulfilled = try becomesTrue(withinSeconds: 60) {
            try question()
        }
        if !isFulfilled { throw RunFailure("timed out waiting for \(what)") }
    }
}

/// A transactional producer of the registry that does not end its transaction by itself.
final class HangingProducer {
    private let producer: KafkaProducer
    private let topic: ProducerTopic

    /// Creates a producer with an open transaction.
    init(_ topics: RunTopics) throws {
        producer = try KafkaProducer([
            "bootstrap.servers": topics.bootstrap, "transactional.id": topics.devices + ".hanging",
            "partitioner": "murmur2_random", "transaction.timeout.ms": "300000",
        ])
        topic = try producer.topic(topics.devices)
        try producer.initTransactions(timeoutMilliseconds: 20_000)
        try producer.beginTransaction()
    }

    /// Writes devices, and waits until the broker has them.
    func write(_ devices: [(id: String, app: Int?)]) throws {
        for device in devices {
            let record = RegistryCase.record(device.id, device.app)
            try (record.key ?? []).withUnsafeBufferPointer { key in
                try (record.value ?? []).withUnsafeBufferPointer { value in
                    try producer.produce(
                        topic, partition: nil, key: ByteView(key), value: record.value.map { _ in ByteView(value) })
                }
            }
        }
        try producer.flush(timeoutMilliseconds: 20_000)
    }

    func commit() throws { try producer.commitTransaction(timeoutMilliseconds: 20_000) }

    func close() { producer.close() }
}
