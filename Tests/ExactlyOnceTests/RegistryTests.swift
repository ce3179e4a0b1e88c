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
    @Test("With a registry, each event is decided exactly once with facts that its devices had, despite kills and harm")
    func killed() async throws {
        try await onThread {
            let seed = LongTests.size("LINKD_TEST_SEED").map { UInt64($0) } ?? UInt64.random(in: 0...0xFFFF_FFFF)
            let run = try RegistryRun(
                devices: LongTests.size("LINKD_TEST_DEVICES") ?? 1_000,
                events: LongTests.size("LINKD_TEST_EVENTS") ?? 8_000,
                rounds: LongTests.size("LINKD_TEST_EVENTS") == nil ? 1 : 2, keepsDeletions: seed % 3 != 0, seed: seed)
            defer { run.topics.close() }
            try run.run()
            let topics = run.topics
            let decisions = try Self.byRecord(topics.read(topics.output))
            var check = RegistryCheck(run)
            var different: [String] = []
            var (events, decided, refused) = (0, 0, [String]())
            let table = try RouteTable(json: ServedFile.shop.versions[0])
            for topic in [topics.input, topics.second] {
                for record in try topics.read(topic) {
                    events += 1
                    let found = decisions["\(topic)-\(record.partition)-\(record.offset)"] ?? []
                    decided += found.count
                    check.check(record, found)
                    if record.key == Array("s501".utf8) {
                        refused.append(String(decoding: record.value ?? [], as: UTF8.self))
                        if found.isEmpty { continue }
                    }
                    let expected = try Self.decide(record, topic, table, found)
                    if expected != found.map({ $0.value ?? [] }) {
                        different.append("\(topic)-\(record.partition)-\(record.offset): \(found.count) decisions")
                    }
                }
            }
            #expect(events == run.events.count && decided == decisions.values.reduce(0) { $0 + $1.count })
            #expect(different.prefix(5) == [], "\(different.count) events, seed \(seed)")
            #expect(check.wrong.prefix(5) == [], "\(check.wrong.count) decisions, seed \(seed)")
            #expect(check.longestDelay <= RegistryCheck.delay, "seed \(seed)")
            #expect(check.joined > events / 2 && check.withoutDevice > 0 && check.stable == 8)
            let dead = try [topics.input, topics.second].flatMap { try topics.read($0 + ".dlq") }
            #expect(dead.allSatisfy { $0.header("dlq.reason") == "too_many_devices" })
            #expect(dead.map { String(decoding: $0.value ?? [], as: UTF8.self) }.sorted() == refused.sorted())
            #expect(refused.count == 2 && run.dropped > 0)
            #expect(try topics.verify([topics.input, topics.second]) == Int64(events), "seed \(seed)")
            print(
                "registry: seed \(seed), \(run.kills) kills, \(run.dropped) copies read again, \(events) events, "
                    + "\(check.joined) decisions with facts, \(check.withoutDevice) users without devices, "
                    + "\(try topics.read(topics.devices).count) of \(run.changes.count) changes left, "
                    + "a change was unknown for at most \(check.longestDelay) ms")
        }
    }

    /// Returns the decisions by the records of their events, as `TOPIC-PARTITION-OFFSET`, ordered by their index.
    ///
    /// Two decisions with one id stay two, so that they differ from what is expected.
    private static func byRecord(_ decisions: [ReadRecord]) throws -> [String: [ReadRecord]] {
        var result: [String: [(index: Int, record: ReadRecord)]] = [:]
        for record in decisions {
            let id = try JSONValue.parse(record.value ?? [])["decision"]?.string ?? ""
            guard let end = id.lastIndex(of: "-"), let index = Int(id[id.index(after: end)...]) else {
                throw RunFailure("a decision with the id \(id)")
            }
            result[String(id[..<end]), default: []].append((index, record))
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
            DeciderConfiguration(
                tables: TableSet([table]), passthrough: .campaign, contextQuery: QueryNames.campaign),
            devices: devices)
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
