@testable import KafkaClient
internal import Testing

@testable internal import LinkdCommands

/// The numbers of entries, and the end of a run of `linkd produce`.
@Suite struct ProduceEndTests {
    /// Entries 1 to 5 are lines 1, 2, 5, 6, and 7 of one file, and 6 to 8 lines 2 to 4 of another.
    private static func map() -> LineMap {
        var map = LineMap()
        map.begin("a")
        for line in [1, 2, 5, 6, 7] { map.add(line: line) }
        map.begin("empty")
        map.begin("b")
        for line in [2, 3, 4] { map.add(line: line) }
        return map
    }

    @Test(
        "Entries are mapped to the lines of their files",
        arguments: [
            ([1...1], "a, line 1"), ([1...2, 4...4], "a, lines 1-2, 6"), ([2...3], "a, lines 2, 5"),
            ([4...7], "a, lines 6-7; b, lines 2-3"), ([8...8], "b, line 4"), ([8...9], "entries 8-9"), ([], ""),
        ])
    func lines(entries: [ClosedRange<Int>], text: String) { #expect(Self.map().text(of: entries) == text) }

    @Test("A withdrawn entry is the next one")
    func withdrawn() {
        var map = Self.map()
        map.removeLast()
        #expect(map.count == 7)
        map.add(line: 4)
        #expect(map.text(of: [8...8]) == "b, line 4")
        for _ in 0..<3 { map.removeLast() }
        #expect(map.count == 5)
        #expect(map.text(of: [5...5]) == "a, line 7")
        var gap = LineMap()
        gap.begin("a")
        for line in [1, 2, 5] { gap.add(line: line) }
        gap.removeLast()
        gap.add(line: 5)
        #expect(gap.text(of: [2...3]) == "a, lines 2, 5")
    }

    @Test("A text has at most 500 ranges")
    func manyRanges() {
        var map = LineMap()
        map.begin("a")
        for line in 1...600 { map.add(line: 2 * line) }
        let text = map.text(of: [1...6, 8...600])
        #expect(text.hasPrefix("a, lines 2, 4, 6, "))
        #expect(text.hasSuffix(", 1002, and 99 ranges more"))
    }

    private static func record(
        _ number: UInt, _ code: KafkaErrorCode = .purgedFromQueue, mayBeStored: Bool = false
    ) -> UndeliveredRecord {
        UndeliveredRecord(number: number, code: code, mayBeStored: mayBeStored)
    }

    @Test("A run in which everything is delivered goes on after the last entry")
    func delivered() {
        let outcome = ProduceOutcome(read: 9, lastDelivered: 8, undelivered: [])
        #expect(outcome.skip == 9)
        #expect(outcome.notStored.isEmpty && outcome.possiblyStored.isEmpty)
    }

    @Test("A run that ends while it skips entries changes nothing")
    func endWhileSkipping() {
        #expect(ProduceOutcome(read: 3, skip: 10, lastDelivered: 0, undelivered: []).skip == 10)
        #expect(ProduceOutcome(read: 12, skip: 10, lastDelivered: 12, undelivered: []).skip == 12)
    }

    @Test("The next run begins at the first entry after which nothing is stored or possibly stored")
    func undelivered() {
        let purged = [9, 3, 10, 4, 12].map { Self.record($0) }
        let inFlight = [5, 8].map { Self.record($0, .purgedInFlight, mayBeStored: true) }
        let outcome = ProduceOutcome(read: 12, lastDelivered: 7, undelivered: purged + inFlight)
        #expect(outcome.skip == 8)
        #expect(outcome.notStored == [3...4])
        #expect(outcome.possiblyStored == [5...5, 8...8])
        #expect(outcome.notStoredCount == 5)
        #expect(outcome.possiblyStoredCount == 2)
    }

    @Test("An entry that a broker refuses for itself is listed and not tried again")
    func refused() {
        let outcome = ProduceOutcome(read: 5, lastDelivered: 4, undelivered: [Self.record(5, .messageTooLarge)])
        #expect(outcome.skip == 5)
        #expect(outcome.notStored == [5...5])
    }

    @Test("The next run sends what is left of the limit, without the listed entries")
    func rest() {
        let purged = [3, 9, 10].map { Self.record($0) }
        let inFlight = [5, 8].map { Self.record($0, .purgedInFlight, mayBeStored: true) }
        let outcome = ProduceOutcome(read: 10, lastDelivered: 7, undelivered: purged + inFlight)
        #expect(outcome.skip == 8)
        #expect(outcome.rest(of: 20, sent: 10) == 12)
        #expect(ProduceOutcome(read: 10, lastDelivered: 10, undelivered: []).rest(of: 10, sent: 10) == 0)
        let refused = ProduceOutcome(read: 5, lastDelivered: 4, undelivered: [Self.record(5, .messageTooLarge)])
        #expect(refused.rest(of: 5, sent: 5) == 0)
    }

    @Test(
        "The time left is estimated after two seconds, from the bytes that are left",
        arguments: [
            (1000, 100, 10.0, nil, nil, "sent 1,000 of about 10,000, 100 per second, 90 s left"),
            (1000, 100, 10.0, 2000, nil, "sent 1,000 of 2,000, 100 per second, 10 s left"),
            (1000, 100, 10.0, nil, 50, "sent 1,000 of about 10,000, 100 per second, 3 min left"),
            (1000, 100, 1.9, nil, nil, "sent 1,000, 526 per second"),
            (10, 1, 100.0, nil, nil, "sent 10 of about 10,000, 0 per second, 27 h 45 min left"),
        ] as [(Int, Int64, Double, Int?, Int64?, String)])
    func timeLeft(sent: Int, consumed: Int64, seconds: Double, limit: Int?, rate: Int64?, text: String) {
        let time = TimeLeft(size: 1000, limit: limit, rate: rate)
        #expect(time.text(sent: sent, skipped: 0, consumed: consumed, seconds: seconds) == text)
    }

    @Test("Nothing is estimated for a pipe, and skipped bytes are not counted")
    func partTimeLeft() {
        let pipe = TimeLeft(size: nil, limit: nil, rate: nil)
        #expect(pipe.text(sent: 10, skipped: 0, consumed: 100, seconds: 5) == "sent 10, 2 per second")
        let resumed = TimeLeft(size: 1000, limit: nil, rate: nil)
        #expect(
            resumed.text(sent: 100, skipped: 500, consumed: 750, seconds: 10)
                == "sent 100 of about 200, 10 per second, 10 s left")
    }
}
