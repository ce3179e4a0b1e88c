internal import ByteStorage
internal import KafkaClient
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// The choice of decisions of a recall.
@Suite struct RecallPlanTests {
    /// A decision of a topic.
    private struct Record {
        var id: String
        var device = "d"
        var table = "shop@2+aaaaaaaa"
        var superseded: String?
        var time: Int64 = 5
        var partition: Int32 = 0
        var route = "r"
        var facts = ""
        var isNull = false
        var offset: Int64 = 0
        var topic = "out"

        var value: String {
            id == "foreign"
                ? "{}"
                : #"{"decision":"\#(id)""# + (superseded.map { #","supersedes":"\#($0)""# } ?? "")
                    + (facts.isEmpty ? "" : #","facts":\#(facts)"#)
                    + #","event":"e","device":"\#(device)","table":"\#(table)","route":"\#(route)","outcome":"none"}"#
        }

        func withViews(_ body: (ScannedRecord) throws -> Void) rethrows {
            let bytes = Array(device.utf8) + Array(value.utf8)
            try bytes.withUnsafeBufferPointer { buffer in
                let all = ByteView(buffer)
                let count = device.utf8.count
                try body(
                    ScannedRecord(
                        topic: topic, partition: partition, offset: offset, timestamp: time, key: all.slice(0, count),
                        value: isNull ? nil : all.dropFirst(count), headers: []))
            }
        }
    }

    private static func plan(
        _ records: [Record], _ later: [Record] = [], filter: RecordFilter = RecordFilter(), limit: Int = 10,
        partitions: Int32 = 1, from start: Int64 = 0, maxSeen: Int = 100
    ) throws -> RecallPlan {
        let plan = RecallPlan(
            filter, hash: "aaaaaaaa", replacement: "bbbbbbbb", application: nil, inputs: ["in"],
            outputs: ["out", "other"], partitionCounts: [partitions, partitions], limit: limit, maxSeen: maxSeen)
        var tape = DecisionTape()
        for record in records where record.offset >= start { try record.withViews { try plan.see($0, &tape) } }
        while plan.mustBeginAgain {
            var spans = ScanPlan()
            for partition in 0..<partitions {
                for topic in ["out", "other"] {
                    spans.partitions[TopicPartition(topic: topic, partition: partition)] = ScanPlan.Span(from: start)
                }
            }
            plan.beginAgain(spans)
            for record in records { try record.withViews { try plan.see($0, &tape) } }
        }
        plan.finish()
        for record in later { try record.withViews { try plan.see($0, &tape) } }
        return plan
    }

    /// Returns the ids with their states.
    private static func states(_ plan: RecallPlan) -> [String] {
        plan.choices.map { "\(plan.idText($0)) \($0.state.name)" }
    }

    private static let right = "shop@1+bbbbbbbb"

    @Test("The reference has each state, and those with which a wrong decision can remain are the last nine")
    func reference() throws {
        let page = try ReferencePage(path: "Sources/LinkdCommands/Documentation.docc/LinkdCommands.md")
        let names = try #require(page.table("Recalls", "State in JSON")).names
        let states = RecallPlan.State.allCases
        #expect(names.count == states.count && Set(names) == Set(states.map(\.name)))
        #expect(Set(names.suffix(9)) == Set(states.filter(\.canRemainWrong).map(\.name)))
    }

    @Test("The last decision of each device is chosen if the wrong table made it")
    func last() throws {
        let plan = try Self.plan([
            Record(id: "in-0-1-0", device: "a"), Record(id: "in-0-2-0", device: "b"),
            Record(id: "in-0-3-0", device: "a"), Record(id: "in-0-4-0", device: "b", table: Self.right),
            Record(id: "in-0-5-0", device: "c", table: Self.right), Record(id: "in-0-0-0", device: "c"),
            Record(id: "other-0-0-0", device: "e"), Record(id: "not an id", device: "f"),
        ])
        #expect(
            Self.states(plan) == [
                "in-0-0-0 record_gone", "in-0-2-0 later", "in-0-3-0 record_gone", "other-0-0-0 foreign_topic",
            ])
        #expect(plan.matching == 6 && plan.replaced == 1)
    }

