@testable import KafkaClient
import Testing

@testable import DispatchWorker

/// The reasons of `/ready` and `/ping`.
@Suite struct HealthTests {
    /// A change of the state of a healthy worker, and the expected reasons.
    struct Change: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var notReady: [String] = []
        var notLive: [String] = []
        var apply: @Sendable (inout WorkerSnapshot) -> Void
    }

    static let second = WorkerSnapshot.second

    static func lane(_ number: Int, _ machine: LaneMachine, at seconds: UInt64) -> LaneView {
        LaneView(snapshot: LaneSnapshot(lane: number, machine: machine, at: seconds * second))
    }

    /// A worker whose lane has joined, at 1,000 s.
    static func healthy() -> WorkerSnapshot {
        var result = WorkerSnapshot(now: 1_000 * second)
        result.isReady = true
        result.lanes = [lane(0, MachineTests.ready(), at: 999)]
        result.brokers.answeredAt = 999 * second
        return result
    }

    static let changes: [Change] = [
        Change(testDescription: "a healthy worker") { _ in },
        Change(testDescription: "no lane has begun", notReady: ["starting"]) {
            $0.isReady = false
            $0.lanes = []
        },
        Change(testDescription: "one of two lanes has begun", notReady: ["starting: not every lane has begun"]) {
            $0.isReady = false
        },
        Change(testDescription: "a lane that has not joined", notReady: ["lane 1: starting"]) {
            $0.isReady = false
            $0.lanes.append(lane(1, LaneMachine(policy: LanePolicy()), at: 999))
        },
        Change(testDescription: "a stop", notReady: ["draining"]) { $0.isDraining = true },
        Change(testDescription: "an exit", notReady: ["ending with exit code 81"]) {
            $0.isDraining = true
            $0.exit = WorkerExit(.deadLetterLimit, "too many", advice: "read them")
        },
        Change(testDescription: "an outage", notReady: ["brokers: no answer for 6 s: b:9092 refused the connection"]) {
            $0.brokers.isReachable = false
            $0.brokers.answeredAt = 994 * second
            $0.brokers.cause = .refused("b:9092")
        },
        Change(testDescription: "an outage before the first answer", notReady: ["brokers: no answer"]) {
            $0.brokers.isReachable = false
            $0.brokers.answeredAt = nil
        },
        Change(testDescription: "no answer for 31 s", notReady: ["brokers: no answer for 31 s"]) {
            $0.brokers.answeredAt = 969 * second
        },
        Change(testDescription: "no answer for 30 s") { $0.brokers.answeredAt = 970 * second },
        Change(testDescription: "a commit that is unfinished for 30 s") { $0.lanes[0].unfinishedCommit = 30 },
        Change(
            testDescription: "a commit that is unfinished for 31 s although brokers answer",
            notReady: ["lane 0: no commit for 31 s: commit_transaction"]
        ) {
            let call = CallWatch.Entry(call: .commitTransaction, number: 1, began: 1)
            $0.lanes = [LaneView(snapshot: $0.lanes[0].snapshot, calls: [call])]
            $0.lanes[0].unfinishedCommit = 31.9
        },
        Change(
            testDescription: "a deleted output topic",
            notReady: ["lane 0: no commit for 40 s: topic out does not exist"]
        ) {
            $0.lanes[0].unfinishedCommit = 40
            $0.brokers.missingTopics = ["out"]
        },
        Change(testDescription: "a refused table") {
            $0.tableCounters.refusals = 1
            $0.tables = [
                ServedTable(
                    id: "a", version: "1", hash: "0", path: "a", loadedAtMilliseconds: 0, isFallback: true)
            ]
        },
        Change(testDescription: "a lane without a step for 61 s", notLive: ["lane 0: no step for 61 s"]) {
            $0.lanes = [lane(0, MachineTests.ready(), at: 939)]
        },
        Change(testDescription: "a lane without a step for 60 s") {
            $0.lanes = [lane(0, MachineTests.ready(), at: 940)]
        },
        Change(testDescription: "an old step in an outage", notReady: ["brokers: no answer for 100 s"]) {
            $0.lanes = [lane(0, MachineTests.ready(), at: 900)]
            $0.brokers.isReachable = false
            $0.brokers.answeredAt = 900 * second
        },
        Change(testDescription: "an old step after an outage") {
            $0.lanes = [lane(0, MachineTests.ready(), at: 900)]
            $0.brokers.returnedAt = 950 * second
        },
        Change(testDescription: "a stalled partition", notLive: ["in [3]: no progress for 121 s with a lag of 5"]) {
            var lag = PartitionLag(lane: 0, partition: TopicPartition(topic: "in", partition: 3), lag: 5)
            (lag.isStalled, lag.secondsSinceProgress) = (true, 121.9)
            $0.partitions = [PartitionLag(lane: 0, partition: MachineTests.partition, lag: 9), lag]
        },
        Change(testDescription: "a partition that waits for its dead-letter topic") {
            var lag = PartitionLag(lane: 0, partition: MachineTests.partition, lag: 5)
            (lag.isStalled, lag.isWaiting) = (true, true)
            $0.partitions = [lag]
        },
        Change(testDescription: "a stalled partition in an outage", notReady: ["brokers: no answer for 1 s"]) {
            var lag = PartitionLag(lane: 0, partition: MachineTests.partition, lag: 5)
            lag.isStalled = true
            $0.partitions = [lag]
            $0.brokers.isReachable = false
        },
    ]

    @Test("The reasons are those of the state", arguments: changes)
    func reasons(change: Change) {
        var snapshot = Self.healthy()
        change.apply(&snapshot)
        #expect(Health.notReady(snapshot) == change.notReady)
        #expect(Health.notLive(snapshot, maxLoopAge: 60 * Self.second) == change.notLive)
    }

    @Test("A lane that has ended is no reason for a restart")
    func ended() {
        var machine = LaneMachine(policy: LanePolicy())
        machine.drain()
        var snapshot = Self.healthy()
        snapshot.lanes = [Self.lane(0, machine, at: 1)]
        #expect(machine.stage == .ended)
        #expect(Health.notLive(snapshot, maxLoopAge: 60 * Self.second) == [])
    }
}
