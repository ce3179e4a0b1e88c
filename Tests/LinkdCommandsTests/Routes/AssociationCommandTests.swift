internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// The association files of `routes check`.
@Suite struct AssociationCommandTests {
    private static let table = """
        {"schemaVersion": 1, "table": {"id": "t", "version": "1"},
         "link": {"schemes": ["https"], "host": "authority", "hosts": ["a.example"]},
         "routes": [{"id": "buy", "match": "/buy/{any:int}", "to": {"root": true}},
                    {"id": "sell", "match": "/sell", "to": {"root": true}}]}
        """

    private func check(_ aasa: String, _ more: String...) -> CommandResult {
        withTemporaryFile(Self.table) { table in
            withTemporaryFile(aasa) { file in
                let result = linkd(["routes", "check", table, "--aasa", file] + more)
                return CommandResult(
                    code: result.code, out: result.out.replacing(file, with: "FILE"),
                    err: result.err.replacing(file, with: "FILE"))
            }
        }
    }

    private static let poor = """
        {"applinks": {"details": [{"appIDs": ["A.b"], "components": [
          {"/": "/buy/*"}, {"/": "/x?y=1"}]}]}}
        """

    @Test("Findings have a message, a code, a location, and a link, and --strict counts them")
    func text() {
        let result = check(Self.poor)
        #expect(result.code == 0)
        let lines = result.out.split(separator: "\n").dropFirst().map { String($0) }
        #expect(
            lines == [
                "FILE:2:20: warning: a path never contains a query: write the part after `?` as the key `?` "
                    + "[association_dead]", "    at /applinks/details/0/components/1",
                "warning: iOS hands no link of route sell to the app [never_handed]",
                "    link: https://a.example/sell",
                "FILE:2:3: warning: iOS hands links to the app that no route knows, because of the component `/buy/*` "
                    + "[unknown_links]", "    at /applinks/details/0/components/0", "    link: https://a.example/buy",
                "FILE:2:20: warning: iOS hands links to the app that no route knows, because of the component "
                    + "`/x?y=1` [unknown_links]", "    at /applinks/details/0/components/1",
                "    link: https://a.example/xxy=1",
                "--  iOS  1 of 2 routes handed over, 2 parts of the files compared, proved",
            ])
        let strict = check(Self.poor, "--strict")
        #expect(strict.code == 65 && strict.err.contains("the table and the association files have 4 warnings"))
        let allowed = check(
            Self.poor, "--strict", "--allow", "never_handed", "--allow", "unknown_links", "--allow",
            "association_dead")
        #expect(allowed.code == 0)
        #expect(check(Self.poor, "--allow", "never_handded").err.contains("use `never_handed`"))
        #expect(check(Self.poor, "--allow", "association_syntax").err.contains("the code of an error"))
    }

    @Test("The JSON of a check has the files with their problems and the systems with their findings")
    func json() throws {
        let associations = try #require(
            JSONValue.parse(Array(check(Self.poor, "--json").out.utf8))["associations"])
        let file = try #require(associations["files"]?.array?.first)
        #expect(file["kind"]?.string == "aasa" && file["ok"]?.text == "true")
        #expect(file["problems"]?.array?.map { $0["line"]?.integer } == [2])
        let system = try #require(associations["systems"]?.array?.first)
        #expect(system["system"]?.string == "ios" && system["proved"]?.text == "true")
        #expect(system["routes"]?.integer == 2 && system["handed"]?.integer == 1 && system["parts"]?.integer == 2)
        let findings = try #require(system["findings"]?.array)
        #expect(findings.map { $0["code"]?.string } == ["never_handed", "unknown_links", "unknown_links"])
        #expect(findings.allSatisfy { $0["link"]?.string?.hasPrefix("https://a.example/") == true })
        #expect(findings[0]["route"]?.string == "sell" && findings[1]["file"]?.string == "FILE")
        #expect(findings[1]["pointer"]?.string == "/applinks/details/0/components/0")
    }

    @Test("Of many findings, the first are printed with the number of the others, and all count")
    func manyFindings() throws {
        let count = 150
        let list = (0..<count).map { "{\"/\":\"/x\($0)\"}" }.joined(separator: ",")
        let components = "[{\"/\":\"/buy/1\"},\(list)]"
        let aasa = "{\"applinks\":{\"details\":[{\"appIDs\":[\"A.b\"],\"components\":\(components)}]}}"
        let result = check(aasa)
        let lines = result.out.split(separator: "\n")
        // The route `buy` is partly handed over, and `sell` never.
        #expect(lines.count { $0.contains("warning: iOS") } == 100)
        #expect(lines.contains("... and \(count - 98) more warnings for iOS"), "\(lines.suffix(2))")
        let json = try JSONValue.parse(Array(check(aasa, "--json").out.utf8))
        let system = try #require(json["associations"]?["systems"]?.array?.first)
        #expect(system["findings"]?.array?.count == 100 && system["omitted"]?.integer == Int64(count - 98))
        #expect(check(aasa, "--strict").err.contains("\(count + 2) warnings"))
    }

    @Test("A file that cannot be used ends with exit code 65, and one that cannot be read with 78")
    func refused() {
        let broken = check(#"{"applinks": {"details": [}}"#)
        #expect(broken.code == 65 && broken.err.contains("association file FILE cannot be used"))
        #expect(
            broken.out.contains("FILE:1:27: error: expected a value") && broken.out.contains("[association_syntax]"))
        withTemporaryFile(Self.table) { table in
            let missing = linkd("routes", "check", table, "--manifest", "/no/such/file")
            #expect(missing.code == 78 && missing.err.contains("/no/such/file cannot be read"))
            let several = linkd("routes", "check", table, table, "--manifest", "/no/such/file")
            #expect(several.code == 64 && several.err.contains("compared with one table, but there are 2"))
        }
    }

    @Test("A host and an app are selected by flags, which need an association file, and are known")
    func selection() {
        let file = """
            {"applinks": {"details": [{"appIDs": ["A.b"], "components": [{"/": "/buy/$(digit)"}, {"/": "/sell"}]},
                                      {"appIDs": ["A.c"], "components": [{"/": "*"}]}]}}
            """
        let result = check(file, "--app-id", "A.b", "--host", "a.example")
        #expect(result.out.contains("only a part of the links of route buy"), "\(result.out)")
        #expect(result.out.contains("2 of 2 routes handed over, 1 of them partly, 2 parts"), "\(result.out)")
        #expect(check(file, "--app-id", "A.b", "--allow", "partly_handed", "--strict").code == 0)
        #expect(check(file, "--app-id", "A.d").out.contains("does not name the app A.d [association_missing]"))
        let host = check(file, "--host", "b.example")
        #expect(host.code == 64 && host.err.contains("no https links with the host b.example"), "\(host.err)")
        withTemporaryFile(Self.table) { table in
            let alone = linkd("routes", "check", table, "--host", "a.example")
            #expect(alone.code == 64 && alone.err.contains("--host is given, but no association file"))
        }
    }

    @Test("The export states what it leaves out, and Apple's file with `/buy` also takes `/buy/`")
    func exportNotes() {
        withTemporaryFile(Self.table) { table in
            let export = ["routes", "export", table, "--format", "aasa", "--app-id", "A.b"]
            let aasa = linkd(export)
            #expect(
                aasa.err.contains(
                    "note: links with repeated slashes in the path are not exported, although the table matches them"),
                "\(aasa.err)")
            #expect(!aasa.err.contains("131072"))
            let two = Self.table.replacing(#""a.example""#, with: #""a.example", "c.example""#)
            withTemporaryFile(two) { table in
                let one = linkd("routes", "export", table, "--format", "aasa", "--app-id", "A.b", "--host", "A.example")
                #expect(one.err.contains("https://a.example/.well-known") && !one.err.contains("c.example"))
            }
            withTemporaryFile(aasa.out) { file in
                let again = linkd("routes", "check", table, "--aasa", file)
                #expect(again.out.contains("2 of 2 routes handed over") && !again.out.contains("partly_handed"))
            }
            let matcher = try? AppleMatcher(aasa.out)
            for link in ["https://a.example/sell", "https://a.example/sell/", "https://a.example/buy/7/"] {
                #expect(matcher?.decide(link)?.opens == true, "\(link)")
                #expect(linkd("resolve", "--table", table, link).code == 0, "\(link)")
            }
        }
        let routes = (0..<1500).map {
            #"{"id": "route-\#($0)", "match": "/route-number-\#($0)-of-a-long-table", "to": {"root": true}}"#
        }
        let large = Self.table.replacing(#""routes": ["#, with: #""routes": [\#(routes.joined(separator: ",")),"#)
        withTemporaryFile(large) { table in
            let aasa = linkd("routes", "export", table, "--format", "aasa", "--app-id", "A.b")
            #expect(aasa.code == 0 && aasa.out.utf8.count > 128 << 10)
            #expect(aasa.err.contains("warning: the file has \(aasa.out.utf8.count) bytes"), "\(aasa.err.prefix(300))")
        }
    }

    @Test("The exports of a table have no findings when they are read again")
    func exports() throws {
        try withTemporaryFile(Self.table) { table in
            let aasa = linkd("routes", "export", table, "--format", "aasa", "--app-id", "A.b").out
            let filters = linkd("routes", "export", table, "--format", "android").out
            let print = Array(repeating: "AB", count: 32).joined(separator: ":")
            let links = linkd(
                "routes", "export", table, "--format", "assetlinks", "--package", "a.b", "--fingerprint", print
            ).out
            let manifest = """
                <manifest xmlns:android="http://schemas.android.com/apk/res/android" package="a.b">
                <application><activity>\(filters)</activity></application></manifest>
                """
            let result = withTemporaryFile(aasa) { aasa in
                withTemporaryFile(manifest) { manifest in
                    withTemporaryFile(links) { links in
                        linkd(
                            "routes", "check", table, "--aasa", aasa, "--manifest", manifest, "--assetlinks", links,
                            "--json")
                    }
                }
            }
            let associations = try #require(JSONValue.parse(Array(result.out.utf8))["associations"])
            #expect(associations["files"]?.array?.map { $0["problems"]?.array?.count } == [0, 0, 0])
            let systems = try #require(associations["systems"]?.array)
            #expect(systems.map { $0["system"]?.string } == ["ios", "android"])
            #expect(systems.allSatisfy { $0["handed"]?.integer == 2 }, "\(result.out)")
        }
    }

    @Test("A file of a site without dynamic rules has no paths, which a note says")
    func noPaths() {
        let print = Array(repeating: "AB", count: 32).joined(separator: ":")
        let links = """
            [{"relation": ["delegate_permission/common.handle_all_urls"], "target": {"namespace": "android_app",
              "package_name": "a.b", "sha256_cert_fingerprints": ["\(print)"]}}]
            """
        withTemporaryFile(Self.table) { table in
            withTemporaryFile(links) { file in
                let result = linkd("routes", "check", table, "--assetlinks", file)
                #expect(result.code == 0 && result.err.contains("has no paths"), "\(result.err)")
            }
        }
    }
}