    @Test("A correction of the last decision is found, and one of another decision is ignored as by a consumer")
    func corrections() throws {
        let wrong = Record(id: "in-0-1-0")
        let correction = Record(id: "in-0-1-0~1", table: Self.right, superseded: "in-0-1-0")
        let other = Record(id: "in-0-0-0~1", table: Self.right, superseded: "in-0-0-0")
        #expect(Self.states(try Self.plan([wrong, correction])) == ["in-0-1-0 corrected"])
        #expect(Self.states(try Self.plan([wrong, other])) == ["in-0-1-0 record_gone"])
        let later = Record(id: "in-0-2-0", table: Self.right)
        #expect(Self.states(try Self.plan([wrong, later, correction])) == ["in-0-1-0 later"])
        // The correction was made with the wrong table.
        var again = correction
        again.table = wrong.table
        #expect(Self.states(try Self.plan([wrong, again])) == ["in-0-1-0~1 record_gone"])
    }

    @Test("A correction that a consumer has ignored is not chosen")
    func ignoredCorrections() throws {
        let old = Record(id: "in-0-1-0", table: Self.right)
        let later = Record(id: "in-0-2-0", table: Self.right)
        let correction = Record(id: "in-0-1-0~1", superseded: "in-0-1-0")
        let second = Record(id: "in-0-1-0~2", superseded: "in-0-1-0~1")
        let erasure = Record(id: "", isNull: true)
        #expect(Self.states(try Self.plan([old, correction])) == ["in-0-1-0~1 record_gone"])
        #expect(Self.states(try Self.plan([old, correction, second])) == ["in-0-1-0~2 record_gone"])
        let last = Record(id: "in-0-4-0", table: Self.right)
        let ofLater = Record(id: "in-0-2-0~1", superseded: "in-0-2-0")
        let right = Record(id: "in-0-1-0~1", table: Self.right, superseded: "in-0-1-0")
        for records in [
            [old, later, correction], [old, later, correction, second], [old, erasure, correction],
            [old, later, correction, last, ofLater], [old, later, correction, erasure, ofLater],
            [old, later, right, second], [old, later, correction, old, ofLater], [old, later, right, correction],
        ] {
            for limit in [1, 10] {
                let plan = try Self.plan(records, limit: limit)
                #expect(plan.choices.isEmpty && plan.matching == 0)
            }
        }
        var others = [old, later, correction, old, later, correction]
        for index in 3..<6 { others[index].device = "e" }
        #expect(try Self.plan(others, limit: 1).choices.isEmpty)
        // Decisions in two partitions have no order.
        var elsewhere = later
        elsewhere.partition = 1
        let scattered = try Self.plan([old, elsewhere, correction], partitions: 2)
        #expect(Self.states(scattered) == ["in-0-1-0~1 record_gone"] && scattered.hasMoved)
        // In a topic of corrections only, the superseded decision of the second correction is in another topic.
        let first = Record(id: "in-0-1-0~1", table: Self.right, superseded: "in-0-1-0")
        let next = Record(id: "in-0-5-0~1", superseded: "in-0-5-0")
        #expect(Self.states(try Self.plan([first, next])) == ["in-0-5-0~1 record_gone"])
        // The superseded decision was removed.
        #expect(Self.states(try Self.plan([correction])) == ["in-0-1-0~1 record_gone"])
        // Each correction was that of the last decision when it was published.
        #expect(Self.states(try Self.plan([correction, next])) == ["in-0-5-0~1 record_gone"])
        #expect(Self.states(try Self.plan([correction, next, second])) == ["in-0-5-0~1 record_gone"])
        // A correction of an ignored one is ignored too.
        let third = Record(id: "in-0-1-0~3", superseded: "in-0-1-0~2")
        #expect(Self.states(try Self.plan([correction, next, second, third])) == ["in-0-5-0~1 record_gone"])
        #expect(Self.states(try Self.plan([correction, erasure, second])) == ["in-0-1-0~1 later"])
        #expect(Self.states(try Self.plan([correction, erasure, next])) == ["in-0-5-0~1 record_gone"])
        #expect(Self.states(try Self.plan([erasure, correction])) == ["in-0-1-0~1 record_gone"])
        var mended = next
        mended.table = Self.right
        #expect(Self.states(try Self.plan([correction, mended])) == ["in-0-1-0~1 later"])
        let wrong = Record(id: "in-0-3-0")
        #expect(Self.states(try Self.plan([old, later, correction, wrong])) == ["in-0-3-0 record_gone"])
    }

