@testable import DispatchWorker
@testable import KafkaClient
import ByteStorage
import Testing

/// The witness of a partition: its text, and what it is compared with.
@Suite struct WitnessTests {
    static func witness(
        offset: Int64 = 41, timestamp: Int64 = 1_700_000_000_000, key: [UInt8]? = [1], value: [UInt8]? = [2, 3]
    ) -> Witness {
        func view<Result>(_ bytes: [UInt8]?, _ body: (ByteView?) -> Result) -> Result {
            guard let bytes else { return body(nil) }
            return bytes.withUnsafeBufferPointer { body(ByteView($0)) }
        }
        return view(key) { key in
            view(value) { value in
                Witness(
                    ConsumedRecord(
                        topic: 0, partition: 0, offset: offset, timestamp: timestamp, key: key, value: value, index: 0,
                        hasHeaders: false))
            }
        }
    }

    @Test("The text holds everything, is short, and its form does not change")
    func text() {
        let witness = Self.witness(key: Array("device".utf8), value: Array("{\"link\":\"https://a.b/c\"}".utf8))
        #expect(witness.text == "linkd1 41 1700000000000 0eb523f9e2ef3fc5")
        #expect(Witness(witness.text, before: NextOffset(reported: 42)) == witness)
        let longest = Self.witness(offset: .max - 1, timestamp: .min, key: nil, value: nil)
        #expect(longest.text.utf8.count < 128)
        #expect(Witness(longest.text, before: NextOffset(reported: .max)) == longest)
    }

    @Test("The text has another form with the id of the topic, which is no part of the record")
    func identifiedText() {
        var witness = Self.witness()
        let record = witness
        witness.topicID = "Zu1xvHpJQ5aJ0Cb2g6yNzQ"
        #expect(witness.text.hasPrefix("linkd2 41 1700000000000 "))
        #expect(witness.text.hasSuffix(" Zu1xvHpJQ5aJ0Cb2g6yNzQ"))
        #expect(Witness(witness.text, before: NextOffset(reported: 42)) == witness)
        #expect(witness != record && witness.isOfSameRecord(as: record))
        #expect(Witness(record.text, before: NextOffset(reported: 42))?.topicID == nil)
    }

    @Test("The text before an offset that control records separate from the record repeats the offset")
    func distantText() {
        var witness = Self.witness(offset: 39)
        for _ in 0..<2 {
            let text = witness.text(before: NextOffset(reported: 42))
            #expect(text == "linkd3 42 \(witness.text)")
            for committed in Int64(39)...43 {
                let found = Witness(text, before: NextOffset(reported: committed))
                #expect(found == (committed == 42 ? witness : nil))
            }
            #expect(witness.text(before: NextOffset(reported: 40)) == witness.text)
            witness.topicID = "Zu1xvHpJQ5aJ0Cb2g6yNzQ"
        }
        var longest = Self.witness(offset: .max - 2, timestamp: .min)
        longest.topicID = witness.topicID
        let text = longest.text(before: NextOffset(reported: .max))
        #expect(Witness(text, before: NextOffset(reported: .max)) == longest)
    }

