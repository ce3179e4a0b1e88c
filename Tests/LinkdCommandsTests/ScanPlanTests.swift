internal import KafkaClient
internal import RouteTools
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

@Suite struct ScanPlanTests {
    private static let ends: [Int32: Watermarks] = [
        0: Watermarks(low: 0, high: 10), 1: Watermarks(low: 5, high: 5), 2: Watermarks(low: 3, high: 9),
    ]

    private static func spans(
        _ range: ScanRange, since: [TopicPartition: Int64] = [:]
    ) throws -> [Int32: ScanPlan.Span] {
        var plan = ScanPlan()
        try plan.add("t", ends, range, since: since)
        return Dictionary(uniqueKeysWithValues: plan.partitions.map { ($0.key.partition, $0.value) })
    }

    @Test(
        "A plan reads from the start, an offset, a time, or the end, up to the stable end or without one",
        arguments: [
            (ScanRange(), [0: [0, 10], 1: [5, 5], 2: [3, 9]]), (ScanRange(partition: 2), [2: [3, 9]]),
            (ScanRange(offsets: [0: 4, 2: 9]), [0: [4, 10], 2: [9, 9]]),
            (ScanRange(partition: 0, offsets: [0: 4]), [0: [4, 10]]),
            (ScanRange(since: 1), [0: [10, 10], 1: [5, 5], 2: [4, 9]]),
            (ScanRange(partition: 0, follow: true), [0: [0]]),
            (ScanRange(follow: true, fromEnd: true), [0: [10], 1: [5], 2: [9]]),
        ] as [(ScanRange, [Int32: [Int64]])])
    func spans(range: ScanRange, expected: [Int32: [Int64]]) throws {
        let since = range.since == nil ? [:] : [TopicPartition(topic: "t", partition: 2): Int64(4)]
        let spans = try Self.spans(range, since: since)
        #expect(spans == expected.mapValues { ScanPlan.Span(from: $0[0], to: $0.count > 1 ? $0[1] : nil) })
    }

    @Test(
        "A partition that does not exist, and an offset outside its partition, are named with the valid range",
        arguments: [
            (ScanRange(partition: 99), "t has 3 partitions, 0 to 2; 99 is not one of them"),
            (ScanRange(offsets: [3: 0]), "t has 3 partitions, 0 to 2; 3 is not one of them"),
            (ScanRange(offsets: [2: 10]), "partition 2 of t has the offsets 3 to 9; 10 is not one of them"),
            (ScanRange(offsets: [2: 2]), "partition 2 of t has the offsets 3 to 9; 2 is not one of them"),
        ])
    func faults(range: ScanRange, reason: String) {
        let error = #expect(throws: CommandFailure.self) { try Self.spans(range) }
        #expect(error?.code == .usage)
        #expect(error?.reason == reason)
    }

    @Test(
        "A malformed or repeated offset, and flags that exclude each other, end with exit code 64",
        arguments: [
            ["--offset", "0"], ["--offset", "0:"], ["--offset", ":1"], ["--offset", "0:-1"], ["--offset", "0:+1"],
            ["--offset", "0:1:2"], ["--offset", "0:1,0:2"], ["--offset", "0:99999999999999999999"],
            ["--offset", "0:1", "--last", "3"], ["--offset", "0:1", "--since", "1h"],
            ["--offset", "0:1", "--partition", "1"], ["--last", "0"], ["--last", "100001"],
        ])
    func usage(flags: [String]) {
        let result = linkd(["inspect", "-b", "127.0.0.1:1"] + flags)
        #expect(result.code == 64, "\(result.err)")
    }

