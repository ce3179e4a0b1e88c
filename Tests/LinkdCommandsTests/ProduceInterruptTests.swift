internal import ByteStorage
internal import Foundation
internal import KafkaClient
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// Runs of `linkd produce` that are ended by signals and continued.
@Suite(.serialized) struct ProduceInterruptTests {
    /// Files with the events 0 to `count` - 1 and blank lines.
    private struct Events {
        private let folder: TemporaryFolder
        let files: [String]
        let count: Int

        init(_ count: Int, files number: Int) throws {
            self.count = count
            folder = try TemporaryFolder()
            files = try (0..<number).map { [folder] file in
                var text: [UInt8] = []
                for event in file * count / number..<(file + 1) * count / number {
                    text += Array("{\"id\":\"\(10_000_000 + event)\",\"device\":{\"id\":\"d-\(event % 997)\"},".utf8)
                    text += Array("\"link\":\"shop:///p/new\"}\n".utf8)
                    if event % 1000 == 7 { text.append(UInt8(ascii: "\n")) }
                }
                let path = folder.path("\(file).jsonl")
                try Data(text).write(to: URL(fileURLWithPath: path))
                return path
            }
        }

        /// Returns the number of times that each event is in a topic.
        func stored(in topic: String, _ bootstrap: String, partitions: Int32) throws -> [Int] {
            let reader = try KafkaReader(["bootstrap.servers": bootstrap, "enable.partition.eof": "true"])
            defer { reader.close() }
            try reader.start((0..<partitions).map { PartitionOffset(topic: topic, partition: $0, offset: -2) })
            var open = Set(0..<partitions)
            var counts = Array(repeating: 0, count: count)
            let ended = becomesTrue(withinSeconds: 120) {
                _ = reader.poll(max: 5000, timeoutMilliseconds: 50)
                for record in reader.records {
                    // The id follows `{"id":"`.
                    let digits = record.value?.slice(7, 15).string ?? ""
                    if let number = Int(digits) { counts[number - 10_000_000] += 1 }
                }
                for event in reader.events where event.kind == .endOfPartition { open.remove(event.partition) }
                return open.isEmpty
            }
            try #require(ended)
            return counts
        }
    }

    /// The summary of a run.
    private struct Summary {
        private let json: JSONValue

        init(_ text: String) throws { json = try JSONValue.parse(Array(text.utf8)) }

        subscript(name: String) -> Int { Int(json[name]?.integer ?? -1) }

        /// Returns the entries that are listed in a member.
        func entries(_ name: String) -> Set<Int> {
            let ranges = (json[name + "_entries"]?.array ?? []).map { $0.array?.compactMap(\.integer) ?? [] }
            return Set(ranges.flatMap { Int($0[0])...Int($0[1]) })
        }
    }

    /// Returns the number of the flag `--skip` in the last line of a run.
    private static func skip(_ line: String) -> Int? {
        guard let match = line.firstMatch(of: /run the same command with --skip ([0-9]+)/) else { return nil }
        return Int(match.1)
    }

