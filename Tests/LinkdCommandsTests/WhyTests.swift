internal import Foundation
internal import KafkaClient
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

@Suite struct DecisionIDTests {
    @Test(
        "The id of a decision is read from its end",
        arguments: [
            ("link-events-0-42-0", "link-events", 0, 42, 0), ("events-1-0-5-0", "events-1", 0, 5, 0),
            ("t-0-0-499", "t", 0, 0, 499), ("a.b_c-7-9223372036854775807-1", "a.b_c", 7, .max, 1),
            ("-1-2-3", nil, 0, 0, 0), ("t-0-1-0~1", "t", 0, 1, 0), ("t-0-1-0~999", "t", 0, 1, 0),
            ("t-0-1.0-0", "t", 0, 1, 0), ("a.5-7-9223372036854775807.99-499~2", "a.5", 7, .max, 499),
        ] as [(String, String?, Int32, Int64, Int)])
    func valid(text: String, topic: String?, partition: Int32, offset: Int64, index: Int) {
        let id = DecisionID(text)
        #expect(id?.topic == topic)
        guard let id else { return }
        #expect((id.partition, id.offset, id.place.index) == (partition, offset, index))
        #expect(id.text == text)
    }

    @Test(
        "Any other text is not an id, and ends with exit code 64",
        arguments: [
            "link-events", "t-0-1", "link-decisions-0", "link-decisions-0-x", "t-0-1-500", "t-0-1-", "t-0--1-0",
            "t-01-1-0", "t-0-+1-0", "t-x-1-0",
            "t-2147483648-0-0", "t-0-9223372036854775808-0", "a b-0-1-0", "\u{1B}-0-1-0", "t-0-1-٣",
            "t-0-1-0~", "t-0-1-0~0", "t-0-1-0~01", "t-0-1-0~1000", "t-0-1-0~-1", "t-0-1-0~1~1", "t-0-1~1", "~1",
            "t-0-1.100-0", "t-0-1.00-0", "t-0-1.-0", "t-0.1-0-0", "t-0-1-0.1", "t-0-1-0 ~1", "t-0-1-0~1 ", "t~1-0-1-0",
            "t-0-1~1-0", "t-0-1-0~99999999999999999999",
        ])
    func invalid(text: String) {
        #expect(DecisionID(text) == nil)
        let result = linkd("inspect", "-b", "127.0.0.1:1", "--why", text)
        #expect(result.code == 64)
        #expect(!result.err.contains("\u{1B}"))
    }

    @Test("A text is an id only if the id has the same text")
    func law() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "a", "0", "1", "499", "500", "-", "--", ".", "_", "~", "~1", "999", "\u{1B}", "٣",
            "9223372036854775807", "2147483648",
        ]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            if let id = DecisionID(text) { #expect(id.text == text, "seed \(seed)") }
        }
    }

    @Test("Every id is read back from its text, and the corrections of an id lead back to it")
    func roundTrip() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let topic = ["t", "a-1", "link-events-0-1", "x.y_z", "0-0-0-0"].randomElement(using: &random) ?? "t"
            let text =
                "\(topic)-\(Int32.random(in: 0 ... .max, using: &random))"
                + "-\(Int64.random(in: 0 ... .max, using: &random))-\(Int.random(in: 0...499, using: &random))"
            let id = try #require(DecisionID(text), "seed \(seed)")
            #expect(id.text == text && id.superseded == nil && id.original == id, "seed \(seed)")
            let first = try #require(id.next)
            let second = try #require(first.next)
            #expect(first.text == text + "~1" && second.text == text + "~2", "seed \(seed)")
            for corrected in [first, second] {
                #expect(DecisionID(corrected.text) == corrected, "seed \(seed)")
                #expect(corrected.original == id, "seed \(seed)")
            }
            #expect(second.superseded == first && first.superseded == id, "seed \(seed)")
        }
        #expect(DecisionID("t-0-1-0~999")?.next == nil)
    }

    @Test("A correction has the bytes of the decision, its own id, and the id that it supersedes")
    func published() throws {
        let decision = Array(#"{"decision":"t-0-1-0","event":"t-0-1"}"#.utf8)
        let id = try #require(DecisionID("t-0-1-0"))
        #expect(id.published(decision) == decision)
        let second = try #require(DecisionID("t-0-1-0~2"))
        let text = #"{"decision":"t-0-1-0~2","supersedes":"t-0-1-0~1","event":"t-0-1"}"#
        #expect(second.published(decision) == Array(text.utf8))
        #expect(DecisionID("t-0-1-01") == nil)
        #expect(DecisionID("t-0-1-1")?.published(decision) == nil)
    }

    @Test("A position in the topic of decisions is not read as an id")
    func position() {
        let position = DecisionReference.position(TopicPartition(topic: "events-1", partition: 0), offset: 5)
        #expect(DecisionReference("events-1-0-5", outputs: ["events-1"]) == position)
        #expect(DecisionReference("events-1-0-5", outputs: ["out"]) == DecisionID("events-1-0-5").map { .id($0) })
        #expect(DecisionReference("out-1-0-5", outputs: ["out"]) == DecisionID("out-1-0-5").map { .id($0) })
        #expect(DecisionReference("events-1-0-5", outputs: ["out", "events", "events-1"]) == position)
        #expect(DecisionReference("out-1-0", outputs: ["in"]) == nil)
    }

    @Test(
        "--why excludes the flags that choose records",
        arguments: [["--last", "1"], ["--dlq"], ["--csv"], ["--offset", "0:1"]])
    func usage(flags: [String]) {
        #expect(linkd(["inspect", "-b", "127.0.0.1:1", "--why", "t-0-1-0"] + flags).code == 64)
    }
}