    @Test("Decisions before `--since` tell which corrections were ignored, and nothing else")
    func earlier() throws {
        let records = [
            Record(id: "in-0-9-0", device: "e", offset: 7),
            Record(id: "in-0-1-0", device: "e", table: Self.right, partition: 1, offset: 2),
            Record(id: "in-0-8-0", device: "f", offset: 8),
            Record(id: "", device: "f", partition: 1, isNull: true, offset: 3),
            Record(id: "in-0-2-0", device: "d", table: Self.right, offset: 1),
            Record(id: "in-0-3-0", device: "d", table: Self.right, offset: 4),
            Record(id: "in-0-2-0~1", device: "d", superseded: "in-0-2-0", offset: 6),
        ]
        let plan = try Self.plan(records, partitions: 2, from: 5)
        #expect(Self.states(plan) == ["in-0-8-0 record_gone", "in-0-9-0 record_gone"])
        #expect(plan.matching == 2)
        #expect(Self.states(try Self.plan(Array(records.prefix(4)), partitions: 2, from: 5)) == Self.states(plan))
    }

    @Test("After a null record, a correction of an earlier decision is ignored in a topic of decisions")
    func correctionsAfterErasure() throws {
        let erasure = Record(id: "", isNull: true)
        let correction = Record(id: "in-0-1-0~1", superseded: "in-0-1-0")
        let other = Record(id: "in-0-9-0", device: "e", table: Self.right)
        #expect(try Self.plan([other, erasure, correction]).choices.isEmpty)
        let right = Record(id: "in-0-2-0~1", table: Self.right, superseded: "in-0-2-0")
        #expect(try Self.plan([other, right, erasure, correction]).choices.isEmpty)
        // The answer does not depend on what is read first, nor on `--since`.
        #expect(try Self.plan([erasure, correction, other]).choices.isEmpty)
        var last = correction
        last.offset = 2
        #expect(try Self.plan([erasure, other, last], from: 2).choices.isEmpty)
        // In a topic of corrections only, the device can have decided again elsewhere.
        #expect(Self.states(try Self.plan([right, erasure, correction])) == ["in-0-1-0~1 record_gone"])
        // Decisions in another topic, and records of others, do not make it a topic of decisions.
        for also in [
            Record(id: "in-0-9-0", device: "e", table: Self.right, topic: "other"), Record(id: "foreign", device: "e"),
        ] {
            let plan = try Self.plan([erasure, also, correction])
            #expect(Self.states(plan) == ["in-0-1-0~1 record_gone"], "\(also)")
        }
    }

