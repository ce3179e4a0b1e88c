import DispatchWorker
import Foundation
import KafkaClient
import LinkdFuzz
import StrictJSON
import TestSupport
import Testing
import LinkDecider

/// The exactly-once guarantee: worker processes are killed on a real broker, and every event must be decided exactly
/// once.
///
/// `LINKD_TEST_EVENTS` is the number of events, `LINKD_TEST_SEED` the seed, `LINKD_TEST_WORKLOAD` a file with the
/// workload's events to use instead of generated ones, and `LINKD_TEST_BINARY` another build of the program.
@Suite(
    .enabled(if: BrokerEnvironment.hasBroker, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"), .serialized,
    .timeLimit(.minutes(15)))
struct ExactlyOnceTests {
    private static func setting(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    static let seed = setting("LINKD_TEST_SEED").flatMap { UInt64($0) } ?? UInt64.random(in: 0...0xFFFF_FFFF)

    /// Returns the workload's events.
    private static func events() throws -> [InputRecord] {
        let count = setting("LINKD_TEST_EVENTS").flatMap { Int($0) } ?? 20_000
        if let path = setting("LINKD_TEST_WORKLOAD") {
            return Array(try InputRecord.read(workload: path).prefix(count))
        }
        return generated(count)
    }

    /// Returns events of the generated workload.
    static func generated(_ count: Int) -> [InputRecord] {
        var events = WorkloadGenerator(seed: seed)
        return (0..<count).map { number in
            let event = events.event(number)
            return InputRecord(key: Array(event.key.utf8), value: Array(event.value.utf8))
        }
    }

    /// A run and its results.
    private struct Evidence {
        var input: [ReadRecord]
        var decisions: [ReadRecord]
        var deadLetters: [ReadRecord]
        var statistics: KillRun.Statistics
    }

    /// Runs workers on the records, kills them repeatedly, and returns the checked results.
    private static func prove(
        _ records: [InputRecord], table: ServedFile? = nil, topicSettings: [String] = [], flags: [String] = [],
        application: String? = nil
    ) throws -> Evidence {
        let table = try table ?? ServedFile.shop
        let logs = try TemporaryFolder()
        let topics = try RunTopics(
            bootstrap: BrokerEnvironment.bootstrapServers ?? "", settings: topicSettings, application: application)
        defer { topics.close() }
        let run = try KillRun(topics, records: records, seed: seed, table: table, flags: flags, logs: logs.url)
        try run.run()
        let evidence = Evidence(
            input: try topics.read(topics.input), decisions: try topics.outputs.flatMap { try topics.read($0) },
            deadLetters: try topics.read(topics.deadLetters), statistics: run.statistics)
        #expect(evidence.input.count == records.count)
        try check(evidence, topics, table)
        try checkKills(evidence, topics)
        return evidence
    }

    private static func check(_ evidence: Evidence, _ topics: RunTopics, _ table: ServedFile) throws {
        let oracle = try Oracle(evidence.input, topic: topics.input, tables: table.allVersions)
        #expect(oracle.contradictions == [], "seed \(seed)")
        let check = OutcomeCheck(
            oracle, topic: topics.input, decisions: evidence.decisions, deadLetters: evidence.deadLetters)
        #expect(check.isRight, "seed \(seed): \(check.summary)")
        #expect(evidence.decisions.count == oracle.decisions.count)
        #expect(evidence.deadLetters.count == oracle.deadLetters.count)
        #expect(try topics.committed() == topics.ends(topics.input), "the lag is not 0, seed \(seed)")
        // Otherwise, the check would wait for the end of a transaction.
        for topic in topics.outputs + [topics.deadLetters] {
            #expect(try topics.stableEnds(topic) == topics.ends(topic), "open transaction in \(topic), seed \(seed)")
        }
        #expect(try topics.verify() == Int64(evidence.input.count), "seed \(seed)")
    }

    /// Checks that workers were killed while they had work, because the run would otherwise prove nothing.
    private static func checkKills(_ evidence: Evidence, _ topics: RunTopics) throws {
        let statistics = evidence.statistics
        let outputs = statistics.outputs
        #expect(zip(outputs, outputs.dropFirst()).allSatisfy { $0 < $1 }, "no output between kills: \(outputs)")
        #expect(statistics.verified > 0)
        #expect(statistics.kills == 3 * (KillRun.killsWhileWorking + 1))
        #expect(statistics.killsWithWork >= 3 * KillRun.killsWhileWorking - 3, "seed \(seed): \(statistics)")
        let all = try topics.outputs.reduce(0) { try $0 + topics.read($1, isolation: "read_uncommitted").count }
        let aborted = all - evidence.decisions.count
        #expect(aborted > 0, "no kill interrupted a transaction with records, seed \(seed)")
        let events = statistics.events.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        print(
            "exactly once: seed \(seed), \(statistics.kills) kills (\(statistics.killsWithWork) with records waiting, "
                + "\(statistics.killsInTransaction) with a transaction open), 1 SIGTERM, "
                + "\(String(format: "%.1f", statistics.seconds)) s, \(evidence.input.count) in, "
                + "\(evidence.decisions.count) decisions, \(evidence.deadLetters.count) dead letters, "
                + "\(aborted) records of aborted transactions; logged: \(events.map { "\($0.key) \($0.value)" })")
    }

    @Test("Each event is decided exactly once while three processes are killed repeatedly")
    func killed() async throws {
        try await onThread {
            let evidence = try Self.prove(Self.events())
            #expect(evidence.deadLetters.isEmpty)
            guard let script = ReferenceCheck.script else {
                print("exactly once: the workload's check.py is not beside the checkout: its comparison is SKIPPED")
                return
            }
            let line = try ReferenceCheck.run(script, input: evidence.input, decisions: evidence.decisions)
            let count = Int64(evidence.input.count)
            let counts = try JSONValue.parse(Array(line.utf8))
            #expect(counts["in"]?.integer == count && counts["out"]?.integer == count, "\(line)")
            #expect(counts["different"]?.integer == 0, "\(line)")
            print("exactly once: check.py --loose: \(line)")
        }
    }

    @Test(
        "Each event is decided exactly once in the topic of its application while processes are killed",
        .enabled(if: LongTests.areWanted, "long test: LINKD_TEST_LONG is not 1"))
    func applications() async throws {
        try await onThread {
            let table = try ServedFile(versions: 1...1, other: "com.example.other")
            defer { table.remove() }
            var records = try Self.events()
            for index in records.indices where index % 3 == 0 {
                guard let value = records[index].value, value.first == UInt8(ascii: "{") else { continue }
                records[index].value = Array(#"{"application":"com.example.shop","#.utf8) + value.dropFirst()
            }
            let evidence = try Self.prove(records, table: table, application: "com.example.shop")
            #expect(evidence.deadLetters.isEmpty)
            let member = Array(#","application":"com.example.shop""#.utf8)
            let stated = evidence.decisions.count { $0.value?.firstRange(of: member) != nil }
            #expect(stated > 0 && stated < evidence.decisions.count)
        }
    }

    @Test(
        "Each invalid record is one dead letter or one rejection and does not affect other records",
        .enabled(if: LongTests.areWanted, "long test: LINKD_TEST_LONG is not 1"))
    func spoiled() async throws {
        try await onThread {
            var records = try Self.events()
            var random = SeededGenerator(seed: Self.seed ^ 12)
            let bad = InputRecord.spoil(&records, using: &random)
            let evidence = try Self.prove(
                records, topicSettings: ["max.message.bytes=4000000"],
                flags: ["--limits-decision-bytes", String(BadKind.decisionBytesLimit)])
            var reasons: [String: Int] = [:]
            for letter in evidence.deadLetters { reasons[letter.header("dlq.reason") ?? "none", default: 0] += 1 }
            let rejections = records.count { $0.kind == .badLinkBytes }
            #expect(evidence.deadLetters.count + rejections == bad)
            let list = reasons.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            print("exactly once: \(bad) bad records: \(rejections) rejections, dead letters: \(list)")
        }
    }

    @Test(
        "Each event is decided exactly once, by one of the tables, while tables are reloaded and processes are killed",
        .enabled(if: LongTests.areWanted, "long test: LINKD_TEST_LONG is not 1"))
    func reloaded() async throws {
        try await onThread {
            let table = try ServedFile(versions: 1...2)
            defer { table.remove() }
            let evidence = try Self.prove(Self.events(), table: table)
            #expect(evidence.deadLetters.isEmpty)
            let identities = try table.identities
            let counts = identities.map { identity in
                let member = Array(#""table":"\#(identity)""#.utf8)
                return evidence.decisions.count { $0.value?.firstRange(of: member) != nil }
            }
            #expect(counts.allSatisfy { $0 > 0 } && counts.reduce(0, +) == evidence.decisions.count, "\(counts)")
            #expect(evidence.statistics.events["tables.kept"] == 0)
            print("exactly once: decisions by table: \(zip(identities, counts).map { "\($0) \($1)" })")
        }
    }

    @Test(
        "Each event is decided exactly once by the table of its device's bucket while a canary is reloaded",
        .enabled(if: LongTests.areWanted, "long test: LINKD_TEST_LONG is not 1"))
    func canary() async throws {
        try await onThread {
            let table = try ServedFile(versions: 1...2, candidate: ServedFile(versions: 8...9))
            defer { table.remove() }
            let evidence = try Self.prove(
                Self.events(), table: table,
                flags: ["--canary-table", table.candidate?.path ?? "", "--canary-percent", "30"]
                    + ["--canary-compare", "50"])
            #expect(evidence.deadLetters.isEmpty)
            let candidates = try table.candidate?.identities ?? []
            var counts: [String: Int] = [:]
            var wrong: [String] = []
            for decision in evidence.decisions {
                let value = try JSONValue.parse(decision.value ?? [])
                let identity = value["table"]?.string ?? ""
                counts[identity, default: 0] += 1
                let bucket = CanaryPlan.buckets(of: decision.key ?? [], table: "shop")
                if candidates.contains(identity) != (bucket.decision < 3_000) { wrong.append("\(value)") }
            }
            #expect(wrong.isEmpty, "seed \(Self.seed): \(wrong.count), such as \(wrong.prefix(3))")
            #expect(Set(counts.keys) == Set(try table.identities + candidates), "\(counts)")
            #expect(evidence.statistics.events["tables.kept"] == 0)
            print("exactly once: decisions by table: \(counts.sorted { $0.key < $1.key })")
        }
    }
}
