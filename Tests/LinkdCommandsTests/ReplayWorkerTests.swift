internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// Dead letters of a worker that are replayed, and decided by a worker with other tables.
@Suite(.enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct ReplayWorkerTests {
    private static func table(_ name: String) -> [String] {
        ["--table", Checkout.root.appending(path: "config/routes/\(name).json").path]
    }

    @Test("A replay counts as of now for an expiry, and a record that fails again has its count and its first position")
    func again() throws {
        let input = TestBroker.uniqueName("again")
        let names = ["--input", input, "--output", input + ".out"]
        func run(_ arguments: [String], input: String = "") throws -> CommandResult {
            let environment = ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""]
            let result = try LinkdProcess.run(arguments, input: input, environment: environment)
            #expect(result.code == 0, "\(arguments): \(result.err)")
            return result
        }
        func work(_ table: String, records: Int) throws {
            let flags = ["--group", input, "--stop-after", "\(records)"]
            _ = try run(["worker"] + flags + Self.table(table) + names)
        }
        func read(_ arguments: String...) throws -> [String] {
            try run(["inspect"] + arguments).out.split(separator: "\n").map(String.init).sorted()
        }
        _ = try run(["topics", "create", "--replay", "--partitions", "1"] + names)
        let expiry = Date().addingTimeInterval(30)
        let expires = ISO8601DateFormatter().string(from: expiry)
        let shop = #""application":"com.example.shop","device":{"id":"d-1"}"#
        _ = try run(
            ["produce", "--topic", input],
            input: """
                {"id":"expiring","link":"shop:///","expires":"\(expires)",\(shop)}
                {"id":"lasting","link":"shop:///",\(shop)}
                {"id":"unknown","link":"shop:///","application":"com.example.none","device":{"id":"d-1"}}
                """)
        // This table does not list the applications.
        try work("seeds/content-flow", records: 3)
        #expect(try read("--topic", input, "--dlq", "-f", "%{dlq.reason}\\n").count == 3)
        #expect(
            becomesTrue(withinSeconds: 60) { () -> Bool in
                Platform.sleep(milliseconds: 100)
                return Date() > expiry
            })
        _ = try run(["dlq", "replay", "--yes"] + names)
        try work("shop", records: 3)
        #expect(
            try read("--topic", input + ".out", "-f", "%{event} %{outcome} %{reason}\\n")
                == ["expiring none expired", "lasting navigate "])
        let format = "%{dlq.source.offset} %{dlq.replay.count} %{dlq.origin}\\n"
        let failed = try read("--topic", input, "--dlq", "-f", format)
        #expect(failed.count == 4 && failed.contains { $0.hasSuffix(" 1 \(input)-0-2") }, "\(failed)")
    }
}
