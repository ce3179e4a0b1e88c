import Foundation
import TestSupport
import Testing

/// Records that no worker has written.
@Suite(.enabled(if: BrokerEnvironment.hasBroker, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct ForeignRecordTests {
    /// Returns a decision in which some members are replaced or added.
    private static func decision(_ members: [(String, String)], of input: String, _ number: Int) -> String {
        var all = [
            ("decision", "\"\(input)-0-\(number)-0\""), ("event", "\"e-\(number)\""),
            ("device", "\"d-raw\""), ("table", "\"shop@1+d1ec0520\""), ("route", "\"item\""),
            ("outcome", "\"navigate\""), ("stack", "[]"),
        ]
        for (name, value) in members {
            all.removeAll { $0.0 == name }
            all.append((name, value))
        }
        return "{" + all.filter { $0.1 != "" }.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    private static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    /// Members of wrong types and sizes.
    private static let members: [[(String, String)]] =
        [
            "stack", "outcome", "route", "table", "event", "context", "resume", "notes", "via", "reason", "path",
            "device",
        ]
        .flatMap { name in
            ["\"text\"", "7", "-1.5e300", "null", "true", "{\"a\":{\"b\":[1]}}", "[1,\"a\",null,{},[[]]]", ""].map {
                [(name, $0)]
            }
        } + [
            [("stack", "[{\"data\":\"x\"},{\"data\":{\"P\":7}},{\"coordinator\":[],\"screen\":{}}]")],
            [("stack", nested(60))], [("stack", nested(600))], [("other", nested(20_000))],
            [("detail", "\"" + String(repeating: "x", count: 900_000) + "\"")],
            [("stack", "[" + String(repeating: "{},", count: 100_000) + "{}]")],
            [("outcome", "\"\\u0000\\u001b[31m\\u202e<img src=x>\"")], [("reason", "\"\\ud800\"")],
            [("context", "{\"campaign\":{\"a\":1},\"push\":7,\"application\":[]}")],
            [("table", "\"" + String(repeating: "@+", count: 10_000) + "\"")], [("outcome", "1e999999")],
            [("decision", "7")], [("decision", "null")], [("decision", "\"x-1\"")], [("decision", "")],
            [("decision", "\"other-topic-0-0-0\"")], [("decision", "\"a-0-99999999999999999999-0\"")],
        ]

    /// Whole records that are no decisions.
    private static let others: [[UInt8]] =
        [
            "7", "\"text\"", "[]", "null", "{}", "{\"decision\":", "not json", "\u{7F}", nested(100_000),
        ].map { Array($0.utf8) } + [
            [0xFF, 0xFE, 0x00], Array("{\"outcome\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8),
        ]

    /// Topics with foreign records in the place of decisions.
    private struct Site {
        let input = BrokerEnvironment.uniqueName("foreign")
        let bootstrap = BrokerEnvironment.bootstrapServers ?? ""
        let count: Int

        init() throws {
            let (input, bootstrap) = (input, bootstrap)
            let topics = ["--input", input, "--output", input + ".out"]
            try Self.run(["topics", "create", "-b", bootstrap, "--partitions", "1"] + topics)
            var lines = ForeignRecordTests.members.enumerated().map { index, members in
                Array(ForeignRecordTests.decision(members, of: input, index).utf8)
            }
            lines += ForeignRecordTests.others
            count = lines.count
            let file = FileManager.default.temporaryDirectory.appending(path: "\(input).raw")
            defer { try? FileManager.default.removeItem(at: file) }
            try Data(lines.joined(separator: [0x0A])).write(to: file)
            let flags = ["--raw", "--key", "d-raw", "-b", bootstrap, file.path]
            try Self.run(["produce", "--topic", input + ".out"] + flags)
            // The events to which the ids of the records lead.
            try Self.run(["produce", "--topic", input] + flags)
        }

        private static func run(_ arguments: [String]) throws {
            let result = try ChildProcess.run(
                ["env", "-i"] + RunningConsole.environment.map { "\($0.key)=\($0.value)" } + [BuiltProgram.linkd]
                    + arguments)
            guard result.status == 0 else { throw DriverFailure("\(arguments): \(result.errors)") }
        }

        func console(_ arguments: [String]) throws -> RunningConsole {
            try RunningConsole(
                ["-b", bootstrap] + arguments, environment: ["LINKD_INPUT": input, "LINKD_OUTPUT": input + ".out"])
        }
    }

    private func expectValid(_ schema: String, _ subjects: [SchemaValidator.Subject]) throws {
        guard SchemaValidator.isAvailable else { return }
        let errors = try SchemaValidator.errors(schema: schema, in: subjects)
        #expect(errors.isEmpty, "\(errors.values.joined().prefix(5))")
    }

    @Test("Strange records in the topic of decisions break no answer", arguments: [[], ["--mask"]])
    func strange(arguments: [String]) throws {
        let site = try Site()
        let console = try site.console(arguments)
        defer { console.process.stop() }
        let _: Bool = try eventually("the rows", seconds: 60) {
            try console.get("/api/decisions?limit=0")["total"].number == Double(site.count) ? true : nil
        }
        let rows = try console.get("/api/decisions?limit=200")
        var answers = [SchemaValidator.Subject(name: "rows", text: String(decoding: try rows.bytes, as: UTF8.self))]
        try expectValid("console/decisions", answers)
        answers = []
        var problems: [SchemaValidator.Subject] = []
        for row in rows["rows"].elements {
            let offset = Int(row["offset"].number ?? -1)
            let path = "/api/decision?partition=0&offset=\(offset)&around=3"
            let response = try console.send("GET \(path)", headers: [console.bearer])
            #expect([200, 404].contains(response.status), "\(offset): \(response.status) \(response.text.prefix(300))")
            let subject = SchemaValidator.Subject(name: "\(offset)", text: response.text)
            if response.status == 200 { answers.append(subject) } else { problems.append(subject) }
        }
        #expect(answers.count > 90 && problems.count > 10, "\(answers.count) answers, \(problems.count) problems")
        try expectValid("console/decision", answers)
        try expectValid("console/error", problems)
        for path in ["/api/decisions.csv", "/api/chart?kind=any&by=outcome"] {
            #expect(try console.send("GET \(path)", headers: [console.bearer]).status == 200, "\(path)")
        }
    }
}
