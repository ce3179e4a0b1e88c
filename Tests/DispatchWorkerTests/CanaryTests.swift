import Foundation
import ByteStorage
import LinkCoordinator
@testable import LinkDecider
import LinkIngest
import StrictJSON
import TableSupport
import TestSupport
import Testing

@testable import DispatchWorker

/// A served table and a candidate for it, which decides some requests otherwise.
enum CanaryTables {
    static let base = ManyDevices.file("one", scheme: "t", pointers: #""/l","/x/0","/data/link""#)

    /// Returns the candidate with pointers to links of its own.
    static func candidate(pointers: String = #""/data/link","/l""#) -> [UInt8] {
        let text = String(decoding: ManyDevices.file("one", scheme: "t", pointers: pointers), as: UTF8.self)
        return Array(
            text.replacing(#""version":"1""#, with: #""version":"2""#)
                .replacing(#""match":"/old/{id}","redirect":"/s/{id}""#, with: #""match":"/old/{id}","redirect":"/x""#)
                .replacing(#"{"path":"/k/s"}"#, with: #"{"path":"/a/x"}"#).utf8)
    }

    static func plan(
        _ base: RouteTable, _ candidate: RouteTable, percent: Int = 0, compare: Int = 0
    ) -> CanaryPlan {
        CanaryPlan(base: base, candidate: candidate, percent: percent, compare: compare)
    }

    /// The decisions of a record, with the ids of the devices, and the reason of its dead letter.
    struct Output: Equatable {
        var keys: [String] = []
        var values: [String] = []
        var reason: DeadLetterReason?
    }

    /// Processes a record of the topic `in`, partition 3.
    static func process(
        _ event: String, offset: Int64, timestamp: Int64 = 0, _ processor: inout RecordProcessor
    ) -> Output {
        var arena = OutputArena(chunkBytes: 4096)
        var decisions: [ProducedDecision] = []
        var output = Output()
        Array(event.utf8).withUnsafeBufferPointer { bytes in
            let record = ConsumedRecord(
                topic: 0, partition: 3, offset: offset, timestamp: timestamp, key: nil, value: ByteView(bytes),
                index: 0, hasHeaders: false)
            output.reason =
                processor.process(
                    record, headers: [], topicName: ByteView("in"), into: &arena, decisions: &decisions)?.reason
            output.keys = decisions.map(\.key.string)
            output.values = decisions.map(\.value.string)
        }
        return output
    }

    /// Returns a decision without its table.
    static func withoutTable(_ decision: String, _ tables: [RouteTable]) -> String {
        tables.reduce(decision) { $0.replacing("\"table\":\"\($1.identity)\",", with: "") }
    }
}

@Suite("A candidate decides and is compared for shares of the devices")
struct CanaryTests {
    /// Buckets that Python's `hashlib` computed.
    private static let vectors: [(table: String, device: String, decision: Int, comparison: Int)] = [
        ("shop", "d-1", 4407, 6884), ("shop", "d-2", 4897, 5280),
        ("shop", "7f3c9f4e-33a1-4a34-9d3e-2f7a6f2f9f10", 757, 4578), ("shop", "Gerät-ü", 4867, 7287),
        ("a", "d-1", 2730, 2253), ("catalog", String(repeating: "x", count: 200), 1407, 7913),
        ("shop", "d\\\"1", 7222, 1138), ("shop", "1", 6758, 276), ("shop", "2", 3660, 1873), ("shop", "3", 3221, 1066),
        ("été", "d", 6744, 9502),
    ]

    @Test("The buckets of a device are those of another implementation", arguments: vectors)
    func buckets(table: String, device: String, decision: Int, comparison: Int) {
        let buckets = CanaryPlan.buckets(of: Array(device.utf8), table: table)
        #expect(buckets.decision == decision && buckets.comparison == comparison)
    }

    private static let requests = [
        #""link":"t:///s/7?q=1""#, #""link":"t:///s/x?q=%zz""#, #""link":"t:///old/5?q=%31""#, #""link":"t:///nope""#,
        #""path":"/a/s""#, #""route":"s","params":{"id":7,"q":["1","2"]}"#, #""link":"t:///deep?y=1&n=1#x""#,
        #""link":"https://x.onelink.me/abc?af_dp=t%3A%2F%2F%2Fold%2F5""#,
        #""link":"t:///s/7","expires":"1970-01-01T00:00:05Z""#,
        #""payload":{"aps":{},"l":"t:///s/7","x":["v"],"data":{"link":"t:///old/3"}}"#,
        #""payload":{"aps":{},"x":["t:///x","w"]}"#, #""payload":{"aps":{},"r":"s","p":{"id":3}}"#,
        #""payload":{"aps":{},"x":["https://x.onelink.me/abc?af_dp=t%3A%2F%2F%2Fs%2F9"],"#
            + #""data":{"link":"https://x.onelink.me/abc?af_dp=t%3A%2F%2F%2Fold%2F9"}}"#,
        #""payload":{"message":{"token":"x","data":{"link":"t:///old/1"},"android":{"data":{"link":"t:///s/2"}},"#
            + #""apns":{"payload":{"aps":{},"l":"t:///kx","x":["v"]}},"webpush":{"data":{"link":"t:///s/4"}}}}"#,
    ]
    private static let facts = [
        "", #","platform":"ios""#, #","platform":"iOS","app":"6.0.0""#, #","platform":"android","claims":["c"]"#,
        #","platform":"web","app":"5.1""#, #","app":"1.0.0","claims":["c","d"]"#, #","platform":7"#,
    ]

    /// Returns an event for one to eight devices.
    private static func event(_ generator: inout SeededGenerator) -> String {
        let request = requests[Int.random(in: 0..<requests.count, using: &generator)]
        let devices = (0..<Int.random(in: 1...8, using: &generator)).map { _ in
            let id = "d\(Int.random(in: 0..<5_000, using: &generator))"
            return #"{"id":"\#(id)"\#(facts[Int.random(in: 0..<facts.count, using: &generator)])}"#
        }
        let application = Bool.random(using: &generator) ? #","application":"one""# : ""
        return #"{\#(request)\#(application),"devices":[\#(devices.joined(separator: ","))]}"#
    }

    private static func processor(
        _ tables: [RouteTable], _ plan: CanaryPlan? = nil, hasPlatforms: Bool
    ) throws -> RecordProcessor {
        let platforms = Array(try Data(contentsOf: Checkout.root.appending(path: "config/link-platforms.json")))
        return RecordProcessor(
            DeciderConfiguration(
                tables: TableSet(tables), candidate: plan,
                platforms: hasPlatforms ? try LinkPlatforms(file: platforms) : nil))
    }

    @Test(
        "Each device has its bucket's decision, byte for byte, and committed differences are counted by route",
        arguments: [(0, 10_000), (0, 0), (10_000, 10_000), (3_700, 5_000), (1, 9_999)], [true, false])
    func law(shares: (percent: Int, compare: Int), hasPlatforms: Bool) throws {
        let base = try RouteTable(json: CanaryTables.base)
        let candidate = try RouteTable(json: CanaryTables.candidate())
        let plan = CanaryTables.plan(base, candidate, percent: shares.percent, compare: shares.compare)
        var alone = try Self.processor([base], hasPlatforms: hasPlatforms)
        var next = try Self.processor([candidate], hasPlatforms: hasPlatforms)
        var canary = try Self.processor([base], plan, hasPlatforms: hasPlatforms)
        var generator = SeededGenerator(seed: 0xCA7A)
        var expected = plan.totals
        var open = plan.totals
        var found = plan.totals
        var records = 0
        for round in 0..<1_000 {
            let event = Self.event(&generator)
            let timestamp: Int64 = round % 2 == 0 ? 4_000 : 6_000
            let old = CanaryTables.process(event, offset: Int64(round), timestamp: timestamp, &alone)
            let new = CanaryTables.process(event, offset: Int64(round), timestamp: timestamp, &next)
            let both = CanaryTables.process(event, offset: Int64(round), timestamp: timestamp, &canary)
            #expect(both.reason == old.reason && new.reason == old.reason && both.keys == old.keys)
            records += both.reason == nil ? 1 : 0
            for (index, key) in both.keys.enumerated() {
                let bucket = CanaryPlan.buckets(of: Array(key.utf8), table: "one")
                let isCandidate = bucket.decision < shares.percent
                #expect(both.values[index] == (isCandidate ? new : old).values[index], "round \(round): \(event)")
                let isOver = timestamp > 5_000 && event.contains("expires")
                if isCandidate {
                    open.decided += 1
                } else if bucket.comparison < shares.compare && !isOver {
                    open.compared += 1
                    let texts = [old, new].map { CanaryTables.withoutTable($0.values[index], [base, candidate]) }
                    if texts[0] == texts[1] { continue }
                    let route = try JSONValue.parse(Array(old.values[index].utf8))["route"]?.string ?? "(none)"
                    open.countDifferences(
                        of: CanaryTotals.Route(name: route, count: 1, witness: "in-3-\(round)-\(index)"))
                }
            }
            // Every third transaction is lost.
            guard round % 7 == 6 else { continue }
            if round % 3 != 0 { expected.add(open) }
            open = plan.totals
            found = canary.ended(isCommitted: round % 3 != 0) ?? plan.totals
            #expect(found == expected, "round \(round)")
        }
        let none = alone.ended(isCommitted: true)
        #expect(none == nil)
        #expect(records == 1_000)
        #expect((found.decided > 100) == (shares.percent > 100))
        #expect((found.different > 100) == (shares.percent < 10_000 && shares.compare > 100), "\(found)")
    }

    @Test("With several tables, only events for the table with the candidate's id are decided by it")
    func otherTables() throws {
        let tables = [
            try RouteTable(json: CanaryTables.base),
            try RouteTable(json: ManyDevices.file("two", scheme: "u", pointers: #""/l","/data/link""#)),
        ]
        let candidate = try RouteTable(json: CanaryTables.candidate(pointers: #""/l","/x/0","/data/link""#))
        let plan = CanaryTables.plan(tables[0], candidate, percent: 10_000)
        var canary = RecordProcessor(DeciderConfiguration(tables: TableSet(tables), candidate: plan))
        var next = RecordProcessor(DeciderConfiguration(tables: TableSet([candidate, tables[1]])))
        var generator = SeededGenerator(seed: 0xCA7B)
        var decided: UInt64 = 0
        for round in 0..<1_000 {
            var event = Self.event(&generator)
            if Bool.random(using: &generator) { event = event.replacing("\"t:///", with: "\"u:///") }
            let new = CanaryTables.process(event, offset: Int64(round), &next)
            #expect(CanaryTables.process(event, offset: Int64(round), &canary) == new, "\(event)")
            decided += UInt64(new.values.count { $0.contains(candidate.identity) })
        }
        let totals = canary.ended(isCommitted: true)
        #expect(totals?.decided == decided && decided > 100)
    }

    @Test("A record that becomes a dead letter counts nothing, also after it was processed")
    func deadLetters() throws {
        let plan = CanaryTables.plan(
            try RouteTable(json: CanaryTables.base), try RouteTable(json: CanaryTables.candidate()), percent: 5_000,
            compare: 10_000)
        var canary = RecordProcessor(
            DeciderConfiguration(
                tables: TableSet([plan.base]), candidate: plan,
                limits: Limits(decisionBytes: 1_000, outputBytes: 2_000)))
        let devices = (0..<20).map { #"{"id":"d\#($0)"}"# }.joined(separator: ",")
        let event = #"{"link":"t:///old/5","devices":[\#(devices)]}"#
        #expect(CanaryTables.process(event, offset: 1, &canary).reason == .oversizeOutput)
        let small = #"{"link":"t:///old/5","devices":[{"id":"d-1"},{"id":"d-2"},{"id":"d-3"}]}"#
        #expect(CanaryTables.process(small, offset: 2, &canary).reason == nil)
        canary.withdraw()
        let dropped = canary.ended(isCommitted: true)
        #expect(dropped == plan.totals)
        #expect(CanaryTables.process(small, offset: 3, &canary).reason == nil)
        #expect(CanaryTables.process("{", offset: 4, &canary).reason == .badJSON)
        let committed = canary.ended(isCommitted: true)
        let totals = try #require(committed)
        #expect(totals.decided + totals.compared == 3 && totals.different == totals.compared)
    }

    @Test("A candidate's decision that exceeds the limit is a difference, and a dead letter where it decides")
    func oversize() throws {
        let base = try RouteTable(json: CanaryTables.base)
        let candidate = try RouteTable(json: CanaryTables.candidate())
        let event = #"{"link":"t:///old/5?q=1","device":{"id":"d"}}"#
        var alone = RecordProcessor(DeciderConfiguration(tables: TableSet([base])))
        var next = RecordProcessor(DeciderConfiguration(tables: TableSet([candidate])))
        let sizes = [CanaryTables.process(event, offset: 1, &alone), CanaryTables.process(event, offset: 1, &next)]
            .map { $0.values[0].utf8.count }
        #expect(sizes[0] != sizes[1])
        // The table with the longer decision is the candidate.
        let tables = sizes[0] < sizes[1] ? [base, candidate] : [candidate, base]
        let limits = Limits(decisionBytes: sizes.min() ?? 0)
        for percent in [0, 10_000] {
            let plan = CanaryTables.plan(tables[0], tables[1], percent: percent, compare: 10_000)
            var canary = RecordProcessor(
                DeciderConfiguration(tables: TableSet([tables[0]]), candidate: plan, limits: limits))
            #expect(
                CanaryTables.process(event, offset: 1, &canary).reason == (percent == 0 ? nil : .oversizeOutput))
            let committed = canary.ended(isCommitted: true)
            let totals = try #require(committed)
            #expect(totals.different == (percent == 0 ? 1 : 0) && totals.decided == 0)
        }
    }

    @Test("Another candidate or another served table begins new totals, and another version of other tables does not")
    func reload() throws {
        let base = try RouteTable(json: CanaryTables.base)
        let candidate = try RouteTable(json: CanaryTables.candidate())
        let other = try RouteTable(json: CanaryTables.candidate(pointers: #""/l""#))
        let plan = CanaryTables.plan(base, candidate, percent: 10_000)
        let served = ServedTables(ServedTables.Version(TableSet([base]), canary: plan))
        var canary = RecordProcessor(served, DeciderConfiguration(tables: TableSet([])))
        func decide(_ offset: Int64) -> String {
            let event = #"{"link":"t:///old/5","device":{"id":"d"}}"#
            return CanaryTables.process(event, offset: offset, &canary).values.first ?? ""
        }
        #expect(decide(1).contains(candidate.identity))
        let first = canary.ended(isCommitted: true)
        #expect(first?.decided == 1)
        served.replace(ServedTables.Version(TableSet([base]), canary: plan))
        #expect(canary.refresh() == 1 && decide(2).contains(candidate.identity))
        let second = canary.ended(isCommitted: true)
        #expect(second?.decided == 2)
        #expect(decide(3).contains(candidate.identity))
        let next = CanaryTables.plan(base, other, percent: 10_000)
        served.replace(ServedTables.Version(TableSet([base]), canary: next))
        #expect(canary.refresh() == 2 && decide(4).contains(other.identity))
        // The candidate before is no longer counted.
        let third = canary.ended(isCommitted: true)
        #expect(third?.decided == 1)
        served.replace(ServedTables.Version(TableSet([base])))
        #expect(canary.refresh() == 3 && decide(5).contains(base.identity))
        let without = canary.ended(isCommitted: true)
        #expect(without == nil)
    }
}

@Suite("The totals of a canary") struct CanaryTotalsTests {
    private static func route(_ number: Int, _ count: UInt64 = 1) -> CanaryTotals.Route {
        CanaryTotals.Route(name: "r\(number)", count: count, witness: "w\(number)")
    }

    @Test("At most 100 routes are counted one by one, and each keeps its first witness")
    func limit() {
        var totals = CanaryTotals(table: "b", base: "a", percent: 0, compare: 0)
        for number in 0..<150 { totals.countDifferences(of: Self.route(number)) }
        totals.countDifferences(of: CanaryTotals.Route(name: "r7", count: 2, witness: "later"))
        #expect(totals.different == 152 && totals.routes.count == 101)
        #expect(totals.routes[7] == CanaryTotals.Route(name: "r7", count: 3, witness: "w7"))
        #expect(totals.routes[100] == CanaryTotals.Route(name: "other", count: 50, witness: "w100"))
        var sum = CanaryTotals(table: "b", base: "a", percent: 0, compare: 0)
        for number in 140..<160 { sum.countDifferences(of: Self.route(number)) }
        (sum.decided, sum.compared) = (3, 30)
        sum.add(totals)
        #expect(sum.different == 172 && sum.routes.count == 101 && sum.decided == 3 && sum.compared == 30)
        #expect(sum.routes.reduce(0) { $0 + $1.count } == 172)
    }

    @Test(
        "The table and the route of a decision are found after members with any text",
        arguments: [
            (#"{"event":"\"table\":\"x\"","device":"d\\","table":"t@1+0","route":"r","outcome":1}"#, "r"),
            (#"{"table":"t@1+0","route":"r\"s"}"#, #"r\"s"#), (#"{"table":"t@1+0","outcome":"none"}"#, nil),
            (#"{"outcome":"none"}"#, nil), (#"{"table":"t@1+0","route":"cut"#, nil), ("{", nil), ("", nil),
        ] as [(String, String?)])
    func text(decision: String, route: String?) {
        Array(decision.utf8).withUnsafeBufferPointer { bytes in
            let text = DecisionText(ByteView(bytes))
            #expect(text.route == route)
            let other = decision.replacing("t@1+0", with: "other@22+1")
            Array(other.utf8).withUnsafeBufferPointer { bytes in
                #expect(text.isSame(as: DecisionText(ByteView(bytes))))
            }
            for index in decision.utf8.indices where !decision.contains("cut") {
                var changed = Array(decision.utf8)
                changed[decision.utf8.distance(from: decision.startIndex, to: index)] ^= 1
                let isTable = changed.withUnsafeBufferPointer { bytes in
                    text.isSame(as: DecisionText(ByteView(bytes)))
                }
                let value = decision.firstRange(of: "t@1+0")
                #expect(!isTable || value?.contains(index) == true)
            }
        }
    }
}
