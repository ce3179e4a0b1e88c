internal import Foundation
internal import KafkaClient
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// `linkd dlq` with a real broker.
@Suite(.enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct DeadLetterBrokerTests {
    static func run(_ arguments: [String]) throws -> CommandResult {
        try LinkdProcess.run(arguments, environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
    }

    private static func letter(_ number: Int, of topic: String, _ reason: String) -> FilledTopic.Record {
        let headers = DeadLetterSample.headers(
            reason: reason, topic: topic, partition: number % 2, offset: number, failedAt: number * 1000)
        return FilledTopic.Record(
            partition: Int32(number % 2), key: "d-\(number)", value: "{", time: 1,
            headers: headers.map { ($0.0, $0.1 ?? "") })
    }

    @Test("Dead letters are counted without the aborted ones, and replayed ones by the ledger if it exists")
    func list() throws {
        let dead = try FilledTopic("list", partitions: 2, suffix: ".dlq")
        let input = String(dead.name.dropLast(4))
        let letters = (1...9).map { Self.letter($0, of: input, $0 < 4 ? "not_utf8" : "bad_json") }
        try dead.write(letters)
        try dead.write(letters, commit: false)
        func list(_ flags: String...) throws -> CommandResult {
            try Self.run(["dlq", "list", "--topic", input, "--json"] + flags)
        }
        let last = [9: "\(dead.name)-1-4", 3: "\(dead.name)-1-1"]
        #expect(
            try list().out == """
                {"reason":"bad_json","count":6,"replayed":null,"last":9000,"example":"\(last[9] ?? "")"}
                {"reason":"not_utf8","count":3,"replayed":null,"last":3000,"example":"\(last[3] ?? "")"}

                """)
        let ledger = try FilledTopic(exactly: dead.name + ".replayed", partitions: 1)
        try ledger.write([
            FilledTopic.Record(key: "1-4", value: #"{"failed_at":9000}"#, time: 1),
            FilledTopic.Record(key: "0-0", value: #"{"failed_at":1}"#, time: 1),
            FilledTopic.Record(key: "x", value: "{", time: 1),
        ])
        let some = try list("--since", "1970-01-01T00:00:03Z", "--by", "stage")
        let counts = #"{"stage":"decode","count":7,"replayed":1,"last":9000,"example":"\#(last[9] ?? "")"}"#
        #expect(some.out == counts + "\n")
        #expect(some.err.contains("7 of 9 matched"))
        #expect(some.err.contains("1 record of the ledger cannot be read"))
        #expect(some.err.contains("for example \(ledger.name)-0-2"))
        #expect(try list("--offset", "1:4").out.contains(#""count":1,"replayed":1"#))
        #expect(try list("--partition", "7").err.contains("7 is not one of them"))
        #expect(try Self.run(["dlq", "list", "--topic", "none-\(input)"]).code == 78)
    }
}
