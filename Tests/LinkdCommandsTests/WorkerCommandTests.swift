internal import Foundation
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

@Suite struct WorkerCommandTests {
    private static let shop = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../config/routes/shop.json").standardizedFileURL.path

    /// Returns the last line of a worker's log, parsed.
    private static func last(_ result: CommandResult) throws -> JSONValue {
        try JSONValue.parse(Array((result.err.split(separator: "\n").last ?? "").utf8))
    }

    @Test(
        "A worker that cannot start reports the reason in its last line",
        arguments: [
            (["--tabel", "x"], 64, "no flag --tabel"), ([], 64, "no broker is specified"),
            (["-b", "127.0.0.1:1"], 64, "no route table is specified"),
            (["-b", "127.0.0.1:1", "--table", "/no/such.json"], 78, "/no/such.json cannot be read"),
            (["-b", "127.0.0.1:1", "--table", shop, "--start-timeout", "1s"], 69, "no broker"),
            (["-b", "127.0.0.1:1", "--table", shop, "--lanes", "65"], 64, "1..64"),
        ])
    func start(arguments: [String], code: Int32, message: String) throws {
        let result = try LinkdProcess.run(["worker"] + arguments)
        #expect(result.code == code, "\(result.err)")
        #expect(result.err.split(separator: "\n").last?.contains(message) == true, "\(result.err)")
        #expect(result.out == "")
    }

    @Test("Without standard error, the log is not written into a file of the worker")
    func closedStandardError() throws {
        let folder = try TableFolder()
        let worker = ["worker", "-b", "127.0.0.1:1", "--table", Self.shop, "--start-timeout", "1s", "--state-dir"]
        let result = try ChildProcess.run(
            ["sh", "-c", "exec \"$@\" 2>&-", "sh", BuiltProgram.linkd] + worker + [folder.path("state")])
        #expect(result.status == 69)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("state/lock"))).isEmpty)
    }

    /// The arguments and variables of a worker with a wrong setting, and its exit code.
    static let wrongSettings: [([String], [String: String], Int32)] = [
        (["--lanes", "65"], [:], 64), ([], ["LINKD_LANES": "65"], 78), ([], ["LINKD_NOSUCH": "1"], 78),
        (["--config", "/no/such.toml"], [:], 78), (["--log-format", "xml"], [:], 64),
        (["--lanes", "65", "--log-format", "json"], ["LINKD_LOG_FORMAT": "text"], 64),
        (["--tabel", "x"], [:], 64), (["operand"], [:], 64), (["--lanes"], ["LINKD_LOG_FORMAT": "json"], 64),
        (["--tabel", "x", "--log-format=json"], ["LINKD_LOG_FORMAT": "text"], 64),
        (["--devices-topic", "d", "--guarantee", "at-least-once"], [:], 78),
    ]

    @Test("A wrong setting is the last line of the log in its format", arguments: wrongSettings)
    func wrongSetting(arguments: [String], variables: [String: String], code: Int32) throws {
        let worker = ["worker", "-b", "127.0.0.1:1", "--table", Self.shop]
        let result = try LinkdProcess.run(worker + arguments, environment: variables)
        #expect(result.code == code, "\(result.err)")
        let last = try Self.last(result)
        #expect(last["event"]?.string == "exit")
        #expect(last["code"]?.integer == Int64(code))
        #expect(last["advice"]?.string?.isEmpty == false)
    }

    @Test(
        "With the text format, a wrong setting has the same last line as in other commands",
        arguments: [["--lanes", "65"], ["--tabel", "x"]])
    func wrongSettingAsText(arguments: [String]) throws {
        let worker = ["worker", "-b", "127.0.0.1:1", "--table", Self.shop, "--log-format", "text"]
        let result = try LinkdProcess.run(worker + arguments)
        #expect(result.code == 64)
        #expect(result.err.hasPrefix("exit 64 (usage): "), "\(result.err)")
    }