    @Test("Key, value, timestamp, and offset each make another witness")
    func differences() {
        let bytes = Array(repeating: UInt8(7), count: 100)
        var changed: [Witness] = [
            Self.witness(), Self.witness(offset: 42), Self.witness(timestamp: 5), Self.witness(key: nil),
            Self.witness(key: []), Self.witness(value: nil), Self.witness(value: []),
            Self.witness(key: [1, 2], value: [3]),
            Self.witness(key: [], value: [1, 2, 3]), Self.witness(value: bytes), Self.witness(value: bytes + [0]),
            Self.witness(value: bytes.dropLast()),
        ]
        for index in 0..<100 {
            var value = bytes
            value[index] ^= 1
            changed.append(Self.witness(value: value))
        }
        for (index, one) in changed.enumerated() {
            for other in changed[..<index] { #expect(one != other) }
        }
    }

    @Test(
        "Other metadata is no witness",
        arguments: [
            "", " ", "linkd1", "linkd1 41 0 ", "linkd2 41 1700000000000 0123456789abcdef",
            "linkd2 41 1700000000000 0123456789abcdef ", "linkd2 41 1700000000000 0123456789abcdef a b",
            "linkd2 40 1700000000000 0123456789abcdef Zu1xvHpJQ5aJ0Cb2g6yNzQ",
            "linkd3 41 1700000000000 0123456789abcdef Zu1xvHpJQ5aJ0Cb2g6yNzQ",
            "linkd3 42", "linkd3 42 ", "linkd3 42 41 1 0123456789abcdef", "linkd3 41 linkd1 40 1 0123456789abcdef",
            "linkd3 42 linkd1 42 1 0123456789abcdef", "linkd3 42 linkd1 -1 1 0123456789abcdef",
            "linkd3 42 linkd3 42 linkd1 40 1 0123456789abcdef", "linkd4 42 linkd1 40 1 0123456789abcdef",
            "linkd1 40 1700000000000 0123456789abcdef", "linkd1 41 x 0123456789abcdef", "linkd1 41 1 0123456789abcde",
            "linkd1 41 1 0123456789abcdef 5", "linkd1 -1 1 0123456789abcdef", "linkd1 99999999999999999999 1 0",
            "{\"version\":1}", String(repeating: "linkd1 ", count: 600), "\u{0}\u{1F600}",
        ])
    func foreign(text: String) {
        #expect(Witness(text, before: NextOffset(reported: 42)) == nil)
        #expect(Witness(text, before: .zero) == nil)
        #expect(Witness(text, before: NextOffset(reported: .min + 1)) == nil)
    }
}

/// The checks of witnesses by the machine of a lane.
@Suite struct WitnessMachineTests {
    static let partition = TopicPartition(topic: "in", partition: 0)
    static let other = TopicPartition(topic: "in", partition: 1)
    static let ms: UInt64 = 1_000_000

    /// A record whose value is a number, in memory that lives as long as the process.
    static func record(_ offset: Int64, _ value: UInt8 = 0, partition: Int32 = 0) -> ConsumedRecord {
        let bytes = values + Int(value)
        return ConsumedRecord(
            topic: 0, partition: partition, offset: offset, timestamp: 1, key: nil,
            value: ByteView(start: UnsafePointer(bytes), count: 1), index: 0, hasHeaders: false)
    }

    // The bytes never change.
    nonisolated(unsafe) private static let values: UnsafeMutablePointer<UInt8> = {
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
        for index in 0..<256 { bytes[index] = UInt8(index) }
        return bytes
    }()

    /// Polls records and processes them, as a lane does.
    static func poll(_ machine: inout LaneMachine, _ records: [ConsumedRecord], now: UInt64) {
        machine.polled(PollOutcome(records: records.count, events: 0, rebalanced: false), isKeepAlive: false, now: now)
        records.withUnsafeBufferPointer { machine.verify($0) }
    }

    static func process(_ machine: inout LaneMachine, _ records: [ConsumedRecord], now: UInt64) {
        var result = BatchResult()
        result.messages = records.count
        for (index, record) in records.enumerated()
        where machine.partitions.admit(
            topic: 0, partition: record.partition, offset: record.offset, record: Int32(index)) != nil
        {
            result.records += 1
        }
        records.withUnsafeBufferPointer { machine.partitions.takeWitnesses(from: $0) }
        machine.processed(result, now: now)
        guard result.records > 0 else { return }
        if case .begin = machine.next(now: now) { machine.begun(coordinatorDrops: 0, now: now) }
        if case .produce = machine.next(now: now) { machine.produced() }
    }

    /// A lane that has processed records 0 to 2 of a partition, which are not committed.
    static func working(_ change: (inout LanePolicy) -> Void = { _ in }) -> LaneMachine {
        var machine = MachineTests.ready(change)
        let records = (0..<3).map { record(Int64($0), UInt8($0)) }
        poll(&machine, records, now: 1)
        process(&machine, records, now: 1)
        return machine
    }

    static func connectionLost() -> FetchInterruptions {
        var interruptions = FetchInterruptions()
        interruptions.isConnectionLost = true
        return interruptions
    }

    static func seek(_ offset: Int64) -> LaneAction { .seek([PartitionOffset(partition, offset: offset)]) }

    @Test("A commit has the witness of the last record")
    func metadata() {
        var machine = Self.working()
        let witness = Witness(Self.record(2, 2))
        #expect(
            machine.next(now: 200 * Self.ms)
                == .sendOffsets(
                    [PartitionOffset(Self.partition, offset: 3, metadata: witness.text)], isRepeat: false,
                    milliseconds: nil))
    }

