internal import ByteStorage
internal import KafkaClient
internal import LinkDecider
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// The check of `linkd verify`, without a broker.
@Suite struct VerifyTests {
    static let seed = UInt64.random(in: 0...0xFFFF_FFFF)

    /// A case is what a right worker leaves.
    @Test("Nothing is wrong with what a right worker leaves, in whatever order its topics are read")
    func right() {
        for number in 0..<UInt64(LawCases.count / 20) {
            var random = SeededGenerator(seed: Self.seed ^ number)
            var topics = WorkedTopics(&random)
            topics.isSplit = random.one(in: 2)
            let findings = topics.findings(&random)
            #expect(findings.harms.isEmpty && findings.doubts.isEmpty, "seed \(random.seed): \(findings)")
            #expect(findings.records == 3 * WorkedTopics.records)
            #expect(findings.decisions == Int64(topics.output.joined().count))
            #expect(findings.deadLetters == Int64(topics.letters.count))
        }
    }

    /// A case is what a wrong worker leaves.
    @Test("Each wrong of a worker is found at its place, and nothing else", arguments: WorkedTopics.Wrong.allCases)
    func wrong(_ wrong: WorkedTopics.Wrong) {
        for number in 0..<UInt64(LawCases.count / 20) {
            var random = SeededGenerator(seed: Self.seed ^ number)
            var topics = WorkedTopics(&random)
            let expected = topics.apply(wrong, &random)
            let findings = topics.findings(&random)
            let found = findings.harms[expected.harm]
            let hasTwoPlaces = [.decidesAndBuries, .decidesAndBuriesAnItem, .decidesTwiceElsewhere].contains(wrong)
            if hasTwoPlaces {
                // The place that is read later is reported.
                #expect(found?.first?.text.contains("\(expected.place)") == true, "seed \(random.seed): \(findings)")
            } else {
                #expect(found?.first?.place == expected.place, "seed \(random.seed): \(findings)")
            }
            // The second decision in another partition can also be out of order there.
            let others = findings.harms.keys.filter { $0 != expected.harm }
            #expect(others == [] || wrong == .decidesTwiceElsewhere && others == [.disordered], "seed \(random.seed)")
            #expect(found?.count == (wrong == .fallsBehindRetention ? 10 : 1), "seed \(random.seed): \(findings)")
            #expect(findings.doubts.isEmpty, "seed \(random.seed): \(findings)")
        }
    }

    /// A case is what a right worker leaves.
    @Test("Decisions that retention has removed are never called lost, and a later loss still is")
    func retention() {
        for number in 0..<UInt64(LawCases.count / 20) {
            var random = SeededGenerator(seed: Self.seed ^ number)
            var topics = WorkedTopics(&random)
            let removed = topics.output.map { Int.random(in: 1...$0.count, using: &random) }
            let findings = topics.findings(&random, removed: removed)
            #expect(findings.harms.isEmpty, "seed \(random.seed): \(findings)")
            #expect(findings.doubts[.removed] != nil, "seed \(random.seed)")
            _ = topics.apply(.losesARecord, &random)
            let later = topics.findings(&random, removed: [1, 1, 1])
            #expect(Array(later.harms.keys) == [.lost], "seed \(random.seed): \(later)")
        }
    }

    /// A case is what a right worker leaves.
    @Test("With little memory for events of several devices, what was not kept is named and nothing is called wrong")
    func window() {
        var uneven: Int64 = 0
        for number in 0..<UInt64(LawCases.count / 20) {
            var random = SeededGenerator(seed: Self.seed ^ number)
            let findings = WorkedTopics(&random).findings(&random, windowLimit: 2)
            #expect(findings.harms.isEmpty, "seed \(random.seed): \(findings)")
            #expect(findings.doubts.keys.allSatisfy { $0 == .uneven }, "seed \(random.seed): \(findings)")
            uneven += findings.doubts[.uneven]?.count ?? 0
        }
        #expect(uneven > 0)
    }

    @Test(
        "The guarantee at-least-once allows repeated outcomes, and no others",
        arguments: WorkedTopics.Wrong.allCases)
    func repeats(_ wrong: WorkedTopics.Wrong) {
        var random = SeededGenerator(seed: Self.seed)
        var topics = WorkedTopics(&random)
        let expected = topics.apply(wrong, &random)
        let findings = topics.findings(&random, canRepeat: true)
        let isAllowed = [.doubled, .disordered, .contradicted, .beyondCommit].contains(expected.harm)
        #expect(Array(findings.harms.keys) == (isAllowed ? [] : [expected.harm]), "seed \(random.seed): \(findings)")
        #expect((findings.repeats > 0) == isAllowed)
    }

