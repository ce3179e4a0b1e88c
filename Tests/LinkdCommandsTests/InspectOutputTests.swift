internal import ByteStorage
internal import DecisionIndex
internal import Foundation
internal import KafkaClient
internal import RouteTools
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// The parts of `linkd inspect` that need no broker: paths, campaigns, groups, CSV, and local times.
@Suite struct InspectOutputTests {
    private static func record(
        _ value: String, key: String? = nil, headers: [(String, String)] = []
    ) -> InspectedRecord {
        InspectedRecord(
            topic: "t", partition: 0, offset: 1, timestamp: 0, key: key.map { Array($0.utf8) },
            value: Array(value.utf8),
            headers: headers.map { RecordHeader(name: Array($0.0.utf8), value: Array($0.1.utf8)) })
    }

    private static func read<Result>(
        _ record: InspectedRecord, _ body: (ScannedRecord, inout DecisionTape) -> Result
    ) -> Result {
        record.withViews { record in
            var decision = DecisionTape()
            decision.begin(record.value)
            return body(record, &decision)
        }
    }

    private static let pushed = record(
        #"{"reason":"r","stack":[{"screen":"a"},{"screen":"b"}],"context":{"push":{"campaign":"c-1"},"n":5},"a.b":"x"}"#
    )

    @Test(
        "A format token is a member, a path into the decision, or a header",
        arguments: [
            ("%{context.push.campaign}", "c-1"), ("%{context.n}", "5"), ("%{stack.1.screen}", "b"), ("%{a.b}", "x"),
            ("%{context.push}", #"{"campaign":"c-1"}"#), ("%{stack.2.screen}", ""), ("%{stack.-1.screen}", ""),
            ("%{context.push.campaign.x}", ""), ("%{context..n}", ""), ("%{.}", ""), ("%{reason.}", ""),
        ])
    func paths(format: String, expected: String) throws {
        let tokens = try FormatTokens(format)
        let text = Self.read(Self.pushed) { record, decision in
            OutputArena.text { tokens.append(record, &decision, escaped: false, to: &$0) }
        }
        #expect(text == expected)
    }

    @Test("A header of a dead letter comes before a member with its name, another header after it")
    func headerNames() throws {
        let tokens = try FormatTokens("%{reason} %{dlq.reason} %{other}")
        for (headers, expected) in [
            ([("reason", "h"), ("dlq.reason", "bad_json"), ("other", "o")], "h bad_json o"),
            ([("reason", "h"), ("other", "o")], "r  o"),
        ] {
            let text = Self.read(Self.record(#"{"reason":"r"}"#, headers: headers)) { record, decision in
                OutputArena.text { tokens.append(record, &decision, escaped: false, to: &$0) }
            }
            #expect(text == expected)
        }
    }

    @Test(
        "The campaign is that of the push message, else the one that was passed through",
        arguments: [
            (#"{"context":{"push":{"campaign":"a"},"campaign":"b"}}"#, "a"),
            (#"{"context":{"push":{"campaign":5},"campaign":"b"}}"#, "b"), (#"{"context":{"campaign":"b"}}"#, "b"),
            (#"{"campaign":"b"}"#, nil), (#"{"context":"b"}"#, nil), ("[]", nil), ("x", nil),
        ])
    func campaign(value: String, campaign: String?) {
        let record = Self.record(value)
        #expect(Self.read(record) { $1.campaign?.string } == campaign)
        #expect(Self.read(record) { RowField.campaign.value(of: $0, &$1)?.string } == campaign)
        #expect(Self.read(record) { RecordFilter(campaign: "b").matches($0, &$1) } == (campaign == "b"))
    }

    @Test(
        "The time of a dead letter is that of its failure",
        arguments: [("5000", true), ("999", false), ("x", false), ("99999999999999999999", false)])
    func failedAt(header: String, matches: Bool) {
        let record = Self.record("", headers: [("dlq.reason", "r"), ("dlq.failed.at", header)])
        let filter = RecordFilter(since: 1000, until: 6000, isDeadLetters: true)
        #expect(Self.read(record) { filter.matches($0, &$1) } == matches)
        #expect(!Self.read(record) { RecordFilter(since: 1000).matches($0, &$1) })
    }

    @Test("Groups are sorted by count and value, in each format, and their number is limited")
    func groups() {
        var groups = GroupCounts("reason")
        for (value, count) in [("b", 2), ("a", 2), ("x\u{1B},=", 5)] {
            for _ in 0..<count { Self.read(Self.record(value)) { record, _ in groups.add(record.value) } }
        }
        groups.add(nil)
        func printed(_ body: (Channel) -> Void) -> String {
            let out = Channel(collecting: Style(enabled: false))
            body(out)
            return out.text
        }
        #expect(
            printed { groups.printTable(on: $0, bars: false) } == """
                REASON   COUNT   SHARE
                x\\x1b,=      5  50.0 %
                a            2  20.0 %
                b            2  20.0 %
                -            1  10.0 %

                """)
        #expect(printed { groups.printTable(on: $0, bars: true) }.contains("a            2  20.0 %  " + "████████"))
        #expect(printed { groups.printCSV(on: $0) } == "reason,count\n\"x\u{1B},=\",5\na,2\nb,2\n'-,1\n")
        #expect(
            printed { groups.printJSON(on: $0) }.split(separator: "\n").first
                == #"{"reason":"x\u001b,=","count":5}"#)
        for number in 0..<GroupCounts.limit {
            Self.read(Self.record("\(number)")) { record, _ in groups.add(record.value) }
        }
        #expect(groups.rows.count == GroupCounts.limit + 1)
        #expect(groups.rows.last?.group.count == 4)
        #expect(!groups.hasNoValues)
        let reasons = RecordGroup.fields.filter { $0.reasonWithoutValues?.contains("older version") == true }
        #expect(reasons == [.application, .campaign])
    }

    @Test("Groups of long values need bounded memory, and a table shows the beginnings of values")
    func longGroups() {
        var groups = GroupCounts("campaign")
        let size = 1 << 20
        let values = GroupCounts.limitBytes / size
        for number in 0..<values + 2 {
            let value = Array("\(100 + number)".utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: size - 3)
            value.withUnsafeBufferPointer { groups.add(ByteView($0)) }
        }
        #expect(groups.rows.count == values + 1)
        #expect(groups.rows.last?.group.count == 2)
        let out = Channel(collecting: Style(enabled: false))
        groups.printTable(on: out, bars: false)
        #expect(out.text.split(separator: "\n").allSatisfy { $0.count <= 100 })
        #expect(out.text.contains("aaaa…"))
    }

    @Test(
        "A bar has eighths of a column",
        arguments: [(1.0, 3, "███"), (0.5, 3, "█▌"), (0, 3, ""), (0.05, 2, "▏"), (2, 1, "█"), (0.5, -1, "")])
    func bars(share: Double, width: Int, expected: String) { #expect(TextTable.bar(share, width: width) == expected) }

    @Test(
        "A cell of CSV is quoted if necessary, and is never a formula",
        arguments: [
            ("a", "a"), ("", ""), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("a\nb", "\"a\nb\""), ("=1", "'=1"),
            ("-1", "'-1"), ("+1", "'+1"), ("@a", "'@a"), ("=a,b", "\"'=a,b\""), ("ä=", "ä="),
            ("\t=1", "'\t=1"), ("\r=1", "\"'\r=1\""), ("\n=1", "\"'\n=1\""), (" =1", "' =1"), ("＝1", "'＝1"),
            ("  ＠a", "'  ＠a"), ("  a", "  a"), ("", ""),
        ])
    func cells(text: String, expected: String) {
        let bytes = Array(text.utf8)
        let cell = bytes.withUnsafeBufferPointer { buffer in
            OutputArena.text { CSVText.append(ByteView(buffer), to: &$0) }
        }
        #expect(cell == expected)
    }

    @Test("A line of CSV has one cell for each column, for decisions and dead letters")
    func lines() {
        func line(_ record: InspectedRecord) -> String {
            Self.read(record) { record, decision in
                OutputArena.text { CSVText.append(record, &decision, local: false, escaped: false, to: &$0) }
            }
        }
        #expect(CSVText.columns.split(separator: ",").count == 15)
        #expect(
            line(
                Self.record(
                    #"{"device":"d","outcome":"reject","reason":"r","detail":"x,y","decision":"t-0-1-0","event":"e"}"#))
                == "1970-01-01T00:00:00.000Z,t,0,1,d,reject,,r,\"x,y\",,t-0-1-0,e,,,\n")
        #expect(
            line(Self.record("{}", key: "k", headers: [("dlq.reason", "a"), ("dlq.detail", "b"), ("dlq.event", "e")]))
                == "1970-01-01T00:00:00.000Z,t,0,1,k,,,a,b,,,e,,,\n")
    }

    @Test("Appended text for people is that of the escapes, for any bytes")
    func visible() {
        var generator = SeededGenerator(seed: 11)
        for round in 0..<2000 {
            let range: ClosedRange<UInt8> = round % 2 == 0 ? 0x20...0x7E : 0...0xFF
            let bytes = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
                UInt8.random(in: range, using: &generator)
            }
            let text = bytes.withUnsafeBufferPointer { buffer in
                OutputArena.text { $0.append(visible: ByteView(buffer)) }
            }
            #expect(text == Escaping.visible(bytes), "seed \(generator.seed) round \(round)")
        }
    }

    @Test("A JSON line that can contain terminal control is recognized")
    func terminalControl() {
        for scalar in (UInt32(0x20)...0xFFFF).compactMap(Unicode.Scalar.init) where TerminalControl.contains(scalar) {
            let bytes = Array(String(Character(scalar)).utf8)
            #expect(bytes.withUnsafeBufferPointer { OutputArena.mayControlTerminal(ByteView($0)) }, "\(scalar.value)")
        }
        #expect(!OutputArena.mayControlTerminal(ByteView("{\"a\":\"plain\"}" as StaticString)))
    }

    @Test("Local times have the offset of the time zone")
    func localTime() {
        let text = OutputArena.text { Timestamps.append(1_795_393_800_123, local: true, to: &$0) }
        #expect(Timestamps.parse(text, now: 0) == 1_795_393_800_123, "\(text)")
    }
}
