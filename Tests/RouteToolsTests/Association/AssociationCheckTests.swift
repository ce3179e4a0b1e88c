@testable internal import RouteTools
internal import LinkCoordinator
internal import RouteAnalysis
internal import TableSupport
internal import Testing

/// The comparison of a table with association files.
@Suite struct AssociationCheckTests {
    private func table(
        _ routes: String, link: String = #"{"schemes": ["https"], "host": "authority", "hosts": ["a.example"]}"#
    ) throws -> RouteTable {
        try RouteTable(
            json: [UInt8](
                """
                {"schemaVersion": 1, "table": {"id": "t", "version": "1"}, "link": \(link), "routes": [\(routes)]}
                """.utf8))
    }

    private func route(_ id: String, _ match: String, _ more: String = "") -> String {
        #"{"id": "\#(id)", "match": "\#(match)", \#(more.isEmpty ? "" : more + ", ")"to": {"root": true}}"#
    }

    private func apple(_ table: RouteTable, _ components: String) throws -> AssociationCheck.Report {
        let file = try AppleFile(Array(AppleRuleTests.file(components).utf8))
        var check = AssociationCheck(table, apple: file)
        return try #require(check.run().first)
    }

    private func android(_ table: RouteTable, _ data: String) throws -> AssociationCheck.Report {
        let file = try ManifestFile(Array(AndroidRuleTests.manifest(data).utf8))
        var check = AssociationCheck(table, manifest: file)
        return try #require(check.run().first)
    }

    private func summary(_ report: AssociationCheck.Report) -> [String] {
        report.findings.map {
            "\($0.code.rawValue) \($0.route ?? $0.pointer ?? "line \($0.line)") \($0.link ?? "none")"
                + ($0.isProved ? "" : " sampled")
        }
    }