    @Test("An invalid table ends with exit code 65, and its problems are log lines with locations")
    func badTable() throws {
        try withTemporaryFile("{\n  \"schemaVersion\": 1,\n  \"rutes\": []\n}") { path in
            let result = try LinkdProcess.run(["worker", "-b", "127.0.0.1:1", "--table", path])
            #expect(result.code == 65)
            let lines = try result.err.split(separator: "\n").map { try JSONValue.parse(Array($0.utf8)) }
            #expect(lines.first?["event"]?.string == "table.refused")
            #expect(lines.contains { $0["line"]?.integer == Int64(3) })
            #expect(lines.last?["event"]?.string == "exit")
            #expect(lines.last?["code"]?.integer == Int64(65))
        }
    }

    @Test("Two tables that list the same application end a worker with exit code 65 and both places")
    func sharedApplication() throws {
        let table = try String(contentsOfFile: Self.shop, encoding: .utf8)
        try withTemporaryFile(table) { path in
            let result = try LinkdProcess.run(["worker", "-b", "127.0.0.1:1", "--table", Self.shop, "--table", path])
            #expect(result.code == 65, "\(result.err)")
            let lines = try result.err.split(separator: "\n").map { try JSONValue.parse(Array($0.utf8)) }
            let refused = try #require(lines.first { $0["code"]?.string == "shared_application" })
            #expect(refused["event"]?.string == "table.refused" && refused["file"]?.string == path)
            let position = ":\(refused["line"]?.integer ?? 0):\(refused["column"]?.integer ?? 0)"
            #expect(refused["message"]?.string?.hasSuffix("first listed at \(Self.shop)\(position)") == true)
            let reason = lines.last?["reason"]?.string
            #expect(reason?.contains("(\(Self.shop)\(position), \(path)\(position))") == true)
        }
    }
}

/// The worker with a real broker.
@Suite(.enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct WorkerBrokerTests {
    private static let config = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../config").standardizedFileURL.path
    private static let environment = ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""]

    @Test("Events become decisions or dead letters, and the report counts them")
    func endToEnd() throws {
        let input = TestBroker.uniqueName("commands-worker")
        let topics = ["--input", input, "--output", input + ".out"]
        #expect(try LinkdProcess.run(["topics", "create"] + topics, environment: Self.environment).code == 0)
        let events = """
            {"id":"e1","link":"shop:///p/new","device":{"id":"d-1","app":"6.0"}}
            {"id":"e2","link":"shop:///nope","device":{"id":"d-2","app":"6.0"}}
            {"id":"e3"}
            """
        #expect(
            try LinkdProcess.run(["produce", "--raw", "--topic", input], input: events, environment: Self.environment)
                .code == 0)
        let worked = try LinkdProcess.run(
            ["worker", "--table", Self.config + "/routes/shop.json", "--group", input, "--stop-after", "3"]
                + ["--report", "json"] + topics, environment: Self.environment)
        #expect(worked.code == 0, "\(worked.err)")
        let report = try JSONValue.parse(Array(worked.out.utf8))
        #expect(report["records"]?.integer == Int64(3))
        #expect(report["decisions"]?.integer == Int64(2))
        #expect(report["dead_letters"]?.integer == Int64(1))
        #expect(report["version"]?.string == LinkdVersion.text)
        let decisions = try LinkdProcess.run(
            ["inspect", "--topic", input + ".out", "-f", "%k %{outcome} %{route} %{reason}\\n"],
            environment: Self.environment)
        #expect(
            decisions.out.split(separator: "\n").sorted() == ["d-1 navigate new-items ", "d-2 reject  no_route"])
        let dead = try LinkdProcess.run(
            ["inspect", "--topic", input + ".dlq", "-f", "%{dlq.reason} %{dlq.event} %s"], environment: Self.environment
        )
        #expect(dead.out == #"missing_link e3 {"id":"e3"}"#)
    }

    @Test("A missing input or output topic ends with exit code 78 and the command that creates it")
    func missingTopics() throws {
        let input = TestBroker.uniqueName("commands-missing")
        let table = ["--table", Self.config + "/routes/shop.json"]
        let missing = try LinkdProcess.run(
            ["worker", "--input", input, "--output", input + ".out"] + table, environment: Self.environment)
        #expect(missing.code == 78, "\(missing.err)")
        #expect(missing.err.contains(input))
        #expect(missing.err.contains("linkd topics create"))
        #expect(
            try LinkdProcess.run(
                ["topics", "create", "--input", input, "--output", input + ".out"], environment: Self.environment
            ).code == 0)
        let output = try LinkdProcess.run(
            ["worker", "--input", input, "--output", input + ".none"] + table, environment: Self.environment)
        #expect(output.code == 78)
        #expect(output.err.contains(input + ".none"))
    }
}

