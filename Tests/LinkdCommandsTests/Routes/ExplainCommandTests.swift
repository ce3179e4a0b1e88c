internal import Foundation
internal import StrictJSON
internal import TableSupport
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

@Suite struct ExplainCommandTests {
    private let table = SampleTables.path("anchor")

    @Test("Links are explained in order, for the specified device")
    func readable() {
        let result = linkd(
            "routes", "explain", table, "--device", #"{"app":"3.9.1"}"#,
            "https://shop.example/p/B121D5E7-EA65-49F8-8B33-B3C43FA93866", "shop:///o/12")
        #expect(result.code == 0, "\(result.err)")
        for words in ["/p/{id:uuid}", "chosen", "3.9.1", "external", "old-order", "deferred"] {
            #expect(result.out.contains(words), "\(words) in \(result.out)")
        }
    }

    @Test("Only an explanation uses a refused table, to explain the example link of a problem")
    func refused() throws {
        let bad = #"""
            {"schemaVersion":1,"table":{"id":"t","version":"1"},"link":{"schemes":["t"],"host":"segment"},
            "routes":[{"id":"a","match":"/{a}/x","to":{"root":true}},{"id":"b","match":"/y/{b}","to":{"root":true}}]}
            """#
        try withTemporaryFile(bad) { path in
            let check = linkd("routes", "check", path, "--json")
            #expect(check.code == 65)
            let tables = try JSONValue.parse(Array(check.out.utf8), maxDepth: 64)["tables"]?.array
            let problem = tables?.first?["problems"]?.array?.first { $0["code"]?.string == "overlap" }
            let link = try #require(problem?["link"]?.string)
            for result in [
                linkd("resolve", "--explain", "--table", path, link), linkd("routes", "explain", path, link),
            ] {
                #expect(result.code == 0, "\(result.err)")
                #expect(result.out.contains("/y/{b}") && result.out.contains("/{a}/x"), "\(result.out)")
                #expect(result.err.contains("is refused"))
            }
            #expect(linkd("resolve", "--table", path, link).code == 65)
        }
    }

    @Test("--json prints the decision of `resolve` followed by the trace, one line per link")
    func json() throws {
        let result = linkd("routes", "explain", table, "--json", "shop:///p/new", "shop:///nope", "not a link")
        let lines = try result.out.split(separator: "\n").map { try JSONValue.parse(Array($0.utf8), maxDepth: 512) }
        #expect(lines.count == 3)
        #expect(lines.map { $0["route"]?.string } == ["new-items", nil, nil])
        #expect(lines.allSatisfy { $0.object?.last?.name == "explain" })
        #expect(lines[2]["reason"]?.string == "scheme")
    }

    @Test("A table without a link and a device that is not an object are usage errors")
    func usage() {
        #expect(linkd("routes", "explain", table).code == 64)
        #expect(linkd("routes", "explain", table, "shop:///", "--device", "[]").code == 64)
        #expect(linkd("routes", "explain", "/no/such.json", "shop:///").code == 78)
    }

    @Test("Terminal control is escaped")
    func escaping() {
        let result = linkd("routes", "explain", table, "shop:///search?q=%1B%5B31m&x=\u{202E}y")
        #expect(!result.out.contains("\u{1B}") && !result.out.contains("\u{202E}"))
    }

    @Test("A fallback is marked in the headline, with and without an explanation")
    func fallback() {
        for flags in [[], ["--explain"]] {
            let result = run(["resolve", "--table", table] + flags + ["https://shop.example/zzzz", "shop:///p/new"])
            #expect(result.out.contains("\n  navigate by fallback  shop@42"), "\(result.out)")
            #expect(result.out.contains("\n  navigate  new-items"), "\(result.out)")
        }
    }

    @Test("A link that no table claims is explained with the suggestions and lists of each table")
    func unclaimed() throws {
        let link = "https://shop.exmaple/p/new"
        let tables = ["config/routes/shop.json", "config/routes/seeds/content-flow.json"].flatMap {
            ["--table", Checkout.root.appending(path: $0).path]
        }
        let result = run(["resolve", "--explain"] + tables + [link])
        #expect(result.code == 65)
        #expect(result.out.contains("did you mean https://shop.example/p/new (new-items)?"), "\(result.out)")
        #expect(result.out.contains("listed     shop.example, *.shop.example, (no host)"))
        #expect(result.out.contains("content-flow  the scheme `https` is not listed (the table lists content)"))
        #expect(!run(["resolve"] + tables + [link]).out.contains("did you mean"))
        let json = run(["resolve", "--explain", "--json"] + tables + [link])
        let letter = try JSONValue.parse(Array(json.out.utf8), maxDepth: 64)["dead_letter"]
        let first = letter?["tables"]?.array?.first
        #expect(first?["explain"]?["suggestions"]?.array?.first?["route"]?.string == "new-items", "\(json.out)")
        let other = run(
            ["resolve", "--explain"] + tables + [#"{"application":"x","link":"shop:///","device":{"id":"d"}}"#])
        #expect(other.out.contains("applications of the tables: com.example.shop"), "\(other.out)")
    }

    private func run(_ arguments: [String]) -> CommandResult {
        let console = Console(
            out: Channel(collecting: Style(enabled: false)), err: Channel(collecting: Style(enabled: false)))
        let code = Linkd.run(arguments: arguments, environment: [:], console: console)
        return CommandResult(code: code.rawValue, out: console.out.text, err: console.err.text)
    }
}