    /// Runs a search over records in memory, and returns the records found and the number of records read.
    private static func search(
        _ count: Int, _ partitions: [[InspectedRecord]], byteLimit: Int = 1 << 20,
        matches: (InspectedRecord) -> Bool
    ) throws -> (found: [String], read: Int) {
        var plan = ScanPlan()
        for (number, records) in partitions.enumerated() {
            plan.partitions[TopicPartition(topic: "t", partition: Int32(number))] = ScanPlan.Span(
                from: 0, to: (records.last?.offset ?? -1) + 1)
        }
        var last = LastRecords(count, in: plan, byteLimit: byteLimit)
        var read = 0
        while let windows = last.nextWindows() {
            for (partition, span) in windows.partitions {
                for record in partitions[Int(partition.partition)]
                where record.offset >= span.from && record.offset < span.to ?? .max {
                    read += 1
                    try record.withViews { try last.add($0, time: record.timestamp, matches: matches(record)) }
                }
            }
        }
        return (last.records.map { "\($0.partition):\($0.offset)" }, read)
    }

    @Test("The last records are those of a sort of all records, for any gaps, filters, and times")
    func lastRecords() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            let count = Int.random(in: 1...20, using: &generator)
            let partitions = (0..<Int32.random(in: 1...4, using: &generator)).map { number in
                var offset: Int64 = 0
                var time: Int64 = 0
                return (0..<Int.random(in: 0...600, using: &generator)).map { _ in
                    offset += Int64.random(in: 1...4, using: &generator)
                    time += Int64.random(in: 0...3, using: &generator)
                    return InspectedRecord(
                        topic: "t", partition: number, offset: offset, timestamp: time, key: nil, value: nil,
                        headers: [])
                }
            }
            let share = Int64.random(in: 1...40, using: &generator)
            let all = partitions.flatMap(\.self).filter { $0.offset % share == 0 }.sorted {
                ($0.timestamp, $0.partition, $0.offset) < ($1.timestamp, $1.partition, $1.offset)
            }
            let result = try Self.search(count, partitions) { $0.offset % share == 0 }
            #expect(result.found == all.suffix(count).map { "\($0.partition):\($0.offset)" })
        }
    }

    @Test("The last records of a long partition need a short window, also if all times are equal")
    func shortWindow() throws {
        for step: Int64 in [0, 1] {
            let records = (0..<50_000).map { offset in
                InspectedRecord(
                    topic: "t", partition: 0, offset: Int64(offset), timestamp: Int64(offset) * step, key: nil,
                    value: nil, headers: [])
            }
            let result = try Self.search(100, [records]) { _ in true }
            #expect(result.found.count == 100)
            #expect(result.read <= 200)
        }
    }

    @Test("The last records are limited in bytes")
    func byteLimit() throws {
        let value = [UInt8](repeating: 0, count: 1000)
        let records = (0..<9).map { offset in
            InspectedRecord(
                topic: "t", partition: 0, offset: offset, timestamp: offset, key: nil, value: value, headers: [])
        }
        let error = #expect(throws: CommandFailure.self) {
            try Self.search(9, [records], byteLimit: 8192) { _ in true }
        }
        #expect(error?.code == .usage)
        #expect(try Self.search(3, [records], byteLimit: 8192) { _ in true }.found == ["0:6", "0:7", "0:8"])
    }

    @Test("The queue of a scan, which its partitions share, has room for many of them", arguments: [1, 12, 48, 1_000])
    func queue(partitions: Int) {
        let presets: [(TopicScan.Prefetch, Int)] = [(.steady, 32), (.rounds, 256), (.moderate, 64), (.single, 64)]
        for (prefetch, megabytes) in presets {
            #expect(prefetch.queueKilobytes(partitions: partitions) == megabytes << 10)
        }
        #expect(TopicScan.Prefetch.whole.queueKilobytes(partitions: partitions) >= 64 << 10)
    }

    @Test("Numbers have commas between groups of three digits")
    func grouped() {
        let numbers: [(Int64, String)] = [
            (0, "0"), (999, "999"), (1000, "1,000"), (500_046, "500,046"), (-1234, "-1,234"),
        ]
        for (number, text) in numbers { #expect(Counts.grouped(number) == text) }
    }
}
