package import KafkaClient

/// The reader of a worker's state.
///
/// Its callers are other threads than the lanes, which never wait for it.
package final class WorkerStatus: Sendable {
    private let configuration: WorkerConfiguration
    private let instance: String
    private let lanes: [LaneStatus]
    private let calls: [CallWatch]
    private let shared: WorkerShared

    /// Creates the reader of a worker's lanes and their calls.
    package init(
        configuration: WorkerConfiguration, instance: String, lanes: [LaneStatus], calls: [CallWatch],
        shared: WorkerShared
    ) {
        self.configuration = configuration
        self.instance = instance
        self.lanes = lanes
        self.calls = calls
        self.shared = shared
    }

    /// Returns the state of the worker.
    ///
    /// `now` is in nanoseconds of the monotonic clock.
    package func snapshot(now: UInt64) -> WorkerSnapshot {
        var result = WorkerSnapshot(now: now)
        result.wallMilliseconds = SystemClock.wallMilliseconds()
        result.version = configuration.version
        result.library = LibraryInfo.versionText
        result.instance = instance
        result.group = configuration.group
        for (lane, calls) in zip(lanes, calls) {
            guard let snapshot = lane.snapshot else { continue }
            result.lanes.append(LaneView(snapshot: snapshot, calls: calls.entries))
            result.partitions += snapshot.partitions.map { PartitionLag(lane: snapshot.lane, partition: $0.partition) }
        }
        result.isReady = result.lanes.count == lanes.count && result.lanes.allSatisfy(\.snapshot.isReady)
        result.isDraining = shared.isDraining
        result.exit = shared.failure
        result.logDropped = shared.log.dropped
        return result
    }
}
