internal import ByteStorage
internal import KafkaClient
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// `linkd verify` with topics on a broker that a wrong worker has written.
@Suite(.enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct VerifyBrokerTests {
    /// The topics of a worker that tests make wrong.
    private final class Site {
        let input: FilledTopic
        let output: FilledTopic
        let letters: FilledTopic
        private let producer: KafkaConsumer

        init(partitions: Int32) throws {
            input = try FilledTopic("verify", partitions: partitions)
            output = try FilledTopic(exactly: input.name + ".out", partitions: partitions)
            letters = try FilledTopic(exactly: input.name + ".dlq", partitions: partitions)
            producer = try KafkaConsumer(
                [
                    "bootstrap.servers": TestBroker.plain ?? "", "group.id": input.name,
                    "isolation.level": "read_committed",
                ]
            ) { _, _ in }
        }

        deinit { producer.abandon() }

        /// Writes what a worker leaves, in one transaction for each topic.
        func write(_ topics: WorkedTopics, time: Int64) throws {
            var records: [FilledTopic.Record] = []
            for partition in topics.ends.indices {
                records += (0..<topics.ends[partition]).map { offset in
                    let items = topics.items(partition, offset)
                    let value = items == 0 ? "\(offset)" : "\(Array(repeating: 0, count: items))"
                    return FilledTopic.Record(partition: Int32(partition), value: value, time: time)
                }
            }
            try input.write(records)
            try decide(topics.output.enumerated().flatMap { number, ids in ids.map { (Int32(number), $0) } }, time)
            try bury(topics.letters.map { (Int32($0.partition), $0.offset, $0.item) }, time)
            try commit(topics.committed)
        }

        func decide(_ ids: [(partition: Int32, id: String)], _ time: Int64, commit: Bool = true) throws {
            let count = output.partitions
            try output.write(
                ids.map { partition, id in
                    let device = WorkedTopics.device(in: partition, of: count)
                    let value = WorkedTopics.decision(id, device: device)
                    return .init(partition: partition, key: device, value: value, time: time)
                }, commit: commit)
        }

        func bury(_ sources: [(partition: Int32, offset: Int64, item: Int?)], _ time: Int64) throws {
            try letters.write(
                sources.map { source in
                    let headers = DeadLetterSample.headers(
                        topic: input.name, partition: Int(source.partition), offset: Int(source.offset))
                    return .init(
                        partition: source.partition, value: "", time: time,
                        headers: headers.map { ($0.0, $0.1 ?? "") }
                            + (source.item.map { [("dlq.item", "\($0)")] } ?? []))
                })
        }

        func commit(_ offsets: [Int64]) throws {
            let partitions = offsets.enumerated().map { number, offset in
                PartitionOffset(TopicPartition(topic: input.name, partition: Int32(number)), offset: offset)
            }
            try producer.commit(partitions, timeoutMilliseconds: 20_000)
        }

        /// Runs `linkd verify`, and returns its exit code and its report.
        func verify(_ flags: String...) throws -> (code: Int32, report: JSONValue, error: String) {
            let result = try run(["--json"] + flags)
            try #require([0, 1, 65].contains(result.code), "\(result.err)")
            return (result.code, try JSONValue.parse(Array(result.out.utf8)), result.err)
        }

        /// Runs `linkd verify`, and returns the report for people.
        func text(_ flags: String...) throws -> String { try run(flags).out }

        private func run(_ flags: [String]) throws -> CommandResult {
            try LinkdProcess.run(
                ["verify", "--input", input.name, "--output", output.name, "--group", input.name] + flags,
                environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
        }
    }

    private static func harms(_ report: JSONValue) -> [String: String] {
        var harms: [String: String] = [:]
        for harm in report["harms"]?.array ?? [] {
            harms[harm["harm"]?.string ?? ""] = harm["text"]?.string
        }
        return harms
    }

    @Test("What a right worker leaves is right, and each wrong of a wrong worker is reported with its place")
    func wrongs() throws {
        let site = try Site(partitions: Int32(WorkedTopics.partitions))
        var random = SeededGenerator(seed: UInt64.random(in: 0...0xFFFF_FFFF))
        let topics = WorkedTopics(topic: site.input.name, &random)
        let now = Platform.nowMilliseconds
        try site.write(topics, time: now)
        let right = try site.verify()
        #expect(right.code == 0, "seed \(random.seed): \(right)")
        #expect(right.report["result"]?.string == "right")
        #expect(right.report["records"]?.integer == 3 * WorkedTopics.records)
        #expect(right.report["decisions"]?.integer == Int64(topics.output.joined().count))
        #expect(right.report["dead_letters"]?.integer == Int64(topics.letters.count))
        // A correction, and a dead letter that was replayed and decided, with the offset after the control record.
        try site.input.write([.init(partition: 0, value: "", time: now, headers: [("dlq.replay.count", "1")])])
        try site.decide([(0, "\(site.input.name)-0-41-0"), (1, topics.output[1][0] + "~1")], now)
        try site.commit([42, 40, 40])
        let corrected = try site.verify()
        #expect(corrected.code == 0 && corrected.report["corrections"]?.integer == 1, "\(corrected)")

        let input = site.input.name
        let first = "\(input)-0-0-0"
        try site.input.write((0..<2).map { _ in .init(partition: 0, value: "", time: now) })
        // The record at 43 has no outcome, the one at 44 is not committed, and a control record is at 40.
        try site.decide(
            [
                (0, first), (1, "\(input)-1-0-0"), (2, "\(input)-0-44-0"), (0, "\(input)-0-40-0"), (1, ""),
                (0, "\(input)-9-0-0"),
            ], now)
        try site.bury([(0, 41, nil)], now)
        try site.commit([44, 40, 40])
        // Records that were aborted were never written.
        try site.decide([(2, "\(input)-2-39-499")], now, commit: false)
        let wrong = try site.verify()
        let harms = Self.harms(wrong.report)
        #expect(wrong.code == 1, "\(wrong)")
        let expected = ["lost", "doubled", "contradicted", "no_record", "not_a_decision", "beyond_commit"]
        #expect(Set(harms.keys) == Set(expected + ["disordered"]), "\(wrong)")
        #expect(harms["lost"]?.hasPrefix("\(input)-0-43 has no decision") == true, "\(harms)")
        #expect(harms["doubled"]?.contains("with the id \(first)") == true, "\(harms)")
        #expect(harms["contradicted"]?.contains("\(input)-0-41") == true, "\(harms)")
        #expect(harms["beyond_commit"]?.contains("\(input)-0-44") == true, "\(harms)")
        #expect(wrong.error.contains("exit 1 (finding): lost: \(input)-0-43"), "\(wrong.error)")
    }

    @Test("A part of the input is checked with the outcomes of that time, or with all if they are missing there")
    func parts() throws {
        let site = try Site(partitions: 1)
        let now = Platform.nowMilliseconds
        let hour: Int64 = 3_600_000
        // Records of two hours, of which the last was decided an hour too early by its time.
        try site.input.write((0..<8).map { .init(value: "\($0)", time: now - ($0 < 4 ? 2 : 1) * hour) })
        try site.decide((0..<4).map { (0, "\(site.input.name)-0-\($0)-0") }, now - 2 * hour)
        try site.decide((5..<8).map { (0, "\(site.input.name)-0-\($0)-0") }, now - hour)
        try site.commit([8])
        let whole = try site.verify()
        #expect(whole.code == 1 && Self.harms(whole.report).keys.sorted() == ["lost"], "\(whole)")
        // Brokers take these times, -1 and -2 ms since 1970, for the end and the beginning.
        for time in ["1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.998Z", "1900-01-01T00:00:00Z"] {
            let all = try site.verify("--since", time)
            #expect(all.code == 1 && all.report["records"]?.integer == 8, "\(all)")
        }
        let early = try site.verify("--until", "90m")
        #expect(early.code == 0 && early.report["records"]?.integer == 4, "\(early)")
        let late = try site.verify("--since", "90m")
        #expect(late.code == 1 && late.report["records"]?.integer == 4, "\(late)")
        #expect(late.error.contains("read from its first record on"), "\(late.error)")
        #expect(late.report["decisions_since"] == nil, "\(late)")
        let other = try LinkdProcess.run(
            ["verify", "--input", "^\(site.input.name)-none$", "--output", site.output.name],
            environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
        #expect(other.code == 78 && other.err.contains("no topic that this user may see"), "\(other)")
        let after = try site.verify("--offsets", "0:5-100")
        #expect(after.code == 0 && after.report["records"]?.integer == 3, "\(after)")
    }

    /// A producer's clock that is more than ten minutes ahead of the worker's hides the first decision.
    @Test("The answer about a part says since when decisions were read")
    func decisionsSince() throws {
        let site = try Site(partitions: 1)
        let now = Platform.nowMilliseconds
        let minute: Int64 = 60_000
        try site.input.write([.init(value: "", time: now - 10 * minute)])
        for minutes in [60, 5] as [Int64] { try site.decide([(0, "\(site.input.name)-0-0-0")], now - minutes * minute) }
        try site.commit([1])
        let whole = try site.verify()
        #expect(whole.code == 1 && Self.harms(whole.report).keys.sorted() == ["doubled"], "\(whole)")
        #expect(whole.report["decisions_since"] == nil)
        let time = UTCDateTime.text(milliseconds: now - 12 * minute)
        let start = UTCDateTime.text(milliseconds: now - 22 * minute)
        let part = try site.verify("--since", time)
        #expect(part.code == 0 && part.report["decisions_since"]?.string == start, "\(part)")
        let text = try site.text("--since", time)
        #expect(text.contains("not known: whether records were also decided before \(start)"), "\(text)")
        #expect(text.contains("nothing is lost, doubled, or out of order in the decisions since \(start)"), "\(text)")
    }

    @Test(
        "A transaction that stays open is reported, and one that ends in time is awaited",
        .enabled(if: LongTests.areWanted, "long test: LINKD_TEST_LONG is not 1"))
    func open() throws {
        let site = try Site(partitions: 1)
        let now = Platform.nowMilliseconds
        try site.input.write([.init(value: "", time: now)])
        try site.decide([(0, "\(site.input.name)-0-0-0")], now)
        try site.commit([1])
        try site.output.begin([.init(value: "", time: now)])
        // The worker's limit is a second, the producer's is the default of a minute.
        let open = try site.verify("-X", "transaction.timeout.ms=1000")
        #expect(open.code == 1 && Self.harms(open.report).keys.sorted() == ["open_transaction"], "\(open)")
        #expect(open.report["harms"]?.array?.first?["offset"]?.integer == 2, "\(open)")
        let awaited = try site.verify("-X", "transaction.timeout.ms=120000")
        #expect(awaited.code == 0, "\(awaited)")
    }
}