/// `linkd inspect --why` with a real broker.
@Suite(.enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct WhyTests {
    private static let environment = ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""]
    private static let shop = Checkout.root.appending(path: "config/routes/shop.json").path

    private static func linkd(_ arguments: [String], input: String = "") throws -> CommandResult {
        try LinkdProcess.run(arguments, input: input, environment: environment)
    }

    @Test("The reason is explained if resolving again yields the same bytes, also after the table has changed")
    func why() throws {
        let topic = TestBroker.uniqueName("why")
        let state = FileManager.default.temporaryDirectory.appending(path: topic).path
        defer { try? FileManager.default.removeItem(atPath: state) }
        let names = ["--input", topic, "--output", topic + ".out"]
        #expect(try Self.linkd(["topics", "create", "--partitions", "3"] + names).code == 0)
        let events = """
            {"id":"e1","link":"shop:///p/new","device":{"id":"d-1","app":"6.0"},"campaign":"c"}
            {"id":"e2","link":"shop:///nope","devices":[{"id":"d-2","app":"6.0"},{"id":"d-3"},{"id":"d-4"}]}
            {"id":"e3","link":"shop:///","expires":"2020-01-01T00:00:00Z","device":{"id":"d-5"}}
            """
        #expect(try Self.linkd(["produce", "--topic", topic], input: events).code == 0)
        let settings = ["--table", Self.shop, "--passthrough", "campaign"]
        let worked = try Self.linkd(
            ["worker", "--group", topic, "--stop-after", "3", "--state-dir", state] + settings + names)
        #expect(worked.code == 0, "\(worked.err)")
        let printed = try Self.linkd(["inspect", "--topic", topic + ".out", "-f", "%{decision}\\n"])
        let ids = printed.out.split(separator: "\n").map(String.init)
        try #require(ids.count == 5, "exit code \(printed.code): \(printed.err)")
        func why(_ id: String, _ flags: [String]) throws -> JSONValue {
            let result = try Self.linkd(["inspect", "--topic", topic + ".out", "--why", id, "--json"] + flags)
            #expect(result.code == 0, "\(result.err)")
            return try JSONValue.parse(Array(result.out.utf8))
        }
        for id in ids {
            let report = try why(id, settings)
            #expect(report["same"]?.text == "true", "\(report.text)")
            #expect(report["decision"]?["decision"]?.string == id)
            #expect(report["table"]?["source"]?.string == "file")
            #expect(report["explain"]?.object?.isEmpty == false)
        }
        let text = try Self.linkd(["inspect", "--topic", topic + ".out", "--why", ids[0]] + settings)
        #expect(text.out.contains("the reason:\n"), "\(text.out)")
        try Self.expired(topic, settings)
        // Without the setting of the worker, the context differs.
        let bare = try why(ids[0], ["--table", Self.shop, "--passthrough", "none"])
        let isPassed = bare["decision"]?["context"]?["campaign"] != nil
        #expect(bare["same"]?.text == (isPassed ? "false" : "true"))
        try Self.afterChange(ids[0], state: state, why)
        #expect(
            try Self.linkd(["inspect", "--topic", topic + ".out", "--why", "\(topic)-0-99-0"] + settings).code == 1)
        // Without the topic of the events, only the decision is known.
        let admin = try KafkaAdmin(["bootstrap.servers": TestBroker.plain ?? ""])
        _ = try admin.delete(topics: [topic], timeoutMilliseconds: 30_000)
        let gone = try why(ids[0], settings)
        #expect(gone["input"]?.isNull == true && gone["same"]?.isNull == true, "\(gone.text)")
        #expect(gone["warnings"]?.array?.first?.string?.contains("no longer exists") == true)
    }

    @Test("A decision of an older version is explained, and what it lacks is named")
    func older() throws {
        let topic = TestBroker.uniqueName("older")
        let names = ["--input", topic, "--output", topic + ".out"]
        #expect(try Self.linkd(["topics", "create"] + names).code == 0)
        let event =
            #"{"id":"e","application":"com.example.shop","link":"shop:///p/new?utm_source=mail","device":{"id":"d"},"#
            + #""campaign":"c","expires":"2999-01-01T00:00:00Z"}"#
        #expect(try Self.linkd(["produce", "--topic", topic], input: event + "\n").code == 0)
        let worker = ["worker", "--group", topic, "--stop-after", "1", "--table", Self.shop] + names
        #expect(try Self.linkd(worker).code == 0)
        let output = topic + ".out"
        let now = try Self.linkd(["inspect", "--topic", output, "-f", "%s\\n"]).out
        let application = #","application":"com.example.shop""#
        let campaign = #","context":{"campaign":"c"}"#
        let query = #","query":{"utm_source":"mail"}"#
        let context = #","context":{"campaign":"c","expires":"2999-01-01T00:00:00Z"\#(query)}"#
        try #require(now.contains(#""device":"d"\#(application),"#) && now.contains(context), "\(now)")
        let id = try Self.linkd(["inspect", "--topic", output, "-f", "%{decision}"]).out
        let plain = now.replacing(context, with: campaign)
        let bare = plain.replacing(application, with: "")
        for (old, missing) in [
            (now.replacing(query, with: ""), "it has no `query` in `context`, and is"),
            (plain, "it has no `expires`, `query`, or values for delivery in `context`, and is"),
            (bare, "it has no `application`, and no `expires`, "),
            (plain.replacing(campaign, with: ""), "no `campaign` in `context`, and no `expires`, "),
            (bare.replacing(campaign, with: ""), "no `application`, and no `campaign` in `context`, and no `expires`"),
        ] {
            // Each has its own topic, because the first decision with the id is explained.
            let own = TestBroker.uniqueName("older-out")
            #expect(try Self.linkd(["topics", "create", "--input", topic, "--output", own]).code == 0)
            #expect(try Self.linkd(["produce", "--topic", own, "--raw"], input: old).code == 0)
            let result = try Self.linkd(
                ["inspect", "--topic", own, "--why", id, "--json", "--table", Self.shop])
            try #require(result.code == 0, "\(result.err)")
            let report = try JSONValue.parse(Array(result.out.utf8))
            #expect(report["same"]?.text == "true", "\(report.text)")
            #expect(report["warnings"]?.text.contains(missing) == true, "\(report.text)")
        }
    }

    /// The reason for an expired event is its expiry, and the decision is also found by its position.
    private static func expired(_ topic: String, _ settings: [String]) throws {
        let output = topic + ".out"
        let place = try linkd(["inspect", "--topic", output, "--reason", "expired", "-f", "%t-%p-%o"]).out
        let text = try linkd(["inspect", "--topic", output, "--why", place] + settings)
        #expect(text.code == 0, "\(text.err)")
        let words = "expired    the event expires at 2020-01-01T00:00:00Z, and the time of its record is later"
        #expect(text.out.contains("the reason:\n    \(words)\nwithout an expiry,"), "\(text.out)")
        let missing = try linkd(["inspect", "--topic", output, "--why", "\(output)-0-99"] + settings)
        #expect(missing.code == 1 && missing.err.contains("is not the position of a decision"), "\(missing.err)")
    }

    /// The table of a decision is in the archive after its file has changed, and a warning says so if it is not.
    private static func afterChange(
        _ id: String, state: String, _ why: (String, [String]) throws -> JSONValue
    ) throws {
        let changed = try String(contentsOfFile: shop, encoding: .utf8) + "\n"
        try withTemporaryFile(changed) { path in
            let flags = ["--table", path, "--passthrough", "campaign"]
            let archived = try why(id, flags + ["--state-dir", state])
            #expect(archived["same"]?.text == "true", "\(archived.text)")
            #expect(archived["table"]?["source"]?.string == "archive")
            let missing = try why(id, flags)
            #expect(missing["same"]?.text == "false")
            #expect(missing["table"]?.isNull == true)
            #expect(missing["differences"]?.array?.map { $0["member"]?.string } == ["table"])
            #expect(missing["warnings"]?.array?.first?.string?.contains("is not at hand") == true)
        }
    }
}