    @Test(
        "A file that is interrupted at 20 random moments is sent without a gap and without a double",
        .enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
    func interruptions() throws {
        let events = try Events(500_000, files: 2)
        let topic = try FilledTopic("interrupted", partitions: 6)
        let bootstrap = TestBroker.plain ?? ""
        var generator = SeededGenerator(seed: UInt64.random(in: 0...UInt64.max))
        var skip = 0
        var interruptions = 0
        var runs = 0
        // The program starts later on a busy machine, so a signal that came too early makes later ones wait longer.
        var startSeconds = 0.0
        var isSent = false
        while interruptions < 20, !isSent {
            runs += 1
            try #require(runs < 100)
            // Without a limit, the queue of the client is never empty.
            let rate = runs % 4 == 0 ? [] : ["--rate", "40000"]
            let run = try RunningLinkd(
                ["produce", "-b", bootstrap, "-t", topic.name, "--skip", "\(skip)"] + rate + events.files)
            // The random moment is the subject of the test.
            Thread.sleep(forTimeInterval: startSeconds + Double.random(in: 0.1...0.6, using: &generator))
            run.signal(Bool.random(using: &generator) ? SIGINT : SIGTERM)
            let code = try run.end()
            if code == 0 {
                isSent = true
                continue
            }
            try #require(code == 130 || code == 143, "\(run.log)")
            // A signal before the program has started ends it without a word.
            guard run.log.contains("ended by signal") else {
                startSeconds += 0.1
                continue
            }
            interruptions += 1
            skip = try #require(Self.skip(run.lastLine), "\(run.log)")
            #expect(!run.log.contains("stored:"), "\(run.log)")
        }
        if !isSent {
            let last = try RunningLinkd(
                ["produce", "-b", bootstrap, "-t", topic.name, "--skip", "\(skip)"] + events.files)
            #expect(try last.end() == 0, "\(last.log)")
        }
        let counts = try events.stored(in: topic.name, bootstrap, partitions: 6)
        #expect(counts.allSatisfy { $0 == 1 }, "not once: \(counts.count { $0 != 1 }) of \(counts.count) events")
        #expect(interruptions >= 10, "the file was sent too fast for the test")
    }

    @Test("Records that a broker does not answer are possibly stored, and all others are sent once")
    func unanswered() async throws {
        try await onThread {
            let events = try Events(20_000, files: 1)
            let cluster = try MockCluster()
            let bootstrap = cluster.bootstrapServers
            try cluster.createTopic("t", partitions: 2)
            let command = ["produce", "-b", bootstrap, "-t", "t", "--json"] + events.files
            let run = try RunningLinkd(command + ["--rate", "4000"])
            let hasBegun = try becomesTrue(withinSeconds: 60) {
                try events.stored(in: "t", bootstrap, partitions: 2).contains(1)
            }
            try #require(hasBegun, "\(run.log)")
            // The mock cluster stores the records at once and delays its answers.
            try cluster.setRoundTripTime(milliseconds: 3_600_000)
            Thread.sleep(forTimeInterval: 0.5)
            run.signal(SIGINT)
            #expect(try run.end(within: 60) == 130, "\(run.log)")
            try cluster.setRoundTripTime(milliseconds: 0)

            let summary = try Summary(run.output)
            let (missing, unknown) = (summary.entries("not_stored"), summary.entries("possibly_stored"))
            let skip = summary["next"] - 1
            #expect(unknown.count == summary["possibly_stored"] && !unknown.isEmpty, "\(run.output)")
            #expect(summary["sent"] == summary["delivered"] + summary["failed"] + summary["possibly_stored"])
            #expect(run.log.contains("Possibly stored: \(events.files[0]), line"), "\(run.log)")
            #expect(Self.skip(run.lastLine) == skip, "\(run.log)")
            let before = try events.stored(in: "t", bootstrap, partitions: 2)
            for entry in 1...events.count where !unknown.contains(entry) {
                let isStored = entry <= skip && !missing.contains(entry)
                #expect(before[entry - 1] == (isStored ? 1 : 0), "entry \(entry)")
            }

            let last = try RunningLinkd(command + ["--skip", "\(skip)"])
            #expect(try last.end() == 0, "\(last.log)")
            let after = try events.stored(in: "t", bootstrap, partitions: 2)
            for entry in 1...events.count where !unknown.contains(entry) {
                #expect(after[entry - 1] == (missing.contains(entry) ? 0 : 1), "entry \(entry)")
            }
            #expect(unknown.allSatisfy { after[$0 - 1] <= 1 })
        }
    }

    @Test("A fatal error of the client ends the run, and the records of its request are possibly stored")
    func desynchronized() async throws {
        try await onThread {
            let events = try Events(20_000, files: 1)
            let cluster = try MockCluster()
            let bootstrap = cluster.bootstrapServers
            try cluster.createTopic("t", partitions: 1)
            let command = ["produce", "-b", bootstrap, "-t", "t", "--json"] + events.files
            let run = try RunningLinkd(command + ["--rate", "4000"])
            let hasBegun = try becomesTrue(withinSeconds: 60) {
                try events.stored(in: "t", bootstrap, partitions: 1).contains(1)
            }
            try #require(hasBegun, "\(run.log)")
            let produce: Int16 = 0
            cluster.push(errors: [.outOfOrderSequence], forRequest: produce)
            #expect(try run.end(within: 60) != 0)
            let summary = try Summary(run.output)
            let unknown = summary.entries("possibly_stored")
            #expect(!unknown.isEmpty && summary.entries("not_stored").isEmpty, "\(run.output)")
            #expect(summary["sent"] == summary["delivered"] + summary["failed"] + summary["possibly_stored"])
            #expect(run.log.contains("Possibly stored: \(events.files[0]), line"), "\(run.log)")
            let skip = summary["next"] - 1
            #expect(Self.skip(run.lastLine) == skip, "\(run.log)")
            #expect(run.lastLine.contains("OUT_OF_ORDER_SEQUENCE_NUMBER"), "\(run.log)")
            let last = try RunningLinkd(command + ["--skip", "\(skip)"])
            #expect(try last.end() == 0, "\(last.log)")
            let counts = try events.stored(in: "t", bootstrap, partitions: 1)
            // The mock cluster refused the request, so its records are missing.
            #expect(counts.indices.filter { counts[$0] != 1 } == unknown.sorted().map { $0 - 1 })
            #expect(counts.allSatisfy { $0 <= 1 })
        }
    }
}
