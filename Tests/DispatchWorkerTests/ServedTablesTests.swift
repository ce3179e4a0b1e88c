import LinkIngest
import ByteStorage
@testable import DispatchWorker
import LinkCoordinator
import Synchronization
import TestSupport
import Testing
import LinkDecider

@Suite("Tables are replaced while they are served")
struct ServedTablesTests {
    /// Returns a table that reads links of `scheme` and, with a pointer, payloads.
    private static func table(
        _ id: String, version: Int, scheme: String = "t", pointer: String = "/link", types: String = "int"
    ) throws -> RouteTable {
        try RouteTable(
            json: Array(
                """
                {"schemaVersion":1,
                 "table":{"id":"\(id)","version":"\(version)","applications":["com.\(id)"]},
                 "link":{"schemes":["\(scheme)"],"host":"segment","payload":{"link":["\(pointer)"]}},
                 "models":{"M":{"value":"\(types)?","name":"string?"}},
                 "coordinators":{"c":{"initial":"a","screens":{"a":{},"b":{"needs":["M"]}}}},
                 "routes":[{"id":"v\(version)","match":"/x/{n}","to":{"path":"/c/b"},
                            "bind":{"M":{"value":"path.n","name":"query.q"}}},
                           {"id":"home","match":"/","variants":[
                              {"when":{"app":">=\(version)"},"to":{"path":"/c/a"}},{"to":{"root":true}}]}],
                 "fallback":{"outcome":"reject"}}
                """.utf8))
    }

    fileprivate static func decisions(
        of event: String, with processor: inout RecordProcessor
    ) -> (values: [String], reason: DeadLetterReason?) {
        var arena = OutputArena(chunkBytes: 4096)
        var values: [String] = []
        let cause = Array(event.utf8).withUnsafeBufferPointer { bytes in
            let record = ConsumedRecord(
                topic: 0, partition: 0, offset: 0, timestamp: -1, key: ByteView("d"), value: ByteView(bytes), index: 0,
                hasHeaders: false)
            var decisions: [ProducedDecision] = []
            defer { values = decisions.map { $0.key.string + " " + $0.value.string } }
            return processor.process(
                record, headers: [], topicName: ByteView("in"), into: &arena, decisions: &decisions)
        }
        return (values, cause?.reason)
    }

    fileprivate static let events = [
        #"{"link":"t://x/7?q=a","device":{"id":"d","app":"3"}}"#, #"{"link":"u://x/z","device":{"id":"d","app":"1"}}"#,
        #"{"link":"t://","devices":[{"id":"a","app":"1"},{"id":"b","app":"9"},{"id":"c","platform":"ios"}]}"#,
        #"{"payload":{"link":"t://x/5","other":"u://x/6"},"device":{"id":"p","app":"2"}}"#,
        #"{"payload":{"other":"t://x/8"},"devices":[{"id":"p"},{"id":"q","app":"9"}]}"#,
        #"{"application":"com.two","link":"u://x/1","device":{"id":"d"}}"#, #"{"link":"none://x","device":{"id":"d"}}"#,
    ]

    @Test("A processor decides with the tables of its last refresh")
    func refresh() throws {
        let served = ServedTables(ServedTables.Version(TableSet([try Self.table("one", version: 1)])))
        var processor = RecordProcessor(served, DeciderConfiguration(tables: TableSet([])))
        let event = Self.events[0]
        #expect(processor.refresh() == 0)
        served.replace(ServedTables.Version(TableSet([try Self.table("one", version: 2)])))
        #expect(Self.decisions(of: event, with: &processor).values.first?.contains(#""table":"one@1+"#) == true)
        #expect(processor.refresh() == 1)
        #expect(Self.decisions(of: event, with: &processor).values.first?.contains(#""table":"one@2+"#) == true)
        #expect(processor.refresh() == 1)
    }

