internal import Foundation
internal import LinkCoordinator
internal import StrictJSON
internal import TableSupport
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

@Suite struct UsageTests {
    private static let shop = Checkout.root.appending(path: "config/routes/shop.json").path
    private static let samples =
        (try? String(
            contentsOf: Checkout.root.appending(path: "config/samples/shop.jsonl"), encoding: .utf8)) ?? ""

    private func decisions(_ flags: [String]) throws -> String {
        try LinkdProcess.run(["resolve", "--table", Self.shop, "--json"] + flags, input: Self.samples).out
    }

    @Test("The coverage of the sample events equals the snapshot, with and without traces")
    func coverage() throws {
        for (name, flags) in [("plain", []), ("traced", ["--explain"])] {
            // Variants are counted only for decisions of the same version of the table.
            let anchor = try SampleTables.load(SampleTables.path("anchor"))
            let shop = try SampleTables.load(Self.shop)
            let input = try decisions(flags).replacing(shop.identity, with: anchor.identity)
            let result = try LinkdProcess.run(["routes", "coverage", SampleTables.path("anchor")], input: input)
            #expect(result.code == 0, "\(result.err)")
            expectSnapshot(result.out, "coverage-\(name)")
        }
    }

    @Test("The coverage counts every line once: decisions, records with a decision, other tables, and other lines")
    func coverageCounts() throws {
        let decision =
            #"{"table":"shop@9+00000000","route":"item","variant":1,"outcome":"reject","reason":"param_invalid"}"#
        let lines = [
            decision, #"{"topic":"t","partition":0,"offset":1,"key":"k","value":\#(decision)}"#,
            #"{"table":"other@1+00000000","outcome":"none"}"#, "nope", #"{"a":1}"#, "",
            #"{"table":"shop@9+00000000","route":"gone","outcome":"navigate","stack":[]}"#,
        ]
        let result = try LinkdProcess.run(
            ["routes", "coverage", Self.shop, "--json"], input: lines.joined(separator: "\n"))
        let json = try JSONValue.parse(Array(result.out.utf8))
        #expect(json["decisions"]?.integer == Int64(3))
        #expect(json["of_other_tables"]?.integer == Int64(1))
        #expect(json["unreadable"]?.integer == Int64(2))
        #expect(json["unknown"]?.integer == Int64(1))
        #expect(json["reasons"]?["param_invalid"]?.integer == Int64(2))
        let item = json["routes"]?.array?.first { $0["id"]?.string == "item" }
        #expect(item?["decisions"]?.integer == Int64(2))
        // The number of a variant can differ in another version.
        #expect(item?["variants"]?.array?.map(\.integer) == [0, 0])
        #expect(json["of_other_versions"]?.integer == Int64(3))
        #expect(json["never"]?.array?.compactMap(\.string).contains("item") == false)
        #expect(json["never"]?.array?.count == 6)
    }

    @Test("--all ends with exit code 1 if a route was never selected, and a missing file with 65")
    func coverageCodes() throws {
        #expect(try LinkdProcess.run(["routes", "coverage", Self.shop, "--all"], input: decisions([])).code == 0)
        let none = try LinkdProcess.run(["routes", "coverage", Self.shop, "--all"])
        #expect(none.code == 1)
        #expect(none.err.contains("7 of 7 routes were never selected"))
        #expect(try LinkdProcess.run(["routes", "coverage", Self.shop, "--decisions", "/no/such"]).code == 65)
    }

    /// Returns the table with one edit.
    private func changed(_ old: String, _ new: String, _ body: (String) throws -> Void) throws {
        let text = try String(contentsOfFile: SampleTables.path("anchor"), encoding: .utf8)
        try #require(text.contains(old))
        try withTemporaryFile(text.replacing(old, with: new), body)
    }

    private static let traffic = """
        https://shop.example/p/new\t40
        https://shop.example/p/new
        https://shop.example/search?q=a\t9
        shop:///orders/12
        {"link":"https://shop.example/p/new","device":{"id":"d","app":"5.0"}}
        """

