internal import Foundation
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// A worker whose file of short links is replaced, with a real broker.
@Suite(.enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct ShortLinkWorkerTests {
    private static let shop = Checkout.root.appending(path: "config/routes/shop.json").path
    private let folder: TemporaryFolder
    private let input = TestBroker.uniqueName("short")

    init() throws { folder = try TemporaryFolder() }

    private func build(_ destination: String) throws {
        try Data("short,long\nbrand.app.link/a,\(destination)\n".utf8).write(to: URL(filePath: folder.path("a.csv")))
        let result = linkd("short-links", "build", folder.path("a.csv"), "--out", folder.path("short.links"))
        #expect(result.code == 0, "\(result.err)")
    }

    private var environment: [String: String] {
        [
            "KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? "",
            "LINKD_HOME": Checkout.root.appending(path: "config").path,
        ]
    }

    private func run(_ arguments: [String], input text: String = "") throws -> String {
        let result = try LinkdProcess.run(arguments, input: text, environment: environment)
        #expect(result.code == 0, "\(arguments): \(result.err)")
        return result.out
    }

    private func send(_ device: String) throws {
        let event = #"{"link":"https://brand.app.link/a","device":{"id":"\#(device)","app":"6.0"}}"#
        _ = try run(["produce", "--topic", input], input: event + "\n")
    }

    /// Waits for the decision of a device.
    private func decision(_ device: String) throws -> JSONValue {
        var found: JSONValue?
        let isFound = try becomesTrue(withinSeconds: 60) {
            let lines = try run(["inspect", "--topic", input + ".out", "--device", device, "--json"])
            found = try lines.split(separator: "\n").first.map { try JSONValue.parse(Array($0.utf8)) }
            return found != nil
        }
        #expect(isFound, "\(device)")
        return try #require(found?["value"])
    }

    @Test("The file is replaced by a rename while a worker runs, and its decisions are explained without it")
    func replaced() async throws {
        try await onThread {
            let names = ["--input", input, "--output", input + ".out"]
            _ = try run(["topics", "create", "--partitions", "1"] + names)
            try build("shop:///p/new")
            let worker = try RunningLinkd(
                ["worker", "--group", input, "--table", Self.shop, "--short-links", folder.path("short.links")]
                    + ["--log-format", "json"] + names, environment: environment)
            try #require(worker.says(#""event":"ready""#), "\(worker.log)")
            try send("one")
            let first = try decision("one")
            #expect(first["outcome"]?.string == "navigate", "\(first.text)")
            try build("shop:///nowhere/at/all")
            try #require(worker.says(#""event":"short_links.reloaded""#), "\(worker.log)")
            try send("two")
            let second = try decision("two")
            #expect(second["reason"]?.string != nil && second["route"] == nil, "\(second.text)")
            try Data("no file of short links".utf8)
                .write(to: URL(filePath: folder.path("short.links")), options: .atomic)
            try #require(worker.says(#""event":"short_links.kept""#), "\(worker.log)")
            try send("three")
            let third = try decision("three")
            let notes = [first, second, third].map { $0["notes"]?.text }
            #expect(notes[2] == notes[1] && notes[1] != notes[0], "\(third.text)")
            worker.signal(SIGTERM)
            #expect(try worker.end(within: 60) == 0, "\(worker.log)")
            try FileManager.default.removeItem(atPath: folder.path("short.links"))
            for decision in [first, second, third] {
                let id = try #require(decision["decision"]?.string)
                let why = try run([
                    "inspect", "--why", id, "--topic", input + ".out", "--table", Self.shop, "--json",
                ])
                #expect(why.contains(#""same":true"#), "\(why)")
            }
        }
    }
}
