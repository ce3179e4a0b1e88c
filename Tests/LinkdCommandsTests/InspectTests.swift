internal import ByteStorage
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
        let tokens = try FormatTokens(format)
        return text(of: record) { tokens.append($0, &$1, escaped: escaped, to: &$2) }
    }

    /// Returns what a function appends for a record.
    private static func text(
        of record: InspectedRecord, _ body: (ScannedRecord, inout DecisionTape, inout OutputArena) -> Void
    ) -> String {
        record.withViews { record in
            var decision = DecisionTape()
            decision.begin(record.value)
            return OutputArena.text { body(record, &decision, &$0) }
        }
    }

    private static func matches(_ filter: RecordFilter, _ record: InspectedRecord) -> Bool {
        record.withViews { record in
            var decision = DecisionTape()
            decision.begin(record.value)
            return filter.matches(record, &decision)
        }
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
        let lines = DecisionLines(try #require(Self.decision.value), DecisionView(style: Style(enabled: false)))
        #expect(lines.outcome == "navigate")
        #expect(lines.summary == "home > feed > shop > list > item [sheet]")
        #expect(lines.data == ["item: Product id=A\\x1b, count=3"])
    }

    @Test(
        "A decision is printed with its stack, guard, reason, or URL",
        arguments: [
            (#"{"outcome":"navigate"}"#, "root"),
            (#"{"outcome":"deferred","stack":[{"screen":"a"}],"guard":"login"}"#, "a  until login"),
            (#"{"outcome":"navigate","reason":"host","detail":"x"}"#, "root  (host: x)"),
            (
                #"{"outcome":"navigate","mode":"reuse","dismissModals":true,"notice":"/n/\u001b"}"#,
                #"root  mode reuse  dismisses modals  notice /n/\x1b"#
            ), (#"{"outcome":"navigate","mode":"replace","stack":[{"screen":"a"}]}"#, "a"),
            (#"{"outcome":"external","url":"https://e.example/","notice":"/n"}"#, "https://e.example/  notice /n"),
            (#"{"outcome":"external","url":"https://e.example/\u001b"}"#, #"https://e.example/\x1b"#),
            (#"{"outcome":"reject","reason":"no_route"}"#, "no_route"), (#"{"outcome":"none"}"#, ""), ("[", ""),
        ])
    func summaries(decision: String, summary: String) {
        #expect(DecisionLines(Array(decision.utf8), DecisionView(style: Style(enabled: false))).summary == summary)
    }

    @Test("The outcome of a fallback is marked, with color and without")
    func fallback() {
        let decision = Array(#"{"outcome":"navigate","reason":"host"}"#.utf8)
        #expect(DecisionLines(decision, DecisionView(style: Style(enabled: false))).outcome == "navigate by fallback")
        let painted = DecisionLines(decision, DecisionView(style: Style(enabled: true)))
        #expect(painted.outcome == "\u{1B}[33mnavigate by fallback\u{1B}[0m")
    }

    @Test("A record is printed for people with its place, key, and outcome")
    func readable() {
        func text(_ record: InspectedRecord) -> String {
            let out = Channel(collecting: Style(enabled: false))
            var printer = RecordPrinter(.readable, on: out)
            record.withViews { record in
                var decision = DecisionTape()
                decision.begin(record.value)
                printer.print(record, &decision)
            }
            return out.text
        }
        #expect(
            text(Self.decision) == """
                2026-11-20T10:00:00.123Z  t-3-42  d-1  navigate  item
                    home > feed > shop > list > item [sheet]
                      item: Product id=A\\x1b, count=3

                """)
        #expect(text(Self.deadLetter) == "no time  t.dlq-0-7  no key  not_utf8 (decode)\n")
        var located = Self.deadLetter
        for (name, value) in [
            ("detail", "d\u{1B}"), ("pointer", "/a"), ("source.topic", "t"), ("source.partition", "1"),
            ("source.offset", "2"),
        ] {
            located.headers.append(RecordHeader(name: Array("dlq.\(name)".utf8), value: Array(value.utf8)))
        }
        #expect(text(located).hasSuffix("not_utf8 (decode)\n    d\\x1b, at /a, from t-1-2\n"))
        let other = InspectedRecord(
            topic: "t", partition: 0, offset: 0, timestamp: 0, key: [], value: nil, headers: [])
        #expect(text(other) == "1970-01-01T00:00:00.000Z  t-0-0  \n    null\n")
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
        #expect(Self.matches(filter, Self.decision) == matches)
    }

    @Test("The reason of a dead letter comes from its header")
    func deadLetterFilter() {
        #expect(Self.matches(RecordFilter(reason: "not_utf8"), Self.deadLetter))
        #expect(!Self.matches(RecordFilter(reason: "bad_json"), Self.deadLetter))
        #expect(!Self.matches(RecordFilter(outcome: "navigate"), Self.deadLetter))
    }

    @Test("An event is that of a decision, or of a dead letter by its header")
    func eventFilter() {
        var decision = Self.decision
        decision.value = Array(#"{"outcome":"none","event":"e-1"}"#.utf8)
        var deadLetter = Self.deadLetter
        deadLetter.headers.append(RecordHeader(name: Array("dlq.event".utf8), value: Array("e-1".utf8)))
        for record in [decision, deadLetter] {
            #expect(Self.matches(RecordFilter(event: "e-1"), record))
            #expect(!Self.matches(RecordFilter(event: "e-2"), record))
        }
        #expect(!Self.matches(RecordFilter(event: "e-1"), Self.decision))
        #expect(!Self.matches(RecordFilter(event: "e-1"), Self.deadLetter))
        #expect(RecordFilter(event: "e-1").isActive)
    }

    @Test("A JSON line contains the value unchanged, and bytes that are not UTF-8 in Base64")
    func envelope() throws {
        let line = Self.text(of: Self.decision) { RecordPrinter.appendEnvelope($0, &$1, to: &$2) }
        #expect(
            line.hasPrefix(
                #"{"topic":"t","partition":3,"offset":42,"timestamp":1795168800123,"key":"d-1","value":{"#
            ))
        let dead = Self.text(of: Self.deadLetter) { RecordPrinter.appendEnvelope($0, &$1, to: &$2) }
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
    func base64(text: String, expected: String) { #expect(Platform.base64(Array(text.utf8)) == expected) }

    @Test("Flags that exclude each other end with exit code 64, and a broker is required")
    func usage() {
        for flags in [
            ["--json", "-f", "%k"], ["--json", "--csv"], ["--csv", "-f", "%k"],
            ["--group-by", "reason", "-f", "%k"], ["--group-by", "reason", "--count", "1"],
            ["--group-by", "reason", "--follow"], ["--group-by", "color"], ["--group-by", "context.query."],
        ] {
            let result = linkd(["inspect", "-b", "127.0.0.1:1"] + flags)
            #expect(result.code == 64, "\(flags) \(result.err)")
        }
        let result = linkd("inspect")
        #expect(result.code == 64)
        #expect(result.err.contains("--bootstrap"))
    }
}
