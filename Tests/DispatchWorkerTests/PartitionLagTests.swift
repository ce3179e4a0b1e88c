@testable import KafkaClient
import Testing

@testable import DispatchWorker

/// The lag of a partition from a lane's state and its consumer's statistics.
@Suite struct PartitionLagTests {
    /// A state of a partition with the expected lag and unstable records.
    struct State: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var settled: Int64
        var next: Int64?
        var committed: Int64?
        var isCurrent = true
        var end: Int64?
        var isPaused = false
        var low: Int64?
        var high: Int64?
        var stable: Int64?
        var lag: Int64?
        var unstable: Int64?
    }

    static let states: [State] = [
        State(
            testDescription: "records behind", settled: 3, committed: 3, low: 0, high: 10, stable: 10, lag: 7,
            unstable: 0),
        State(
            testDescription: "after a control record", settled: 11, committed: 10, low: 0, high: 11, stable: 11, lag: 0,
            unstable: 0),
        State(
            testDescription: "an open transaction", settled: 0, committed: nil, low: 0, high: 10, stable: 0, lag: 0,
            unstable: 10),
        State(
            testDescription: "statistics that are older than the lane", settled: 20, committed: 20, low: 0, high: 10,
            stable: 10, lag: 0, unstable: 0),
        State(
            testDescription: "deleted records", settled: 0, committed: nil, low: 90, high: 100, stable: 100, lag: 10,
            unstable: 0),
        State(
            testDescription: "a position that is not known", settled: 0, committed: nil, isCurrent: false, low: 0,
            high: 10, stable: 10, lag: nil, unstable: nil),
        State(
            testDescription: "a position that is moved to a committed offset", settled: 4, committed: 4,
            isCurrent: false, low: 0, high: 10, stable: 10, lag: 6, unstable: 0),
        State(
            testDescription: "records of a commit that hangs, which are newer than the statistics", settled: 4, next: 9,
            committed: 4, low: 0, high: 4, stable: 4, lag: 5, unstable: 0),
        State(testDescription: "no statistics", settled: 4, committed: 4, lag: nil, unstable: nil),
        State(
            testDescription: "unknown offsets", settled: 4, committed: 4, low: nil, high: nil, stable: nil, lag: nil,
            unstable: nil),
        State(
            testDescription: "a paused partition, whose offsets are not fetched", settled: 17, committed: 17, end: 25,
            isPaused: true, low: 0, high: 17, stable: 17, lag: 8, unstable: 0),
        State(
            testDescription: "an end that is not asked for", settled: 17, committed: 17, end: 25, low: 0, high: 17,
            stable: 17, lag: 0, unstable: 0),
    ]

    @Test("The lag counts the records to the last stable offset", arguments: states)
    func lag(state: State) {
        let view = PartitionView(
            partition: MachineTests.partition, next: state.next ?? state.settled, settled: state.settled,
            committed: state.committed, end: state.end, isCurrent: state.isCurrent,
            isPaused: state.isPaused)
        var statistics: LibraryStatistics.Partition?
        if state.testDescription != "no statistics" {
            statistics = LibraryStatistics.Partition(low: state.low, high: state.high, stable: state.stable)
        }
        let lag = PartitionLag(lane: 3, view, statistics)
        #expect(lag.lane == 3 && lag.partition == MachineTests.partition)
        #expect(lag.lag == state.lag)
        #expect(lag.unstable == state.unstable)
    }

    @Test("Control records before the first record that waits do not count, and neither do records that are committed")
    func controlRecords() {
        var partitions = OwnedPartitions()
        let partition = MachineTests.partition
        let start = StartPosition(at: NextOffset(reported: 10))
        partitions.own(
            PartitionStart(
                assigned: AssignedPartition(partition, topic: 0), position: start, committed: 10,
                positionState: .current))
        // The control record 10, then the record 11.
        _ = partitions.admit(topic: 0, partition: 0, offset: 11)
        #expect(partitions.slots[0].settled == 11)
        partitions.promote()
        partitions.reachedEnd(topic: 0, partition: 0, offset: 13)
        #expect(partitions.slots[0].settled == 11)
        // A record that is processed and not committed waits, also while its position is sought again.
        partitions.rollBack()
        #expect(partitions.slots[0].positionState == .stale)
        #expect(partitions.slots[0].settled == 11)
        partitions.restart(0, at: start)
        #expect(partitions.slots[0].settled == 11)
        _ = partitions.admit(topic: 0, partition: 0, offset: 11)
        partitions.promote()
        partitions.commit()
        partitions.reachedEnd(topic: 0, partition: 0, offset: 13)
        #expect(partitions.slots[0].settled == 13)
        // Another topic with the same name starts again.
        partitions.restart(0, at: StartPosition(at: .zero, needsCommit: true))
        #expect(partitions.slots[0].floor == nil)
    }
}