    @Test("A processor whose tables are replaced after each record decides as a new one")
    func sameAsNew() throws {
        let sets = [
            TableSet([try Self.table("one", version: 1)]),
            TableSet([try Self.table("one", version: 2, pointer: "/other", types: "string")]),
            TableSet([try Self.table("one", version: 3), try Self.table("two", version: 1, scheme: "u")]),
            TableSet([try Self.table("two", version: 4, scheme: "u", pointer: "/other")]),
            TableSet([
                try Self.table("two", version: 5, scheme: "u", pointer: "/other", types: "bool"),
                try Self.table("one", version: 6, types: "string"),
            ]),
        ]
        let served = ServedTables(ServedTables.Version(sets[0]))
        var processor = RecordProcessor(served, DeciderConfiguration(tables: TableSet([])))
        var generator = SeededGenerator(seed: 0x5E7)
        var distinct: Set<String> = []
        for round in 0..<2_000 {
            let index = Int.random(in: sets.indices, using: &generator)
            served.replace(ServedTables.Version(sets[index]))
            #expect(processor.refresh() == round + 1)
            for _ in 0..<Int.random(in: 1...2, using: &generator) {
                let event = Self.events.randomElement(using: &generator) ?? ""
                var new = RecordProcessor(DeciderConfiguration(tables: sets[index]))
                let expected = Self.decisions(of: event, with: &new)
                let found = Self.decisions(of: event, with: &processor)
                #expect(
                    found.values == expected.values && found.reason == expected.reason,
                    "round \(round), set \(index), \(event)")
                distinct.formUnion(expected.values)
            }
        }
        #expect(distinct.count > 20)
        #expect(served.counters.reloads == 2_000 && served.counters.version == 2_000)
    }

    /// The observations of threads while tables are replaced.
    private final class Run: Sendable {
        let isOver = Atomic<Bool>(false)
        let problems = Mutex<[String]>([])
        let seen = Mutex<Set<Int>>([])

        /// Decides with the newest tables until the last version is served.
        func decide(with served: ServedTables, until end: Int) {
            var processor = RecordProcessor(served, DeciderConfiguration(tables: TableSet([])))
            var last = 0
            while last < end && !isOver.load(ordering: .relaxed) {
                let number = processor.refresh()
                let decision =
                    ServedTablesTests.decisions(of: ServedTablesTests.events[0], with: &processor).values.first ?? ""
                if number < last || !decision.contains(#""table":"one@\#(number % 20)+"#) {
                    problems.withLock { $0.append("\(number) after \(last): \(decision)") }
                }
                last = number
                seen.withLock { _ = $0.insert(number) }
            }
        }
    }

    @Test("Threads never see an older version after a newer one, nor a number of another version")
    func threads() async throws {
        let tables = try (0..<20).map { TableSet([try Self.table("one", version: $0)]) }
        let served = ServedTables(ServedTables.Version(tables[0]))
        let run = Run()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 { group.addTask { try await onThread { run.decide(with: served, until: 2_000) } } }
            group.addTask {
                try await onThread {
                    for number in 1...2_000 {
                        served.replace(ServedTables.Version(tables[number % 20]))
                        guard number % 100 == 0 else { continue }
                        // The readers have to see some of the versions.
                        _ = becomesTrue(withinSeconds: 10) { run.seen.withLock { $0.contains { $0 > number - 100 } } }
                    }
                }
            }
            group.addTask {
                // Ends readers that never see the last version.
                _ = try await onThread { becomesTrue(withinSeconds: 60) { run.seen.withLock { $0.contains(2_000) } } }
                run.isOver.store(true, ordering: .relaxed)
            }
            try await group.waitForAll()
        }
        #expect(run.problems.withLock { $0 } == [])
        #expect(run.seen.withLock { $0.count } >= 20)
        #expect(run.seen.withLock { $0.contains(2_000) })
    }

    @Test("Only tables that are marked are fallbacks, and the number of the version stays")
    func fallbacks() throws {
        let entries = ["a", "b"].map {
            ServedTable(id: $0, version: "1", hash: $0, path: "/\($0).json", loadedAtMilliseconds: 5)
        }
        let served = ServedTables(ServedTables.Version(TableSet([try Self.table("one", version: 1)]), entries))
        served.setFallbacks { $0.path == "/b.json" }
        #expect(served.current().entries.map(\.isFallback) == [false, true])
        served.refused()
        #expect(served.number == 0 && served.counters.refusals == 1 && served.counters.reloads == 0)
        served.setFallbacks { _ in false }
        #expect(served.current().entries == entries)
    }
}