    @Test("Tables with the same decisions end with exit code 0, even if other parts differ")
    func same() throws {
        try changed(#""version": "42""#, #""version": "43""#) { path in
            let result = try LinkdProcess.run(
                ["routes", "diff", SampleTables.path("anchor"), path, "--traffic", "-"], input: Self.traffic)
            #expect(result.code == 0, "\(result.err)")
            #expect(result.out.contains("0 of 52 decisions changed"), "\(result.out)")
        }
    }

    @Test("A byte order mark is not a part of the first link, and nothing to compare is a failure")
    func mark() throws {
        let command = ["routes", "diff", SampleTables.path("anchor"), SampleTables.path("anchor"), "--traffic", "-"]
        let marked = try LinkdProcess.run(command, input: "\u{FEFF}" + Self.traffic)
        #expect(marked.code == 0 && marked.out.contains("0 of 52 decisions changed"), "\(marked.out)")
        for input in ["", "link\nx\n", "\u{FEFF}\n"] {
            let nothing = try LinkdProcess.run(command, input: input)
            #expect(nothing.code == 65 && nothing.err.contains("nothing was compared"), "\(nothing.err)")
        }
    }

    @Test("A difference ends with exit code 1, and has a weight, the changes, and a witness")
    func different() throws {
        try changed(#""match": "/p/new""#, #""match": "/p/fresh""#) { path in
            // The table's own example fails after the edit, so it is edited too.
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try withTemporaryFile(text.replacing("shop.example/p/new", with: "shop.example/p/fresh")) { path in
                let arguments = ["routes", "diff", SampleTables.path("anchor"), path, "--traffic", "-"]
                let result = try LinkdProcess.run(arguments, input: Self.traffic)
                #expect(result.code == 1)
                #expect(result.err.contains("42 of 52 decisions changed"))
                #expect(result.out.contains("new-items: navigate"), "\(result.out)")
                #expect(result.out.contains("for example https://shop.example/p/new"))
                let json = try JSONValue.parse(
                    Array(try LinkdProcess.run(arguments + ["--json"], input: Self.traffic).out.utf8))
                let group = json["traffic"]?["groups"]?.array?.first
                #expect(group?["count"]?.integer == Int64(42))
                #expect(group?["old"]?["route"]?.string == "new-items")
                #expect(group?["new"]?["reason"]?.string == "no_route")
            }
        }
    }