    @Test("A recall of more corrections than can be compared ends, and chooses nothing")
    func tooMany() throws {
        let records = (0..<4).map { Record(id: "in-0-\($0)-0~1", device: "d\($0)", superseded: "in-0-\($0)-0") }
        #expect(try Self.plan(records, maxSeen: 4).choices.count == 4)
        let error = #expect(throws: CommandFailure.self) { _ = try Self.plan(records, maxSeen: 3) }
        #expect(error?.reason == "more than 3 corrections would have to be compared with the decisions before them")
        #expect(error?.code == .badData)
        // Corrections that this recall has published do not count, so it can go on.
        let own = records.map { record in
            var correction = record
            (correction.id, correction.superseded) = (record.id.replacing("~1", with: "~2"), record.id)
            correction.table = Self.right
            return correction
        }
        #expect(try Self.plan(records, own, maxSeen: 4).count(.corrected) == 4)
        #expect(try Self.plan(records + own.prefix(2), own.suffix(2), maxSeen: 4).count(.corrected) == 4)
        // They have the same limit for themselves.
        let all = records + own
        #expect(try Self.plan(all, limit: 4, maxSeen: 4).count(.corrected) == 4)
        let more = own.map { correction in
            var next = correction
            (next.id, next.superseded) = (correction.id.replacing("~2", with: "~3"), correction.id)
            return next
        }
        #expect(throws: CommandFailure.self) { _ = try Self.plan(all + more, limit: 4, maxSeen: 4) }
    }

    @Test("What is decided after the choice is never chosen, and its devices are left alone")
    func tail() throws {
        let plan = try Self.plan(
            [Record(id: "in-0-1-0")], [Record(id: "in-0-2-0"), Record(id: "in-0-3-0", device: "z")])
        #expect(Self.states(plan) == ["in-0-1-0 later"])
        // Decisions in two partitions have no order.
        let moved = try Self.plan([Record(id: "in-0-1-0"), Record(id: "in-0-2-0", partition: 1)])
        #expect(Self.states(moved) == ["in-0-2-0 several_partitions"])
    }

    @Test("A device with a record in another partition is left alone after a second look, wherever it was read first")
    func otherPartitions() throws {
        let records = [
            Record(id: "in-0-0-0", device: "moved", table: Self.right, partition: 1),
            Record(id: "", device: "erased", partition: 1, isNull: true),
            Record(id: "in-0-1-0", device: "moved"), Record(id: "in-0-2-0", device: "erased"),
            Record(id: "in-0-3-0", device: "same", table: Self.right), Record(id: "in-0-4-0", device: "same"),
        ]
        let all = (0..<3).map { index in
            Record(
                id: "in-0-\(index)-0", table: index < 2 ? Record(id: "").table : Self.right,
                partition: index == 0 ? 0 : 1)
        }
        // A later decision in one partition says nothing about the last one in another.
        for records in [all, [all[0], all[1], all[1], all[2]], [all[1], all[2], all[0]]] {
            #expect(try Self.plan(records, partitions: 2).count(.scattered) == 1, "\(records)")
        }
        let plan = try Self.plan(records)
        #expect(plan.count(.chosen) == 3)
        var tape = DecisionTape()
        for record in records { record.withViews { plan.seeAgain($0, &tape) } }
        let expected = ["in-0-1-0 several_partitions", "in-0-2-0 several_partitions", "in-0-4-0 record_gone"]
        #expect(Self.states(plan) == expected)
        // An entry of the ledger does not tell what came after the correction.
        for choice in plan.choices.prefix(1) {
            plan.markCorrected(try #require(plan.id(choice)), decidedAt: choice.time)
        }
        #expect(Self.states(plan) == expected)
    }

    @Test("The second look is needed if any record is not in the partition that its key has now")
    func moved() throws {
        func partition(_ device: String, _ count: Int32) -> Int32 {
            Array(device.utf8).withUnsafeBufferPointer { Murmur2.partition(of: ByteView($0), among: count) }
        }
        func plan(_ counts: Int32..., table: String = Record(id: "").table) throws -> RecallPlan {
            let records = (0..<20).map { number in
                let count = counts[number % counts.count]
                return Record(
                    id: "in-0-\(number)-0", device: "d\(number)", table: table,
                    partition: partition("d\(number)", count))
            }
            return try Self.plan(records, limit: 20, partitions: 4)
        }
        #expect(try !plan(4).hasMoved && plan(1).hasMoved && plan(4, 1).hasMoved)
        #expect(try plan(1, table: Self.right).hasMoved)
        // The topic had 2, 3, and 4 partitions, so the device is back where it was. Its last decision is read first.
        let device = try #require(
            (0..<100).map { "d\($0)" }.first { device in
                partition(device, 2) == partition(device, 4) && partition(device, 3) != partition(device, 4)
            })
        let records = [
            Record(id: "in-0-2-0", device: device, table: Self.right, partition: partition(device, 3)),
            Record(id: "in-0-1-0", device: device, partition: partition(device, 2)),
        ]
        let back = try Self.plan(records, partitions: 4)
        #expect(back.hasMoved)
        var tape = DecisionTape()
        for record in records { record.withViews { back.seeAgain($0, &tape) } }
        #expect(Self.states(back) == ["in-0-1-0 several_partitions"])
    }

