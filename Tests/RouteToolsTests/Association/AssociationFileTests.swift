@testable internal import RouteTools
internal import Testing

/// Association files that are broken, hostile, or probably not intended.
@Suite struct AssociationFileTests {
    private func code(_ read: () throws -> Void) -> AssociationProblem? {
        do {
            try read()
            return nil
        } catch {
            return error as? AssociationProblem
        }
    }

    @Test(
        "An Apple file that cannot be used is an error with its location",
        arguments: [
            ("{", AssociationProblem.Code.syntax, ""), (#"{"applinks": {}, "applinks": {}}"#, .syntax, "/applinks"),
            ("[]", .value, ""), ("{}", .value, ""), (#"{"applinks": []}"#, .value, "/applinks"),
            (#"{"applinks": {"details": 1}}"#, .value, "/applinks/details"),
            (#"{"applinks": {"details": [1]}}"#, .value, "/applinks/details/0"),
            (
                #"{"applinks": {"details": [{"appID": "A", "components": {}}]}}"#, .value,
                "/applinks/details/0/components"
            ),
            (
                #"{"applinks": {"details": [{"appID": "A", "components": ["/x"]}]}}"#, .value,
                "/applinks/details/0/components/0"
            ),
            (
                #"{"applinks": {"details": [{"appID": "A", "paths": [1]}]}}"#, .value, "/applinks/details/0/paths/0"
            ),
            (
                #"{"applinks": {"substitutionVariables": {"a": "b"}}}"#, .value, "/applinks/substitutionVariables/a"
            ),
            (String(repeating: "[", count: 100), .limit, String(repeating: "/0", count: 63)),
        ])
    func apple(text: String, expected: AssociationProblem.Code, pointer: String) {
        let problem = code { _ = try AppleFile(Array(text.utf8)) }
        #expect(problem?.severity == .error && problem?.code == expected, "\(text): \(String(describing: problem))")
        if expected == .value { #expect(problem?.pointer == pointer && problem?.line == 1) }
    }

    @Test("Parts of an Apple file that have no effect are warnings with their locations")
    func appleWarnings() throws {
        let text = """
            {"applinks": {"substitutionVariables": {"a$": ["x"], "b": ["$(a)"]}, "details": [
              {"appIDs": ["A.b"], "components": [
                {"/": "/x", "casesensitive": false},
                {"/": "/$(none)"},
                {"/": "/#/market"},
                {"/": "/x?a=1"},
                {"/": 1, "exclude": "yes"},
                {"?": {"a": 1}}, {"?": 7}]},
              {"components": []}, {"appID": "C.d"}]}}
            """
        let file = try AppleFile(Array(text.utf8))
        #expect(
            file.problems.map(\.code) == [
                .ignored, .value, .unknownKey, .dead, .dead, .dead, .value, .value, .ignored, .value, .dead, .dead,
            ])
        #expect(file.problems.map(\.line) == [1, 1, 3, 4, 5, 6, 7, 7, 8, 8, 9, 9])
        #expect(file.problems[2].pointer == "/applinks/details/0/components/0/casesensitive")
        #expect(file.problems[3].message == "the variable `none` is not defined, so the component never matches")
        #expect(file.problems.allSatisfy { $0.severity == .warning && $0.column > 0 })
    }

    @Test("A file of more than 128 KB is a warning, and one of more than 4 MB an error")
    func size() throws {
        let padding = String(repeating: " ", count: 128 << 10)
        let file = AppleRuleTests.file(#"{"/": "/x"}"#)
        #expect(try AppleFile(Array(file.utf8)).problems.isEmpty)
        #expect(try AppleFile(Array((file + padding).utf8)).problems.map(\.code) == [.size])
        #expect(AppleAssociation.sizeNote(padding) == nil)
        #expect(AppleAssociation.sizeNote(padding + " ")?.hasPrefix("the file has 131073 bytes") == true)
        let large = Array(repeating: UInt8(ascii: " "), count: AssociationLimits.maxBytes + 1)
        #expect(code { _ = try AppleFile(large) }?.code == .limit)
        #expect(code { _ = try AssetLinksFile(large) }?.code == .limit)
        #expect(code { _ = try ManifestFile(large) }?.code == .limit)
    }

    @Test("Variables that multiply the size of patterns are refused at the limit of states")
    func expansion() {
        let values = (0..<2000).map { #""value-\#($0)-with-a-long-text""# }.joined(separator: ",")
        let path = String(repeating: "/$(v)", count: 100)
        let text = AppleRuleTests.file(#"{"/": "\#(path)"}"#, variables: #"{"v": [\#(values)]}"#)
        #expect(code { _ = try AppleFile(Array(text.utf8)) }?.code == .limit)
        let query = AppleRuleTests.file(
            Array(repeating: #"{"?": {"a": "\#(path)"}}"#, count: 10).joined(separator: ","),
            variables: #"{"v": ["\#(String(repeating: "x", count: 300))"]}"#)
        #expect(code { _ = try AppleFile(Array(query.utf8)) }?.code == .limit)
        let ids = (0..<300).map { #""A.a\#($0)""# }
        let shared =
            #"{"appIDs": [\#(ids.joined(separator: ","))], "components": ["#
            + Array(repeating: "{}", count: 4000).joined(separator: ",") + "]}"
        let own = ids.map { #"{"appIDs": [\#($0)], "components": [{}]}"# }.joined(separator: ",")
        let apps = #"{"applinks": {"details": [\#(shared), \#(own)]}}"#
        #expect(code { _ = try AppleFile(Array(apps.utf8)) }?.code == .limit)
        let many = Array(repeating: "{}", count: AssociationLimits.maxComponents + 1).joined(separator: ",")
        #expect(code { _ = try AppleFile(Array(AppleRuleTests.file(many).utf8)) }?.code == .limit)
    }

    @Test("Patterns that would make a matcher go back take time proportional to the text", .timeLimit(.minutes(15)))
    func hostilePatterns() throws {
        let stars = String(repeating: "*a", count: 200)
        let file = try AppleFile(Array(AppleRuleTests.file(#"{"/": "/\#(stars)b"}"#).utf8))
        let link = "https://a.example/" + String(repeating: "a", count: 2000)
        #expect(try !file.rules.decide(#require(LinkPieces(link))).isHanded)
        let simple = try AndroidPatternText("/" + String(repeating: ".*a", count: 1000) + "b", .simple)
        #expect(!simple.matches("/" + String(repeating: "a", count: 8000)))
        let advanced = try AndroidPatternText("/" + String(repeating: "a*", count: 900) + "b", .advanced)
        #expect(!advanced.matches("/" + String(repeating: "a", count: 8000)))
        let count = try AndroidPatternText("/a{2147483646}", .advanced)
        #expect(!count.matches("/" + String(repeating: "a", count: 8000)))
        let suffix = try AndroidPatternText(String(repeating: "a", count: 4000) + "b", .suffix)
        #expect(!suffix.matches(String(repeating: "a", count: 8000)))
    }

    @Test(
        "A manifest that is not strict XML is an error with its line",
        arguments: [
            ("", 1), ("x", 1), ("<manifest>", 1), ("<manifest/><manifest/>", 1), ("<manifest></other>", 1),
            ("<manifest>\n<a b='1' b='2'/></manifest>", 2), ("<manifest a=b/>", 1), ("<manifest a='<'/>", 1),
            ("<!DOCTYPE x [<!ENTITY a 'b'>]>\n<manifest/>", 1), ("<manifest>&a;</manifest>", 1),
            ("<manifest a='&#0;'/>", 1), ("<manifest a='&#xD800;'/>", 1), ("<manifest>\n<!-- </manifest>", 2),
            ("<manifest a='1'b='2'/>", 1), ("<1/>", 1), ("<manifest a='", 1), ("<manifest a", 1), ("<manifest", 1),
            ("<", 1), ("<manifest><![CDATA[ </manifest>", 1), ("<manifest/>x", 1), ("<manifest/ >", 1),
        ])
    func xml(text: String, line: Int) {
        let problem = code { _ = try ManifestFile(Array(text.utf8)) }
        #expect(problem?.code == .syntax && problem?.line == line, "\(text): \(String(describing: problem))")
    }

    @Test("Limits of a manifest are errors")
    func xmlLimits() {
        let deep = String(repeating: "<a>", count: 65) + String(repeating: "</a>", count: 65)
        #expect(code { _ = try ManifestFile(Array(deep.utf8)) }?.code == .limit)
        let wide = "<a " + (0..<257).map { "a\($0)='' " }.joined() + "/>"
        #expect(code { _ = try ManifestFile(Array(wide.utf8)) }?.code == .limit)
        let prefixes = (0..<2).map { element in
            "<a " + (0..<200).map { "xmlns:n\(element)_\($0)='' " }.joined() + ">"
        }
        #expect(code { _ = try ManifestFile(Array((prefixes.joined() + "</a></a>").utf8)) }?.code == .limit)
        let many = "<a>" + String(repeating: "<b/>", count: 100_001) + "</a>"
        #expect(code { _ = try ManifestFile(Array(many.utf8)) }?.code == .limit)
        let paths = String(repeating: #"<data android:path="/x" />"#, count: AssociationLimits.maxPaths + 1)
        let manifest = AndroidRuleTests.manifest(AndroidRuleTests.web + paths)
        #expect(code { _ = try ManifestFile(Array(manifest.utf8)) }?.code == .limit)
        #expect(code { _ = try ManifestFile([0x3C, 0xFF, 0x2F, 0x3E]) }?.code == .syntax)
        #expect(code { _ = try ManifestFile(Array("<other/>".utf8)) }?.code == .value)
    }

    @Test("A location in a long line needs no scan of the line")
    func locations() {
        for text in [
            "", "\n", "aé\nbé中c", String(repeating: "é", count: 400) + "\nx" + String(repeating: "中", count: 300),
        ] {
            let bytes = Array(text.utf8)
            let index = LineIndex(bytes)
            for offset in 0...bytes.count {
                let before = bytes[..<offset]
                let line = before.count { $0 == UInt8(ascii: "\n") } + 1
                let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
                let column = before[start...].count { $0 & 0xC0 != 0x80 } + 1
                #expect(index.location(of: offset) == (line, column))
            }
        }
    }

    @Test("Every prefix and every changed byte of the files is read without a trap")
    func mutations() throws {
        let apple = Array(AppleRuleTests.file(#"{"/": "/a$(lang)?*", "?": {"b": "?"}, "exclude": true}"#).utf8)
        let manifest = Array(
            AndroidRuleTests.manifest(
                AndroidRuleTests.web + #"<data android:pathAdvancedPattern="/[a-z]{1,3}\\." />"#
            ).utf8)
        let links = Array("[\(AndroidRuleTests.statement(##"[{"/": "/a*?", "#": "x"}]"##))]".utf8)
        var count = 0
        for file in [apple, manifest, links] {
            for index in file.indices {
                for byte in [UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: "]"), UInt8(ascii: "\\"), 0, 0xC3] {
                    var changed = file
                    changed[index] = byte
                    for text in [changed, Array(file[..<index])] {
                        _ = try? AppleFile(text)
                        _ = try? ManifestFile(text)
                        _ = try? AssetLinksFile(text)
                        count += 1
                    }
                }
            }
        }
        #expect(count > 10_000)
    }

    @Test("Parts of a manifest that have no effect are warnings with their lines")
    func manifestWarnings() throws {
        let data = """
            <data android:scheme="Https" android:host="${host}" />
            <data android:scheme="@string/scheme" /><data android:host="b.example" />
            <data android:port="80" />
            <data android:path="x" />
            <uri-relative-filter-group />
            """
        let file = try ManifestFile(Array(AndroidRuleTests.manifest(data, verified: false).utf8))
        #expect(
            file.problems.map(\.code) == [.dead, .unresolved, .unresolved, .ignored, .dead, .ignored])
        #expect(file.problems.map(\.line) == [10, 10, 11, 12, 13, 14])
        #expect(file.isUnresolved)
        let plain = try ManifestFile(Array(AndroidRuleTests.manifest(AndroidRuleTests.web, verified: false).utf8))
        #expect(plain.problems.map(\.code) == [.unverified])
        let bad = AndroidRuleTests.manifest(AndroidRuleTests.web + #"<data android:pathAdvancedPattern="/[" />"#)
        #expect(code { _ = try ManifestFile(Array(bad.utf8)) }?.code == .value)
    }

    @Test(
        "One bad statement spoils the whole file of a site",
        arguments: [
            "{}", #"{"relation": "x/y"}"#, #"{"relation": []}"#, #"{"relation": ["x"], "target": {}}"#,
            #"{"relation": ["x/y"]}"#, #"{"relation": ["x/y"], "target": {"namespace": "android_app"}}"#, "1",
        ])
    func statements(text: String) {
        let good = AndroidRuleTests.statement(nil)
        #expect(code { _ = try AssetLinksFile(Array("[\(good),\(text)]".utf8)) }?.code == .value)
    }

    @Test("The fingerprints of a site have 32 uppercase bytes")
    func fingerprints() throws {
        let good = "[\(AndroidRuleTests.statement(nil))]"
        #expect(try AssetLinksFile(Array(good.utf8)).statements.map(\.package) == ["a.b"])
        for (old, new) in [("AB:AB", "ab:AB"), ("AB:AB", "AB"), ("AB:AB", "AG:AB"), ("a.b", "")] {
            let text = String(good.replacing(old, with: new, maxReplacements: 1))
            #expect(code { _ = try AssetLinksFile(Array(text.utf8)) }?.code == .value, "\(new)")
        }
        #expect(code { _ = try AssetLinksFile(Array("{}".utf8)) }?.code == .value)
        #expect(try AssetLinksFile(Array("[]".utf8)).problems.map(\.code) == [.dead])
    }
}
