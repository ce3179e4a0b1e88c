import ByteStorage
import Foundation
import KafkaClient
import LinkCoordinator
import LinkDecider
import LinkIngest
import StrictJSON
import TestSupport
import Testing

/// Workers with a registry of devices on a real broker.
///
/// `LINKD_TEST_DEVICES` and `LINKD_TEST_EVENTS` are the numbers of devices and events, `LINKD_TEST_SEED` the seed.
@Suite(
    .enabled(if: BrokerEnvironment.hasBroker, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"), .serialized,
    .timeLimit(.minutes(15)))
struct RegistryTests {
    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test("With a registry, each event is decided exactly once with facts that its devices had, despite kills and harm")
    func killed() async throws {
        try await onThread {
            let seed = Self.number("LINKD_TEST_SEED").map { UInt64($0) } ?? UInt64.random(in: 0...0xFFFF_FFFF)
            let run = try RegistryRun(
                devices: Self.number("LINKD_TEST_DEVICES") ?? 1_000, events: Self.number("LINKD_TEST_EVENTS") ?? 8_000,
                seed: seed)
            defer { run.topics.close() }
            try run.run()
            let topics = run.topics
            let input = try topics.read(topics.input)
            #expect(input.count == run.events.count)
            let changes = try topics.read(topics.devices)
            #expect(changes.count == run.changes.count, "the topic was compacted")
            #expect(try topics.read(topics.deadLetters).isEmpty)
            let decisions = try Self.byRecord(topics.read(topics.output))
            var check = RegistryCheck(changes: changes)
            var different: [String] = []
            let table = try RouteTable(json: ServedFile.shop.versions[0])
            for record in input {
                let found = decisions[SourcePosition(partition: record.partition, offset: record.offset)] ?? []
                check.check(record, found)
                let expected = try Self.decide(record, topics.input, table, found)
                if expected != found.map({ $0.value ?? [] }) {
                    different.append("\(record.partition)-\(record.offset): \(found.count) decisions")
                }
            }
            #expect(different.prefix(5) == [], "\(different.count) events, seed \(seed)")
            #expect(check.wrong.prefix(5) == [], "\(check.wrong.count) decisions, seed \(seed)")
            #expect(check.joined > input.count / 2 && check.withoutDevice > 0)
            #expect(run.dropped > 0)
            #expect(try topics.verify() == Int64(input.count), "seed \(seed)")
            print(
                "registry: seed \(seed), \(run.kills) kills, \(run.dropped) copies read again, \(input.count) events, "
                    + "\(check.joined) decisions with facts, \(check.withoutDevice) users without devices")
        }
    }

    @Test("A worker decides nothing before it has read the registry")
    func restored() async throws {
        try await onThread {
            let topics = try RunTopics(bootstrap: BrokerEnvironment.bootstrapServers ?? "", settings: [])
            defer { topics.close() }
            try topics.createRegistry()
            let devices = (0..<100_000).map { number in
                InputRecord(key: Array("d\(number)".utf8), value: Array(#"{"app":"\#(number)"}"#.utf8))
            }
            let registry = try InputProducer(devices, to: topics, topic: topics.devices)
            try registry.send(upTo: devices.count)
            try registry.finish()
            // The last devices of all partitions.
            let events = devices.suffix(20).map { device in
                InputRecord(key: device.key, value: Array("https://shop.example/p/new".utf8))
            }
            let input = try InputProducer(events, to: topics)
            try input.send(upTo: events.count)
            try input.finish()
            let run = try ChildProcess.run(
                [BuiltProgram.linkd, "worker", "-b", topics.bootstrap, "--input", topics.input]
                    + ["--output", topics.output, "--group", topics.group, "--devices-topic", topics.devices]
                    + ["--table", try ServedFile.shop.path, "--stop-after", String(events.count)])
            #expect(run.status == 0, "\(run.errors)")
            for decision in try topics.read(topics.output) {
                let json = try JSONValue.parse(decision.value ?? [])
                let device = json["device"]?.string ?? ""
                #expect(json["facts"]?["app"]?.string == String(device.dropFirst()))
            }
            #expect(try topics.read(topics.output).count == events.count)
        }
    }

    @Test("A worker does not mix devices of a registry that was created again with those of its copy")
    func createdAgain() async throws {
        try await onThread {
            let topics = try RunTopics(bootstrap: BrokerEnvironment.bootstrapServers ?? "", settings: [])
            defer { topics.close() }
            let folder = try TemporaryFolder()
            func decide(_ version: String, devices: Range<Int>) throws -> [String?] {
                try topics.createRegistry()
                let records = devices.map { number in
                    InputRecord(key: Array("d\(number)".utf8), value: Array(#"{"app":"\#(version)"}"#.utf8))
                }
                let registry = try InputProducer(records, to: topics, topic: topics.devices)
                try registry.send(upTo: records.count)
                try registry.finish()
                let event = InputRecord(key: Array("d0".utf8), value: Array("https://shop.example/p/new".utf8))
                let input = try InputProducer([event], to: topics)
                try input.send(upTo: 1)
                try input.finish()
                let command =
                    [BuiltProgram.linkd, "worker", "-b", topics.bootstrap, "--input", topics.input]
                    + ["--output", topics.output, "--group", topics.group, "--devices-topic", topics.devices]
                    + ["--table", try ServedFile.shop.path, "--stop-after", "1"]
                    + ["--state-dir", folder.url.appending(path: "state").path]
                var run = try ChildProcess.run(command)
                // Without ids of topics, the worker finds another record than before, and reads all at the next start.
                if run.status == 75 { run = try ChildProcess.run(command) }
                #expect(run.status == 0, "\(run.errors)")
                return try topics.read(topics.output).sorted { $0.offset < $1.offset }
                    .map { try JSONValue.parse($0.value ?? [])["facts"]?["app"]?.string }
            }
            #expect(try decide("1", devices: 0..<200) == ["1"])
            // The topic that is created again has more records in each partition, and no device 0.
            try topics.deleteRegistry()
            #expect(try decide("2", devices: 200..<800) == ["1", nil])
        }
    }

    /// Returns the decisions by the records of their events, ordered by their index.
    ///
    /// Two decisions with one id stay two, so that they differ from what is expected.
    private static func byRecord(_ decisions: [ReadRecord]) throws -> [SourcePosition: [ReadRecord]] {
        var result: [SourcePosition: [(index: Int, record: ReadRecord)]] = [:]
        for record in decisions {
            let id = try JSONValue.parse(record.value ?? [])["decision"]?.string ?? ""
            let parts = id.split(separator: "-").suffix(3).compactMap { Int64($0) }
            guard parts.count == 3 else { throw RunFailure("a decision with the id \(id)") }
            result[SourcePosition(partition: Int32(parts[0]), offset: parts[1]), default: []]
                .append((Int(parts[2]), record))
        }
        return result.mapValues { $0.sorted { $0.index < $1.index }.map(\.record) }
    }

    /// Returns the decisions for an event whose devices have the facts that the worker's decisions show.
    private static func decide(
        _ record: ReadRecord, _ topic: String, _ table: RouteTable, _ found: [ReadRecord]
    ) throws -> [[UInt8]] {
        let devices = GivenDevices()
        let user = try JSONValue.parse(record.value ?? [])["user"]?.string
        for decision in found {
            let json = try JSONValue.parse(decision.value ?? [])
            guard let device = json["device"]?.string else { continue }
            var members = json["facts"]?.object?.map { #""\#($0.name)":\#($0.value.text)"# } ?? []
            if let user { members.append(#""user":"\#(user)""#) }
            devices.add(Array(device.utf8), Array("{\(members.joined(separator: ","))}".utf8))
        }
        var decider = Decider(
            DeciderConfiguration(tables: TableSet([table]), passthrough: .campaign), devices: devices)
        var arena = OutputArena(chunkBytes: 1 << 16)
        var produced: [ProducedDecision] = []
        let cause = Oracle.withRecord(record) { consumed in
            Array(topic.utf8).withUnsafeBufferPointer {
                decider.decide(consumed, topicName: ByteView($0), into: &arena, decisions: &produced)
            }
        }
        if let cause { throw RunFailure("the oracle has a dead letter: \(cause.detail)") }
        return produced.map(\.value.array)
    }
}
