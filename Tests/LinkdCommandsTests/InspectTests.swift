internal import KafkaClient
internal import StrictJSON
internal import Testing

@testable internal import LinkdCommands

@Suite struct InspectTests {
    private static let decision = InspectedRecord(
        topic: "t", partition: 3, offset: 42, timestamp: 1_795_168_800_123, key: Array("d-1".utf8),
        value: Array(
            #"""
            {"device":"d-1","route":"item","outcome":"navigate","stack":[
            {"coordinator":"home","screen":"feed","present":"push"},
            {"coordinator":"shop","screen":"list","present":"push"},
            {"coordinator":"shop","screen":"item","present":"sheet","data":{"Product":{"id":"A\u001b","count":3}}}]}
            """#
            .utf8), headers: [])
    private static let deadLetter = InspectedRecord(
        topic: "t.dlq", partition: 0, offset: 7, timestamp: -1, key: nil, value: [0xFF, 0x0A],
        headers: [
            RecordHeader(name: Array("dlq.reason".utf8), value: Array("not_utf8".utf8)),
            RecordHeader(name: Array("dlq.stage".utf8), value: Array("decode".utf8)),
            RecordHeader(name: Array("x".utf8), value: nil),
        ])

    private static func format(_ format: String, _ record: InspectedRecord, escaped: Bool = false) throws -> String {
        String(decoding: try FormatTokens(format).bytes(record, record.json, escaped: escaped), as: UTF8.self)
    }

    @Test(
        "Tokens are those of kcat, and members of a decision",
        arguments: [
            ("%t %p %o %k %K %S %T %%\\n", "t 3 42 d-1 3 \(decision.value?.count ?? 0) 1795168800123 %\n"),
            ("%{outcome}\\t%{route}|", "navigate\titem|"),
            ("%{none}", ""), ("\\x41\\\\\\r", "A\\\r"), ("plain", "plain"), ("", ""), ("%h", ""),
        ])
    func tokens(format: String, expected: String) throws {
        #expect(try Self.format(format, Self.decision) == expected)
    }

    @Test("An absent key has the length -1, headers print their values, and records are escaped on a terminal")
    func deadLetterTokens() throws {
        #expect(
            try Self.format("%K|%k|%h|%{dlq.reason}", Self.deadLetter)
                == "-1||dlq.reason=not_utf8,dlq.stage=decode,x=NULL|not_utf8")
        #expect(try Self.format("%s\\n", Self.deadLetter, escaped: true) == "\\xff\\n\n")
    }

    @Test("An unknown token ends with exit code 64", arguments: ["%x", "%", "%{", "%{}", "\\q", "\\x4", "abc\\"])
    func unknownTokens(format: String) {
        let error = #expect(throws: CommandFailure.self) { try FormatTokens(format) }
        #expect(error?.code == .usage)
    }

    @Test("The stack is printed with its coordinators, presentation, and data")
    func view() throws {
        let json = try #require(Self.decision.json)
        let view = DecisionView(style: Style(enabled: false))
        #expect(view.summary(json) == "home > feed > shop > list > item [sheet]")
        #expect(view.data(json) == ["item: Product id=A\\x1b, count=3"])
    }

    @Test(
        "Filters select the matching records",
        arguments: [
            (RecordFilter(), true), (RecordFilter(device: "d-1"), true), (RecordFilter(device: "d-2"), false),
            (RecordFilter(route: "item", outcome: "navigate"), true), (RecordFilter(outcome: "reject"), false),
            (RecordFilter(reason: "host"), false), (RecordFilter(since: 1_795_168_800_124), false),
            (RecordFilter(since: 1_795_168_800_123, until: 1_795_168_800_123), true),
        ])
    func filters(filter: RecordFilter, matches: Bool) {
        #expect(filter.matches(Self.decision, Self.decision.json) == matches)
    }

    @Test("The reason of a dead letter comes from its header")
    func deadLetterFilter() {
        #expect(RecordFilter(reason: "not_utf8").matches(Self.deadLetter, nil))
        #expect(!RecordFilter(reason: "bad_json").matches(Self.deadLetter, nil))
        #expect(!RecordFilter(outcome: "navigate").matches(Self.deadLetter, nil))
    }

    @Test("A JSON line contains the value unchanged, and bytes that are not UTF-8 in Base64")
    func envelope() throws {
        let line = RecordPrinter.envelope(Self.decision, Self.decision.json)
        #expect(
            line.hasPrefix(
                #"{"topic":"t","partition":3,"offset":42,"timestamp":1795168800123,"key":"d-1","value":{"#
            ))
        let dead = RecordPrinter.envelope(Self.deadLetter, nil)
        #expect(
            dead
                == #"{"topic":"t.dlq","partition":0,"offset":7,"timestamp":null,"key":null,"headers":"#
                + #"{"dlq.reason":"not_utf8","dlq.stage":"decode","x":null},"value_base64":"/wo="}"#
        )
        for text in [line, dead] { _ = try JSONValue.parse(Array(text.utf8)) }
    }

    @Test(
        "Base64 is that of RFC 4648",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy"),
        ])
    func base64(text: String, expected: String) { #expect(Base64.text(Array(text.utf8)) == expected) }

    @Test("--json and --format cannot be combined, and a broker is required")
    func usage() {
        #expect(linkd("inspect", "--json", "-f", "%k").code == 64)
        let result = linkd("inspect")
        #expect(result.code == 64)
        #expect(result.err.contains("--bootstrap"))
    }
}
