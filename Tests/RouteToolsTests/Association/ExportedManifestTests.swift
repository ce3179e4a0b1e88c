@testable internal import RouteTools
internal import Foundation
internal import LinkCoordinator
internal import TableSupport
internal import TestSupport
internal import Testing

/// The comparison of a table with the intent filters that are exported for it, and what is missing in other ones.
@Suite struct ExportedManifestTests {
    private static func table(_ link: String, _ routes: [String]) throws -> RouteTable {
        let list = routes.enumerated().map {
            #"{ "id": "r\#($0.offset)", "match": \#($0.element), "to": { "root": true } }"#
        }
        return try RouteTable(
            json: Array(
                """
                { "schemaVersion": 1, "table": { "id": "t", "version": "1" }, "link": { \(link) },
                  "routes": [ \(list.joined(separator: ", ")) ] }
                """.utf8))
    }

    private static func report(_ table: RouteTable, _ xml: String) throws -> AssociationCheck.Report {
        var check = AssociationCheck(table, manifest: try ManifestFile(Array(xml.utf8)))
        return try #require(check.run().first)
    }

    @Test("The exported filters of a table hand every route to the app", arguments: SampleTables.paths)
    func shipped(path: String) throws {
        let table = try SampleTables.load(path)
        let text = AndroidFilters(table).xml
        guard text.contains("<intent-filter") else { return }
        let file = try ManifestFile(Array(text.utf8))
        #expect(file.problems.allSatisfy { $0.code == .unverified }, "\(file.problems)")
        let missing = try Self.report(table, text).findings.filter { $0.code == .neverHanded }
        #expect(missing.isEmpty, "\(missing)")
    }

    private static let matches = [
        #""/""#, #""/a""#, #""/a/{x}""#, #""/a/{x:int}""#, #""/b/{x:uuid}""#, #""/{x}/c""#, #""/d/{rest*}""#,
        #""/e/{rest+}""#, #""/f/v{x:int(1..9)}.html""#, #""/g/{x:enum(a|b)}""#, #""/h/{x:[a-z]{2,4}}""#,
        #"{ "anySegment": "items" }"#, #""/items""#, #""/i/{x:bool}/{y:date}""#, #""/j/{x?}""#, #""/a b/ü""#,
    ]

    private static let links = [
        #""schemes": ["https"], "host": "authority", "hosts": ["a.example", "*.b.example"]"#,
        #""schemes": ["shop", "https"], "host": "authority", "hosts": ["a.example", ""]"#,
        #""schemes": ["shop"], "host": "segment""#,
        #""schemes": ["https"], "host": "authority", "hosts": ["a.example:8080"], "path": { "case": "insensitive" }"#,
    ]

    /// A case is a table.
    ///
    /// It counts as 100 cases.
    @Test("The exported filters of random tables are read back, and nothing is missing")
    func law() throws {
        var random = SeededGenerator(seed: 20_251_127)
        var routes = 0
        for round in 0..<max(1, LawCases.count / 100) {
            let link = Self.links[round % Self.links.count]
            let chosen = Array(Self.matches.shuffled(using: &random).prefix(Int.random(in: 1...5, using: &random)))
            guard let table = try? Self.table(link, chosen) else { continue }
            let report = try Self.report(table, AndroidFilters(table).xml)
            let missing = report.findings.filter { $0.code == .neverHanded }
            #expect(missing.isEmpty, "\(link) \(chosen): \(missing)\n\(AndroidFilters(table).xml)")
            routes += report.routes
        }
        #expect(routes > 0)
    }

    private static let filter = """
        <intent-filter android:autoVerify="true">
          <action android:name="android.intent.action.VIEW" />
          <category android:name="android.intent.category.DEFAULT" />
          <category android:name="android.intent.category.BROWSABLE" />
          DATA
        </intent-filter>
        """

    @Test(
        "A route of which no link is handed over is reported with what is missing",
        arguments: [
            (#"<data android:scheme="http" android:host="a.example" />"#, "no filter has the scheme `https`"),
            (
                #"<data android:scheme="https" android:host="b.example" />"#,
                "no filter with the scheme `https` has the host `a.example`"
            ),
            (
                #"<data android:scheme="https" android:host="a.example" android:path="/other" />"#,
                "no path of the filters for `https://a.example` matches"
            ),
        ])
    func missing(data: String, text: String) throws {
        let table = try Self.table(Self.links[0].replacing(#", "*.b.example""#, with: ""), [#""/sell""#])
        let finding = try #require(
            Self.report(table, Self.filter.replacing("DATA", with: data)).findings.first { $0.code == .neverHanded })
        #expect(finding.message == "Android hands no link of route r0 to the app: " + text)
        #expect(finding.link == "https://a.example/sell")
    }

    @Test("Several root elements are only read if all of them are filters")
    func roots() throws {
        let filter = Self.filter.replacing("DATA", with: #"<data android:scheme="t" />"#)
        #expect(try ManifestFile(Array((filter + filter).utf8)).filters.count == 2)
        for text in [filter + "<manifest/>", "<manifest/>" + filter, "<a/>", "<a/><a/>"] {
            #expect(throws: AssociationProblem.self, "\(text)") { try ManifestFile(Array(text.utf8)) }
        }
    }

    @Test(
        "A filter without a part that links need, and a manifest without the declaration of `android`, are warnings",
        arguments: [
            ("android.intent.action.VIEW", true), ("android.intent.category.DEFAULT", true),
            ("android.intent.category.BROWSABLE", true), ("the prefix `android` is not declared", false),
        ])
    func incomplete(missing: String, isDeclared: Bool) throws {
        let declaration = isDeclared ? #" xmlns:android="http://schemas.android.com/apk/res/android""# : ""
        let filter = Self.filter.replacing("DATA", with: #"<data android:scheme="t" />"#)
            .replacing(missing, with: "other")
        let xml = "<manifest\(declaration)><application><activity>\(filter)</activity></application></manifest>"
        let file = try ManifestFile(Array(xml.utf8))
        #expect(file.filters.isEmpty)
        #expect(file.problems.contains { $0.message.contains(missing) }, "\(file.problems)")
    }
}