    @Test("The order of the decisions is that of their events, and each device keeps its own")
    func order() throws {
        var random = SeededGenerator(seed: 30)
        let numbers = Array(0..<200).shuffled(using: &random)
        let plan = try Self.plan(numbers.map { Record(id: "in-0-\($0)-0", device: "d\($0)") }, limit: 200)
        #expect(plan.choices.map(\.offset) == Array(0..<200))
        #expect(plan.choices.allSatisfy { plan.key($0) == Array("d\($0.offset)".utf8) })
        var tape = DecisionTape()
        try Record(id: "in-0-900-0", device: "d77", table: Self.right).withViews { try plan.see($0, &tape) }
        #expect(plan.choices.filter { $0.state == .later }.map(\.offset) == [77])
    }

    @Test("A decision with the greatest offset is chosen like any other, and its record is not found")
    func greatestOffset() throws {
        let plan = try Self.plan([
            Record(id: "in-0-4-0", device: "a"), Record(id: "in-0-\(Int64.max)-0", device: "b"),
            Record(id: "in-1-7-0", device: "c"),
        ])
        let spans = plan.remaining(.chosen).partitions.sorted { $0.key < $1.key }.map(\.value)
        #expect(spans == [ScanPlan.Span(from: 4, to: .max), ScanPlan.Span(from: 7, to: 8)])
    }

    @Test("A device or user whose decisions a null record has erased is left alone")
    func erased() throws {
        let (wrong, null) = (Record(id: "in-0-1-0"), Record(id: "", isNull: true))
        #expect(Self.states(try Self.plan([wrong, null])) == ["in-0-1-0 later"])
        #expect(Self.states(try Self.plan([wrong], [null])) == ["in-0-1-0 later"])
        #expect(Self.states(try Self.plan([null, wrong])) == ["in-0-1-0 record_gone"])
        #expect(Self.states(try Self.plan([wrong, null, Record(id: "in-0-2-0")])) == ["in-0-2-0 record_gone"])
        #expect(Self.states(try Self.plan([wrong, Record(id: "", device: "other", isNull: true)])).count == 1)
        // In another partition, it can be older than the decision.
        let elsewhere = Record(id: "", partition: 1, isNull: true)
        let scattered = ["in-0-1-0 several_partitions"]
        #expect(Self.states(try Self.plan([wrong, elsewhere], partitions: 2)) == scattered)
        #expect(Self.states(try Self.plan([wrong, elsewhere, null], partitions: 2)) == scattered)
        #expect(Self.states(try Self.plan([wrong, null, elsewhere], partitions: 2)) == ["in-0-1-0 later"])
    }