    @Test("Decisions of one table about events without an application are in one topic")
    func tables() {
        var random = SeededGenerator(seed: Self.seed)
        var topics = WorkedTopics(&random)
        topics.isSplit = true
        let moved = topics.output[0].first { !WorkedTopics.isOfApplication($0) }
        topics.moved = [moved ?? ""]
        let findings = topics.findings(&random)
        #expect(Array(findings.harms.keys) == [.wrongTopic], "seed \(random.seed): \(findings)")
        let wrong = findings.harms[.wrongTopic]
        #expect(wrong?.count == 1)
        #expect(wrong?.first.map { $0.text.hasSuffix(" (1), such as \($0.place)") } == true, "\(findings)")
        topics.moved = Set(topics.output.joined().filter { !WorkedTopics.isOfApplication($0) })
        #expect(topics.findings(&random).harms.isEmpty)
    }

    @Test("A correction is no second decision")
    func corrections() {
        var random = SeededGenerator(seed: Self.seed)
        var topics = WorkedTopics(&random)
        let ids = topics.output.joined().prefix(20)
        for (number, id) in ids.enumerated() { topics.output[number % 3].append(id + "~\(number + 1)") }
        let findings = topics.findings(&random)
        #expect(findings.harms.isEmpty, "\(findings)")
        #expect(findings.corrections == 20)
    }

    private static let items = ["a-0-0.0-0", "a-0-0.1-0"]

    @Test(
        "A decision without an item is no outcome of a list of messages, alone or beside those of its items",
        arguments: [
            (["a-0-0-0"], .lost), (["a-0-0-0"] + items, .contradicted), (["a-0-0-1"] + items, .missingIndex),
        ] as [([String], Harm)])
    func listAsOne(ids: [String], harm: Harm) {
        var check = Self.check([.init("a", 0, 0..<2, committed: 2)])
        for (offset, id) in (ids + ["a-0-1-0"]).enumerated() {
            check.take(WorkedTopics.decision(id), 0, Int64(offset))
            check.advance()
        }
        for offset in Int64(0)..<2 { check.input("a", 0, offset, items: offset == 0 ? 2 : 0) }
        let findings = check.finish()
        #expect(Array(findings.harms.keys) == [harm] && findings.doubts.isEmpty, "\(findings)")
    }

    @Test("Items in another order are told with the later one")
    func swappedItems() {
        var check = Self.check([.init("a", 0, 0..<1, committed: 1)])
        for (offset, id) in Self.items.reversed().enumerated() {
            check.take(WorkedTopics.decision(id), 0, Int64(offset))
        }
        check.input("a", 0, 0, items: 2)
        let text = check.finish().harms[.disordered]?.first?.text ?? ""
        #expect(text.hasSuffix("is the decision a-0-0.0-0, after the later decision a-0-0.1-0"), "\(text)")
    }

    @Test("A null record in an output is an erasure if it has a key")
    func erasures() {
        var check = Self.check([.init("a", 0, 0..<0, committed: 0)])
        Array("d-1".utf8).withUnsafeBufferPointer { check.output(0, 0, key: ByteView($0), nil) }
        check.output(0, 1, key: nil, nil)
        let findings = check.finish()
        #expect(findings.erasures == 1 && Array(findings.harms.keys) == [.notADecision])
    }

    @Test("Decisions and dead letters of other inputs are counted and not checked")
    func others() {
        var random = SeededGenerator(seed: Self.seed)
        let topics = WorkedTopics(topic: "other", &random)
        var check = OutcomeVerifier(
            [.init("link-events", 0, 0..<0, committed: 0)], partitions: ["link-events": 1],
            outcomes: .init(OutputTopics("link-decisions"), isWhole: [[true, true, true]], hasAllDeadLetters: true))
        for id in topics.output[0] {
            check.take(WorkedTopics.decision(id), 0, 0)
        }
        check.deadLetter(at: TopicPlace("link-events.dlq", 0, 0), of: nil, nil, nil)
        #expect(check.finish().others == Int64(topics.output[0].count) + 1)
        #expect(check.findings.harms.isEmpty)
    }

