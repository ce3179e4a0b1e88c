internal import Foundation
internal import LinkCoordinator
internal import StrictJSON
internal import Synchronization
internal import TestSupport
internal import Testing

@testable internal import DispatchWorker
@testable internal import LinkdCommands
import LinkDecider

/// The totals of a canary on a real broker.
@Suite(.enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct CanaryBrokerTests {
    private static let environment = ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""]
    private static let percent = 2_500
    private static let compare = 4_000

    /// Returns a table that opens `/two` on screen `b`, or on `a` if it is a candidate.
    private static func table(version: Int) -> String {
        """
        {"schemaVersion":1,"table":{"id":"t","version":"\(version)","applications":["t"]},
         "link":{"schemes":["t"],"host":"segment"},
         "coordinators":{"c":{"initial":"a","screens":{"a":{},"b":{}}}},
         "routes":[{"id":"one","match":"/one","to":{"path":"/c/b"}},
                   {"id":"two","match":"/two","to":{"path":"/c/\(version == 1 ? "b" : "a")"}}]}
        """
    }

    /// Events, of which one in ten has three devices and the others one.
    private struct Load {
        var numbers: Range<Int>

        private static func devices(_ number: Int) -> [String] {
            (0..<(number % 10 == 0 ? 3 : 1)).map { "d-\(number)-\($0)" }
        }

        var text: String {
            numbers.map { number in
                let devices = Self.devices(number).map { #"{"id":"\#($0)"}"# }.joined(separator: ",")
                return #"{"id":"e\#(number)","link":"t://\#(number % 3 == 0 ? "two" : "one")","devices":[\#(devices)]}"#
            }.joined(separator: "\n")
        }

        var decisions: Int { numbers.reduce(0) { $0 + Self.devices($1).count } }

        func produce(to topic: String) throws {
            let result = try LinkdProcess.run(
                ["produce", "--raw", "--topic", topic], input: text, environment: environment)
            #expect(result.code == 0, "\(result.err)")
        }
    }

    /// Counts the decisions of a topic, and checks that each has the table of its device's bucket and an id of its own.
    private static func recount(
        _ topic: String, base: RouteTable, candidates: [RouteTable]
    ) throws -> (decisions: Int, totals: CanaryTotals) {
        let last = try #require(candidates.last)
        var totals = CanaryTotals(table: last.identity, base: base.identity, percent: percent, compare: compare)
        var ids: Set<String> = []
        let result = try LinkdProcess.run(["inspect", "--topic", topic, "-f", "%s\\n"], environment: environment)
        for line in result.out.split(separator: "\n") {
            let decision = try JSONValue.parse(Array(line.utf8))
            let device = try #require(decision["device"]?.string)
            let table = try #require(decision["table"]?.string)
            #expect(ids.insert(try #require(decision["decision"]?.string)).inserted, "twice: \(line)")
            let bucket = CanaryPlan.buckets(of: Array(device.utf8), table: "t")
            if bucket.decision < percent {
                #expect(candidates.contains { $0.identity == table }, "\(line)")
                totals.decided += table == last.identity ? 1 : 0
                continue
            }
            #expect(table == base.identity, "\(line)")
            guard bucket.comparison < compare else { continue }
            totals.compared += 1
            if decision["route"]?.string == "two" {
                totals.countDifferences(
                    of: CanaryTotals.Route(
                        name: "two", count: 1, witness: decision["decision"]?.string ?? ""))
            }
        }
        return (ids.count, totals)
    }

    private static func until(_ condition: () throws -> Bool) rethrows -> Bool {
        try becomesTrue(withinSeconds: 90) {
            if try condition() { return true }
            Thread.sleep(forTimeInterval: 0.1)
            return false
        }
    }

    @Test("The totals of `/status` are those of the topic, and each decision has the table of its device's bucket")
    func totals() async throws {
        try await onThread {
            let folder = try TableFolder()
            try folder.write("t.json", Self.table(version: 1))
            try folder.write("next.json", Self.table(version: 2))
            let tables = try (1...3).map { try RouteTable(json: Self.table(version: $0).utf8) }
            let input = TestBroker.uniqueName("canary")
            let topics = ["--input", input, "--output", input + ".out"]
            #expect(
                try LinkdProcess.run(
                    ["topics", "create", "--partitions", "4"] + topics, environment: Self.environment
                ).code == 0)
            let worker = try RunningLinkd(
                ["worker", "-b", TestBroker.plain ?? "", "--table", folder.path("t.json"), "--group", input]
                    + ["--canary-table", folder.path("next.json"), "--canary-percent", "25"]
                    + ["--canary-compare", "40", "--lanes", "2", "--commit-interval", "20ms"]
                    + ["--http-listen", "127.0.0.1:0", "--log-format", "json"] + topics)
            let address = try #require(worker.httpAddress)
            func page() throws -> String { try HTTPFetch(address, "/status").body }
            func status() throws -> JSONValue { try JSONValue.parse(Array(page().utf8), maxDepth: 64) }
            func records() throws -> Int64 {
                try status()["lanes"]?.array?.reduce(0) { $0 + ($1["records"]?.integer ?? 0) } ?? 0
            }
            let first = Load(numbers: 0..<3_000)
            try first.produce(to: input)
            #expect(try Self.until { try records() == 3_000 }, "\(worker.log)")
            var counted = try Self.recount(input + ".out", base: tables[0], candidates: [tables[1]])
            var reported = try CanaryReport.totals(of: Array(page().utf8))
            #expect(counted.decisions == first.decisions && reported.different > 100 && reported.decided > 500)
            #expect(Self.withoutWitness(reported) == Self.withoutWitness(counted.totals))
            let metrics = try HTTPFetch(address, "/metrics")
            #expect(metrics.value("linkd_canary_decisions_total") == Double(reported.decided))
            #expect(
                metrics.value(#"linkd_canary_compared_total{result="different"}"#) == Double(reported.different))
            #expect(
                metrics.value(#"linkd_canary_differences_total{route="two"}"#) == Double(reported.different))

            // Another candidate is loaded while the lanes are busy.
            let second = Load(numbers: 3_000..<23_000)
            let producing = DispatchGroup()
            DispatchQueue.global().async(group: producing) {
                do { try second.produce(to: input) } catch { Issue.record(error) }
            }
            #expect(try Self.until { try records() > 4_000 })
            try folder.write("next.json", Self.table(version: 3))
            worker.signal(SIGHUP)
            producing.wait()
            let isReloaded = Self.until { worker.log.contains(#""event":"tables.reloaded""#) }
            #expect(isReloaded, "\(worker.log)")
            // The lanes can have decided all records before.
            let third = Load(numbers: 23_000..<25_000)
            try third.produce(to: input)
            #expect(try Self.until { try records() == 25_000 }, "\(worker.log)")
            counted = try Self.recount(input + ".out", base: tables[0], candidates: [tables[1], tables[2]])
            #expect(counted.decisions == first.decisions + second.decisions + third.decisions)
            let saved = try page()
            reported = try CanaryReport.totals(of: Array(saved.utf8))
            #expect(reported.table == tables[2].identity && reported.decided == counted.totals.decided)
            print("canary: \(counted.decisions) decisions, \(reported.decided) of the last candidate, \(reported)")
            let diff = try withTemporaryFile(saved) { try LinkdProcess.run(["routes", "diff", "--canary", $0]) }
            #expect(diff.code == 1 && diff.out.contains("two"), "\(diff.out)\(diff.err)")
            worker.signal(SIGTERM)
            #expect(try worker.end() == 0, "\(worker.log)")
        }
    }

    /// Returns totals without the witnesses, because the lanes' order of commits is not that of the topic.
    private static func withoutWitness(_ totals: CanaryTotals) -> CanaryTotals {
        var result = totals
        for index in result.routes.indices { result.routes[index].witness = "" }
        return result
    }
}