    @Test("The bytes that are kept are those of the last decisions")
    func memory() throws {
        func record(_ number: Int, _ device: String) -> Record {
            Record(id: "in-0-\(number)-0", device: device, facts: #"{"n":\#(number % 10)}"#)
        }
        let records = (0..<50).map { record($0, "d\($0 % 3)") }
        let plan = try Self.plan(records, limit: 2)
        #expect(plan.beyondLimit == 16 && plan.replaced == 32)
        // The key, the id, and the facts of both devices.
        #expect(plan.bytes.count == 2 * (2 + 2 + 7))
        for choice in plan.choices {
            let device = plan.device(choice)
            #expect(plan.key(choice) == device.id && device.facts == Array(#"{"n":\#(choice.offset % 10)}"#.utf8))
        }
    }

    @Test("Filters and the limit choose, and the ledger marks the decision with its time only")
    func filters() throws {
        let records = (0..<5).map { Record(id: "in-0-\($0)-0", device: "d\($0)", time: Int64($0), route: "r\($0 % 2)") }
        let plan = try Self.plan(records, filter: RecordFilter(route: "r0", since: 1), limit: 1)
        #expect(Self.states(plan) == ["in-0-2-0 record_gone"])
        #expect(plan.matching == 2 && plan.beyondLimit == 1)
        let id = try #require(DecisionID("in-0-2-0"))
        plan.markCorrected(id, decidedAt: 3)
        #expect(plan.count(.corrected) == 0)
        plan.markCorrected(id, decidedAt: 2)
        #expect(plan.count(.corrected) == 1)
    }

    @Test("Two decisions are the same if they differ in the names of their tables alone")
    func same() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let pieces = [#","event":"e""#, #","event":"shop@1""#, #","device":"\",\"table\":\"shop@""#]
        func text(_ head: String, _ name: String, _ rest: String) -> [UInt8] {
            Array(#"\#(head),"table":"\#(name)"\#(rest)"#.utf8)
        }
        func isSame(_ a: [UInt8], _ b: [UInt8], _ names: [String]) -> Bool {
            let parts = names.map { Array(#","table":"\#($0)""#.utf8) }
            return a.withUnsafeBufferPointer { a in
                b.withUnsafeBufferPointer { b in RecallJudge.isSame(ByteView(a), ByteView(b), parts[0], parts[1]) }
            }
        }
        for _ in 0..<1_000 {
            let names = (0..<2).map { _ in "shop@\(Int.random(in: 1...12, using: &random))+ab" }
            let heads = (0..<2).map { _ in pieces.randomElement(using: &random) ?? "" }
            let rests = (0..<2).map { _ in
                ["}", #","route":"r"}"#, #","route":"s"}"#].randomElement(using: &random) ?? ""
            }
            let expected = heads[0] == heads[1] && rests[0] == rests[1]
            let found = isSame(text(heads[0], names[0], rests[0]), text(heads[1], names[1], rests[1]), names)
            #expect(found == expected, "seed \(seed): \(heads) \(names) \(rests)")
        }
    }
}

/// The command line of `linkd recall`.
@Suite struct RecallCommandTests {
    @Test(
        "Wrong flags end with exit code 64 before anything is read",
        arguments: [
            [], ["--table", "aaaaaaaa"], ["--table", "zzzzzzzz", "--with", "x.json"],
            ["--table", "aaaaaaaa", "--with", "x.json", "--yes"], ["--table", "aaaaaaa", "--with", "x.json"],
        ])
    func usage(flags: [String]) {
        #expect(linkd(["recall", "-b", "127.0.0.1:1"] + flags).code == 64)
    }

    @Test(
        "A table is named by its hash or as in decisions",
        arguments: [
            ("d1ec0520", "d1ec0520"), ("shop@1+d1ec0520", "d1ec0520"), ("shop@1+2+d1ec0520", "d1ec0520"),
            ("D1EC0520", nil), ("shop@1+d1ec052", nil), ("", nil), ("+", nil),
            (String(repeating: "a", count: 65), nil),
        ] as [(String, String?)])
    func hash(text: String, expected: String?) {
        #expect(RecallJob.hash(text) == expected)
    }
}
