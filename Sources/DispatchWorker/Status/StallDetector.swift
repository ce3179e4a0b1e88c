package import KafkaClient

/// The time that a partition is without progress.
package struct PartitionProgress: Sendable, Equatable {
    /// The seconds since the partition last had progress or no lag.
    package var seconds = 0.0
    /// A Boolean value that indicates whether the time is longer than `http.max.stall`.
    package var isStalled = false
}

/// A detector of partitions without progress that have lag, or have no position yet.
///
/// Time is charged only while brokers answer and the lane is not paused. If the process itself was suspended, the time
/// counts as one interval.
package struct StallDetector: Sendable {
    /// The longest interval between two checks that is charged, in nanoseconds.
    package static let longestInterval: UInt64 = 2_000_000_000

    private struct Known {
        var lane: Int
        var settled: Int64
        var isWaiting = false
        var charged: UInt64 = 0
        var isStalled = false
    }

    private let limit: UInt64
    private var partitions: [TopicPartition: Known] = [:]
    private var checkedAt: UInt64?

    /// Creates a detector.
    package init(limitMilliseconds: Int) { limit = UInt64(max(0, limitMilliseconds)) * 1_000_000 }

    /// The progress of the owned partitions at the last check.
    package var progress: [TopicPartition: PartitionProgress] {
        partitions.mapValues { PartitionProgress(seconds: Double($0.charged) / 1e9, isStalled: $0.isStalled) }
    }

    /// Checks the owned partitions, and returns a log entry for each one that stalls or has progress after a stall.
    package mutating func check(_ snapshot: WorkerSnapshot) -> [LogEntry] {
        check(snapshot, snapshot.lanes.map { ($0.snapshot.lane, $0.snapshot.partitions) })
    }

    mutating func check(
        _ snapshot: WorkerSnapshot, _ lanes: [(number: Int, partitions: [PartitionView])]
    ) -> [LogEntry] {
        let passed = checkedAt.map { min(snapshot.now.saturatingSubtract($0), Self.longestInterval) } ?? 0
        checkedAt = snapshot.now
        let isCharged =
            snapshot.brokers.isAnswering(now: snapshot.now) && !snapshot.isPaused && !snapshot.isDraining
        var lags: [TopicPartition: Int64] = [:]
        for partition in snapshot.partitions { lags[partition.partition] = partition.lag }
        var result: [LogEntry] = []
        var owned: [TopicPartition: Known] = [:]
        for lane in lanes {
            for view in lane.partitions {
                var known = partitions[view.partition] ?? Known(lane: lane.number, settled: view.settled)
                if known.lane != lane.number { known = Known(lane: lane.number, settled: view.settled) }
                let lag = lags[view.partition]
                // The time without a dead-letter topic does not count afterward, when a restart could help.
                if known.settled != view.settled || lag == 0 || (known.isWaiting && !view.isWaiting) {
                    if known.isStalled { result.append(Self.end(of: known, view.partition)) }
                    known = Known(lane: lane.number, settled: view.settled)
                } else if isCharged, !view.isPaused || view.isWaiting, view.slowed == nil,
                    lag != nil || !view.isCurrent
                {
                    // A partition whose committed offset is not known yet has no lag, and waits all the same.
                    known.charged += passed
                    if !known.isStalled, known.charged > limit {
                        known.isStalled = true
                        result.append(Self.begin(of: known, view, lag: lag))
                    }
                }
                known.isWaiting = view.isWaiting
                owned[view.partition] = known
            }
        }
        partitions = owned
        return result
    }

    private static func begin(of known: Known, _ view: PartitionView, lag: Int64?) -> LogEntry {
        let message =
            lag == nil
            ? "the partition has no position although brokers answer"
            : view.isWaiting
                ? "the partition has lag and waits for its dead-letter topic"
                : "the partition has lag and no progress although brokers answer"
        return LogEntry(
            .error, "stalled", lane: known.lane, message,
            fields(known, of: view.partition, lag: lag))
    }

    private static func end(of known: Known, _ partition: TopicPartition) -> LogEntry {
        LogEntry(
            .info, "progressing", lane: known.lane, "the partition has progress again",
            fields(known, of: partition))
    }

    private static func fields(_ known: Known, of partition: TopicPartition, lag: Int64? = nil) -> LogFields {
        [
            "topic": .text(partition.topic), "partition": .number(Int64(partition.partition)),
            "lag": lag.map(LogValue.number), "ms": .number(Int64(known.charged / 1_000_000)),
        ]
    }
}
