@testable import DispatchWorker
@testable import KafkaClient
import Testing

/// The commits of the ends of partitions whose last offsets are control records.
@Suite struct PartitionEndTests {
    static let partition = MachineTests.partition
    static let ms: UInt64 = 1_000_000

    static func reachEnd(_ machine: inout LaneMachine, _ offset: Int64, now: UInt64) {
        machine.handle(ConsumerEvent(kind: .endOfPartition, topic: 0, partition: 0, offset: offset), now: now)
    }

    /// Takes steps from `start` on, every 100 ms, and returns the offsets that are committed and the time of each.
    static func commits(
        _ machine: inout LaneMachine, from start: UInt64, milliseconds: UInt64
    ) -> [(offsets: [PartitionOffset], now: UInt64)] {
        var commits: [(offsets: [PartitionOffset], now: UInt64)] = []
        for now in stride(from: start, through: start + milliseconds * ms, by: Int(100 * ms)) {
            for _ in 0..<10 {
                switch machine.next(now: now) {
                case .begin: machine.begun(coordinatorDrops: 0, now: now)
                case .sendOffsets(let offsets, _, _):
                    commits.append((offsets, now))
                    machine.offsetsSent(milliseconds: 1, now: now)
                case .flush: machine.flushed(undelivered: 0, failure: nil, now: now)
                case .commitOffsets(let offsets, _):
                    commits.append((offsets, now))
                    machine.committed(coordinatorDrops: 0, now: now)
                case .commit: machine.committed(coordinatorDrops: 0, now: now)
                case .poll(_, _), .keepAlive:
                    machine.polled(
                        PollOutcome(records: 0, events: 0, rebalanced: false), isKeepAlive: false, now: now)
                default: break
                }
                #expect(machine.violation == nil)
            }
        }
        return commits
    }

    @Test("The commit of the last records includes the control records after them", arguments: Guarantee.allCases)
    func together(guarantee: Guarantee) {
        var machine = WitnessMachineTests.working { $0.guarantee = guarantee }
        Self.reachEnd(&machine, 5, now: 1)
        let commits = Self.commits(&machine, from: 1, milliseconds: 60_000)
        #expect(commits.map { $0.offsets.map(\.offset) } == [[5]])
        let witness = Witness(WitnessMachineTests.record(2, 2))
        #expect(commits[0].offsets[0].metadata == "linkd3 5 \(witness.text)")
        #expect(machine.partitions.gaps == 1)
    }

    @Test(
        "An end that is reached after the commit is committed once, 5 s later or at the stop", arguments: [false, true])
    func later(isStopping: Bool) {
        var machine = WitnessMachineTests.working()
        #expect(Self.commits(&machine, from: 1, milliseconds: 1_000).map { $0.offsets.map(\.offset) } == [[3]])
        let start = 1_100 * Self.ms
        Self.reachEnd(&machine, 4, now: start)
        #expect(machine.partitions.slots[0].settled == 4)
        if isStopping { machine.drain() }
        let commits = Self.commits(&machine, from: start, milliseconds: 60_000)
        #expect(commits.map { $0.offsets.map(\.offset) } == [[4]])
        #expect((commits[0].now == start) == isStopping && commits[0].now <= start + 5_000 * Self.ms)
        if isStopping { return }
        // Aborted transactions move the end again and again.
        var count = 0
        for round in 0..<100 {
            let now = start + UInt64(61 + round) * 1_000 * Self.ms
            Self.reachEnd(&machine, Int64(6 + round), now: now)
            count += Self.commits(&machine, from: now, milliseconds: 900).count
        }
        #expect((18...20).contains(count))
    }

    @Test("An end is not committed before the records of its batch, or while a refused record is searched")
    func notYet() {
        var machine = MachineTests.ready { $0.commit.records = 2 }
        machine.polled(PollOutcome(records: 3, events: 1, rebalanced: false), isKeepAlive: false, now: 1)
        Self.reachEnd(&machine, 5, now: 1)
        for offset in Int64(0)..<2 { _ = machine.partitions.admit(topic: 0, partition: 0, offset: offset) }
        machine.processed(BatchResult(messages: 2, records: 2), now: 1)
        machine.begun(coordinatorDrops: 0, now: 1)
        machine.produced()
        #expect(machine.next(now: 1) == .sendOffsets(MachineTests.offsets(2), isRepeat: false, milliseconds: nil))

        var refused = WitnessMachineTests.working()
        _ = refused.isolation.recordRefused(records: 3, pending: [])
        Self.reachEnd(&refused, 5, now: 1)
        #expect(Self.commits(&refused, from: 1, milliseconds: 1_000).first?.offsets.map(\.offset) == [3])
    }

    @Test("An end counts no more after the consumer has returned to a witness, because the topic can be another one")
    func forgotten() {
        var machine = WitnessMachineTests.working()
        _ = Self.commits(&machine, from: 1, milliseconds: 1_000)
        let now = 1_100 * Self.ms
        Self.reachEnd(&machine, 4, now: now)
        machine.interrupted(WitnessMachineTests.connectionLost())
        guard case .seek(let offsets) = machine.next(now: now) else {
            Issue.record("the witness is not read again")
            return
        }
        #expect(offsets.map(\.offset) == [2])
        machine.seekFinished(offsets, failed: [])
        WitnessMachineTests.poll(&machine, [WitnessMachineTests.record(2, 2)], now: now)
        #expect(machine.partitions.slots[0].positionState == .current)
        #expect(machine.partitions.slots[0].drained == nil)
    }

    @Test("A partition without a witness returns after an interruption, so that its end is reported again")
    func withoutWitness() {
        var machine = MachineTests.ready()
        Self.reachEnd(&machine, 5, now: 1)
        #expect(machine.partitions.slots[0].settled == 5)
        machine.interrupted(WitnessMachineTests.connectionLost())
        let start = [PartitionOffset(Self.partition, offset: LogicalOffset.beginning)]
        #expect(machine.next(now: 1) == .seek(start))
        machine.seekFinished(start, failed: [])
        #expect(machine.partitions.slots[0].positionState == .current)
        #expect(machine.partitions.slots[0].settled == 0)
        Self.reachEnd(&machine, 5, now: 1)
        #expect(machine.partitions.slots[0].settled == 5)
        #expect(machine.exit == nil && machine.violation == nil)
    }

    @Test("If a seek to the beginning is refused, the partition is assigned from its beginning")
    func refusedBeginning() {
        var machine = MachineTests.ready()
        Self.reachEnd(&machine, 5, now: 1)
        machine.interrupted(WitnessMachineTests.connectionLost())
        let start = [PartitionOffset(Self.partition, offset: LogicalOffset.beginning)]
        #expect(machine.next(now: 1) == .seek(start))
        machine.seekFinished(
            start, failed: [PartitionResult(partition: Self.partition, offset: nil, error: KafkaError(code: .state))])
        #expect(machine.next(now: 1) == .reassign(start, all: start))
        machine.reassigned(start)
        #expect(machine.partitions.slots[0].resume == LogicalOffset.beginning)
    }
}