    @Test("Android: a filter with a placeholder as its host proves no link that no route knows")
    func placeholder() throws {
        let table = try table(route("sell", "/sell"))
        let report = try android(table, #"<data android:scheme="https" android:host="${host}" />"#)
        #expect(summary(report).isEmpty && !report.isProved, "\(summary(report))")
    }

    @Test("Apple: a name of the route's query and of a component has the value that fits both")
    func sharedQuery() throws {
        let table = try table(
            route("map", "/shops", #""query": {"view": "map"}"#) + ","
                + route("help", "/help", #""query": {"article": "*"}"#))
        let report = try apple(
            table,
            #"{"/": "/shops", "?": {"view": "*", "ref": "app"}}, {"/": "/help", "?": {"article": "????"}}"#)
        #expect(!summary(report).contains { $0.hasPrefix("never_handed") }, "\(summary(report))")
    }

    @Test("Apple: routes without a component, and components without a route, each with a link")
    func appleFindings() throws {
        let table = try table(
            [route("buy", "/buy/{id:int}"), route("sell", "/sell"), route("any", "/x/{rest+}")]
                .joined(separator: ","))
        let whole = try apple(table, #"{"/": "/sell"}, {"/": "/x/?*"}, {"/": "/buy/$(digit)"}"#)
        #expect(summary(whole) == ["partly_handed buy https://a.example/buy/11"])
        #expect(whole.routes == 3 && whole.handed == 3 && whole.partly == 1 && whole.parts == 3 && whole.isProved)
        let poor = try apple(table, #"{"/": "/buy/*"}, {"/": "/old"}, {"/": "/y/*", "exclude": true}"#)
        #expect(
            summary(poor) == [
                "never_handed sell https://a.example/sell",
                "never_handed any https://a.example/x/part",
                "unknown_links /applinks/details/0/components/0 https://a.example/buy",
                "unknown_links /applinks/details/0/components/1 https://a.example/old",
            ])
        #expect(poor.routes == 3 && poor.handed == 1 && poor.parts == 2)
    }

    @Test("A route with links on both sides of a component is partly handed over, also far behind the difference")
    func parts() throws {
        let table = try table(
            [
                route("far", "/a/{x}/b/{y}/end"), route("both", "/c/{x}"), route("all", "/d/{x}"),
                route("word", "/e/{x:enum(red|blue)}"),
            ].joined(separator: ","))
        let report = try apple(
            table,
            #"{"/": "/a/1/*"}, {"/": "/c/x", "exclude": true}, {"/": "/c/*"}, {"/": "/d/*"}, {"/": "/e/red"}"#)
        let found = Dictionary(
            uniqueKeysWithValues: report.findings.filter { $0.code == .partlyHanded }.map { ($0.route ?? "", $0) })
        #expect(Set(found.keys) == ["far", "both", "word"] && report.partly == 3 && report.handed == 4)
        #expect(found["both"]?.link == "https://a.example/c/x")
        #expect(found["word"]?.link == "https://a.example/e/blue")
        let far = try #require(found["far"]?.link)
        #expect(table.resolve(far).route == "far" && !far.hasPrefix("https://a.example/a/1/"))
    }

    @Test("Of several hosts, only those that are selected are compared")
    func hosts() throws {
        let table = try table(
            [
                #"{"id": "a", "match": {"path": "/x", "host": "a.example"}, "to": {"root": true}}"#,
                #"{"id": "b", "match": {"path": "/y", "host": "b.example"}, "to": {"root": true}}"#,
                route("both", "/z"),
            ].joined(separator: ","),
            link: #"{"schemes": ["https"], "host": "authority", "hosts": ["a.example", "*.b.example", "b.example"]}"#)
        let file = try AppleFile(Array(AppleRuleTests.file(#"{"/": "/x"}, {"/": "/z"}"#).utf8))
        func findings(_ hosts: String...) throws -> [String] {
            var check = AssociationCheck(table, apple: file, hosts: hosts)
            return summary(try #require(check.run().first))
        }
        let unknown = "unknown_links /applinks/details/0/components/0"
        #expect(try findings().contains("never_handed b https://b.example/y"))
        #expect(try findings("A.example") == [])
        #expect(
            try findings("b.example") == ["never_handed b https://b.example/y", "\(unknown) https://b.example/x"])
        #expect(try findings("c.b.example") == ["\(unknown) https://c.b.example/x"])
        #expect(AssociationCheck.isHost("c.b.example", of: table) && !AssociationCheck.isHost("c.example", of: table))
        let manifest = try ManifestFile(
            Array(AndroidRuleTests.manifest(AndroidRuleTests.web + #"<data android:path="/x" />"#).utf8))
        var check = AssociationCheck(table, manifest: manifest, hosts: ["b.example"])
        let android = try #require(check.run().first)
        #expect(
            summary(android) == ["never_handed b https://b.example/y", "never_handed both https://a.example/z"])
    }

    @Test("Of several apps, only those that are selected count")
    func apps() throws {
        let table = try table([route("a", "/a"), route("b", "/b")].joined(separator: ","))
        let json = """
            {"applinks": {"details": [{"appIDs": ["T.one", "T.both"], "components": [{"/": "/a"}]},
                                      {"appIDs": ["T.two", "T.both"], "components": [{"/": "/b"}]}]}}
            """
        func report(_ apps: String...) throws -> (AssociationCheck.Report, [AssociationProblem]) {
            let file = try AppleFile(Array(json.utf8), apps: apps)
            var check = AssociationCheck(table, apple: file)
            return (try #require(check.run().first), file.problems)
        }
        for (apps, missing) in [(["T.one"], ["b"]), (["T.two"], ["a"]), (["T.both"], []), (["T.one", "T.two"], [])] {
            let (found, problems) = try apps.count == 1 ? report(apps[0]) : report(apps[0], apps[1])
            #expect(found.findings.map(\.route) == missing && problems == [], "\(apps)")
            #expect(found.parts == 2 - missing.count, "\(apps)")
        }
        let (none, problems) = try report("T.three")
        #expect(none.handed == 0 && problems.map(\.code) == [.notAssociated])
        #expect(problems.first?.message == "the file does not name the app T.three")
        let print = Array(repeating: "AB", count: 32).joined(separator: ":")
        let links = AssetLinks.json(package: "a.b", fingerprints: [print])
        #expect(try AssetLinksFile(Array(links.utf8), apps: ["a.b"]).problems == [])
        #expect(try AssetLinksFile(Array(links.utf8), apps: ["a.c"]).problems.map(\.code) == [.notAssociated])
    }

    @Test("An exclusion before a component closes a route, and one after it does not")
    func exclusion() throws {
        let table = try table([route("a", "/a"), route("b", "/b")].joined(separator: ","))
        let before = try apple(table, #"{"/": "/a", "exclude": true}, {"/": "/a"}, {"/": "/b"}"#)
        #expect(summary(before) == ["never_handed a https://a.example/a"])
        let after = try apple(table, #"{"/": "/a"}, {"/": "/a", "exclude": true}, {"/": "/b"}"#)
        #expect(summary(after) == [])
    }

    @Test("A route that a more specific one hides is not handed over by the links of the other")
    func precedence() throws {
        let table = try table(
            [route("new", "/p/new"), route("any", "/p/{id}", #""overlaps": ["new"]"#)]
                .joined(separator: ","))
        let report = try apple(table, #"{"/": "/p/new"}"#)
        #expect(summary(report) == ["never_handed any https://a.example/p/id"])
        #expect(
            try summary(apple(table, #"{"/": "/p/ne?"}"#)) == ["partly_handed any https://a.example/p/x"])
    }

    @Test("Queries of components and of routes are filled in, and the result says if not all were tried")
    func queries() throws {
        let table = try table(
            [route("a", "/a", #""query": {"mode": "read"}"#), route("b", "/b")].joined(separator: ","))
        #expect(try summary(apple(table, #"{"/": "/a", "?": {"mode": "read"}}, {"/": "/b"}"#)) == [])
        #expect(
            try summary(apple(table, #"{"/": "/a", "?": {"mode": "write"}}, {"/": "/b"}"#)) == [
                "never_handed a https://a.example/a?mode=read sampled",
                "unknown_links /applinks/details/0/components/0 https://a.example/a?mode=write",
            ])
        #expect(
            try summary(apple(table, ##"{"/": "/a", "#": "top"}, {"/": "/b"}"##)) == [
                "partly_handed a https://a.example/a?mode=read",
                "unknown_links /applinks/details/0/components/0 https://a.example/a#top",
            ])
    }

    @Test("Android: filters for other hosts and schemes hand over links that no route knows")
    func androidFindings() throws {
        let table = try table([route("buy", "/buy/{id:int}"), route("sell", "/sell")].joined(separator: ","))
        let whole = try android(
            table,
            AndroidRuleTests.web + #"<data android:path="/sell" /><data android:pathAdvancedPattern="/buy/[1-9]" />"#)
        #expect(summary(whole) == ["partly_handed buy https://a.example/buy/0"])
        #expect(whole.handed == 2 && whole.partly == 1 && whole.parts == 2 && whole.isProved)
        let poor = try android(
            table,
            AndroidRuleTests.web + #"<data android:host="b.example" /><data android:path="/sell" />"#)
        #expect(
            summary(poor) == [
                "never_handed buy https://a.example/buy/12", "unknown_links line 10 https://b.example/sell",
            ])
        let open = try android(table, #"<data android:scheme="app" />"#)
        #expect(
            summary(open) == [
                "never_handed buy https://a.example/buy/12", "never_handed sell https://a.example/sell",
                "unknown_links line 6 app://any.invalid/",
            ])
    }

    @Test("Android: a route whose links match only with a slash at the end is named")
    func unusual() throws {
        let table = try table(route("list", "/list"))
        let report = try android(table, AndroidRuleTests.web + #"<data android:pathPattern="/list/" />"#)
        #expect(summary(report) == ["unusual_spelling list https://a.example/list/"])
    }

    @Test("Android: the host of a custom scheme is the first segment")
    func segments() throws {
        let table = try table(
            [route("home", "/home"), route("item", "/item/{id:int}"), route("any", "/any/{x}/end")]
                .joined(separator: ","),
            link: #"{"schemes": ["app"], "host": "segment"}"#)
        let data = """
            <data android:scheme="app" android:host="home" /><data android:host="item" />
            <data android:pathPattern=".*" />
            """
        let report = try android(table, data)
        #expect(
            summary(report) == [
                "never_handed any app://any/x/end", "unknown_links line 11 app://home/x",
            ])
        let whole = #"<data android:scheme="app" />"#
        #expect(try summary(android(table, whole)) == ["unknown_links line 6 app://home/x"])
    }

    @Test("Dynamic rules narrow the manifest in a report of their own")
    func dynamic() throws {
        let table = try table([route("a", "/a"), route("b", "/b")].joined(separator: ","))
        let manifest = try ManifestFile(
            Array(
                AndroidRuleTests.manifest(
                    AndroidRuleTests.web + #"<data android:pathAdvancedPattern="/[ab]" />"#, package: "a.b"
                ).utf8))
        let other = AndroidRuleTests.statement(#"[{"/": "/c"}]"#, package: "c.d")
        let own = AndroidRuleTests.statement(#"[{"/": "/a", "exclude": true}, {"/": "*"}]"#)
        let links = try AssetLinksFile(Array("[\(other), \(own)]".utf8))
        var check = AssociationCheck(table, manifest: manifest, assetLinks: links)
        let reports = check.run()
        #expect(reports.map(\.system) == [.android, .androidDynamic])
        #expect(summary(reports[0]) == [])
        #expect(summary(reports[1]) == ["never_handed a https://a.example/a"])
        #expect(check.fileProblems.isEmpty)
        let foreign = try AssetLinksFile(Array("[\(other)]".utf8))
        let problems = AssociationCheck(table, manifest: manifest, assetLinks: foreign).fileProblems
        #expect(problems.map(\.code) == [.notAssociated])
    }

    @Test("Dynamic rules without a manifest are compared for the hosts of the table")
    func dynamicAlone() throws {
        let table = try table([route("a", "/a"), route("b", "/b")].joined(separator: ","))
        let links = try AssetLinksFile(
            Array("[\(AndroidRuleTests.statement(#"[{"/": "/a"}, {"/": "/old/*"}]"#))]".utf8))
        var check = AssociationCheck(table, assetLinks: links)
        let report = try #require(check.run().first)
        #expect(
            summary(report) == [
                "never_handed b https://a.example/b",
                "unknown_links /0/relation_extensions/delegate_permission~1common.handle_all_urls"
                    + "/dynamic_app_link_components/1 https://a.example/old/",
            ])
    }

    @Test("A search that exceeds its budget says that its answers are not proved")
    func exhausted() throws {
        let table = try table([route("a", "/a"), route("b", "/b")].joined(separator: ","))
        let file = try AppleFile(Array(AppleRuleTests.file(#"{"/": "/a"}"#).utf8))
        var check = AssociationCheck(table, apple: file, budget: .init(perSearch: 3, total: 3))
        let report = try #require(check.run().first)
        #expect(!report.isProved)
        #expect(summary(report) == ["never_handed b https://a.example/b sampled"])
    }

    @Test("The comparison with hostile files ends at its budget", .timeLimit(.minutes(15)))
    func hostile() throws {
        let table = try table([route("a", "/a/{x}/{y}"), route("b", "/b/{rest+}")].joined(separator: ","))
        let budget = WorkBudget(perSearch: 300_000, total: 300_000)
        let stars = (0..<2000).map { #"{"/": "/*a*b*\#($0)*", "?": {"x": "?"}}"# }.joined(separator: ",")
        var apple = AssociationCheck(
            table, apple: try AppleFile(Array(AppleRuleTests.file(stars).utf8)), budget: budget)
        #expect(try #require(apple.run().first).isProved == false)
        let paths = (0..<5000).map { #"<data android:pathPattern="/.*a.*\#($0)" />"# }.joined()
        let manifest = AndroidRuleTests.manifest(AndroidRuleTests.web + paths)
        var android = AssociationCheck(table, manifest: try ManifestFile(Array(manifest.utf8)), budget: budget)
        #expect(try #require(android.run().first).isProved == false)
        let many = (0..<3000).map { #"<data android:scheme="s\#($0)" /><data android:host="h\#($0)" />"# }.joined()
        let hosts = try ManifestFile(Array(AndroidRuleTests.manifest(many).utf8))
        var origins = AssociationCheck(table, manifest: hosts, budget: budget)
        #expect(try #require(origins.run().first).isProved == false)
    }

    @Test("The exports of a table hand over every route that they export", arguments: SampleTables.paths)
    func exports(path: String) throws {
        let table = try SampleTables.load(path)
        if let association = AppleAssociation(table, host: nil) {
            let file = try AppleFile(Array(association.json(appIDs: ["A.b"]).utf8))
            #expect(file.problems.isEmpty, "\(file.problems)")
            var check = AssociationCheck(table, apple: file)
            let report = try #require(check.run().first)
            #expect(report.routes > 0 && report.handed == report.routes, "\(path): \(summary(report))")
            let wider = association.notes.lines.count { $0.contains("also matches") }
            let unknown = report.findings.filter { $0.code == .unknownLinks }
            #expect(wider > 0 || unknown.isEmpty, "\(path): \(summary(report))")
        }
        let filters = AndroidFilters(table)
        let file = try ManifestFile(Array(AndroidRuleTests.application(filters.xml).utf8))
        var check = AssociationCheck(table, manifest: file)
        let report = try #require(check.run().first)
        #expect(report.routes > 0 && report.handed == report.routes, "\(path): \(summary(report))")
    }

    @Test("Every link of a finding is decided as the finding says", arguments: SampleTables.paths)
    func witnesses(path: String) throws {
        let table = try SampleTables.load(path)
        let file = try AppleFile(Array(AppleRuleTests.file(#"{"/": "/a*"}, {"/": "/*/?"}, {"/": "*1*"}"#).utf8))
        var check = AssociationCheck(table, apple: file)
        let report = try #require(check.run().first)
        for finding in report.findings {
            let link = try #require(finding.link, "\(finding)")
            let isHanded = try file.rules.decide(#require(LinkPieces(link))).isHanded
            let decision = table.resolve(link)
            switch finding.code {
            case .neverHanded:
                #expect(!isHanded && decision.via.first ?? decision.route == finding.route, "\(finding)")
            case .unknownLinks: #expect(isHanded && decision.route == nil, "\(finding)")
            default: break
            }
        }
    }
}
