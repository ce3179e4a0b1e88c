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

    @Test("Apple: routes without a component, and components without a route, each with a link")
    func appleFindings() throws {
        let table = try table(
            [route("buy", "/buy/{id:int}"), route("sell", "/sell"), route("any", "/x/{rest+}")]
                .joined(separator: ","))
        let whole = try apple(table, #"{"/": "/sell"}, {"/": "/x/?*"}, {"/": "/buy/$(digit)"}"#)
        #expect(summary(whole) == [])
        #expect(whole.routes == 3 && whole.handed == 3 && whole.parts == 3 && whole.isProved)
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
        #expect(try summary(apple(table, #"{"/": "/p/ne?"}"#)) == [])
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
                "unknown_links /applinks/details/0/components/0 https://a.example/a#top"
            ])
    }

    @Test("Android: filters for other hosts and schemes hand over links that no route knows")
    func androidFindings() throws {
        let table = try table([route("buy", "/buy/{id:int}"), route("sell", "/sell")].joined(separator: ","))
        let whole = try android(
            table,
            AndroidRuleTests.web + #"<data android:path="/sell" /><data android:pathAdvancedPattern="/buy/[1-9]" />"#)
        #expect(summary(whole) == [] && whole.handed == 2 && whole.parts == 2 && whole.isProved)
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

    @Test("The comparison with hostile files ends at its budget", .timeLimit(.minutes(1)))
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
