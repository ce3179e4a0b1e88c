internal import Foundation
internal import KafkaClient
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// Inputs and topics that fail or pause while `linkd produce` sends.
@Suite(.serialized) struct ProduceFileTests {
    /// A directory with a file of events and a named pipe.
    private struct Inputs {
        let folder: TemporaryFolder
        let file: String
        let pipe: String

        init(events: [String]) throws {
            folder = try TemporaryFolder()
            file = folder.path("events")
            pipe = folder.path("pipe")
            try Data(events.map { $0 + "\n" }.joined().utf8).write(to: URL(fileURLWithPath: file))
            try #require(mkfifo(pipe, 0o600) == 0)
        }
    }

    private static func events(_ count: Int) -> [String] {
        (1...count).map { #"{"id":"e-\#($0)","link":"shop:///p/new","device":{"id":"d-\#($0)"}}"# }
    }

    @Test("A signal ends the wait for the writer of a named pipe")
    func pipeWithoutWriter() throws {
        let inputs = try Inputs(events: ["{", "shop:///p/new"])
        let run = try RunningLinkd(["produce", "--dry-run", inputs.file, inputs.pipe])
        try #require(run.says("line 1: bad_json"), "\(run.log)")
        run.signal(SIGINT)
        #expect(try run.end(within: 20) == 130)
        #expect(run.lastLine.contains("ended by signal 2 after 2 lines"), "\(run.log)")
    }

    @Test("A named pipe whose writer comes later is read to its end")
    func lateWriter() async throws {
        try await onThread {
            let inputs = try Inputs(events: ["{"])
            let run = try RunningLinkd(["produce", "--dry-run", inputs.file, inputs.pipe])
            try #require(run.says("line 1: bad_json"), "\(run.log)")
            let writer = try FileHandle(forWritingTo: URL(fileURLWithPath: inputs.pipe))
            try writer.write(contentsOf: Data(Self.events(10_000).map { $0 + "\n" }.joined().utf8))
            try writer.close()
            #expect(try run.end(within: 20) == 65)
            #expect(run.output.hasPrefix("read 10001, would send 10000, unreadable 1, "), "\(run.output)")
        }
    }

    @Test("A file that vanishes after the start ends the run with its summary and the flag that continues")
    func vanishedFile() async throws {
        try await onThread {
            let inputs = try Inputs(events: Self.events(3000))
            let cluster = try MockCluster()
            try cluster.createTopic("t", partitions: 1)
            let last = inputs.folder.path("last")
            try Data(Self.events(1)[0].utf8).write(to: URL(fileURLWithPath: last))
            let run = try RunningLinkd(
                ["produce", "-b", cluster.bootstrapServers, "-t", "t", inputs.file, inputs.pipe, last])
            let writer = try FileHandle(forWritingTo: URL(fileURLWithPath: inputs.pipe))
            try FileManager.default.removeItem(atPath: last)
            try writer.close()
            #expect(try run.end() == 65)
            #expect(run.output.hasPrefix("read 3000, sent 3000, delivered 3000, failed 0, "), "\(run.output)")
            #expect(run.lastLine.contains("\(last) cannot be read: No such file"), "\(run.log)")
            #expect(run.lastLine.contains("run the same command with --skip 3000"), "\(run.log)")
        }
    }

    @Test("After a pause of the input, records are not sent faster than the limit of records per second")
    func rateAfterPause() async throws {
        try await onThread {
            let inputs = try Inputs(events: [])
            let cluster = try MockCluster()
            try cluster.createTopic("t", partitions: 1)
            let run = try RunningLinkd(
                ["produce", "-b", cluster.bootstrapServers, "-t", "t", "--rate", "100", "--json", inputs.pipe])
            let writer = try FileHandle(forWritingTo: URL(fileURLWithPath: inputs.pipe))
            try writer.write(contentsOf: Data("shop:///p/new\n".utf8))
            // The pause is the subject of the test.
            Thread.sleep(forTimeInterval: 2)
            let resumed = ContinuousClock.now
            try writer.write(contentsOf: Data(Self.events(200).map { $0 + "\n" }.joined().utf8))
            try writer.close()
            #expect(try run.end() == 0, "\(run.log)")
            #expect(resumed.duration(to: .now) > .seconds(1.8))
        }
    }

    @Test("An event that is checked but not sent because of a signal is not counted among the decisions")
    func withdrawnDecision() async throws {
        try await onThread {
            let inputs = try Inputs(events: ["{"] + Self.events(3))
            let cluster = try MockCluster()
            try cluster.createTopic("t", partitions: 1)
            let table = Checkout.root.appending(path: "config/routes/shop.json").path
            let run = try RunningLinkd([
                "produce", "-b", cluster.bootstrapServers, "-t", "t", "--rate", "1", "--json", "--check", table,
                inputs.file,
            ])
            try #require(run.says("line 1: bad_json"), "\(run.log)")
            run.signal(SIGINT)
            #expect(try run.end() == 130)
            let summary = try JSONValue.parse(Array(run.output.utf8))
            let decisions = summary["outcomes"]?.array?.compactMap { $0["count"]?.integer }.reduce(0, +)
            #expect(decisions == (summary["sent"]?.integer), "\(run.output)")
        }
    }

    @Test(
        "Batches fit the limit of the topic, and only a larger record is refused",
        .enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
    func smallLimit() throws {
        var events = Self.events(5000)
        events[2999] =
            #"{"id":"\#(UUID().uuidString)","link":"shop:///p/new?x="#
            + (0..<400).map { _ in UUID().uuidString }.joined() + #"","device":{"id":"d"}}"#
        let inputs = try Inputs(events: events)
        let bootstrap = TestBroker.plain ?? ""
        let topic = TestBroker.uniqueName("small")
        let admin = try KafkaAdmin(["bootstrap.servers": bootstrap])
        let created = try admin.create(
            topics: [TopicSpecification(name: topic, partitions: 1, settings: ["max.message.bytes": "4000"])],
            timeoutMilliseconds: 20_000)
        try #require(created.map(\.error) == [nil])
        // A broker knows a new topic a moment later.
        let isKnown = try becomesTrue(withinSeconds: 60) {
            try admin.describe(topics: [topic], timeoutMilliseconds: 20_000).allSatisfy { $0.error == nil }
        }
        try #require(isKnown)
        let result = linkd("produce", "-b", bootstrap, "-t", topic, "--count", "4000", inputs.file)
        #expect(result.code == 1)
        #expect(result.out.hasPrefix("read 4000, sent 4000, delivered 3999, failed 1, "), "\(result.out)")
        #expect(result.err.contains("Not stored: \(inputs.file), line 3000 (1 record)."), "\(result.err)")
        #expect(result.err.contains("`linkd topics check`, then send the lines listed above again."), "\(result.err)")
    }
}
