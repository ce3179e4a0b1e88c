@testable import RouteTools
internal import Foundation
internal import StrictJSON
internal import Testing

@testable internal import LinkdCommands

@Suite struct ResolveTests {
    private static let home = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../config").standardizedFileURL.path

    private static func run(_ arguments: [String], input: String = "") throws -> CommandResult {
        try LinkdProcess.run(arguments, input: input, environment: ["LINKD_HOME": home])
    }

    @Test("Every sample event has the expected decision", arguments: ["articles", "shop", "pushes"])
    func samples(name: String) throws {
        let text = try String(contentsOfFile: Self.home + "/samples/\(name).jsonl", encoding: .utf8)
        let lines = text.split(separator: "\n").map(String.init)
        for line in lines {
            let event = try JSONValue.parse(Array(line.utf8))
            // Without a broker there is no record timestamp, so no event can expire.
            guard event["expires"] == nil else { continue }
            let result = try Self.run(["resolve", "--json"], input: line + "\n")
            let out = result.out.split(separator: "\n")
            #expect(out.count == event["devices"]?.array?.count ?? 1, "\(line)\n\(result.out)\(result.err)")
            for decision in try out.map({ try JSONValue.parse(Array($0.utf8)) }) {
                for expected in event["expect"]?.object ?? [] where !expected.value.isNull {
                    var expectedText = JSONText()
                    expectedText.value(nil, expected.value)
                    var actual = JSONText()
                    actual.value(nil, decision[expected.name] ?? JSONValue(.null))
                    #expect(actual.finish() == expectedText.finish(), "\(expected.name) of \(line)")
                }
            }
        }
    }

    @Test("Links in arguments are resolved with facts and printed for people")
    func readable() throws {
        let result = try Self.run([
            "resolve", "--device", #"{"app":"6.0","platform":"ios"}"#,
            "https://shop.example/p/B121D5E7-EA65-49F8-8B33-B3C43FA93866?count=2", "shop:///o/12",
        ])
        #expect(result.code == 0, "\(result.err)")
        #expect(result.out.contains("home > feed > catalog > list > item"))
        #expect(result.out.contains("item: Product id=B121D5E7-EA65-49F8-8B33-B3C43FA93866, count=2"))
        #expect(result.out.contains("home > feed > account > profile > order"))
    }

    @Test(
        "An input that would become a dead letter is reported and ends with exit code 65",
        arguments: [
            ("nope", "bad_json", "decode", nil), (#"{"link":7}"#, "bad_json", "decode", "/link"),
            (#"{"link":"shop:///"}"#, "missing_device", "validate", nil),
            (#"{"link":"a:b","path":"/x","device":{"id":"d"}}"#, "ambiguous_event", "validate", "/path"),
            (
                #"{"application":"none","link":"a:b","device":{"id":"d"}}"#, "application_unknown", "validate",
                "/application"
            ),
        ])
    func deadLetters(input: String, reason: String, stage: String, pointer: String?) throws {
        let result = try Self.run(["resolve", "--json", "shop:///", input])
        #expect(result.code == 65)
        let lines = result.out.split(separator: "\n")
        #expect(lines.count == 2)
        let letter = try JSONValue.parse(Array(lines[1].utf8))["dead_letter"]
        #expect(letter?.object?.map(\.name) == ["reason", "stage", "pointer", "detail"])
        #expect(letter?["reason"]?.string == reason)
        #expect(letter?["stage"]?.string == stage)
        #expect(letter?["pointer"]?.string == pointer)
        #expect(result.err.contains("exit 65 (bad data): 1 of 2 inputs would become a dead letter"))
    }

    @Test("--explain prints an explanation for people, or as the last member of the decision")
    func explain() throws {
        let arguments = ["resolve", "--explain", "--device", #"{"app":"3.9.0"}"#]
        let link = "shop:///p/B121D5E7-EA65-49F8-8B33-B3C43FA93866"
        let readable = try Self.run(arguments + [link])
        for words in ["/p/{id:uuid}", "chosen", "no: segment 1 is not `new`", "3.9.0", "decision   external"] {
            #expect(readable.out.contains(words), "\(words) in \(readable.out)")
        }
        let json = try Self.run(arguments + ["--json", link])
        let plain = try Self.run(["resolve", "--device", #"{"app":"3.9.0"}"#, "--json", link])
        #expect(json.out.hasPrefix(plain.out.dropLast(2)))
        let decision = try JSONValue.parse(Array(json.out.utf8))
        #expect(decision.object?.last?.name == "explain")
        #expect(decision["explain"]?["candidates"]?.array?.first?["route"]?.string == "item")
    }

    @Test("Terminal control is escaped in output for people")
    func escaping() throws {
        let result = try Self.run(["resolve", "shop:///search?q=%1B%5B31m"])
        #expect(!result.out.contains("\u{1B}"))
    }

    @Test("A wrong --device ends with exit code 64", arguments: ["{", "7", "[]"])
    func wrongDevice(json: String) throws {
        let result = try Self.run(["resolve", "--device", json + " ", "shop:///"])
        #expect(result.code == 64, "\(result.err)")
    }

    @Test("The shipped tables are valid and listed")
    func shipped() throws {
        let checked = try Self.run(["routes", "check", "--json"])
        #expect(checked.code == 0, "\(checked.err)")
        let tables = try JSONValue.parse(Array(checked.out.utf8))["tables"]?.array ?? []
        #expect(tables.count == 5)
        for table in tables {
            #expect(table["problems"]?.array?.isEmpty == true)
            #expect((table["examples"]?.integer ?? 0) > 0)
        }
        let list = try Self.run(["routes", "list"])
        #expect(list.code == 0)
        #expect(list.out.contains("/p/{id:uuid}"))
        let json = try JSONValue.parse(Array(try Self.run(["routes", "list", "--json"]).out.utf8))
        #expect(json["tables"]?.array?.count == 5)
    }

    @Test("A table with an error ends with exit code 65, a location, and a suggestion")
    func badTable() throws {
        let table = #"{"schemaVersion": 1, "table": {"id": "t", "version": "1"}, "rutes": []}"#
        try withTemporaryFile(table) { path in
            for command in [
                ["routes", "check", path], ["routes", "list", path], ["resolve", "--table", path, "a:b"],
            ] {
                let result = try Self.run(command)
                #expect(result.code == 65, "\(command) \(result.err)")
                #expect(result.err.contains("exit 65 (bad data): table \(path) is refused"))
            }
            #expect(try Self.run(["routes", "check", path]).out.contains("routes"))
        }
    }

    @Test("A missing table and missing shipped tables end with exit code 78")
    func missingTable() throws {
        #expect(try Self.run(["routes", "check", "/no/such.json"]).code == 78)
        let result = try LinkdProcess.run(["routes", "check"])
        #expect(result.code == 78)
        #expect(result.err.contains("LINKD_HOME (not set)"))
    }
}
