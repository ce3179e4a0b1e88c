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
            "resolve", "--explain", "--table", table, "--device", #"{"app":"3.9.1"}"#,
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
            let result = linkd("resolve", "--explain", "--table", path, link)
            #expect(result.code == 0, "\(result.err)")
            #expect(result.out.contains("/y/{b}") && result.out.contains("/{a}/x"), "\(result.out)")
            #expect(result.err.contains("is refused"))
            #expect(linkd("resolve", "--table", path, link).code == 65)
        }
    }

    @Test("--json prints the decision of `resolve` followed by the trace, one line per link")
    func json() throws {
        let result = linkd(
            "resolve", "--explain", "--table", table, "--json", "shop:///p/new", "shop:///nope", "nota:link")
        let lines = try result.out.split(separator: "\n").map { try JSONValue.parse(Array($0.utf8), maxDepth: 512) }
        #expect(lines.count == 3)
        #expect(lines.map { $0["route"]?.string } == ["new-items", nil, nil])
        #expect(lines.allSatisfy { $0.object?.last?.name == "explain" })
        #expect(lines[2]["reason"]?.string == "scheme")
    }

    @Test("A device that is not an object is a usage error, and so is the old name, which says where to go")
    func usage() {
        #expect(linkd("resolve", "--explain", "--table", table, "shop:///", "--device", "[]").code == 64)
        #expect(linkd("resolve", "--explain", "--table", "/no/such.json", "shop:///").code == 78)
        let old = linkd("routes", "explain", table, "shop:///")
        #expect(old.code == 64 && old.err.contains("`linkd resolve --explain --table TABLE LINK`"), "\(old.err)")
    }

    @Test("Terminal control is escaped")
    func escaping() {
        let result = linkd("resolve", "--explain", "--table", table, "shop:///search?q=%1B%5B31m&x=\u{202E}y")
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

    /// Returns a table for links with a scheme and a host.
    private static func table(_ id: String, _ scheme: String, _ host: String, maxBytes: Int = 100) -> String {
        """
        {"schemaVersion": 1, "table": {"id": "\(id)", "version": "1"},
         "link": {"schemes": ["\(scheme)"], "host": "authority", "hosts": ["\(host)"],
                  "limits": {"maxBytes": \(maxBytes)}},
         "routes": [{"id": "new", "match": "/p/new", "to": {"root": true}}]}
        """
    }

    @Test("Tables that claim the origin of a link are named as such, and not by what the link does not match")
    func claimed() throws {
        try withTemporaryFile(Self.table("a", "https", "*.a.example")) { a in
            try withTemporaryFile(Self.table("b", "https", "m.a.example")) { b in
                try withTemporaryFile(Self.table("c", "c", "c.example")) { c in
                    let flags = ["resolve", "--explain", "--table", a, "--table", b, "--table", c]
                    let result = run(flags + ["https://m.a.example/none"])
                    #expect(result.code == 65)
                    let lines = result.out.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                    #expect(!result.out.contains("no pattern matches"), "\(result.out)")
                    #expect(
                        lines.suffix(3) == [
                            "a  reads links with this scheme and host, as another table does",
                            "b  reads links with this scheme and host, as another table does",
                            "c  the scheme `https` is not listed (the table lists c)",
                        ], "\(result.out)")
                    let json = run(flags + ["--json", "https://m.a.example/p/new"])
                    let tables = try JSONValue.parse(Array(json.out.utf8), maxDepth: 64)["dead_letter"]?["tables"]
                    #expect(tables?.array?.map { $0["claims"]?.text } == ["true", "true", "false"], "\(json.out)")
                }
            }
        }
    }

    @Test("The decision about a link that is too long does not depend on the number of tables")
    func tooLong() {
        let link = "https://a.example/" + String(repeating: "x", count: 100)
        withTemporaryFile(Self.table("a", "https", "a.example")) { a in
            withTemporaryFile(Self.table("b", "https", "b.example")) { b in
                let one = run(["resolve", "--json", "--table", a, link])
                #expect(one.code == 0 && one.out.contains(#""reason":"budget","detail":"bytes""#), "\(one.out)")
                for tables in [[a, b], [b, a]] {
                    let both = run(["resolve", "--json"] + tables.flatMap { ["--table", $0] } + [link])
                    #expect(both.out == one.out && both.code == 0, "\(both.out)")
                }
                for bad in [link + "\\", "https://a.example/\\", "https://a.example/%"] {
                    let alone = run(["resolve", "--json", "--table", a, bad])
                    #expect(run(["resolve", "--json", "--table", a, "--table", b, bad]).out == alone.out, "\(bad)")
                }
            }
        }
    }

    private func run(_ arguments: [String]) -> CommandResult {
        let console = Console(
            out: Channel(collecting: Style(enabled: false)), err: Channel(collecting: Style(enabled: false)))
        let code = Linkd.run(arguments: arguments, environment: [:], console: console)
        return CommandResult(code: code.rawValue, out: console.out.text, err: console.err.text)
    }
}