    @Test(
        "Without traffic, a change is found with a link and a device that show it",
        arguments: [
            (#""match": "/search""#, #""match": "/find""#, "search: navigate", "no_route"),
            (#""app": ">=4.0.0" }"#, #""app": ">=4.1.0" }"#, "item: navigate", #"{"app":"4.0"#),
            (#""claim": "session""#, #""claim": "member""#, "order: deferred", #""session" -> "member""#),
            (#""requires": ["orders"]"#, #""requires": []"#, "order", "order"),
            (#""on": ["no_route"]"#, #""on": ["scheme"]"#, "navigate (no_route)", "reject (no_route)"),
        ])
    func generated(old: String, new: String, before: String, after: String) throws {
        try changed(old, new) { path in
            // A table with failing examples is refused, so the examples are removed.
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let bare = text.replacing(#/,\s*"examples": \[(.|\n)*\]/#, with: "")
            try withTemporaryFile(bare) { path in
                let result = try LinkdProcess.run(["routes", "diff", SampleTables.path("anchor"), path])
                #expect(result.code == 1, "\(result.out)\(result.err)")
                #expect(result.out.contains(before) && result.out.contains(after), "\(result.out)")
            }
        }
    }

    @Test("A table has no difference from itself", arguments: SampleTables.paths)
    func itself(path: String) throws {
        let result = try LinkdProcess.run(["routes", "diff", path, path])
        #expect(result.code == 0, "\(result.err)")
        #expect(result.out.contains(": 0 of "))
    }

    /// Returns a table before and after an edit, both without examples, because these can fail.
    private func edited(
        _ old: String, _ new: String, of table: String, _ body: (_ old: String, _ new: String) throws -> Void
    ) throws {
        let text = try String(contentsOfFile: table, encoding: .utf8)
        try #require(text.contains(old))
        let bare = text.replacing(#/,\s*"examples": \[(.|\n)*\]/#, with: "")
        try withTemporaryFile(bare) { before in
            try withTemporaryFile(bare.replacing(old, with: new)) { after in try body(before, after) }
        }
    }

    @Test("A cause is reported once, with changed values, a link, and a count, even for many links")
    func causes() throws {
        try edited("enum(en|ru|de)", "enum(en|ru|de|fr)", of: Self.shop) { old, new in
            let result = try LinkdProcess.run(["routes", "diff", old, new])
            let cause = "compatible  link.rewrites: /{locale:enum(en|ru|de)} -> /{locale:enum(en|ru|de|fr)}"
            #expect(result.out.contains(cause), "\(result.out)")
            #expect(result.out.matches(of: #/(?m)^(compatible|breaking) /#).count == 1)
            #expect(result.out.matches(of: #/for example /#).count == 1)
            #expect(result.out.contains("-> new-items: navigate") || result.out.contains("changes of"))
            #expect(result.out.split(separator: "\n").count < 24, "\(result.out)")
            let json = try LinkdProcess.run(["routes", "diff", old, new, "--json"])
            let difference = try JSONValue.parse(Array(json.out.utf8), maxDepth: 64)["difference"]
            let groups = try #require(difference?["groups"]?.array)
            #expect(groups.count == 1 && groups[0]["causes"]?.array?.count == 1)
            #expect(groups[0]["causes"]?.array?[0]["place"]?.string == "link.rewrites")
            #expect(groups[0]["link"]?.string?.contains("/fr") == true)
            let values = try #require(groups[0]["values"]?.array)
            #expect(values.contains { $0["member"]?.string == "notes" || $0["member"]?.string == "outcome" })
            let counts = groups[0]["effects"]?.array?.compactMap { $0["count"]?.integer }
            #expect(counts?.reduce(0, +) == groups[0]["changes"]?.integer && counts?.count ?? 0 > 3)
        }
    }

    @Test("Each kind of change begins with the number of its links or requests, and the example looks like a link")
    func counts() throws {
        try edited(#""on": ["no_route"], "#, "", of: SampleTables.path("anchor")) { old, new in
            let out = try LinkdProcess.run(["routes", "diff", old, new]).out
            #expect(out.contains(#/\n +[2-9] links: +reject \(bad_encoding\) +-> navigate/#), "\(out)")
            #expect(out.contains(#/\n +[2-9] requests: +reject \(unsupported\) +-> navigate/#), "\(out)")
            #expect(out.contains(#/\n +for example [a-z]+:\S+/#), "\(out)")
        }
        try edited(#""match": "/search""#, #""match": "/find""#, of: Self.shop) { old, new in
            let out = try LinkdProcess.run(["routes", "diff", old, new]).out
            #expect(out.contains(#/\n +1 link: +search: navigate +-> reject \(no_route\) +breaking/#), "\(out)")
        }
    }

    @Test("A cause without an old value is reported as added, and the sets that changed as some of those compared")
    func added() throws {
        try edited(#""*.shop.example", """#, #""*.shop.example", "", "b.example""#, of: Self.shop) { old, new in
            let result = try LinkdProcess.run(["routes", "diff", old, new])
            #expect(result.out.contains("compatible  link.hosts added: b.example\n"), "\(result.out)")
            let counts = try #require(
                result.out.firstMatch(of: #/all links and devices: (\d+) of (\d+) sets of links changed/#))
            let (changed, compared) = (try #require(Int(counts.1)), try #require(Int(counts.2)))
            #expect(changed > 0 && changed <= compared)
        }
    }

    @Test(
        "--fail-on selects the changes that end with exit code 1",
        arguments: [
            ("enum(en|ru|de)", "enum(en|ru|de|fr)", false), (#""match": "/search""#, #""match": "/find""#, true),
            ("int(1..99)=1", "int(1..9)=1", true), ("int(1..9)=1", "int(1..99)=1", false),
        ])
    func failOn(old: String, new: String, isBreaking: Bool) throws {
        // One pair of tables is compared in reverse order.
        let table = old == "int(1..9)=1" ? (new, old) : (old, new)
        try edited(table.0, table.1, of: Self.shop) { before, after in
            let tables = ["routes", "diff"] + (table.0 == old ? [before, after] : [after, before])
            for (mode, code) in [("any", 1), ("breaking", isBreaking ? 1 : 0), ("none", 0)] as [(String, Int32)] {
                let result = try LinkdProcess.run(tables + ["--fail-on", mode])
                #expect(result.code == code, "\(mode): \(result.out)\(result.err)")
                #expect(result.out.contains(isBreaking ? "breaking  " : "compatible  "))
                let words = mode == "any" ? "1 cause of changes" : "1 cause of breaking changes"
                if code == 1 { #expect(result.err.contains(words)) }
            }
            #expect(try LinkdProcess.run(tables).code == 1)
            #expect(try LinkdProcess.run(tables + ["--fail-on", "some"]).code == 64)
        }
    }

    @Test("A link of thousands of characters is shortened, but not with --json")
    func longWitness() throws {
        let payload = #""payload": { "link""#
        try edited(payload, #""limits": { "maxBytes": 8000 }, "# + payload, of: Self.shop) { old, new in
            let tables = ["routes", "diff", old, new, "--fail-on", "breaking"]
            let result = try LinkdProcess.run(tables)
            #expect(result.code == 1, "\(result.out)\(result.err)")
            let example = try #require(result.out.split(separator: "\n").first { $0.contains("for example ") })
            #expect(example.contains("... 7,801 more characters") && example.count < 400, "\(example)")
            let json = try JSONValue.parse(
                Array(try LinkdProcess.run(tables + ["--json"]).out.utf8), maxDepth: 64)
            let link = try #require(json["difference"]?["groups"]?.array?.first?["link"]?.string)
            #expect(link.utf8.count == 8001)
        }
    }

    @Test("A removed application is reported as a breaking change")
    func applications() throws {
        let names = #"["com.example.shop"]"#
        try edited(names, #"["com.example.shop", "com.example.kiosk"]"#, of: Self.shop) { less, more in
            let arguments = ["--fail-on", "breaking"]
            let added = try LinkdProcess.run(["routes", "diff", less, more] + arguments)
            #expect(added.code == 0, "\(added.out)\(added.err)")
            #expect(added.out.contains("compatible  table.applications added: com.example.kiosk"), "\(added.out)")
            let removed = try LinkdProcess.run(["routes", "diff", more, less] + arguments)
            #expect(removed.code == 1, "\(removed.out)\(removed.err)")
            #expect(removed.out.contains("breaking  table.applications removed: com.example.kiosk"), "\(removed.out)")
            #expect(removed.out.contains("`com.example.kiosk` become dead letters"), "\(removed.out)")
            let json = try LinkdProcess.run(["routes", "diff", more, less, "--json"])
            let difference = try JSONValue.parse(Array(json.out.utf8), maxDepth: 64)["difference"]
            #expect(difference?["breaking"]?.integer == Int64(1))
            #expect(difference?["groups"]?.array?.first?["losses"]?.array?.count == 1)
        }
    }

    @Test("--fail-on applies to recorded traffic, and the changed values are printed")
    func failOnTraffic() throws {
        try edited(#""match": "/search""#, #""match": "/find""#, of: Self.shop) { old, new in
            let tables = ["routes", "diff", old, new, "--traffic", "-"]
            let lost = try LinkdProcess.run(tables + ["--fail-on", "breaking"], input: Self.traffic)
            #expect(lost.code == 1 && lost.err.contains("9 of 52 decisions changed in a breaking way"), "\(lost.err)")
            #expect(lost.out.contains("breaking") && lost.out.contains(#"route "#), "\(lost.out)")
            #expect(lost.out.contains(#""search" -> (absent)"#), "\(lost.out)")
            let found = try LinkdProcess.run(
                tables + ["--fail-on", "breaking"], input: "https://shop.example/find?q=a")
            #expect(found.code == 0 && found.out.contains("compatible"), "\(found.out)\(found.err)")
        }
    }
}
