internal import ByteStorage
internal import KafkaClient
internal import Testing

@testable internal import LinkdCommands

@Suite struct ReplayPlanTests {
    private static let rules = ReplayRules(input: "link-events", partitions: 6, messageLimit: 10_000, cap: 3)

    private static func choice(_ record: InspectedRecord, _ rules: ReplayRules = rules) -> ReplayChoice {
        record.withViews { rules.choice(of: $0, DeadLetterHead($0)) }
    }

    @Test(
        "The treatment of a dead letter depends on its headers, whatever bytes they have",
        arguments: [
            ("dlq.reason", "x", .replay(partition: 3)), ("dlq.source.partition", "0", .replay(partition: 0)),
            ("dlq.source.partition", "5", .replay(partition: 5)),
            ("dlq.source.partition", "6", .park(.noPartition)),
            ("dlq.source.partition", "2147483647", .park(.noPartition)),
            ("dlq.source.partition", "2147483648", .foreign(.noSource)),
            ("dlq.source.partition", "-1", .foreign(.noSource)), ("dlq.source.partition", "", .foreign(.noSource)),
            ("dlq.source.partition", "9223372036854775808", .foreign(.noSource)),
            ("dlq.source.partition", nil, .foreign(.noSource)), ("dlq.source.offset", nil, .foreign(.noSource)),
            ("dlq.source.offset", "-1", .foreign(.noSource)), ("dlq.source.topic", nil, .foreign(.noSource)),
            ("dlq.source.topic", "__consumer_offsets", .foreign(.otherTopic)),
            ("dlq.source.topic", "", .foreign(.otherTopic)),
            ("dlq.source.topic", "link-events\0", .foreign(.otherTopic)),
            ("dlq.source.topic", "link-event\u{FFFD}", .foreign(.otherTopic)),
            ("dlq.source.topic", "link-events.dlq", .foreign(.otherTopic)), ("dlq.schema", nil, .foreign(.noSource)),
            ("dlq.replay.count", "2", .replay(partition: 3)), ("dlq.replay.count", "3", .park(.cap)),
            ("dlq.replay.count", "9223372036854775808", .park(.cap)), ("dlq.replay.count", "-1", .park(.cap)),
            ("dlq.replay.count", "", .park(.cap)), ("dlq.replay.count", nil, .replay(partition: 3)),
            ("dlq.truncated", "", .park(.truncated)), ("dlq.truncated", "99", .park(.truncated)),
            ("dlq.failed.at", nil, .replay(partition: 3)), ("dlq.failed.at", "x", .replay(partition: 3)),
        ] as [(String, String?, ReplayChoice)])
    func choices(name: String, value: String?, expected: ReplayChoice) {
        #expect(Self.choice(DeadLetterSample.record(DeadLetterSample.headers(name, value))) == expected)
    }

