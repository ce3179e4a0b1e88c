import ByteStorage
import LinkCoordinator
@testable import KafkaClient

@testable import DispatchWorker
@testable import LinkDecider
import LinkIngest

extension WorkerSnapshot {
    /// A second in nanoseconds.
    static let second: UInt64 = 1_000_000_000

    /// Returns a registry that is restored, and has read 1,000 records in 20 s.
    private static func devices() -> RegistryView {
        var view = RegistryView()
        (view.partitions, view.restored, view.records, view.remaining) = (2, 2, 1000, 500)
        (view.devices, view.bytes, view.malformed) = (1200, 81_920, 3)
        (view.startedAt, view.currentAt) = (80 * second, 97 * second + second / 2)
        return view
    }

    /// Returns the state of a worker with two lanes of which one has joined, with every figure.
    ///
    /// - Parameters:
    ///   - topic: The input topic of the first lane's partition.
    ///   - name: A text that comes from outside: the name of a table, a broker, and a route.
    static func sample(topic: String = "in", name: String = "shop") -> WorkerSnapshot {
        var result = WorkerSnapshot(now: 100 * second)
        result.wallMilliseconds = 1_800_000_000_123
        (result.version, result.library, result.instance, result.group) = ("1.2.3", "2.0.2", "host-1", "linkd")
        result.outputs = ["out"]
        result.recordsPerSecond = 12.5
        result.devices = devices()
        let partition = TopicPartition(topic: topic, partition: 1)
        var machine = MachineTests.ready()
        MachineTests.assign(&machine, [partition], now: 1)
        let error = LaneError(event: "aborted", code: "_TIMED_OUT", message: "aborted \(name)", at: 98 * second)
        var first = LaneView(
            snapshot: LaneSnapshot(
                lane: 0, machine: machine, at: 99 * second, lastCommit: LaneCommit(at: 97 * second, milliseconds: 12),
                metrics: metrics(topic: topic), lastErrors: [error], tables: 1),
            calls: [CallWatch.Entry(call: .commitTransaction, number: 1, began: 1)])
        first.consumer = consumer(partition: partition, broker: name)
        first.producer = producer(broker: name)
        first.statisticsAt = 98 * second
        first.rebalancingSince = 94 * second
        let other = LaneView(
            snapshot: LaneSnapshot(lane: 1, machine: LaneMachine(policy: LanePolicy()), at: 100 * second))
        result.lanes = [first, other]
        var lag = PartitionLag(lane: 0, partition: partition, lag: 7, unstable: 3)
        lag.secondsSinceProgress = 1.25
        lag.isStalled = true
        lag.isSlowed = true
        result.partitions = [lag]
        result.brokers.answeredAt = 99 * second
        var group = GroupLag(answeredAt: 95 * second)
        (group.state, group.members) = ("Stable", 2)
        group.partitions = [
            GroupLag.Partition(
                partition: TopicPartition(topic: topic, partition: 0), lag: 40, unownedSince: 60 * second),
            GroupLag.Partition(partition: partition, lag: 7),
        ]
        result.groupLag = group
        result.tables = [
            ServedTable(
                id: name, version: "7", hash: "0123abcd", path: "/tables/\(name).json",
                loadedAtMilliseconds: 1_799_999_990_123)
        ]
        result.tableCounters.reloads = 2
        var canary = CanaryTotals(
            table: "\(name)@8+89abcdef", base: "\(name)@7+01234567", percent: 500, compare: 150)
        (canary.decided, canary.compared, canary.different) = (50, 15, 2)
        canary.routes = [CanaryTotals.Route(name: name, count: 2, witness: "in-0-41-0")]
        result.canary = canary
        result.process = ProcessFigures()
        (result.process.cpuSeconds, result.process.startSeconds) = (1.5, 1_799_999_900.25)
        (result.process.residentBytes, result.process.openFiles) = (1_048_576, 42)
        result.process.maxFiles = 1_024
        result.stateFreeBytes = { 4_096 }
        return result
    }

    private static func metrics(topic: String) -> LaneMetrics {
        let value = Array("value".utf8)
        var tally = BatchTally()
        tally.use(topic: 0, name: ByteView("in"))
        value.withUnsafeBufferPointer { bytes in
            for offset in 0..<65 {
                tally.count(
                    ConsumedRecord(
                        topic: 0, partition: 0, offset: Int64(offset), timestamp: 1_000, key: nil,
                        value: ByteView(bytes), index: 0, hasHeaders: false))
            }
            tally.count(ProducedDecision(key: .empty, value: ByteView(bytes), outcome: .reject))
        }
        tally.countDeadLetter(.badJSON)
        var metrics = LaneMetrics()
        metrics.add(&tally, wallMilliseconds: 1_012)
        metrics[.transactionsCommitted] = 9
        metrics[.abortedTimeout] = 1
        metrics.observe(.commitSeconds, 12_345_678)
        metrics.observe(.transactionRecords, 65)
        metrics.count(.dataLost(TopicPartition(topic: topic, partition: 0), expected: 1, actual: 2))
        return metrics
    }

    private static func consumer(partition: TopicPartition, broker: String) -> LibraryStatistics {
        var result = LibraryStatistics()
        result.partitions[partition] = LibraryStatistics.Partition(low: 0, high: 10, stable: 7)
        result.brokers = [self.broker(broker)]
        result.rebalances = 1
        result.joinState = "steady"
        return result
    }

    private static func producer(broker: String) -> LibraryStatistics {
        var result = LibraryStatistics()
        result.brokers = [self.broker(broker)]
        (result.messages, result.messageBytes) = (3, 300)
        (result.transactionState, result.idempotenceState) = ("InTransaction", "Assigned")
        (result.producerEpoch, result.epochs) = (4, 5)
        return result
    }

    private static func broker(_ name: String) -> LibraryStatistics.Broker {
        var result = LibraryStatistics.Broker()
        (result.name, result.id) = ("\(name):9092/1", 1)
        (result.roundTrip.p50, result.roundTrip.p95, result.roundTrip.p99) = (500, 1_500, 2_000_000)
        (result.roundTrip.count, result.internalLatency.count, result.outputLatency.count) = (10, 1, 1)
        return result
    }
}