/// The worker as a user with all rights except that to write decisions.
@Suite(
    .enabled(
        if: TestBroker.refusing != nil && TestBroker.plain != nil && TestBroker.script != nil,
        "no broker whose access rules the tests can set: LINKD_TEST_BROKER is not set"))
struct WorkerRefusalTests {
    private static let config = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../config").standardizedFileURL.path

    /// The topics and access rights of a group.
    private static func prepare(_ name: String) throws -> [String] {
        let topics = ["--input", name, "--output", name + ".out"]
        let plain = ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""]
        #expect(try LinkdProcess.run(["topics", "create"] + topics, environment: plain).code == 0)
        let event = #"{"id":"e1","link":"shop:///p/new","device":{"id":"d-1"}}"#
        #expect(try LinkdProcess.run(["produce", "--topic", name], input: event, environment: plain).code == 0)
        let allow = ["acls", "--add", "--allow-principal", "User:mallory"]
        try TestBroker.tool(allow + ["--operation", "Read", "--topic", name, "--group", name])
        try TestBroker.tool(allow + ["--operation", "Describe", "--topic", name + ".out"])
        try TestBroker.tool(allow + ["--operation", "Write", "--topic", name + ".dlq"])
        try TestBroker.tool(
            allow + [
                "--operation", "Write", "--transactional-id", "linkd.\(name).", "--resource-pattern-type", "prefixed",
            ])
        return topics
    }

    @Test("A denied output topic ends with exit code 77, and `topics check --probe` reports it")
    func forbiddenOutput() throws {
        let name = TestBroker.uniqueName("commands-denied")
        let topics = try Self.prepare(name)
        let environment = TestBroker.refusing ?? [:]
        let worker = try LinkdProcess.run(
            ["worker", "--group", name, "--table", Self.config + "/routes/shop.json", "--stop-after", "1"] + topics,
            environment: environment)
        #expect(worker.code == 77, "\(worker.err)")
        let last = try JSONValue.parse(Array((worker.err.split(separator: "\n").last ?? "").utf8))
        #expect(last["event"]?.string == "exit")
        #expect(last["code"]?.integer == Int64(77))
        #expect(last["reason"]?.string?.hasPrefix("User:mallory lacks Write on Topic \(name).out or ") == true)
        let check = try LinkdProcess.run(
            ["topics", "check", "--probe"] + topics, environment: environment.merging(["LINKD_GROUP": name]) { $1 })
        #expect(check.code == 77, "\(check.err)")
        let missing = "User:mallory lacks Write on Topic \(name).out"
        #expect(check.out.contains("\(name).out cannot be used: \(missing)"), "\(check.out)")
        let produce = try LinkdProcess.run(
            ["produce", "--topic", name + ".out", "--json"], input: "a:1\nb:2\n", environment: environment)
        #expect(produce.code == 77, "\(produce.err)")
        #expect(produce.out.contains(#""sent":2,"delivered":0,"failed":2"#), "\(produce.out)")
    }
}
