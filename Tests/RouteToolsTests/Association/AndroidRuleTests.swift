@testable internal import RouteTools
internal import Testing

/// The filters of a manifest and the rules of `assetlinks.json`.
@Suite struct AndroidRuleTests {
    static func manifest(_ data: String, verified: Bool = true, package: String? = nil) -> String {
        let name = package.map { " package=\"\($0)\"" } ?? ""
        return """
            <?xml version="1.0" encoding="utf-8"?>
            <!-- A manifest. -->
            <manifest xmlns:android="http://schemas.android.com/apk/res/android"\(name)>
              <application>
                <activity android:name=".Main">
                  <intent-filter android:autoVerify="\(verified)">
                    <action android:name="android.intent.action.VIEW" />
                    <category android:name="android.intent.category.DEFAULT" />
                    <category android:name="android.intent.category.BROWSABLE" />
                    \(data)
                  </intent-filter>
                </activity>
              </application>
            </manifest>
            """
    }

    /// Returns a manifest with the given filters.
    static func application(_ filters: String) -> String {
        """
        <manifest xmlns:android="http://schemas.android.com/apk/res/android"><application><activity>
        \(filters)
        </activity></application></manifest>
        """
    }

    static let web = #"<data android:scheme="https" android:host="a.example" />"#

    private func opens(_ data: String, _ link: String) throws -> Bool {
        let file = try ManifestFile(Array(Self.manifest(data).utf8))
        return try AndroidRules(filters: file.filters).decide(#require(LinkPieces(link))).isHanded
    }

    @Test("Schemes are compared exactly, hosts by name or suffix, and ports if the filter has one")
    func origins() throws {
        #expect(try opens(Self.web, "https://a.example/x?y#z"))
        #expect(try opens(Self.web, "https://A.example"))
        #expect(try !opens(Self.web, "http://a.example/"))
        #expect(try !opens(Self.web, "https://b.example/"))
        #expect(try !opens(Self.web, "https://a.example.evil.com/"))
        let wild = #"<data android:scheme="https" android:host="*.example" />"#
        #expect(try opens(wild, "https://a.b.example/"))
        #expect(try !opens(wild, "https://example/"))
        let port = #"<data android:scheme="https" android:host="a.example" android:port="8443" />"#
        #expect(try opens(port, "https://a.example:8443/"))
        #expect(try !opens(port, "https://a.example/"))
        #expect(try opens(#"<data android:scheme="app" />"#, "app://anything/at/all"))
        #expect(try !opens(#"<data android:scheme="App" />"#, "app://x"))
        #expect(try !opens(#"<data android:scheme="https" android:host="a.example" />"#, "HTTPS://a.example/"))
    }

    @Test("The attributes of all data elements combine")
    func combined() throws {
        let data = """
            <data android:scheme="https" /><data android:scheme="app" /><data android:host="a.example" />
            <data android:host="b.example" /><data android:path="/x" /><data android:pathPrefix="/y/" />
            """
        for origin in ["https://a.example", "https://b.example", "app://a.example", "app://b.example"] {
            #expect(try opens(data, origin + "/x"))
            #expect(try opens(data, origin + "/y/1"))
            #expect(try !opens(data, origin + "/x/"))
            #expect(try !opens(data, origin + "/z"))
        }
    }

    @Test("A path is compared after its escapes are decoded")
    func decoded() throws {
        #expect(try opens(Self.web + #"<data android:path="/a b" />"#, "https://a.example/a%20b"))
        #expect(try !opens(Self.web + #"<data android:path="/a%20b" />"#, "https://a.example/a%20b"))
        #expect(try opens(Self.web + #"<data android:path="/a/b" />"#, "https://a.example/a%2Fb"))
    }

    @Test("The manifest removes one level of backslashes and resolves references")
    func escapes() throws {
        let data = Self.web + #"<data android:pathAdvancedPattern="/a\\.b&amp;[&#x63;-d]" />"#
        #expect(try opens(data, "https://a.example/a.b&d"))
        #expect(try !opens(data, "https://a.example/axb&d"))
        #expect(try opens(Self.web + #"<data android:path="/\u0061" />"#, "https://a.example/a"))
    }

    @Test("Without a scheme nothing matches, and without a host the paths are ignored")
    func dependence() throws {
        #expect(try !opens(#"<data android:host="a.example" android:path="/x" />"#, "https://a.example/x"))
        #expect(try opens(#"<data android:scheme="app" android:path="/x" />"#, "app://y/z"))
        #expect(try !opens(Self.web + #"<data android:mimeType="text/plain" />"#, "https://a.example/"))
    }

    @Test("A filter for other apps needs the action and both categories")
    func categories() throws {
        let whole = Self.manifest(Self.web)
        for name in [
            "android.intent.action.VIEW", "android.intent.category.DEFAULT", "android.intent.category.BROWSABLE",
        ] {
            let file = try ManifestFile(Array(whole.replacing(name, with: "other").utf8))
            #expect(file.filters.isEmpty, "\(name)")
        }
    }

    @Test("Groups test queries and fragments, and the first that matches decides")
    func groups() throws {
        let data =
            Self.web + """
                <data android:path="/always" />
                </intent-filter><intent-filter>
                """
        #expect(try !opens(data, "https://a.example/x"))
        let group = """
            <action android:name="android.intent.action.VIEW" />
            <category android:name="android.intent.category.DEFAULT" />
            <category android:name="android.intent.category.BROWSABLE" />
            \(Self.web)
            <uri-relative-filter-group android:allow="false">
              <data android:path="/x" /><data android:query="closed=1" />
            </uri-relative-filter-group>
            <uri-relative-filter-group>
              <data android:pathPrefix="/x" /><data android:queryPrefix="id=" /><data android:fragment="top" />
            </uri-relative-filter-group>
            """
        let both = data + group
        #expect(try opens(both, "https://a.example/always"))
        #expect(try opens(both, "https://a.example/x?a=1&id=7#top"))
        #expect(try !opens(both, "https://a.example/x?id=7"))
        #expect(try !opens(both, "https://a.example/x?closed=1&id=7#top"))
        #expect(try opens(both, "https://a.example/xy?closed=1&id=7#top"))
    }

    static func statement(_ rules: String?, package: String = "a.b", name: String = "dynamic_app_link_components")
        -> String
    {
        let print = Array(repeating: "AB", count: 32).joined(separator: ":")
        let relation = "delegate_permission/common.handle_all_urls"
        let extensions = rules.map { #", "relation_extensions": {"\#(relation)": {"\#(name)": \#($0)}}"# } ?? ""
        return """
            {"relation": ["\(relation)"], "target": {"namespace": "android_app", "package_name": "\(package)",
             "sha256_cert_fingerprints": ["\(print)"]}\(extensions)}
            """
    }

    private func dynamic(_ rules: String, _ link: String) throws -> Bool {
        let file = try AssetLinksFile(Array("[\(Self.statement(rules))]".utf8))
        let filters = try ManifestFile(Array(Self.manifest(Self.web).utf8)).filters
        let rules = AndroidRules(filters: filters, dynamic: file.statements.first?.rules)
        return try rules.decide(#require(LinkPieces(link))).isHanded
    }

    @Test("Dynamic rules only narrow the manifest: the first match decides, and without one the link stays out")
    func narrowing() throws {
        let rules = #"[{"/": "/x/no", "exclude": true}, {"/": "/x/*"}]"#
        #expect(try dynamic(rules, "https://a.example/x/1"))
        #expect(try !dynamic(rules, "https://a.example/x/no"))
        #expect(try !dynamic(rules, "https://a.example/y"))
        #expect(try !dynamic(rules, "https://b.example/x/1"))
        #expect(try !dynamic("[]", "https://a.example/x"))
        #expect(try dynamic("[{}]", "https://a.example/x"))
    }

    @Test("An item of the query that a dynamic rule names must be present, unlike in Apple's files")
    func missing() throws {
        #expect(try !dynamic(#"[{"?": {"b": "*"}}]"#, "https://a.example/x"))
        #expect(try dynamic(#"[{"?": {"b": "*"}}]"#, "https://a.example/x?b=1"))
        #expect(try AppleRuleTests.decide(AppleRuleTests.file(#"{"?": {"b": "*"}}"#), "https://a.example/x").isHanded)
        #expect(try !dynamic(##"[{"#": "*"}]"##, "https://a.example/x"))
        #expect(try dynamic(##"[{"#": "*"}]"##, "https://a.example/x#y"))
    }

    @Test(
        "A malformed set of dynamic rules is discarded, and the manifest decides",
        arguments: [
            #"{"/": "/x"}"#, #"[{"/": 1}]"#, #"[{"?": "a=1"}]"#, #"[{"?": {"a": 1}}]"#, #"[{"exclude": "yes"}]"#, "[1]",
            ##"[{"#": null}]"##,
        ])
    func malformed(rules: String) throws {
        let file = try AssetLinksFile(Array("[\(Self.statement(rules))]".utf8))
        #expect(file.statements.count == 1 && file.statements[0].rules == nil)
        #expect(file.problems.map(\.code) == [.ignored])
        #expect(try dynamic(rules, "https://a.example/y"))
    }
}