    @Test(
        "A dead letter from before its topic grew does not show that retention has removed nothing",
        arguments: [true, false])
    func grown(isHome: Bool) {
        var check = OutcomeVerifier(
            [.init("a", 0, 0..<4, committed: 4)], partitions: ["a": 1],
            outcomes: .init(OutputTopics("link-decisions"), isWhole: [[true]], hasAllDeadLetters: false))
        for (offset, home) in [(Int64(0), isHome), (3, true)] {
            Array("a".utf8).withUnsafeBufferPointer { topic in
                check.deadLetter(
                    at: TopicPlace("a.dlq", home ? 1 : 0, offset), of: ByteView(topic), 0, offset, isHome: home)
            }
        }
        for offset in Int64(0)..<4 { check.input("a", 0, offset, items: 0) }
        let findings = check.finish()
        #expect((findings.harms[.lost] != nil) == isHome && (findings.doubts[.removed] != nil) == !isHome)
    }

    @Test("A decision that would be right with fewer partitions is a doubt, also after one in an added partition")
    func grownOutput() {
        var check = OutcomeVerifier(
            [.init("a", 0, 0..<40, committed: 40)], partitions: ["a": 1],
            outcomes: .init(
                OutputTopics("link-decisions"), isWhole: [Array(repeating: true, count: 6)], hasAllDeadLetters: true))
        var outside: Int64 = 0
        for offset in Int64(0)..<40 {
            // The worker that takes over at 30 was started before three partitions became six.
            let home = Int32(offset % 6)
            let device = WorkedTopics.device(in: home, of: 6)
            let partition = (20..<30).contains(offset) ? home : home % 3
            outside += partition == home ? 0 : 1
            check.take(WorkedTopics.decision("a-0-\(offset)-0", device: device), partition, offset, key: device)
        }
        for offset in Int64(0)..<40 { check.input("a", 0, offset) }
        let findings = check.finish()
        #expect(findings.harms.isEmpty && Array(findings.doubts.keys) == [.fewerPartitions], "\(findings)")
        #expect(findings.doubts[.fewerPartitions]?.count == outside)
    }