    @Test("After a long step nothing is committed until the same record was read again, then the transaction goes on")
    func longStep() {
        var machine = Self.working()
        let late = 5_000 * Self.ms
        #expect(machine.next(now: late) == Self.seek(2))
        machine.seekFinished([PartitionOffset(Self.partition, offset: 2)], failed: [])
        guard case .poll = machine.next(now: late) else {
            Issue.record("the lane does not poll")
            return
        }
        let batch = [Self.record(2, 2), Self.record(3, 3)]
        Self.poll(&machine, batch, now: late + 1)
        guard case .sendOffsets(let offsets, _, _) = machine.next(now: late + 1) else {
            Issue.record("the lane does not commit")
            return
        }
        #expect(offsets.map(\.offset) == [3])
        #expect(machine.partitions.duplicates == 0)
        #expect(machine.counters.aborted == 0)
    }

    @Test("A step of a second or less changes nothing")
    func shortStep() {
        var machine = Self.working()
        guard case .sendOffsets = machine.next(now: 1 + 1_000 * Self.ms) else {
            Issue.record("the lane does not commit")
            return
        }
    }

    @Test("Another record at the offset of the witness ends the lane with 65 and aborts", arguments: [true, false])
    func different(isConnection: Bool) {
        var machine = Self.working()
        if isConnection { machine.interrupted(Self.connectionLost()) }
        var now = isConnection ? 2 : 5_000 * Self.ms
        for _ in 0..<2 {
            #expect(machine.next(now: now) == Self.seek(2))
            machine.seekFinished([PartitionOffset(Self.partition, offset: 2)], failed: [])
            now += 1
            Self.poll(&machine, [Self.record(2, 9), Self.record(3, 9)], now: now)
            Self.process(&machine, [Self.record(2, 9), Self.record(3, 9)], now: now)
        }
        #expect(machine.next(now: now) == .abort)
        machine.aborted(refusal: nil, coordinatorDrops: 0, now: now)
        if machine.next(now: now) == .discard { machine.discarded() }
        #expect(machine.next(now: now) == .findEnds(Self.partition))
        machine.endsFound(Self.partition, Watermarks(low: 0, high: 10))
        #expect(machine.exit?.code == .badData)
        #expect(machine.exit?.reason.contains("was deleted and created again") == true)
        #expect(machine.exit?.reason.contains("offset 2") == true)
        #expect(machine.violation == nil)
    }

