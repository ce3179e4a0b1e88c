internal import ByteStorage
internal import Foundation
internal import KafkaClient
internal import LinkCoordinator
internal import RouteAnalysis
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// `linkd recall` with a real broker, against an independent program.
@Suite(.enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct RecallBrokerTests {
    /// The topics and tables of a recall.
    private final class Site {
        static let old = "https://shop.example/legal-old/"
        static let new = "https://shop.example/legal/"
        static let last = "https://shop.example/legal-new/"

        let folder: TemporaryFolder
        let input: FilledTopic
        let output: String
        let hasAll: Bool
        let wrong: RouteTable
        let right: RouteTable

        /// - Parameter hasAll: A Boolean value that indicates whether there is an archive and a registry.
        init(partitions: Int32 = 4, hasAll: Bool = false) throws {
            self.hasAll = hasAll
            folder = try TemporaryFolder()
            input = try FilledTopic("recall", partitions: partitions)
            output = input.name + ".out"
            let path = Checkout.root.appending(path: "config/routes/shop.json").path
            let members = try JSONValue.parse(Array(String(contentsOfFile: path, encoding: .utf8).utf8)).object ?? []
            // The examples do not hold in the wrong table.
            let shop = JSONValue(.object(members.filter { $0.name != "examples" })).text
            let bad = shop.replacing(Self.new + "{rest}", with: Self.old + "{rest}")
                .replacing(#""version":"1""#, with: #""version":"2""#)
            let good = shop.replacing(#""version":"1""#, with: #""version":"3""#)
            try Data(bad.utf8).write(to: folder.url.appending(path: "wrong.json"))
            try Data(good.utf8).write(to: folder.url.appending(path: "right.json"))
            try Data(shop.utf8).write(to: folder.url.appending(path: "first.json"))
            let last = shop.replacing(Self.new + "{rest}", with: Self.last + "{rest}")
                .replacing(#""version":"1""#, with: #""version":"4""#)
            try Data(last.utf8).write(to: folder.url.appending(path: "last.json"))
            wrong = try RouteTable(json: Array(bad.utf8))
            right = try RouteTable(json: Array(good.utf8))
            _ = try run(["topics", "create", "--recall", "--partitions", "\(partitions)"] + registry)
        }

        var names: [String] {
            ["--input", input.name, "--output", output] + (hasAll ? ["--tables-topic", input.name + ".tables"] : [])
        }

        var registry: [String] { hasAll ? ["--devices-topic", input.name + ".devices"] : [] }

        func run(_ arguments: [String], seconds: Double = 120, code: Int32? = 0) throws -> CommandResult {
            // The vendors are found there. Without them, the worker reads none.
            let home = hasAll ? ["LINKD_HOME": Checkout.root.appending(path: "config").path] : [:]
            let environment = home.merging(["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""]) { $1 }
            let result = try LinkdProcess.run(arguments + names, environment: environment, seconds: seconds)
            if let code { #expect(result.code == code, "\(arguments): \(result.err)") }
            return result
        }

        /// Writes events, and lets a worker decide them.
        func decide(_ events: some Sequence<Int>, with table: String, device: (Int) -> Int) throws {
            let records = events.map { number in
                let link = number % 25 == 0 ? "legal/terms-\(number)" : "orders/\(number + 1)"
                let id = device(number)
                return FilledTopic.Record(
                    partition: Int32(id % 4), key: "d-\(id)",
                    value: #"{"id":"e-\#(number)","link":"https://shop.example/\#(link)","device":{"id":"d-\#(id)"}}"#,
                    time: 1_700_000_000_000 + Int64(number))
            }
            for start in stride(from: 0, to: records.count, by: 5_000) {
                try input.write(Array(records[start..<min(records.count, start + 5_000)]))
            }
            _ = try run(
                ["worker", "--group", input.name, "--stop-after", "\(records.count)", "--table", folder.path(table)],
                seconds: 600)
        }

        /// The decisions as lines `PARTITION OFFSET KEY VALUE`.
        func decisions() throws -> [String] {
            let result = try LinkdProcess.run(
                ["inspect", "--topic", output, "-f", "%p %o %k %s\\n"],
                environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""], seconds: 300)
            return result.out.split(separator: "\n").map(String.init)
        }

        func expected(_ decisions: [String]) throws -> [String] {
            try RecallOracle.corrections(
                of: decisions, wrong: wrong.identity, right: right.identity, text: (Self.old, Self.new))
        }

        /// Writes events of several kinds for 40 devices, and lets a worker decide them.
        func decideMixed(_ events: Range<Int>, _ flags: [String]) throws {
            let records = events.map { number in
                let device = "d-\(number % 40)"
                let link = "https://shop.example/" + (number % 3 == 0 ? "orders/\(number + 1)" : "legal/t-\(number)")
                let content =
                    switch number % 5 {
                    // A message of a vendor, a user of the registry, and an event that expires.
                    case 0:
                        #""payload":{"aps":{},"ab":{"c":"c"},"ab_uri":"\#(link)"},"device":{"id":"\#(device)"}"#
                    case 1: #""link":"\#(link)","user":"u-\#(number % 20)""#
                    case 2: #""link":"\#(link)","expires":"2024-01-01T00:00:00Z","device":{"id":"\#(device)"}"#
                    default: #""link":"\#(link)","segment":"s","device":{"id":"\#(device)","locale":"de-DE"}"#
                    }
                return FilledTopic.Record(
                    partition: Int32(number % 4), key: device,
                    value: #"{"id":"\#(number % 5 == 2 ? "x" : "e")-\#(number)",\#(content)}"#,
                    time: 1_700_000_000_000 + Int64(number))
            }
            try input.write(records)
            let worker = ["worker", "--group", input.name, "--stop-after", "\(events.count)"]
            _ = try run(worker + registry + flags, seconds: 300)
        }

        /// The corrections among decisions, as lines `PARTITION KEY VALUE`.
        func corrections(_ decisions: [String]) -> [String] {
            decisions.filter { $0.contains(#","supersedes":""#) }.map { line in
                let parts = line.split(separator: " ", maxSplits: 3)
                return "\(parts[0]) \(parts[2]) \(parts[3])"
            }.sorted()
        }

        var command: [String] {
            ["recall", "--table", wrong.hash, "--with", folder.path("right.json"), "--old", folder.path("wrong.json")]
        }

        func recall(_ flags: String..., code: Int32? = 0) throws -> JSONValue {
            let result = try run(command + ["--json"] + flags, seconds: 600, code: code)
            return try JSONValue.parse(Array(result.out.utf8))
        }

        /// The number of offsets in the ledger.
        func ledgerCount() throws -> Int64 {
            let reader = try KafkaReader(["bootstrap.servers": TestBroker.plain ?? "", "group.id": "recall-test"])
            defer { reader.close() }
            var sum: Int64 = 0
            for number in 0..<Int32(4) {
                sum += try reader.watermarks(
                    of: TopicPartition(topic: output + ".recalled", partition: number), timeoutMilliseconds: 10_000
                ).high
            }
            return sum
        }
    }

    /// The number of events, which `LINKD_TEST_EVENTS` sets.
    private static let events = LongTests.size("LINKD_TEST_EVENTS") ?? 20_000

    @Test("After three kills, the corrections are those of an independent program, each once")
    func killed() throws {
        let site = try Site()
        let (first, second) = (Self.events / 4, Self.events * 9 / 10)
        try site.decide(0..<first, with: "first.json") { $0 }
        try site.decide(first..<second, with: "wrong.json") { $0 % (Self.events / 2) }
        // These devices have later decisions.
        try site.decide(second..<Self.events, with: "first.json") { $0 &* 7 % Self.events }
        let before = try site.decisions()
        let expected = try site.expected(before)
        #expect(expected.count > Self.events / 100)
        let dryRun = try site.recall("--list", site.folder.path("left.jsonl"))
        #expect(dryRun["to_correct"]?.integer == Int64(expected.count))
        #expect(dryRun["published"]?.integer == 0 && dryRun["dry_run"]?.text == "true")
        #expect(dryRun["causes"]?.array?.first?["edits"]?.array?.first?["place"]?.string == "routes.legal")
        #expect(dryRun["examples"]?.array?.count == 10)
        let later = try String(contentsOfFile: site.folder.path("left.jsonl"), encoding: .utf8)
            .split(separator: "\n").filter { $0.contains(#""state":"later""#) }
        #expect(!later.isEmpty && Int64(later.count) == dryRun["states"]?["later"]?.integer)
        #expect(try site.decisions().count == before.count)

        for _ in 0..<3 {
            let rate = "\(max(50, expected.count / 8))"
            let running = try RunningLinkd(
                site.command + site.names + ["--yes", "--to", site.output, "--rate", rate],
                environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
            let start = try site.ledgerCount()
            let hasGrown = try becomesTrue(withinSeconds: 300) {
                guard running.isRunning else { return true }
                usleep(20_000)
                return try site.ledgerCount() > start + Int64(expected.count / 10)
            }
            #expect(hasGrown && running.isRunning, "\(running.log)")
            running.signal(SIGKILL)
            _ = try running.end()
        }
        let middle = site.corrections(try site.decisions()).count
        #expect(middle > 0 && middle < expected.count)
        let result = try site.recall("--yes", "--to", site.output)
        #expect(result["states"]?["changed"]?.integer == 0)
        #expect(site.corrections(try site.decisions()) == expected)
        let again = try site.recall("--yes", "--to", site.output)
        #expect(again["to_correct"]?.integer == 0 && again["published"]?.integer == 0)
        #expect(again["dry_run"]?.text == "false" && again["to"]?.string == site.output)
        #expect(again["states"]?["corrected"]?.integer == Int64(expected.count))
        for flags in [["--yes", "--to", site.output], []] {
            let part = try site.run(site.command + ["--max", "1"] + flags, code: 1)
            #expect(part.err.contains("beyond --max"), "\(part.err)")
        }
        let misled = try site.run(site.command + ["--yes", "--to", site.input.name], code: 64)
        #expect(misled.err.contains("is not a topic for decisions"), "\(misled.err)")
        // The ledger would be the topic of decisions.
        let swapped = try LinkdProcess.run(
            site.command + ["--yes", "--to", site.output, "--output", site.output + ".recalled"],
            environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""], seconds: 60)
        #expect(swapped.code == 64 && swapped.err.contains("is not a topic for decisions"), "\(swapped.err)")
        #expect(site.corrections(try site.decisions()) == expected)
    }

    @Test(
        "A recall corrects nothing while a transaction hides the decisions after it",
        .enabled(if: LongTests.areWanted, "long test: LINKD_TEST_LONG is not 1"))
    func openTransaction() throws {
        let site = try Site()
        try site.decide([0, 25], with: "wrong.json") { $0 }
        let producer = try KafkaProducer([
            "bootstrap.servers": TestBroker.plain ?? "", "transactional.id": site.output + ".hanging",
            "transaction.timeout.ms": "300000",
        ])
        defer { producer.close() }
        try producer.initTransactions(timeoutMilliseconds: 20_000)
        try producer.beginTransaction()
        let topic = try producer.topic(site.output)
        for partition in Int32(0)..<4 {
            try producer.produce(topic, partition: partition, key: ByteView("x"), value: ByteView("{}"))
        }
        try producer.flush(timeoutMilliseconds: 20_000)
        // The first device has a later decision, which nobody can read.
        try site.decide([0], with: "first.json") { $0 }
        let publish = ["--yes", "--to", site.output]
        let hidden = try site.run(site.command + publish + ["-X", "transaction.timeout.ms=1000"], code: 75)
        #expect(hidden.err.contains("a transaction in \(site.output), partition "), "\(hidden.err)")
        #expect(try site.ledgerCount() == 0)
        try producer.abortTransaction(timeoutMilliseconds: 20_000)
        let seen = try site.recall("--yes", "--to", site.output)
        #expect(seen["states"]?["later"]?.integer == 1 && seen["published"]?.integer == 1, "\(seen.text)")
    }

    @Test("With an archive, the decisions of a canary, vendors, a registry, and two configurations are corrected")
    func mixed() throws {
        let site = try Site(hasAll: true)
        let devices = (0..<40).map {
            #"{"id":"d-\#($0)","user":"u-\#($0 % 20)","app":"6.1.0","platform":"ios"}"# + "\n"
        }
        let produced = try LinkdProcess.run(
            ["produce", "--devices"] + site.registry, input: devices.joined(),
            environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
        #expect(produced.code == 0, "\(produced.err)")
        let tables = ["first", "wrong", "right"].map { site.folder.path($0 + ".json") }
        let canary = ["--table", tables[0], "--canary-table", tables[1], "--canary-percent", "50"]
        try site.decideMixed(0..<100, canary)
        try site.decideMixed(100..<200, ["--table", tables[1], "--passthrough", "campaign,segment"])
        try site.decideMixed(200..<208, canary)
        let before = try site.decisions()
        let all = try site.expected(before)
        let expected = all.filter { !$0.contains(#""event":"x-"#) }
        #expect(expected.count > 5 && all.count > expected.count)
        for part in [#""facts":"#, #""push":"#, #""segment":"#] {
            #expect(before.contains { $0.contains(part) && $0.contains(site.wrong.identity) }, "\(part)")
        }
        let archived = ["recall", "--table", site.wrong.identity, "--with", tables[2], "--json"]
        let dryRun = try JSONValue.parse(Array(try site.run(archived).out.utf8))
        let states = try #require(dryRun["states"])
        for name in ["different", "version", "not_archived", "record_gone", "refused", "foreign_topic"] {
            #expect(states[name]?.integer == 0, "\(name): \(states.text)")
        }
        #expect(states["expired"]?.integer == Int64(all.count - expected.count), "\(states.text)")
        let bare = archived + ["--input", site.input.name, "--output", site.output]
        for flags in [[], ["--yes", "--to", site.output]] {
            let unarchived = try LinkdProcess.run(
                bare + flags, environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
            let found = try JSONValue.parse(Array(unarchived.out.utf8))
            let left = ["not_archived", "later"].compactMap { found["states"]?[$0]?.integer }
            #expect(left.reduce(0, +) == found["devices"]?.integer && left[0] > 0, "\(unarchived.out)")
            #expect(found["to_correct"]?.integer == 0)
            #expect(unarchived.code == 1 && unarchived.err.contains("exit 1 (finding): \(left[0]) decisions of the"))
        }
        _ = try site.run(archived + ["--yes", "--to", site.output])
        let corrected = try site.decisions()
        #expect(site.corrections(corrected) == expected)
        try again(site, corrected)
    }

    /// Explains a correction by the archive, and corrects the corrections.
    private func again(_ site: Site, _ corrected: [String]) throws {
        let line = try #require(corrected.first { $0.contains(#"~1","supersedes":""#) })
        let id = try #require(line.firstMatch(of: #/"decision":"([^"]+)"/#)?.1)
        let why = try LinkdProcess.run(
            ["inspect", "--why", String(id), "--topic", site.output, "--json"] + site.names.suffix(2),
            environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
        let report = try JSONValue.parse(Array(why.out.utf8))
        let listed = try LinkdProcess.run(
            ["inspect", "--topic", site.output], environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
        #expect(listed.out.contains("  corrects \(id.dropLast(2))\n"))
        #expect(report["same"]?.text == "true", "\(why.out) \(why.err)")
        let bisected = try site.run(["bisect", String(id)])
        #expect(bisected.out.contains(", when `linkd recall` published it\n"), "\(bisected.out)")
        #expect(bisected.err.contains("no worker has used the configuration"), "\(bisected.err)")
        let last = try RouteTable(
            json: Array(String(contentsOfFile: site.folder.path("last.json"), encoding: .utf8).utf8))
        let expected = try RecallOracle.corrections(
            of: corrected, wrong: site.right.identity, right: last.identity, text: (Site.new, Site.last))
        #expect(expected.count > 5 && expected.allSatisfy { $0.contains(#"~2","supersedes":""#) })
        _ = try site.run([
            "recall", "--table", site.right.hash, "--with", site.folder.path("last.json"), "--yes", "--to", site.output,
        ])
        let second = site.corrections(try site.decisions()).filter { $0.contains(#"~2","supersedes":""#) }
        #expect(second == expected)
    }
}
