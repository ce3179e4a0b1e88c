package import KafkaClient
internal import Synchronization

/// The reader of a worker's state.
///
/// Its callers are other threads than the lanes, which never wait for it.
package final class WorkerStatus: Sendable {
    private let configuration: WorkerConfiguration
    private let instance: String
    private let lanes: [LaneStatus]
    private let calls: [CallWatch]
    private let shared: WorkerShared
    private let statistics: Mutex<[ClientStatistics]>
    private let progress = Mutex<[TopicPartition: PartitionProgress]>([:])
    private let refused = Atomic<UInt64>(0)
    private let rate = Mutex(RecordRate())
    private let startedMilliseconds = SystemClock.wallMilliseconds()
    private let tables = Mutex<ServedTables?>(nil)

    /// The newest statistics of a lane's clients.
    private struct ClientStatistics {
        var consumer: LibraryStatistics?
        var producer: LibraryStatistics?
        var at: UInt64?
    }

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
        statistics = Mutex(lanes.map { _ in ClientStatistics() })
    }

    /// Shows these tables from now on.
    package func show(_ tables: ServedTables) { self.tables.withLock { $0 = tables } }

    /// Reads the statistics documents that have arrived since the last call.
    ///
    /// A refused document is counted, and the statistics before it are kept. Only `StatusMonitor` calls this function,
    /// which takes up to some milliseconds for a large document.
    package func readStatistics() {
        for (index, lane) in lanes.enumerated() {
            if let (document, at) = lane.takeStatistics(of: .consumer), let read = read(document) {
                statistics.withLock {
                    $0[index].consumer = read
                    $0[index].at = at
                }
            }
            if let (document, _) = lane.takeStatistics(of: .producer), let read = read(document) {
                statistics.withLock { $0[index].producer = read }
            }
        }
    }

    private func read(_ document: [UInt8]) -> LibraryStatistics? {
        let statistics = LibraryStatistics(document)
        if statistics == nil { refused.wrappingAdd(1, ordering: .relaxed) }
        return statistics
    }

    /// Replaces the progress of the owned partitions, which snapshots then contain.
    package func setProgress(_ progress: [TopicPartition: PartitionProgress]) {
        self.progress.withLock { $0 = progress }
    }

    /// Returns the totals of the lanes that decide with the canary's tables.
    private static func total(_ plan: CanaryPlan, _ lanes: [LaneView]) -> CanaryTotals {
        var result = plan.totals
        for lane in lanes {
            if let totals = lane.snapshot.canary, totals.hasTables(of: result) { result.add(totals) }
        }
        return result
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
        result.output = configuration.output
        result.process = ProcessFigures.measured(startedMilliseconds: startedMilliseconds)
        for (index, statistics) in statistics.withLock({ $0 }).enumerated() {
            guard let snapshot = lanes[index].snapshot else { continue }
            var view = LaneView(snapshot: snapshot, calls: calls[index].entries)
            view.consumer = statistics.consumer
            view.producer = statistics.producer
            view.statisticsAt = statistics.at
            result.lanes.append(view)
            result.partitions += snapshot.partitions.map {
                PartitionLag(lane: snapshot.lane, $0, statistics.consumer?.partitions[$0.partition])
            }
        }
        let records = result.lanes.reduce(0) { $0 + $1.snapshot.counters.records }
        result.recordsPerSecond = rate.withLock { $0.add(records, at: now) }
        let progress = progress.withLock { $0 }
        for index in result.partitions.indices {
            guard let known = progress[result.partitions[index].partition] else { continue }
            result.partitions[index].secondsSinceProgress = known.seconds
            result.partitions[index].isStalled = known.isStalled
        }
        result.brokers = shared.brokers?.state(now: now) ?? BrokerState()
        result.isReady = result.lanes.count == lanes.count && result.lanes.allSatisfy(\.snapshot.isReady)
        result.isDraining = shared.isDraining
        result.isPaused = shared.isPaused
        result.exit = shared.failure
        if let tables = tables.withLock({ $0 }) {
            let version = tables.current()
            result.tables = version.entries
            result.tableCounters = tables.counters
            result.canary = version.canary.map { Self.total($0, result.lanes) }
        }
        result.logDropped = shared.log.dropped
        result.statisticsRefused = refused.load(ordering: .relaxed)
        return result
    }
}