    @Test("A record that would be larger than the input accepts is parked, and the headers of the worker do not count")
    func size() {
        let fits = 10_000 - ReplayRules.frameBytes - 3
        func letter(_ bytes: Int, _ more: [(String, String?)] = []) -> InspectedRecord {
            DeadLetterSample.record(
                more + DeadLetterSample.headers(), value: String(repeating: "x", count: bytes))
        }
        #expect(Self.choice(letter(fits)) == .replay(partition: 3))
        #expect(Self.choice(letter(fits + 1)) == .park(.tooLarge))
        #expect(Self.choice(letter(fits, [("trace", nil)])) == .park(.tooLarge))
        let worker = DeadLetterSample.headers() + [("dlq.detail", String(repeating: "x", count: 512))]
        #expect(
            Self.choice(DeadLetterSample.record(worker, value: String(repeating: "x", count: fits)))
                == .replay(partition: 3))
        var rules = Self.rules
        rules.messageLimit = .max
        #expect(Self.choice(letter(100_000), rules) == .replay(partition: 3))
    }

    @Test("A cap of 0 parks every dead letter")
    func cap() {
        var rules = Self.rules
        rules.cap = 0
        #expect(Self.choice(DeadLetterSample.record(), rules) == .park(.cap))
    }

    private static func written(_ headers: [(String, String?)]) throws -> [String] {
        try DeadLetterSample.record(headers).withViews { record in
            var result = ReplayHeaders()
            // The second record uses the memory of the first one again.
            for _ in 1...2 { result.write(try #require(DeadLetterHead(record))) }
            return result.list.map { "\($0.name.string)=\($0.value?.string ?? "null")" }
        }
    }

    @Test("A replay has the headers of the source, the number of replays, and the first position")
    func headers() throws {
        let own = DeadLetterSample.headers()
        #expect(
            try Self.written([("trace", nil), ("a", ""), ("a", "b")] + own + [("kafka_dlt-exception-fqcn", "x")])
                == ["trace=null", "a=", "a=b", "dlq.replay.count=1", "dlq.origin=link-events-3-40"])
        #expect(
            try Self.written([("dlq.origin", "forged"), ("dlq.mine", "1")] + own)
                == ["dlq.mine=1", "dlq.replay.count=1", "dlq.origin=link-events-3-40"])
        #expect(
            try Self.written(own + [("dlq.origin", "link-events-1-2"), ("dlq.replay.count", "2")])
                == ["dlq.replay.count=3", "dlq.origin=link-events-1-2"])
        let long = try Self.written(own + [("dlq.origin", String(repeating: "x", count: 600))])
        #expect(long.last == "dlq.origin=" + String(repeating: "x", count: 512))
        let many = try Self.written(own + [("dlq.replay.count", "9999999999999999999")])
        #expect(many.first == "dlq.replay.count=\(Int64.max)")
    }

    /// Returns a plan for the dead letters of several partitions, of which the ledger has some.
    private static func plan(limit: Int) throws -> ReplayPlan {
        var ledger = ReplayLedger()
        var members = DecisionTape()
        let entry = InspectedRecord(
            topic: "l", partition: 0, offset: 0, timestamp: 0, key: Array("1-2".utf8),
            value: Array(#"{"failed_at":1000}"#.utf8), headers: [])
        try entry.withViews { try ledger.add($0, &members) }
        ledger.finish()
        var plan = ReplayPlan(rules, limit: limit)
        for offset in Int64(0)..<4 {
            for partition in [Int32(2), 1] {
                var headers = DeadLetterSample.headers(failedAt: 1000 - Int(partition) * (offset == 2 ? 0 : 1))
                if offset == 3 { headers = DeadLetterSample.headers("dlq.truncated", "9") }
                if offset == 0, partition == 2 { headers = [] }
                let letter = DeadLetterSample.record(headers, partition: partition, offset: offset)
                letter.withViews { _ = plan.add($0, DeadLetterHead($0), ledger) }
            }
        }
        plan.finish()
        return plan
    }

    @Test("A plan has what the ledger does not have, in the order of the topic, and counts the rest")
    func plan() throws {
        let plan = try Self.plan(limit: 100)
        let positions = plan.letters.map { "\($0.position.partition)-\($0.position.offset)" }
        #expect(positions == ["1-0", "1-1", "1-3", "2-1", "2-2", "2-3"])
        #expect(plan.letters.map(\.isParked) == [false, false, true, false, false, true])
        #expect(plan.reasons == ["bad_json": ReplayPlan.ReasonCount(replay: 4, park: 2)])
        #expect(plan.parked == [.truncated: 2] && plan.parkCount == 2 && plan.replayCount == 4)
        #expect(plan.foreign == [.noSource: 1] && plan.firstForeign == "link-events.dlq-2-0")
        #expect(plan.alreadyReplayed == 1 && plan.beyondLimit == 0 && plan.leftCount == 6)
        #expect(plan.firstFailure == 998)
        for (index, letter) in plan.letters.enumerated() {
            #expect(plan.index(partition: letter.position.partition, offset: letter.position.offset) == index)
        }
        for (partition, offset) in [(Int32(1), Int64(2)), (0, 0), (3, 0), (2, 4), (1, -1)] {
            #expect(plan.index(partition: partition, offset: offset) == nil)
        }
    }

    @Test("A limit chooses the first dead letters of each partition")
    func limit() throws {
        let plan = try Self.plan(limit: 3)
        #expect(plan.letters.map { "\($0.position.partition)-\($0.position.offset)" } == ["1-0", "1-1", "2-1"])
        #expect(plan.beyondLimit == 3 && plan.alreadyReplayed == 1)
    }

    @Test("Dead letters that another replay has sent are not counted as sent by this one")
    func others() throws {
        var plan = try Self.plan(limit: 100)
        plan.markDone([0])
        var ledger = ReplayLedger()
        var members = DecisionTape()
        for letter in plan.letters.prefix(3) {
            let position = letter.position
            let value = ReplayLedger.value(of: position, in: "t", to: "u", 0, replayCount: 1, now: 1)
            let entry = InspectedRecord(
                topic: "l", partition: 0, offset: 0, timestamp: 0,
                key: Array("\(position.partition)-\(position.offset)".utf8), value: Array(value.utf8), headers: [])
            try entry.withViews { try ledger.add($0, &members) }
        }
        ledger.finish()
        plan.markDone(in: ledger, batch: [1])
        #expect(plan.letters.prefix(3).map(\.isDone) == [true, true, true] && plan.leftCount == 3)
        #expect(plan.letters.map(\.isByOther) == [false, false, true, false, false, false] && plan.otherCount == 1)
    }

    @Test("What is left is read from the first to the last dead letter of each partition")
    func remaining() throws {
        var plan = try Self.plan(limit: 100)
        func spans() -> [Int32: ScanPlan.Span] {
            Dictionary(
                uniqueKeysWithValues: plan.remaining(of: "t").partitions.map { ($0.key.partition, $0.value) })
        }
        #expect(spans() == [1: ScanPlan.Span(from: 0, to: 4), 2: ScanPlan.Span(from: 1, to: 4)])
        plan.markDone([0, 1, 2, 4])
        #expect(spans() == [2: ScanPlan.Span(from: 1, to: 4)] && plan.leftCount == 2)
    }

    @Test(
        "Ranges of offsets are read strictly",
        arguments: [
            (["0:1-2", "0:9-9", "3:0-0"], [0: [1...2, 9...9], 3: [0...0]]), (["0"], nil), (["0:1"], nil),
            (["0:2-1"], nil), (["0:1-2-3"], nil), (["-1:1-2"], nil), (["0:1-"], nil), (["0:-1"], nil),
            (["2147483648:1-2"], nil), (["0:1-9223372036854775807"], nil), (["0:1-2,0:3-4"], nil), (["0:+1-2"], nil),
        ] as [([String], [Int32: [ClosedRange<Int64>]]?)])
    func ranges(texts: [String], expected: [Int32: [ClosedRange<Int64>]]?) {
        let ranges = try? RecordFilter.ranges(texts)
        #expect(ranges == expected)
    }
}
