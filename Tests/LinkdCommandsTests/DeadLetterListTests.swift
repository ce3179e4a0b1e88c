internal import ByteStorage
internal import KafkaClient
internal import Testing

@testable internal import LinkdCommands

@Suite struct DeadLetterListTests {
    @Test(
        "A header is a number only if it is one of at most 63 bits, in decimal digits",
        arguments: [
            ("0", 0), ("007", 7), ("9223372036854775807", .max), ("9223372036854775808", nil), ("-1", nil),
            ("+1", nil), ("1 ", nil), ("", nil), ("1e3", nil), ("00000000000000000001", nil), ("\u{0661}", nil),
        ] as [(String, Int64?)])
    func decimals(text: String, expected: Int64?) {
        let bytes = Array(text.utf8)
        #expect(bytes.withUnsafeBufferPointer { DeadLetterHead.decimal(ByteView($0)) } == expected)
    }

    @Test("The headers of the worker begin at dlq.schema, and earlier ones with their names have no effect")
    func head() throws {
        let forged = [("dlq.reason", "forged"), ("dlq.replay.count", "9"), ("trace", nil)]
        try DeadLetterSample.record(forged + DeadLetterSample.headers()).withViews { record in
            let head = try #require(DeadLetterHead(record))
            #expect(head.reason?.string == "bad_json")
            #expect(head.replayCount == 0)
            #expect(head.original.map(\.name.string) == ["dlq.reason", "dlq.replay.count", "trace"])
            #expect(head.sourceTopic?.string == "link-events" && head.sourcePartition == 3 && head.sourceOffset == 40)
            #expect(head.failedAt == 1000 && !head.isTruncated && head.origin == nil)
        }
        #expect(DeadLetterSample.record(forged).withViews { DeadLetterHead($0) == nil })
    }

    private static func matches(_ record: InspectedRecord, _ change: (inout RecordFilter) -> Void) -> Bool {
        var filter = RecordFilter(isDeadLetters: true, searchesEvents: true)
        change(&filter)
        return record.withViews { record in
            var value = DecisionTape()
            value.begin(record.value)
            return filter.matches(record, &value)
        }
    }

