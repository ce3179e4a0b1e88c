internal import Foundation
@testable internal import KafkaClient
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// `linkd dlq replay` with a real broker.
@Suite(.enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct ReplayBrokerTests {
    /// The topics of a replay with 2 partitions each.
    private struct Site {
        let dead: FilledTopic
        let input: String

        init(withReplay: Bool = true) throws {
            let input = try FilledTopic("replay", partitions: 2)
            self.input = input.name
            dead = try FilledTopic(exactly: input.name + ".dlq", partitions: 2)
            guard withReplay else { return }
            for suffix in ["replayed", "parked"] {
                _ = try FilledTopic(exactly: "\(dead.name).\(suffix)", partitions: 2)
            }
        }

        /// Writes dead letters with the given numbers.
        func write(
            _ numbers: some Sequence<Int>, _ change: (Int, inout [(String, String?)]) -> Void = { _, _ in }
        ) throws {
            try dead.write(
                numbers.map { number in
                    var headers = DeadLetterSample.headers(
                        reason: number % 2 == 0 ? "even" : "odd", topic: input, partition: number % 2, offset: number,
                        failedAt: number * 1000)
                    change(number, &headers)
                    return FilledTopic.Record(
                        partition: Int32(number % 2), key: "d-\(number)", value: "v\(number)", time: Int64(number),
                        headers: [("trace", "t\(number)")] + headers.map { ($0.0, $0.1 ?? "") })
                })
        }

        var command: [String] { ["dlq", "replay", "--topic", input, "--output", "none-\(input)"] }

        func replay(_ flags: String...) throws -> CommandResult {
            try DeadLetterBrokerTests.run(command + ["--yes"] + flags)
        }

        func read(_ topic: String, _ format: String) throws -> [String] {
            let result = try DeadLetterBrokerTests.run(["inspect", "--topic", topic, "-f", format + "\\n"])
            #expect(result.code == 0, "\(result.err)")
            return result.out.split(separator: "\n").map(String.init).sorted()
        }

        /// The values in the input.
        var values: [Int] {
            get throws { try read(input, "%s").compactMap { Int($0.dropFirst()) }.sorted() }
        }
    }

    private static func summary(_ result: CommandResult) throws -> JSONValue {
        try JSONValue.parse(Array(result.out.utf8))
    }

    @Test("Different filters replay nothing twice, and a dry run predicts the run")
    func filters() throws {
        let site = try Site()
        try site.write(1...40)
        func check(_ chosen: Int64, _ already: Int64, _ flags: String...) throws {
            for isDryRun in [true, false] {
                let result = try DeadLetterBrokerTests.run(
                    site.command + flags + ["--json", isDryRun ? "--dry-run" : "--yes"])
                #expect(result.code == 0, "\(result.err)")
                let summary = try Self.summary(result)
                #expect(summary["chosen"]?.integer == chosen && summary["already_replayed"]?.integer == already)
                #expect(summary["replayed"]?.integer == (isDryRun ? 0 : chosen))
                #expect(summary["left"]?.integer == (isDryRun ? chosen : 0))
            }
        }
        try check(6, 0, "--since", "1970-01-01T00:00:10Z", "--until", "1970-01-01T00:00:15Z")
        #expect(try site.values == Array(10...15))
        try check(17, 3, "--reason", "odd")
        try check(1, 0, "--key", "d-2")
        try check(0, 1, "--device", "d-2")
        try check(2, 0, "--offsets", "0:1-2")
        try check(5, 0, "--max", "5", "--partition", "0", "--reason", "even", "--since", "1970-01-01T00:00:30Z")
        try check(9, 31)
        try check(0, 40)
        #expect(try site.values == Array(1...40))
        #expect(
            try site.read(site.input, "%p %k %s %h").first
                == "0 d-10 v10 trace=t10,dlq.replay.count=1,dlq.origin=\(site.input)-0-10")
        let times = try site.read(site.input, "%T").compactMap { Int64($0) }
        #expect(times.allSatisfy { abs($0 - Platform.nowMilliseconds) < 600_000 })
        #expect(try site.read(site.dead.name + ".replayed", "%k").count == 40)
    }

    @Test("Truncated dead letters and those at the cap are parked unchanged, and foreign records are left alone")
    func parked() throws {
        let site = try Site()
        try site.write(1...6) { number, headers in
            // The item of a list that was cut cannot be read.
            if number == 2 { headers += [("dlq.truncated", "9"), ("dlq.item", "0")] }
            if number == 3 { headers = headers.filter { $0.0 != "dlq.replay.count" } + [("dlq.replay.count", "2")] }
            if number == 4 { headers = DeadLetterSample.headers(topic: "__consumer_offsets") }
            if number == 5 { headers = [] }
        }
        let result = try site.replay("--cap", "2", "--json")
        #expect(result.code == 1)
        #expect(result.err.contains("2 records of \(site.dead.name) are not dead letters of \(site.input)"))
        let summary = try Self.summary(result)
        #expect(summary["replayed"]?.integer == 2 && summary["parked"]?.integer == 2)
        #expect(summary["foreign"]?.integer == 2 && summary["left"]?.integer == 0)
        #expect(summary["parked_by"]?["cap"]?.integer == 1 && summary["parked_by"]?["truncated"]?.integer == 1)
        #expect(try site.values == [1, 6])
        let format = "%p %k %s %T %h"
        let letters = try site.read(site.dead.name, format)
        let parked = letters.filter { $0.contains(" v2 ") || $0.contains(" v3 ") }
        #expect(try site.read(site.dead.name + ".parked", format) == parked)
        let again = try site.replay("--json")
        #expect(try Self.summary(again)["already_replayed"]?.integer == 4)
        #expect(try site.values == [1, 6])
    }

    @Test("Without the ledger, or without the parking topic if it is needed, nothing is sent")
    func missingTopics() throws {
        let site = try Site(withReplay: false)
        try site.write(1...2) { number, headers in if number == 2 { headers.append(("dlq.truncated", "9")) } }
        let result = try site.replay()
        #expect(result.code == 78 && result.err.contains("linkd topics create --replay"), "\(result.err)")
        let dryRun = try DeadLetterBrokerTests.run(site.command + ["--dry-run"])
        #expect(dryRun.code == 0 && dryRun.out.contains("would replay 1 and park 1 of 2 chosen"))
        #expect(dryRun.err.contains("\(site.dead.name).replayed does not exist"))
        _ = try FilledTopic(exactly: site.dead.name + ".replayed", partitions: 1)
        let other = try site.replay()
        #expect(other.code == 78 && other.err.contains("topic \(site.dead.name).parked does not exist"))
        #expect(try site.values == [])
        #expect(try site.replay("--reason", "odd").code == 0)
        #expect(try site.values == [1])
        #expect(try site.replay("--parking", site.input).code == 64)
        // A worker would read the parked dead letters as events.
        for input in ["^\(site.input)", "\(site.input),\(site.input)-other"] {
            let result = try site.replay("--input", input, "--parking", site.input + "-other")
            #expect(result.code == 64 && result.err.contains("with another purpose"), "\(result.err)")
        }
    }

    @Test("A second replay of a topic ends the first one with exit code 79, and each dead letter is replayed once")
    func twice() throws {
        let site = try Site()
        try site.write(1...60)
        let first = try RunningLinkd(
            site.command + ["--yes", "--rate", "20"], environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
        #expect(try becomesTrue(withinSeconds: 30) { try !site.values.isEmpty })
        let second = try site.replay("--json")
        #expect(second.code == 0, "\(second.err)")
        #expect(try first.end() == 79, "\(first.log)")
        #expect(first.log.contains("another replay of \(site.dead.name) has started"))
        // Dead letters that the first one has sent between the choice and the start of the second one count only once.
        let replayed = try #require(try Self.summary(second)["replayed"]?.integer)
        #expect(first.output.contains("replayed \(60 - replayed) and parked 0 of 60 chosen"), "\(first.output)")
        #expect(try site.values == Array(1...60))
        #expect(try site.read(site.dead.name + ".replayed", "%k").count == 60)
    }

    @Test("A range whose first offset does not exist any more is read as far as it exists")
    func deletedOffsets() throws {
        let site = try Site()
        try site.write(1...6)
        let connection = Connection(bootstrap: [TestBroker.plain ?? ""])
        var scan = try TopicScan(connection)
        var plan = ScanPlan()
        plan.partitions[TopicPartition(topic: site.dead.name, partition: 0)] = ScanPlan.Span(from: 50, to: 60)
        plan.partitions[TopicPartition(topic: site.dead.name, partition: 1)] = ScanPlan.Span(from: 1, to: 3)
        try scan.start(plan)
        while !scan.isDone { _ = try scan.next { _ in true } }
        #expect(scan.read == 2)
    }

    @Test("An end before the end of a range does not end it, because a new leader can report it too early")
    func earlyEnd() throws {
        let site = try Site()
        try site.write(1...6)
        var scan = try TopicScan(Connection(bootstrap: [TestBroker.plain ?? ""]))
        // The broker confirms a commit before it has written the markers that make the records stable.
        #expect(
            try becomesTrue(withinSeconds: 30) {
                try scan.description(of: site.dead.name).values.allSatisfy { $0.high == 4 }
            })
        var plan = ScanPlan()
        try plan.add(site.dead.name, try scan.description(of: site.dead.name), ScanRange())
        try scan.start(plan)
        for partition in Int32(0)..<2 {
            try scan.handle(ConsumerEvent(kind: .endOfPartition, topic: 0, partition: partition, offset: 1))
        }
        while !scan.isDone { _ = try scan.next { _ in true } }
        #expect(scan.read == 6)
    }

    @Test(
        "A signal ends with the number of dead letters left, and the same command replays them",
        arguments: [SIGINT, SIGTERM])
    func interrupted(signal: Int32) throws {
        let site = try Site()
        try site.write(1...60)
        let first = try RunningLinkd(
            site.command + ["--yes", "--rate", "20"], environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
        #expect(try becomesTrue(withinSeconds: 30) { try !site.values.isEmpty })
        first.signal(signal)
        #expect(try first.end() == 128 + signal)
        let done = try site.values.count
        #expect(first.lastLine.contains("with \(60 - done) dead letters left"), "\(first.log)")
        #expect(try site.replay().out.contains("replayed \(60 - done) and parked 0 of \(60 - done) chosen, 0 left"))
        #expect(try site.values == Array(1...60))
    }

    @Test("Devices with later decisions are named before anything is sent")
    func order() throws {
        let site = try Site()
        try site.write(1...4)
        let output = try FilledTopic("replay-out", partitions: 1)
        func decision(_ device: String, _ offset: Int) -> FilledTopic.Record {
            FilledTopic.Record(
                key: device, value: #"{"decision":"\#(site.input)-\#(offset % 2)-\#(offset)-0"}"#, time: 1_000)
        }
        try output.write([decision("d-1", 0), decision("d-2", 4), decision("d-3", 3), decision("d-9", 99)])
        let command = ["dlq", "replay", "--topic", site.input, "--output", output.name, "--dry-run"]
        let result = try DeadLetterBrokerTests.run(command)
        #expect(
            result.err.contains(
                "1 of 4 devices have decisions that are later than their dead letters, for example d-2: "
                    + "\(output.name)-0-1 (\(site.input)-0-4-0)."), "\(result.err)")
        #expect(!(try DeadLetterBrokerTests.run(command + ["--no-order-check"]).err.contains("devices")))
        #expect(try site.replay("--dry-run").err.contains("The order was not checked"))
    }
}