    @Test(
        "With data.loss, a new topic is read from its beginning or end", arguments: [DataLossPolicy.earliest, .latest])
    func policies(policy: DataLossPolicy) {
        var machine = Self.working { $0.dataLoss = policy }
        machine.interrupted(Self.connectionLost())
        _ = machine.next(now: 2)
        machine.seekFinished([PartitionOffset(Self.partition, offset: 2)], failed: [])
        machine.handle(ConsumerEvent(kind: .offsetOutOfRange, topic: 0, partition: 0), now: 2)
        #expect(machine.next(now: 2) == .findEnds(Self.partition))
        machine.endsFound(Self.partition, Watermarks(low: 0, high: 1))
        #expect(machine.next(now: 2) == .abort)
        machine.aborted(refusal: nil, coordinatorDrops: 0, now: 2)
        #expect(machine.next(now: 2) == .findEnds(Self.partition))
        machine.endsFound(Self.partition, Watermarks(low: 0, high: 1))
        #expect(machine.next(now: 2) == Self.seek(policy == .earliest ? 0 : 1))
        #expect(
            machine.takeNotes().contains {
                if case .dataLost(_, 3, _, .some) = $0 { true } else { false }
            })
        #expect(machine.violation == nil)
    }

    @Test("A witness that retention has removed, or that compaction has, is unknown, told once, and not lost")
    func unknown() {
        var machine = Self.working { $0.compactedInputs = ["in"] }
        for round in 0..<2 {
            machine.interrupted(Self.connectionLost())
            _ = machine.next(now: 2)
            machine.seekFinished([PartitionOffset(Self.partition, offset: 2)], failed: [])
            if round == 0 {
                [Self.record(5, 5)].withUnsafeBufferPointer { machine.verify($0) }
                #expect(machine.partitions.slots[0].positionState == .current)
            } else {
                machine.handle(ConsumerEvent(kind: .offsetOutOfRange, topic: 0, partition: 0), now: 2)
                #expect(machine.next(now: 2) == .findEnds(Self.partition))
                machine.endsFound(Self.partition, Watermarks(low: 3, high: 9))
                #expect(machine.next(now: 2) == Self.seek(3))
            }
        }
        let notes = machine.takeNotes().filter { if case .witnessUnknown = $0 { true } else { false } }
        #expect(notes == [.witnessUnknown(Self.partition, offset: 2)])
        #expect(machine.exit == nil)
        #expect(!machine.partitions.isUnproven)
    }

    @Test("A record that is missing in a topic that is not compacted is another topic, after it was missing twice")
    func missing() {
        var machine = Self.working()
        machine.interrupted(Self.connectionLost())
        for _ in 0..<2 {
            #expect(machine.next(now: 2) == Self.seek(2))
            machine.seekFinished([PartitionOffset(Self.partition, offset: 2)], failed: [])
            Self.poll(&machine, [Self.record(3, 3)], now: 2)
            Self.process(&machine, [Self.record(3, 3)], now: 2)
        }
        #expect(machine.next(now: 2) == .abort)
    }

    @Test("A starved lane, each of whose steps takes over a second, commits after each check")
    func starved() {
        var machine = Self.working()
        var now: UInt64 = 1
        var committed: [Int64] = []
        var polled: [ConsumedRecord] = []
        var next: Int64 = 2
        for _ in 0..<200 where committed.count < 3 {
            now += 1_500 * Self.ms
            switch machine.next(now: now) {
            case .seek(let offsets):
                machine.seekFinished(offsets, failed: [])
                next = offsets[0].offset
            case .keepAlive:
                let nothing = PollOutcome(records: 0, events: 0, rebalanced: false)
                machine.polled(nothing, isKeepAlive: true, now: now)
            case .poll:
                polled = (next..<next + 4).map { Self.record($0, UInt8($0 % 250)) }
                next += 4
                Self.poll(&machine, polled, now: now + 1_400 * Self.ms)
            case .process: Self.process(&machine, polled, now: now)
            case .begin: machine.begun(coordinatorDrops: 0, now: now)
            case .produce: machine.produced()
            case .sendOffsets(let offsets, _, _):
                committed.append(offsets[0].offset)
                machine.offsetsSent(milliseconds: 1, now: now)
            case .commit: machine.committed(coordinatorDrops: 0, now: now)
            case .discard: machine.discarded()
            case .abort: machine.aborted(refusal: nil, coordinatorDrops: 0, now: now)
            case .fetchCommitted(let partitions):
                machine.committedOffsetsFetched(
                    partitions.map {
                        PartitionResult(
                            partition: $0, offset: committed.last,
                            metadata: committed.last.map { Witness(Self.record($0 - 1, UInt8(($0 - 1) % 250))).text }
                                ?? "")
                    }, now: now)
            default: break
            }
            #expect(machine.violation == nil)
        }
        #expect(committed.count == 3)
        #expect(committed == committed.sorted() && Set(committed).count == 3)
    }

    @Test("A partition without a witness, as an older version commits, is adopted")
    func adopted() {
        var machine = MachineTests.ready()
        machine.rebalancing(.assign([AssignedPartition(Self.other, topic: 0)]), now: 1)
        _ = machine.nextInCallback(now: 1)
        machine.committedOffsetsFetched([PartitionResult(partition: Self.other, offset: 7, metadata: "older")], now: 1)
        #expect(machine.nextInCallback(now: 1).map { "\($0)" }?.contains("offset: 7") == true)
        machine.assigned(now: 1)
        #expect(machine.partitions.slots.last?.positionState == .current)
    }

    @Test("An assigned partition starts at its witness, which is not a duplicate")
    func assigned() {
        var machine = MachineTests.ready()
        let witness = Witness(Self.record(6, 6, partition: 1))
        machine.rebalancing(.assign([AssignedPartition(Self.other, topic: 0)]), now: 1)
        _ = machine.nextInCallback(now: 1)
        machine.committedOffsetsFetched(
            [PartitionResult(partition: Self.other, offset: 7, metadata: witness.text)], now: 1)
        guard case .assign(let added, _) = machine.nextInCallback(now: 1) else {
            Issue.record("no assignment")
            return
        }
        #expect(added.map(\.offset) == [6])
        machine.assigned(now: 1)
        let batch = [Self.record(6, 6, partition: 1), Self.record(7, 7, partition: 1)]
        Self.poll(&machine, batch, now: 2)
        Self.process(&machine, batch, now: 2)
        #expect(machine.partitions.pendingOffsets.map(\.offset) == [8])
        #expect(machine.partitions.duplicates == 0)
    }
}
