internal import StrictJSON
internal import Testing

@testable internal import LinkdCommands

/// The built program with a real broker.
@Suite(.enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct BrokerTests {
    private static func run(_ arguments: String..., input: String = "") throws -> CommandResult {
        try LinkdProcess.run(
            arguments, input: input, environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
    }

    @Test("Topics are created once and checked, and fewer partitions than requested are a finding")
    func topics() throws {
        let input = TestBroker.uniqueName("commands-topics")
        let names = ["--input", input, "--output", input + ".out"]
        func topics(_ arguments: String...) throws -> CommandResult {
            try LinkdProcess.run(
                ["topics"] + arguments + names, environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
        }
        let missing = try topics("check")
        #expect(missing.code == 1)
        #expect(missing.err.contains("does not exist"))
        let dry = try topics("create", "--dry-run")
        #expect(dry.code == 0)
        #expect(dry.out.contains("would be created"))
        let created = try topics("create", "--partitions", "3", "--json")
        #expect(created.code == 0, "\(created.err)")
        let json = try JSONValue.parse(Array(created.out.utf8))
        let states = json["topics"]?.array?.map { "\($0["topic"]?.string ?? "") \($0["state"]?.string ?? "")" }
        #expect(states == ["\(input) created", "\(input).out created", "\(input).dlq created"])
        #expect(try topics("create", "--partitions", "3").code == 0)
        let fewer = try topics("create", "--partitions", "4")
        #expect(fewer.code == 1)
        #expect(fewer.err.contains("has 3 partitions, 4 requested"))
        let checked = try topics("check", "--probe", "--json")
        #expect(checked.code == 0, "\(checked.err)")
        let deadLetters = try JSONValue.parse(Array(checked.out.utf8))["topics"]?.array?.last
        #expect(deadLetters?["max_message_bytes"]?.integer == Int64(1_048_588 + 65_536))
        #expect(deadLetters?["retention_ms"]?.integer == Int64(30 * 86_400_000))
        let pattern = try LinkdProcess.run(
            ["topics", "check", "--input", "^\(input)$", "--output", input + ".out", "--json"],
            environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
        #expect(pattern.code == 0, "\(pattern.err)")
        #expect(pattern.out.contains("\"topic\":\"\(input).dlq\"") || pattern.out.contains("\(input).dlq"))
    }

    @Test("A topic whose dead-letter topic cannot have its name does not keep the others from being created")
    func longName() throws {
        let input = TestBroker.uniqueName("commands-long")
        let long = input + String(repeating: "x", count: 249 - input.utf8.count)
        func topics(_ arguments: String...) throws -> CommandResult {
            try LinkdProcess.run(
                ["topics"] + arguments + ["--output", input + ".out"],
                environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
        }
        // The dead-letter topics are wrong on purpose.
        #expect(try topics("create", "--input", input, "--dlq-topic", "\(input).other").code == 0)
        #expect(try topics("create", "--input", long, "--dlq-topic", "\(input).other").code == 0)
        let created = try topics("create", "--input", "^\(input)(x+)?$")
        #expect(created.code == 78 && created.err.contains("at most 249 characters"), "\(created.err)")
        let checked = try topics("check", "--input", "^\(input)(x+)?$")
        #expect(checked.code == 1 && checked.err.contains("\(long).dlq does not exist"), "\(checked.err)")
        #expect(!checked.err.contains("\(input).dlq does not exist"), "\(checked.err)")
    }

    @Test("The topics of a replay are created as their dead letters are, and a ledger that forgets too soon is found")
    func replayTopics() throws {
        let input = TestBroker.uniqueName("commands-replay-topics")
        func topics(_ arguments: String..., names: [String]) throws -> CommandResult {
            try LinkdProcess.run(
                ["topics"] + arguments + names, environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
        }
        let names = ["--input", input, "--output", input + ".out"]
        let deadLetters = ["--partitions", "3", "--dlq-retention", "10d", "--set", "max.message.bytes=2000000"]
        #expect(try topics("create", names: names + deadLetters).code == 0)
        #expect(try !topics("check", names: names).out.contains(".replayed"))
        // The existing dead letters count, not the flags.
        let created = try topics("create", "--replay", names: names)
        #expect(created.out.contains("\(input).dlq.replayed") && created.out.contains("\(input).dlq.parked"))
        // The other topics have fewer partitions than requested.
        #expect(created.code == 1 && !created.err.contains("dlq.replayed has"), "\(created.err)")
        let checked = try topics("check", "--json", names: names)
        #expect(checked.code == 0, "\(checked.err)")
        let rows = try JSONValue.parse(Array(checked.out.utf8))["topics"]?.array?.suffix(2) ?? []
        #expect(rows.map { $0["topic"]?.string } == ["\(input).dlq.replayed", "\(input).dlq.parked"])
        #expect(rows.map { $0["role"]?.string } == ["replayed dead letters", "parked dead letters"])
        #expect(rows.map { $0["partitions"]?.integer } == [3, 3])
        #expect(rows.map { $0["cleanup_policy"]?.string } == ["delete", "delete"])
        #expect(rows.first?["retention_ms"]?.integer == Int64(47 * 86_400_000))
        #expect(rows.last?["retention_ms"]?.integer == Int64(30 * 86_400_000))
        #expect(rows.last?["max_message_bytes"]?.integer == Int64(2_000_000 + 65_536))
        // A regular expression matches none of them.
        let pattern = try topics("check", "--json", names: ["--input", "^\(input)", "--output", input + ".out"])
        #expect(pattern.out == checked.out)
    }

    @Test("A ledger with a retention shorter than its dead letters need is a finding")
    func shortLedger() throws {
        let input = TestBroker.uniqueName("commands-short-ledger")
        let names = ["--input", input, "--output", input + ".out"]
        func topics(_ arguments: String...) throws -> CommandResult {
            try LinkdProcess.run(
                ["topics"] + arguments + names, environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
        }
        // Segments of 60 days outlive the margin.
        let segment = String(60 * 86_400_000)
        #expect(try topics("create", "--replay", "--set", "segment.ms=\(segment)").code == 0)
        let checked = try topics("check")
        #expect(checked.code == 1)
        #expect(
            checked.err.contains("\(input).dlq.replayed keeps entries for 67d, and dead letters exist for 90d"),
            "\(checked.err)")
    }

    @Test("Produced records are inspected with keys, headers, filters, and formats")
    func produceAndInspect() throws {
        let topic = TestBroker.uniqueName("commands-produce")
        #expect(
            try Self.run("topics", "create", "--input", topic, "--output", topic + ".out", "--partitions", "3").code
                == 0)
        let lines = """
            {"id":"e1","link":"shop:///","device":{"id":"d-1"}}
            not an event
            {"id":"e2","link":"shop:///","devices":[{"id":"d-2"},{"id":"d-3"}]}
            shop:///p/new
            """
        let sent = try Self.run(
            "produce", "--topic", topic, "--device", "d-9", "--header", "a=1", "--json", input: lines)
        #expect(sent.code == 65, "\(sent.err)")
        #expect(sent.err.contains("standard input, line 2: bad_json: expected a JSON object or a link, which begins"))
        #expect(sent.err.contains("(line not sent)"))
        let counts = #"{"read":4,"skipped":0,"sent":3,"delivered":3,"failed":0,"possibly_stored":0,"unreadable":1,"#
        #expect(sent.out.hasPrefix(counts), "\(sent.out)")
        let keys = try Self.run("inspect", "--topic", topic, "-f", "%k %{id} %h\\n")
        #expect(keys.code == 0, "\(keys.err)")
        #expect(keys.out.split(separator: "\n").sorted() == ["d-1 e1 a=1", "d-2 e2 a=1", "d-9  a=1"])
        let one = try Self.run("inspect", "--topic", topic, "--device", "d-1", "--json")
        #expect(one.out.contains(#""key":"d-1","headers":{"a":"1"},"value":{"id":"e1""#), "\(one.out)")
        #expect(try Self.run("inspect", "--topic", topic, "--since", "2999-01-01").out == "")
        #expect(try Self.run("inspect", "--topic", topic, "--until", "2000-01-01").out == "")
        #expect(try Self.run("inspect", "--topic", topic, "--count", "1", "-f", "x").out == "x")
        #expect(try Self.run("inspect", "--topic", topic, "--partition", "2", "-f", "x").code == 0)
        let none = try Self.run("inspect", "--topic", topic, "--partition", "99")
        #expect(none.code == 64)
        #expect(none.err.contains("\(topic) has 3 partitions, 0 to 2; 99 is not one of them"), "\(none.err)")
    }

    @Test("Empty input is not a failure, and --count stops")
    func counts() throws {
        let topic = TestBroker.uniqueName("commands-count")
        #expect(try Self.run("topics", "create", "--input", topic, "--output", topic + ".out").code == 0)
        let none = try Self.run("produce", "--topic", topic)
        #expect(none.code == 0)
        #expect(none.out.hasPrefix("read 0, sent 0, delivered 0, failed 0"))
        let some = try Self.run("produce", "--topic", topic, "--count", "2", "--json", input: "a:1\nb:2\nc:3\n")
        #expect(some.code == 0)
        #expect(some.out.contains(#""sent":2,"delivered":2,"#))
        #expect(some.out.contains(#""without_key":2"#))
        let placed = try Self.run("produce", "-t", topic, "--partition", "0", "--skip", "1", input: "a:1\nb:2\n")
        #expect(placed.out.hasPrefix("read 1, skipped 1, sent 1, delivered 1, failed 0"), "\(placed.err)")
        let wrong = try Self.run("produce", "-t", topic, "--partition", "99", input: "a:1\n")
        #expect(wrong.code == 64)
        #expect(wrong.err.contains("; 99 is not one of them"), "\(wrong.err)")
    }

    @Test(
        "A missing topic ends with exit code 78 and the command that creates it",
        arguments: ["produce", "inspect"])
    func missingTopic(command: String) throws {
        let result = try Self.run(command, "--topic", TestBroker.uniqueName("commands-none"))
        #expect(result.code == 78)
        #expect(result.err.contains("`linkd topics create`"))
    }
}

/// The built program as a user without access rights.
@Suite(.enabled(if: TestBroker.refusing != nil, "no broker with access rules: KAFKA_SECURE_BOOTSTRAP is not set"))
struct RefusalTests {
    @Test(
        "A denied operation ends with exit code 77",
        arguments: [["produce"], ["inspect"], ["topics", "create"], ["topics", "check"], ["inspect", "--dlq"]])
    func notAllowed(arguments: [String]) throws {
        let result = try LinkdProcess.run(arguments, environment: TestBroker.refusing ?? [:])
        #expect(result.code == 77, "\(result.err)")
        #expect(result.err.contains("exit 77 (refused)"))
        #expect(!result.err.contains("mallory-secret"))
    }

    @Test("A wrong password ends with exit code 77 at once, and is not printed")
    func wrongPassword() throws {
        var environment = TestBroker.refusing ?? [:]
        environment["KAFKA_SASL_PASSWORD"] = "not-the-password"
        let result = try LinkdProcess.run(["topics", "check"], environment: environment)
        #expect(result.code == 77, "\(result.err)")
        #expect(result.err.contains("refused the user name or the password. Next: check KAFKA_SASL_USERNAME"))
        #expect(!result.err.contains("not-the-password"))
    }
}