    @Test("Dead letters are chosen by reason, time of the failure, device, key, and offset")
    func filter() {
        let event = #"{"device":{"id":"d-2"},"devices":[{"id":"d-3"},7,{"id":"d-4"}]}"#
        let letter = DeadLetterSample.record(value: event)
        #expect(Self.matches(letter) { _ in })
        #expect(Self.matches(letter) { $0.reason = "bad_json" })
        #expect(!Self.matches(letter) { $0.reason = "not_utf8" })
        #expect(Self.matches(letter) { ($0.since, $0.until) = (1000, 1000) })
        #expect(!Self.matches(letter) { $0.since = 1001 })
        #expect(!Self.matches(letter) { $0.until = 999 })
        for device in ["d-1", "d-2", "d-3", "d-4"] { #expect(Self.matches(letter) { $0.device = device }) }
        #expect(!Self.matches(letter) { $0.device = "d-5" })
        let cloudEvent = DeadLetterSample.record(value: #"{"specversion":"1.0","data":\#(event)}"#)
        #expect(Self.matches(cloudEvent) { $0.device = "d-4" } && !Self.matches(cloudEvent) { $0.device = "d-5" })
        #expect(Self.matches(letter) { $0.key = "d-1" })
        #expect(!Self.matches(letter) { $0.key = "d-2" })
        #expect(!Self.matches(DeadLetterSample.record(key: nil)) { $0.key = "" })
        #expect(Self.matches(letter) { $0.ranges = [1: [0...3, 7...7]] })
        #expect(!Self.matches(letter) { $0.ranges = [1: [0...6], 2: [7...7]] })
    }

    private static func groups(
        by key: DeadLetterKey, _ records: [InspectedRecord], replayed: Set<Int64> = []
    ) -> GroupCounts {
        var groups = GroupCounts(by: key)
        for record in records {
            record.withViews { record in
                var value = DecisionTape()
                value.begin(record.value)
                let head = DeadLetterHead(record)
                groups.add(
                    key.bytes(of: record, head, &value, local: false), record, failedAt: head?.failedAt ?? 0,
                    isReplayed: replayed.contains(record.offset))
            }
        }
        return groups
    }

    private static let letters = [
        DeadLetterSample.record(offset: 1),
        DeadLetterSample.record(
            [("source", "app"), ("ce_source", "/shop")] + DeadLetterSample.headers(), offset: 2,
            value: #"{"specversion":"1.0","data":{"application":"com.shop"}}"#),
        DeadLetterSample.record(
            DeadLetterSample.headers(reason: "not\u{1B}", failedAt: 86_400_000), offset: 3,
            value: #"{"application":"com.shop"}"#),
        DeadLetterSample.record([("x", "y")], offset: 4),
    ]

    @Test(
        "Dead letters are counted by each property, and - stands for none",
        arguments: [
            (.reason, ["bad_json 2", "- 1", "not\u{1B} 1"]), (.stage, ["decode 3", "- 1"]),
            (.application, ["- 2", "com.shop 2"]), (.producer, ["- 3", "/shop 1"]),
            (.day, ["- 1", "1970-01-01 2", "1970-01-02 1"]),
        ] as [(DeadLetterKey, [String])])
    func properties(key: DeadLetterKey, expected: [String]) {
        let rows = Self.groups(by: key, Self.letters).rows
        #expect(rows.map { "\(String(decoding: $0.value, as: UTF8.self)) \($0.group.count)" } == expected)
    }

    @Test("Counts are printed as a table without terminal control, as CSV, and as JSON")
    func output() {
        let groups = Self.groups(by: .reason, Self.letters, replayed: [2])
        let out = Channel(collecting: Style(enabled: false))
        groups.printTable(on: out, bars: true, local: false)
        groups.printCSV(on: out, local: false)
        groups.printJSON(on: out)
        #expect(
            out.text == """
                REASON    COUNT  REPLAYED  LAST                      EXAMPLE
                bad_json      2         1  1970-01-01T00:00:01.000Z  link-events.dlq-1-1  ████████████████████
                -             1         0  -                         link-events.dlq-1-4  ██████████
                not\\x1b       1         0  1970-01-02T00:00:00.000Z  link-events.dlq-1-3  ██████████
                reason,count,replayed,last,example
                bad_json,2,1,1970-01-01T00:00:01.000Z,link-events.dlq-1-1
                '-,1,0,-,link-events.dlq-1-4
                not\u{1B},1,0,1970-01-02T00:00:00.000Z,link-events.dlq-1-3
                {"reason":"bad_json","count":2,"replayed":1,"last":1000,"example":"link-events.dlq-1-1"}
                {"reason":"-","count":1,"replayed":0,"last":null,"example":"link-events.dlq-1-4"}
                {"reason":"not\\u001b","count":1,"replayed":0,"last":86400000,"example":"link-events.dlq-1-3"}

                """)
    }

    @Test("Values beyond the limit are counted together, and long values are cut")
    func limits() {
        var groups = GroupCounts(by: .reason)
        DeadLetterSample.record().withViews { record in
            for number in 0..<GroupCounts.limit + 5 {
                groups.add(Array("r\(number)".utf8), record, failedAt: 1, isReplayed: nil)
            }
            groups.add(Array("r0".utf8), record, failedAt: 1, isReplayed: nil)
        }
        #expect(groups.rows.count == GroupCounts.limit + 1)
        #expect(groups.rows.first?.group.count == 2 && groups.rows.last?.group.count == 5)
        let long = [UInt8](repeating: 0x61, count: 1000)
        var cut = GroupCounts(by: .reason)
        DeadLetterSample.record().withViews { cut.add(long, $0, failedAt: 1, isReplayed: nil) }
        #expect(cut.rows.first?.value.count == GroupCounts.valueLimit)
    }

    @Test(
        "Flags that exclude each other, and values out of bounds, end with exit code 64",
        arguments: [["--json", "--csv"], ["--by", "device"], ["--offset", "0"], ["--partition", "-1"]])
    func usage(flags: [String]) {
        #expect(linkd(["dlq", "list", "-b", "127.0.0.1:1"] + flags).code == 64)
    }
}
