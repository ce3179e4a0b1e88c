@testable internal import RouteTools
internal import LinkCoordinator
internal import RouteAnalysis
internal import TestSupport
internal import Testing

/// Imports of files in which an exclusion and other components have the same links.
@Suite struct ImportOrderTests {
    private static func imported(_ components: String, variables: String = "{}") throws -> TableImport {
        let file = AppleRuleTests.file(components, variables: variables)
        return try TableImport(Array(file.utf8), from: .aasa, id: "t", hosts: ["a.example"])
    }

    private static func opens(_ imported: TableImport, _ link: String) -> Bool {
        imported.table.resolve("https://a.example" + link).outcome == .navigate
    }

    @Test(
        "An exclusion decides before every later component, also if it is wider in the table",
        arguments: [
            // The components, links that stay out of the app, and links that open it.
            (#"{"/": "*", "?": {"preview": "?*"}, "exclude": true}, {"/": "/p/*"}"#, ["/p/7?preview=a"], ["/p/7"]),
            (
                #"{"/": "/*", "?": {"mode": "test*"}, "exclude": true}, {"/": "/p/*"}, {"/": "/cart"}"#,
                ["/p/7?mode=test1", "/cart?mode=test"], ["/p/7", "/cart?x=test"]
            ),
            (
                #"{"/": "/*", "?": {"mode": "TEST"}, "exclude": true, "caseSensitive": false}, {"/": "/p/*"}"#,
                ["/p/7?mode=TEST", "/p/7?MODE=test"], []
            ),
            (##"{"/": "/p/*", "#": "no*", "exclude": true}, {"/": "/p/7"}, {"/": "/q"}"##, ["/p/7#no"], ["/q#no"]),
            (
                #"{"/": "/p/*", "?": "a=1", "exclude": true}, {"/": "/p/7"}, {"/": "/p/8/*"}, {"/": "/q"}"#,
                ["/p/7?a=1", "/p/8/x?a=1"], ["/q?a=1"]
            ),
            (#"{"?": {"p": ""}}, {"exclude": true}, {"/": "/a"}"#, ["/a?p=1"], ["/a"]),
            (
                #"{"/": "/*/secret", "exclude": true}, {"/": "/p/*"}"#, ["/p/secret", "/p/1/2/3/4/secret"],
                ["/p/a", "/p"]
            ),
            (
                #"{"/": "*", "?": {"draft": "1"}, "exclude": true}, {"/": "/b", "?": {"q": "1"}}"#, ["/b?q=1&draft=1"],
                ["/b?q=1", "/b?draft=2&q=1"]
            ),
            (
                #"{"/": "/b/*", "?": {"draft": "1"}, "exclude": true}, {"/": "/b/*", "?": {"q": "1"}}"#,
                ["/b?q=1&draft=1"], ["/b/x?q=1"]
            ),
            (
                #"{"/": "*", "?": {"draft": "1"}, "exclude": true}, {"/": "/a/*"}, {"/": "/b", "?": {"q": "1"}}"#,
                ["/b?q=1&draft=1", "/a/b?draft=1"], ["/b?q=1", "/a"]
            ),
            (
                #"{"/": "/help/*", "?": {"article": "?*"}}, {"/": "/help/*", "?": {"topic": "?*"}}"#, ["/help/x"],
                ["/help/x?article=1", "/help/x?topic=1", "/help?topic=1&article=2"]
            ),
            (#"{"/": "/a?*", "exclude": true}, {"/": "*"}"#, ["/a/b", "/ab", "/ab/c"], ["/b"]),
            (
                #"{"/":"/\u00c9","exclude":true,"percentEncoded":false,"caseSensitive":false},{"caseSensitive":false}"#,
                ["/%C3%89", "/%C3%A9"], []
            ),
            (
                #"{"/": "/m", "?": {"Q": "X"}, "caseSensitive": false}"#, ["/m?Q=X&q=Y", "/m?q=X&Q=X"],
                ["/m?q=X", "/M?Q=X"]
            ),
            (#"{"/": "/a?c/x", "exclude": true}, {"/": "/a/*"}, {"/": "/d"}"#, ["/a/c/x", "/abc/x"], ["/d"]),
            (#"{"/": "/a b", "exclude": true}, {"/": "/%61"}, {"/": "/c"}"#, ["/a", "/%61"], ["/c"]),
            (
                #"{"/":"/x","?":{"":"1"},"exclude":true},{"/":"/x"},{"/":"/m","?":{"":"x"}},{"/":"/ok"}"#,
                ["/x", "/m"], ["/ok"]
            ),
            (#"{"/": "/docs/<version>/x"}, {"/": "/ok"}, {"/": "/q", "?": {"a": "<b>"}}"#, ["/q"], ["/ok"]),
            (
                #"{"/": "/docs/<version>/x", "exclude": true}, {"/": "/docs/*"}, {"/": "/ok"}"#,
                ["/docs/%3Cversion%3E/x"], ["/ok"]
            ),
            (#"{"/": "/$(w)/x", "exclude": true}, {"/": "/$(v)/*"}"#, ["/b/x"], ["/a/x", "/b/y"]),
        ] as [(String, [String], [String])])
    func order(components: String, closed: [String], open: [String]) throws {
        let imported = try Self.imported(components, variables: #"{"v": ["a", "b"], "w": ["b", "c"]}"#)
        #expect(RouteTable.problems(in: Array(imported.json.utf8)).filter { $0.severity == .error } == [])
        for link in closed { #expect(!Self.opens(imported, link), "\(link)\n\(imported.json)\n\(imported.notes)") }
        for link in open { #expect(Self.opens(imported, link), "\(link)\n\(imported.json)\n\(imported.notes)") }
    }

    @Test(
        "What the table cannot express has a remark of its kind",
        arguments: [
            (
                #"{"/": "/admin/*", "exclude": true, "percentEncoded": false}, {"/": "*"}"#, ImportNote.Kind.opensMore,
                "`%2F`"
            ),
            (#"{"/": "/docs/<version>/x"}, {"/": "/ok"}"#, .leavesOut, "`/docs/<version>/x`"),
            (#"{"/": "/m", "?": {"": "x"}}, {"/": "/ok"}"#, .leavesOut, "its condition on ``"),
            (
                #"{"/": "/p/*", "?": "a=1", "exclude": true}, {"/": "/p/7"}"#, .leavesOut,
                "an exclusion before it is wider"
            ),
            (#"{"/": "/m", "?": {"Q": "?"}, "caseSensitive": false}, {"/": "/ok"}"#, .opensMore, "repeat `Q`"),
        ] as [(String, ImportNote.Kind, String)])
    func remarks(components: String, kind: ImportNote.Kind, message: String) throws {
        let imported = try Self.imported(components)
        #expect(imported.notes.contains { $0.kind == kind && $0.message.contains(message) }, "\(imported.notes)")
    }

    // The limits of the table are exceeded on purpose. A link is a path of the exclusion with one of another component.
    @Test("An exclusion with more overlaps than a table can have is never lost", arguments: [90, 160])
    func many(count: Int) throws {
        let components = (0..<count).map { index in
            let path = index.isMultiple(of: 2) ? "/*/\(index)" : "/\(index)/*"
            let exclude = index.isMultiple(of: 3) ? #", "exclude": true"# : ""
            return #"{"/": "\#(path)"\#(exclude)}"#
        }
        let file = AppleRuleTests.file(components.joined(separator: ","))
        let rules = try AppleFile(Array(file.utf8)).rules
        let imported = try Self.imported(components.joined(separator: ","))
        var random = SeededGenerator(seed: UInt64(count))
        var open = 0
        for _ in 0..<3000 {
            let path = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                "/\(Int.random(in: 0..<count, using: &random))"
            }.joined()
            guard Self.opens(imported, path) else { continue }
            open += 1
            #expect(try rules.decide(#require(LinkPieces("https://a.example" + path))).isHanded, "\(path)")
        }
        #expect(open > 0 || imported.notes.contains { $0.kind == .leavesOut })
    }

    // Without the check these files would need many gigabytes.
    @Test("Schemes, hosts, prefixes, and paths that multiply are refused before they are listed")
    func multiplied() {
        func data(_ name: String, _ text: (Int) -> String) -> String {
            (0..<3_000).map { "<data android:\(name)=\"\(text($0))\"/>" }.joined()
        }
        let manifest =
            data("scheme") { "s\($0)" } + data("host") { "h\($0).example" } + data("path") { "/p\($0)" }
        let prefixes = (0..<2_000).map { "\"s\($0)://h/a\"" }.joined(separator: ",")
        let screens = (0..<9_000).map { number in
            "\"S\(number)\":\"" + (0..<6).map { ":a\(number)_\($0)?" }.joined(separator: "/") + "\""
        }
        let navigation = "{\"prefixes\":[\(prefixes)],\"config\":{\"screens\":{\(screens.joined(separator: ","))}}}"
        for (text, source) in [
            (AndroidRuleTests.manifest(manifest), TableImport.Source.manifest), (navigation, .reactNavigation),
            (navigation.replacing("\"s0://", with: "\"s0://h\",\"s0://"), .reactNavigation),
        ] {
            do throws(AssociationProblem) {
                _ = try TableImport(Array(text.utf8), from: source, id: "t")
                Issue.record("\(text.prefix(99)) is not refused")
            } catch {
                #expect(error.code == .limit, "\(error)")
            }
        }
    }

    @Test("A comparison that ends at its limit says so")
    func limit() throws {
        let text = AppleRuleTests.file(#"{"/": "/a/*"}, {"/": "/*/b"}"#)
        let file = try AppleFile(Array(text.utf8))
        let table = try Self.imported(#"{"/": "/a/*"}, {"/": "/*/b"}"#).table
        var short = AssociationCheck(table, apple: file, budget: WorkBudget(perSearch: 100, total: 100))
        var long = AssociationCheck(table, apple: file)
        #expect(short.run().map(\.isCut) == [true])
        #expect(long.run().map(\.isCut) == [false])
    }

    @Test(
        "A file without the app, and a file without components, is refused",
        arguments: [
            ("A.b", nil),
            ("b", "the file does not name the app b: there is no link to import; the apps of the file are A.b"),
        ] as [(String, String?)])
    func apps(app: String, message: String?) throws {
        let file = Array(AppleRuleTests.file(#"{"/": "/a"}"#).utf8)
        func run() throws(AssociationProblem) {
            _ = try TableImport(file, from: .aasa, id: "t", hosts: ["a.b"], apps: [app])
        }
        guard let message else { return try run() }
        let error = #expect(throws: AssociationProblem.self) { try run() }
        #expect(error?.message == message)
    }

    @Test(
        "A host on which no file is served is refused", arguments: ["a.example:443", "a.example:8443", "*", "", "a b"])
    func host(text: String) {
        let file = Array(AppleRuleTests.file(#"{"/": "/a"}"#).utf8)
        #expect(!TableImport.isHost(text))
        #expect(throws: AssociationProblem.self) { try TableImport(file, from: .aasa, id: "t", hosts: [text]) }
        #expect(TableTemplate(id: "t", scheme: "t", host: text) == nil || text == "a.example:8443")
    }

    @Test(
        "A filter without a scheme and host that a table can have opens nothing",
        arguments: [
            #"<data android:scheme="https" android:host="*.shop.example" android:port="8443" />"#,
            #"<data android:scheme="MyApp" android:host="open" android:pathPrefix="/admin" />"#,
        ])
    func filters(data: String) throws {
        let action = """
            <action android:name="android.intent.action.VIEW" />
            <category android:name="android.intent.category.DEFAULT" />
            <category android:name="android.intent.category.BROWSABLE" />
            """
        let manifest = """
            <intent-filter>\(action)\(data)</intent-filter>
            <intent-filter>\(action)<data android:scheme="shop" android:host="open" android:pathPrefix="/item/" />
            <data android:path="/docs/&lt;v&gt;" /></intent-filter>
            """
        let imported = try TableImport(Array(manifest.utf8), from: .manifest, id: "t")
        #expect(imported.table.resolve("shop://open/item/7").outcome == .navigate)
        for link in ["shop://open/admin/delete", "shop://open/", "SHOP://open/item/7", "shop://open/docs/%3Cv%3E"] {
            #expect(imported.table.resolve(link).outcome != .navigate, "\(link)\n\(imported.json)")
        }
        #expect(imported.notes.contains { $0.kind == .leavesOut && $0.message.hasPrefix("the filter, because") })
        #expect(imported.notes.contains { $0.kind == .leavesOut && $0.message.contains("characters that no pattern") })
    }

    @Test("A path of React Navigation that reads as a var of a table is left out")
    func vars() throws {
        let config = #"{"prefixes": ["a://"], "config": {"screens": {"H": "ok", "D": "docs/<v>/:id"}}}"#
        let imported = try TableImport(Array(config.utf8), from: .reactNavigation, id: "t")
        #expect(imported.table.resolve("a://ok").outcome == .navigate)
        #expect(imported.notes.contains { $0.kind == .leavesOut && $0.message.contains("docs/<v>/:id") })
    }
}
