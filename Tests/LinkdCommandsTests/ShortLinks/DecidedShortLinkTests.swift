import ByteStorage
import DecisionIndex
import LinkCoordinator
import LinkDecider
import ShortLinks
import StrictJSON
import TestSupport
import Testing

@testable import LinkdCommands

/// Decisions about short links that are made again without the file.
@Suite("Deciding again takes the destinations of short links from the decision")
struct DecidedShortLinkTests {
    private static let rows = [
        ("go.example/a", "shop://item?id=%C3%A9\"'"), ("go.example/b", "shop://mine"),
        ("go.example/c", "https://go.example/nowhere"),
    ]

    static func source(_ rows: [(String, String)] = rows, hash: String = "00ff") -> ShortLinkSource {
        ShortLinkSource(ShortLinkFile(rows.map { (Array($0.0.utf8), Array($0.1.utf8)) }, hash: hash))
    }

    private static func table(version: String = "1") throws -> RouteTable {
        try RouteTable(json: Array(WhyDevicesTests.table(version: version).utf8))
    }

    private static func decide(_ input: InspectedRecord, _ source: ShortLinkSource?) throws -> [[UInt8]] {
        let configuration = DeciderConfiguration(tables: TableSet([try table()]), shortLinks: source)
        return WhySearch.resolve(input, configuration).map(\.json)
    }

    private static let events = [
        #""link":"https://go.example/a","device":{"id":"d"}"#, #""link":"https://go.example/b?x","device":{"id":"d"}"#,
        #""link":"https://go.example/c","device":{"id":"d"}"#, #""link":"https://go.example/d","device":{"id":"d"}"#,
        #""payload":{"aps":{},"l":"https://go.example/a"},"devices":[{"id":"d","platform":"ios"},{"id":"e"}]"#,
        #""link":"shop://item","device":{"id":"d"}"#,
        #""link":"https://go.example/a?x","expires":"1970-01-01T00:00:00Z","device":{"id":"d"}"#,
    ]

    @Test("The explanation of a decision has the same bytes, with no file and with other ones", arguments: events)
    func why(event: String) throws {
        let site = try WhyDevicesTests.Site(registry: false)
        let input = WhyDevicesTests.record(event)
        let decisions = try Self.decide(input, Self.source())
        #expect(!decisions.isEmpty)
        for decision in decisions {
            let report = try site.report(decision, input)
            #expect(report.again == decision, "\(String(decoding: decision, as: UTF8.self))")
            #expect(report.isSame == true && report.warnings.isEmpty)
        }
    }

    @Test("A recall makes a decision about a short link again, and corrects it")
    func recall() throws {
        let (old, new) = (try Self.table(), try Self.table(version: "2"))
        let vendors = try #require(LoadedVendors(vendorFiles: [], platformFile: nil))
        let configuration = RecallConfiguration(
            nil, nil, DeciderConfiguration(tables: TableSet([old])), vendors, nil, table: old, replacement: new)
        for event in Self.events.prefix(2) {
            let input = WhyDevicesTests.record(event)
            let decision = try #require(try Self.decide(input, Self.source()).first)
            let id = try #require(DecisionID("in-3-7-0"))
            try input.withViews { record in
                let plan = RecallPlan(
                    RecordFilter(), hash: String(old.hash.prefix(8)), replacement: String(new.hash.prefix(8)),
                    application: nil, inputs: ["in"], outputs: ["out"], partitionCounts: [1], limit: 1)
                var tape = DecisionTape()
                try decision.withUnsafeBufferPointer { bytes in
                    try plan.see(
                        ScannedRecord(
                            topic: "out", partition: 0, offset: 0, timestamp: 1000, key: ByteView("d" as StaticString),
                            value: ByteView(bytes), headers: []), &tape)
                }
                plan.finish()
                let choice = try #require(plan.choices.first)
                let shortLinks = try #require(plan.shortLinks(choice))
                #expect(shortLinks.count == 1 && shortLinks.hash.string == "00ff")
                var judge = RecallJudge(RecallConfigurations([configuration]), new, now: 1000)
                guard case .left(let same) = judge.verdict(choice, id, plan.device(choice), record, shortLinks) else {
                    Issue.record("the tables differ only in their version")
                    return
                }
                #expect(same == .same)
                // Without the answer of the decision, it cannot be made again.
                guard case .left(let other) = judge.verdict(choice, id, plan.device(choice), record) else {
                    Issue.record("a decision that cannot be made again is not corrected")
                    return
                }
                #expect(other == .different)
            }
        }
    }

    @Test("Notes in another form, and decisions without notes, have no short links")
    func notes() throws {
        for text in [
            "null", "{}", "[]", #"["unwrapped:branch",7]"#, #"["short_link:"]"#, #"["short_link:a b"]"#,
            #"["short_link:a b c d"]"#,
        ] { #expect(ShortLinkFile.decided(try JSONValue.parse(Array(text.utf8))) == nil, "\(text)") }
        let found = ShortLinkFile.decided(try JSONValue.parse(Array(#"["x","short_link:h k.example/ d:/"]"#.utf8)))
        #expect(found?.count == 1 && found?.hash.string == "h" && found?.hosts == ["k.example"])
        // U+0600 joins the space after it into one character.
        let ends = ["\u{600}", "\u{E9}", "e\u{301}"].map { "\"short_link:h k.example/\($0) d:/\"" }
        let joined = "[\(ends.joined(separator: ","))]"
        #expect(ShortLinkFile.decided(try JSONValue.parse(Array(joined.utf8)))?.count == 3)
    }

    @Test("Nothing of a short link is left of a masked decision")
    func masked() throws {
        let input = WhyDevicesTests.record(Self.events[0])
        let decision = try #require(try Self.decide(input, Self.source()).first)
        let text = try #require(String(validating: decision, as: UTF8.self))
        #expect(text.contains("go.example/a"))
        let masked = RecordMask(hash: KeyedHash(), isOn: true).decision(try JSONValue.parse(decision)).text
        #expect(masked.contains(#""notes":["short_link:…","#) && !masked.contains("go.example"), "\(masked)")
    }
}