    @Test(
        "A decision without a device is wrong, and one with the deepest context is right",
        arguments: [
            (#""outcome":"none""#, .wrongKey), (#""device":7"#, .wrongKey), (#""user":"d-0""#, nil),
            (
                #""device":"d-0","context":{"campaign":"# + String(repeating: "[", count: 511)
                    + String(repeating: "]", count: 511) + "}", nil
            ),
        ] as [(String, Harm?)])
    func members(text: String, harm: Harm?) {
        var check = Self.check([.init("a", 0, 0..<1, committed: 1)])
        check.take(#"{"decision":"a-0-0-0",\#(text)}"#, 0, 0)
        check.input("a", 0, 0)
        #expect(Array(check.finish().harms.keys) == [harm].compactMap(\.self), "\(check.findings)")
    }

    @Test("A group without an offset whose records have decisions is named")
    func noOffset() {
        var check = OutcomeVerifier(
            [.init("a", 0, 0..<0, committed: nil)], partitions: ["a": 1],
            outcomes: .init(OutputTopics("link-decisions"), isWhole: [[true]], hasAllDeadLetters: true))
        check.take(WorkedTopics.decision("a-0-7-0"), 0, 0)
        let findings = check.finish()
        #expect(findings.harms.isEmpty)
        #expect(findings.doubts[.noOffset]?.first?.place == TopicPlace("a", 0, 7))
    }

    @Test(
        "An id is read from the first bytes of a decision, and any other bytes are none",
        arguments: [
            ("a-0-0-0", "a 0 0 0"), ("link-events-12-345-6", "link-events 12 345 6"),
            ("a-1-2-3-4-499", "a-1-2 3 4 499"),
            ("a-2147483647-18014398509481983-499", "a 2147483647 18014398509481983 499"), ("a-0-7-2~1", "a 0 7 2 ~"),
            ("a-0-7-2~120", "a 0 7 2 ~"), ("a-0-7.0-2", "a 0 7 0.2"), ("a.1-0-7.99-499~3", "a.1 0 7 99.499 ~"),
            ("a-0-7.100-0", nil), ("a-0-7.01-0", nil), ("a-0.7-0-0", nil), ("a-0-.7-0", nil), ("a-0-7-500", nil),
            ("a-2147483648-0-0", nil),
            ("a-0-9223372036854775807-0", "a 0 9223372036854775807 0"),
            ("a-0-9223372036854775808-0", nil),
            ("a-0-00-0", nil), ("a-0-0-01", nil), ("-0-0-0", nil), ("0-0-0", nil), ("a-0-0", nil), ("a-0-0-", nil),
            ("a-0-0-0~", nil), ("a-0-0-0~0", nil), ("a-0-0-0~01", nil), ("a-0-0-0~1~2", nil),
            ("a-0--0-0", nil),
            ("a-0-0-x", nil), ("a-99999999999999999999-0-0", nil), ("", nil), ("~1", nil),
            (String(repeating: "a", count: 400) + "-0-0-0", nil),
        ] as [(String, String?)])
    func ids(text: String, expected: String?) {
        func read(_ value: String) -> String? {
            Array(value.utf8).withUnsafeBufferPointer { bytes in
                DecisionIDView(decision: ByteView(bytes)).map {
                    "\($0.topic.string) \($0.partition) \($0.offset) " + ($0.place.item.map { "\($0)." } ?? "")
                        + "\($0.place.index)" + ($0.correction > 0 ? " ~" : "")
                }
            }
        }
        let value = WorkedTopics.decision(text.isEmpty ? "-" : text)
        #expect(read(value) == expected)
        for length in 0..<min(value.utf8.count, 14 + text.utf8.count) {
            #expect(read(String(value.prefix(length))) == nil, "\(length)")
        }
        #expect(read("[" + value) == nil)
    }

    @Test("A decision with an absurd id is one harm, and the decisions after it are none")
    func absurd() {
        var random = SeededGenerator(seed: Self.seed)
        for offset in [WorkedTopics.records, (1 << 54) - 1] {
            var topics = WorkedTopics(&random)
            topics.output[0].insert("link-events-0-\(offset)-0", at: 0)
            let findings = topics.findings(&random)
            #expect(Array(findings.harms.keys) == [.beyondCommit], "seed \(random.seed): \(findings)")
            #expect(findings.harms[.beyondCommit]?.count == 1)
        }
    }

    @Test("A decision that an open transaction hides is not lost, and one before the hidden ones is")
    func hidden() {
        for number in 0..<UInt64(LawCases.count / 20) {
            var random = SeededGenerator(seed: Self.seed ^ number)
            var topics = WorkedTopics(&random)
            topics.openEnd = Int64(topics.output[2].count)
            topics.output[2].removeLast(Int.random(in: 1...10, using: &random))
            let findings = topics.findings(&random)
            #expect(Array(findings.harms.keys) == [.openTransaction], "seed \(random.seed): \(findings)")
            #expect(findings.doubts.keys.allSatisfy { $0 == .hidden }, "seed \(random.seed): \(findings)")
            for index in topics.output.indices { topics.output[index].removeAll { $0.hasPrefix("link-events-0-0-") } }
            let later = topics.findings(&random)
            #expect(Set(later.harms.keys) == [.openTransaction, .lost], "seed \(random.seed): \(later)")
            #expect(later.harms[.lost]?.first?.place == TopicPlace("link-events", 0, 0), "seed \(random.seed)")
        }
        var check = Self.check([.init("a", 0, 0..<1, committed: 1)])
        check.transactions(of: "a.dlq", 0, stableEnd: 0, end: 2)
        check.input("a", 0, 0)
        #expect(check.finish().doubts[.hidden]?.count == 1 && check.findings.harms[.lost] == nil)
    }

    private static func check(_ sources: [OutcomeVerifier.Source]) -> OutcomeVerifier {
        OutcomeVerifier(
            sources, partitions: ["a": Int32(sources.count)],
            outcomes: .init(OutputTopics("link-decisions"), isWhole: [[true]], hasAllDeadLetters: true))
    }

    private static func decide(_ offsets: [Int64], _ check: inout OutcomeVerifier) {
        for (number, offset) in offsets.enumerated() {
            check.take(WorkedTopics.decision("a-0-\(offset)-0"), 0, Int64(number))
        }
    }

    @Test("A harm of records that were not chosen is not reported")
    func unchosen() {
        let offsets: [Int64] = [0, 1, 1, 0, 2, 3, 9, 9, 8, 12]
        for (chosen, harms) in [
            (2..<5, []), (2..<9, [Harm.disordered]), (2..<10, [.doubled, .disordered]),
            (2..<Int64.max, [.doubled, .disordered, .beyondCommit]),
        ] as [(Range<Int64>, Set<Harm>)] {
            let range = chosen.clamped(to: 2..<10)
            var check = Self.check([.init("a", 0, range, committed: 11, chosen: chosen)])
            Self.decide(offsets, &check)
            for offset in range where offsets.contains(offset) { check.input("a", 0, offset) }
            #expect(Set(check.finish().harms.keys) == harms, "\(chosen): \(check.findings)")
        }
    }

    @Test("A dead letter of another group is no second outcome, and the outcome of a record without another")
    func groups() {
        var check = Self.check([.init("a", 0, 0..<4, committed: 4)])
        Array("a".utf8).withUnsafeBufferPointer { topic in
            // A letter of both groups, one of a record that this group has decided, and one of an earlier group.
            for (offset, isOfGroup) in [(0, true), (0, false), (1, false), (2, false)] {
                check.deadLetter(
                    at: TopicPlace("a.dlq", 0, 0), of: ByteView(topic), 0, Int64(offset), isOfGroup: isOfGroup)
            }
        }
        Self.decide([1], &check)
        for offset in 0..<4 { check.input("a", 0, Int64(offset)) }
        let findings = check.finish()
        #expect(Array(findings.harms.keys) == [.lost] && findings.doubts.isEmpty, "\(findings)")
        #expect(findings.harms[.lost]?.count == 1 && findings.harms[.lost]?.first?.place.offset == 3)
        #expect(findings.deadLetters == 1 && findings.others == 3)
    }

    @Test("A dead letter of another group is the outcome of its item only")
    func itemsOfGroups() {
        // Record 0 has three items. This group has decided the first one, and the last two are dead letters of an
        // earlier name. Record 1 has lost its other item. Record 2 is a dead letter of this group as a whole.
        for lost in [false, true] {
            var check = Self.check([.init("a", 0, 0..<3, committed: 3)])
            Array("a".utf8).withUnsafeBufferPointer { topic in
                var letters: [(offset: Int64, item: Int?, isOfGroup: Bool)] = [
                    (0, 1, false), (0, 2, false), (1, 0, false), (2, 0, false), (2, nil, true),
                ]
                if !lost { letters.append((1, 1, false)) }
                for letter in letters {
                    check.deadLetter(
                        at: TopicPlace("a.dlq", 0, 0), of: ByteView(topic), 0, letter.offset, item: letter.item,
                        isOfGroup: letter.isOfGroup)
                }
            }
            check.take(WorkedTopics.decision("a-0-0.0-0"), 0, 0)
            for offset in Int64(0)..<3 { check.input("a", 0, offset, items: offset == 0 ? 3 : 2) }
            let findings = check.finish()
            #expect(Array(findings.harms.keys) == (lost ? [.lost] : []) && findings.doubts.isEmpty, "\(findings)")
            if lost { #expect(findings.harms[.lost]?.first?.place.offset == 1) }
        }
    }

    @Test("One removed offset can be a control record, and a group without any offset has checked nothing")
    func offsets() {
        for (low, harms, doubts) in [
            (7, [], []), (8, [], [.controlRecord]), (9, [.expired], []),
        ] as [(Int64, [Harm], [Doubt])] {
            var check = Self.check([.init("a", 0, 7..<7, committed: 7)])
            check.bounds(of: "a", 0, low: low, end: 9, before: 7, after: 7)
            #expect(Array(check.finish().harms.keys) == harms && Array(check.findings.doubts.keys) == doubts)
        }
        for isCommitted in [false, true] {
            var check = Self.check([.init("a", 0, 0..<0, committed: nil), .init("a", 1, 0..<0, committed: 0)])
            check.bounds(of: "a", 0, low: 0, end: 9, before: nil, after: nil)
            check.bounds(of: "a", 1, low: 0, end: 0, before: nil, after: isCommitted ? 0 : nil)
            #expect(check.finish().doubts[.noOffset]?.count == (isCommitted ? nil : 9))
        }
    }

    @Test("All records of a plan are in one of its rounds")
    func rounds() {
        var random = SeededGenerator(seed: Self.seed)
        for _ in 0..<LawCases.count {
            var plan = ScanPlan()
            for number in 0..<Int32.random(in: 1...5, using: &random) {
                let from = Int64.random(in: 0...100, using: &random)
                plan.partitions[.init(topic: "a", partition: number)] =
                    .init(from: from, to: from + Int64.random(in: 0...500, using: &random))
            }
            let rounds = plan.rounds(of: Int64.random(in: 1...700, using: &random))
            for (partition, span) in plan.partitions {
                let spans = rounds.compactMap { $0.partitions[partition] }
                #expect(spans.first?.from == span.from && spans.last?.to == span.to)
                #expect(zip(spans, spans.dropFirst()).allSatisfy { $0.to == $1.from })
            }
        }
    }
}
