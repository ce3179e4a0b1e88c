internal import Foundation
internal import LinkCoordinator
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// Records with several messages, from the producer to the replay of one of them.
@Suite(.enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct BatchWorkerTests {
    private static let shop = Checkout.root.appending(path: "config/routes/shop.json").path

    @Test(
        "The items of a list are decided, buried, explained, corrected, and replayed one by one, and verify counts them"
    )
    func items() throws {
        let input = TestBroker.uniqueName("batch")
        let names = ["--input", input, "--output", input + ".out"]
        func run(_ arguments: [String], input: String = "", code: Int32 = 0) throws -> CommandResult {
            let home = Checkout.root.appending(path: "config").path
            let environment = ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? "", "LINKD_HOME": home]
            let result = try LinkdProcess.run(arguments, input: input, environment: environment)
            #expect(result.code == code, "\(arguments): \(result.err)")
            return result
        }
        func work(records: Int) throws {
            _ = try run(["worker", "--group", input, "--stop-after", "\(records)", "--table", Self.shop] + names)
        }
        func read(_ arguments: String...) throws -> [String] {
            try run(["inspect"] + arguments).out.split(separator: "\n").map(String.init).sorted()
        }
        _ = try run(["topics", "create", "--replay", "--recall", "--partitions", "1"] + names)
        let expo = #"{"to":"ExponentPushToken[a]","data":{"url":"shop:///p/new"}}"#
        let list =
            #"[\#(expo),{"to":["ExponentPushToken[b]",5]},{"to":["ExpoPushToken[c]","ExpoPushToken[d]"]},{"x":1}]"#
        let event =
            #"{"specversion":"1.0","id":"ce","source":"/s","type":"t","data":{"link":"shop:///","device":{"id":"e"}}}"#
        let checked = try run(["produce", "--topic", input, "--dry-run"], input: list, code: 65)
        #expect(checked.err.contains("item 1: bad_device"), "\(checked.err)")
        _ = try run(["produce", "--topic", input, "--raw"], input: list + "\n" + expo.replacing("[a]", with: "[z]"))
        let type = "content-type=application/cloudevents-batch+json"
        _ = try run(["produce", "--topic", input, "--raw", "--header", type], input: #"[{"id":"x"},\#(event)]"#)
        try work(records: 3)
        #expect(
            try read("--topic", input + ".out", "-f", "%k %{decision}\\n")
                == [
                    "ExpoPushToken[c] \(input)-0-0.2-0", "ExpoPushToken[d] \(input)-0-0.2-1",
                    "ExponentPushToken[a] \(input)-0-0.0-0", "ExponentPushToken[z] \(input)-0-1-0",
                    "e \(input)-0-2.1-0",
                ])
        let format = "%{dlq.source.offset} %{dlq.item} %{dlq.reason} %{dlq.pointer} %{dlq.origin}\\n"
        let letters = try read("--topic", input, "--dlq", "-f", format)
        #expect(
            letters == ["0 1 bad_device /1/to/1 ", "0 3 missing_link /3 ", "2 0 bad_json /0 "], "\(letters)")
        let verify = ["verify", "--group", input] + names
        let verified = try run(verify + ["--json"])
        #expect(
            verified.out.contains(#""decisions":5"#) && verified.out.contains(#""dead_letters":3"#), "\(verified.out)")
        let why = try run([
            "inspect", "--why", "\(input)-0-0.2-1", "--topic", input + ".out", "--table", Self.shop, "--json",
        ])
        #expect(why.out.contains(#""same":true"#) && why.out.contains(#""item":2"#), "\(why.out)")
        #expect(why.out.contains("ExpoPushToken[d]") && !why.out.contains("ExponentPushToken[b]"), "\(why.out)")
        try recall(names, run)
        #expect(
            try read("--topic", input + ".out", "-f", "%{decision}\\n").filter { $0.hasSuffix("~1") }
                == ["\(input)-0-0.0-0~1", "\(input)-0-1-0~1"])
        _ = try run(["dlq", "replay", "--yes"] + names)
        let sent = try read("--topic", input, "--offset", "0:3", "--json").joined()
        #expect(sent.contains(#""value":{"to":["ExponentPushToken[b]",5]}}"#), "\(sent)")
        #expect(sent.contains(#""content-type":"application/cloudevents+json""#), "\(sent)")
        try work(records: 3)
        let again = try read("--topic", input, "--dlq", "-f", format).filter { !$0.hasSuffix(" ") }
        #expect(
            again.map { $0.split(separator: " ").suffix(1).joined() }.sorted()
                == ["\(input)-0-0.1", "\(input)-0-0.3", "\(input)-0-2.0"], "\(again)")
        #expect(again.allSatisfy { $0.contains("  ") }, "a message that is sent again alone has no item: \(again)")
        #expect(try read("--topic", input + ".out", "-f", "%k\\n").count == 7)
        _ = try run(verify)
    }

    /// Corrects the decisions of a route, which a table with another target takes the place of.
    private func recall(
        _ names: [String], _ run: (_ arguments: [String], _ input: String, _ code: Int32) throws -> CommandResult
    ) throws {
        let folder = try TemporaryFolder()
        let table = try String(contentsOfFile: Self.shop, encoding: .utf8)
        let other = table.replacing(#""/catalog/list", "parents""#, with: #""/account/profile", "parents""#)
            .replacing(#""/home/feed/catalog/list" }"#, with: #""/home/feed/account/profile" }"#)
        try other.write(toFile: folder.path("other.json"), atomically: true, encoding: .utf8)
        let hash = String(try RouteTable(json: Array(table.utf8)).hash.prefix(8))
        let tables = ["--table", hash, "--old", Self.shop, "--with", folder.path("other.json")]
        let result = try run(["recall", "--yes", "--to", names[3]] + tables + names, "", 0)
        #expect(result.out.contains("corrected 2 of 2"), "\(result.out)")
    }
}
