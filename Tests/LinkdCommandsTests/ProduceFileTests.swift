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
        let directory: URL
        let file: String
        let pipe: String

        init(events: [String]) throws {
            directory = FileManager.default.temporaryDirectory.appending(path: "inputs-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            file = directory.appending(path: "events").path
            pipe = directory.appending(path: "pipe").path
            try Data(events.map { $0 + "\n" }.joined().utf8).write(to: URL(fileURLWithPath: file))
            try #require(mkfifo(pipe, 0o600) == 0)
        }

        func remove() { try? FileManager.default.removeItem(at: directory) }
    }

    private static func events(_ count: Int) -> [String] {
        (1...count).map { #"{"id":"e-\#($0)","link":"shop:///p/new","device":{"id":"d-\#($0)"}}"# }
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
        defer { inputs.remove() }
        let bootstrap = TestBroker.plain ?? ""
        let topic = TestBroker.uniqueName("small")
        let created = try KafkaAdmin(["bootstrap.servers": bootstrap]).create(
            topics: [TopicSpecification(name: topic, partitions: 1, settings: ["max.message.bytes": "4000"])],
            timeoutMilliseconds: 20_000)
        try #require(created.map(\.error) == [nil])
        let result = linkd("produce", "-b", bootstrap, "-t", topic, "--count", "4000", inputs.file)
        #expect(result.code == 1)
        #expect(result.out.hasPrefix("read 4000, sent 4000, delivered 3999, failed 1, "), "\(result.out)")
        #expect(result.err.contains("Not stored: \(inputs.file), line 3000 (1 record)."), "\(result.err)")
        #expect(result.err.contains("`linkd topics check`, then send the lines listed above again."), "\(result.err)")
    }
}
