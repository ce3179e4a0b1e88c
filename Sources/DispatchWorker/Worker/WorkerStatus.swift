package import KafkaClient
internal import Synchronization
internal import SystemThreads
internal import LinkDecider

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
    private let unfinished = Mutex<[Int: Double]>([:])
    private let refused = Atomic<UInt64>(0)
    private let rate = Mutex(RecordRate())
    private let startedMilliseconds = SystemClock.wallMilliseconds()
    private let tables = Mutex<ServedTables?>(nil)
    private let state = Mutex<StateDirectory?>(nil)

    /// The newest statistics of a lane's clients.
    private struct ClientStatistics {
        var consumer: LibraryStatistics?
        var producer: LibraryStatistics?
        var at: UInt64?
        /// The time since which the consumer has no settled membership, or nil.
        var rebalancingSince: UInt64?
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

    /// Shows the free space of this directory from now on.
    package func show(_ state: StateDirectory) { self.state.withLock { $0 = state } }

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
                    $0[index].rebalancingSince =
                        read.isSettled ? nil : $0[index].rebalancingSince ?? at
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

    /// Replaces the progress of the owned partitions, and the seconds of unfinished commits by lane, which snapshots
    /// then contain.
    package func setProgress(_ progress: [TopicPartition: PartitionProgress], unfinished: [Int: Double] = [:]) {
        self.progress.withLock { $0 = progress }
        self.unfinished.withLock { $0 = unfinished }
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
        result.outputs = configuration.outputs.names
        result.process = ProcessFigures.measured(startedMilliseconds: startedMilliseconds)
        let unfinished = unfinished.withLock { $0 }
        for (index, statistics) in statistics.withLock({ $0 }).enumerated() {
            guard let snapshot = lanes[index].snapshot else { continue }
            var view = LaneView(snapshot: snapshot, calls: calls[index].entries)
            view.consumer = statistics.consumer
            view.producer = statistics.producer
            view.statisticsAt = statistics.at
            view.rebalancingSince = statistics.rebalancingSince
            view.unfinishedCommit = unfinished[index]
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
        result.devices = shared.devices?.view
        result.groupLag = shared.group?.lag(now: now)
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
        if let state = state.withLock({ $0 }) { result.stateFreeBytes = { state.freeBytes } }
        result.logDropped = shared.log.dropped
        result.statisticsRefused = refused.load(ordering: .relaxed)
        return result
    }
}

/// The rate of committed records during the last seconds.
///
/// It is computed from the totals that readers of the worker's state add, so the lanes keep no time.
package struct RecordRate: Sendable {
    /// The time that the rate covers, in nanoseconds.
    package static let span: UInt64 = 10_000_000_000
    /// The least time between two kept totals, in nanoseconds, which bounds their number.
    private static let spacing: UInt64 = 250_000_000

    private var totals: [(at: UInt64, records: Int)] = []

    /// Adds a total, and returns the records per second since the oldest total of the last 10 s.
    ///
    /// If there is none, the newest one before that time is used. The first total returns 0.
    package mutating func add(_ records: Int, at now: UInt64) -> Double {
        while totals.count > 1, now.saturatingSubtract(totals[1].at) >= Self.span { totals.removeFirst() }
        let result = totals.first.map { Self.rate(from: $0, to: (now, records)) } ?? 0
        if now.saturatingSubtract(totals.last?.at ?? 0) >= Self.spacing || totals.isEmpty {
            totals.append((now, records))
        }
        return result
    }

    private static func rate(from first: (at: UInt64, records: Int), to last: (at: UInt64, records: Int)) -> Double {
        let nanoseconds = last.at.saturatingSubtract(first.at)
        return nanoseconds == 0 ? 0 : Double(max(0, last.records - first.records)) * 1e9 / Double(nanoseconds)
    }
}

/// The thread that reads the worker's state once a second: it reads statistics of the library, and says what an
/// operator and the service manager should know.
///
/// It is separate from the watchdog, which stays free of work that takes time.
package final class StatusMonitor: Sendable {
    /// The longest interval between two readings, in milliseconds.
    private static let longestInterval = 1_000
    /// The shortest interval between two readings, in milliseconds.
    private static let shortestInterval = 100

    private let status: WorkerStatus
    private let shared: WorkerShared
    private let notifier: SystemdNotifier?
    private let maxStallMilliseconds: Int
    private let maxLoopAgeMilliseconds: Int
    private let thread = StoppableThread(name: "status")

    /// Creates a monitor that has not started.
    package init(
        status: WorkerStatus, shared: WorkerShared, configuration: WorkerConfiguration, notifier: SystemdNotifier?
    ) {
        self.status = status
        self.shared = shared
        self.notifier = notifier
        maxLoopAgeMilliseconds = configuration.maxLoopAgeMilliseconds
        maxStallMilliseconds = configuration.maxStallMilliseconds
    }

    /// Starts the monitor.
    ///
    /// A second call has no effect. Without a thread, the worker runs without these lines.
    package func start() { thread.start { [self] in run() } }

    /// Stops the monitor and waits until its thread has ended.
    package func stop() {
        thread.stop()
        thread.join(milliseconds: 5_000)
    }

    /// The interval between two readings, in milliseconds: short enough for the watchdog of the service manager.
    private var interval: Int {
        guard let limit = notifier?.watchdogMilliseconds else { return Self.longestInterval }
        return min(Self.longestInterval, max(Self.shortestInterval, limit / 4))
    }

    private func run() {
        var events = LogEvents(maxStallMilliseconds: maxStallMilliseconds)
        var service = ServiceState(
            maxLoopAgeMilliseconds: maxLoopAgeMilliseconds, watchdogMilliseconds: notifier?.watchdogMilliseconds)
        var answered = 0
        var isNotified = true
        while thread.sleep(milliseconds: interval) {
            status.readStatistics()
            let snapshot = status.snapshot(now: SystemClock.monotonicNanoseconds())
            let entries = events.entries(for: snapshot)
            for entry in entries { shared.log.log(entry) }
            status.setProgress(events.progress, unfinished: events.unfinished)
            shared.group?.setUneasy(snapshot.lanes.contains { $0.rebalancingSince != nil })
            let requests = shared.requests.status
            if requests != answered { logStatus(snapshot) }
            answered = requests
            guard let notifier else { continue }
            for message in service.messages(for: snapshot, entries) {
                if !notify(message, notifier), isNotified {
                    isNotified = false
                    logFailure(notifier)
                }
            }
        }
        if let notifier { _ = notify(.stopping, notifier) }
    }

    private func notify(_ message: ServiceState.Message, _ notifier: SystemdNotifier) -> Bool {
        switch message {
        case .ready: notifier.ready()
        case .stopping: notifier.stopping()
        case .watchdog: notifier.watchdog()
        case .status(let text): notifier.status(text)
        case .restoring(let text): notifier.extendStart(text)
        }
    }

    private func logFailure(_ notifier: SystemdNotifier) {
        shared.log.log(
            .warning, "systemd", "a message to systemd was not sent",
            ["socket": .text(notifier.socketName), "advice": "check NOTIFY_SOCKET, which systemd sets for Type=notify"])
    }

    private func logStatus(_ snapshot: WorkerSnapshot) {
        shared.log.log(
            .info, LogEntry.status, "the status as requested",
            ["status": .json(StatusDocument.json(snapshot))])
    }
}

/// The state of the worker as a service manager sees it, as a value.
package struct ServiceState: Sendable {
    /// A message to the service manager.
    package enum Message: Sendable, Equatable {
        /// The lanes have joined their group.
        case ready
        /// The worker finishes its work.
        case stopping
        /// The worker works.
        case watchdog
        /// A description of the state.
        case status(String)
        /// A description of the state of a start that takes long.
        case restoring(String)
    }

    /// The longest time between two messages to the watchdog of the service manager, in milliseconds.
    private static let longestWatchdog = 86_400_000

    private let maxLoopAge: UInt64
    private let watchdogInterval: UInt64?
    private var isReady = false
    private var isStopping = false
    private var watchdogAt: UInt64?

    /// Creates the state of a worker that starts.
    ///
    /// - Parameters:
    ///   - maxLoopAgeMilliseconds: The longest time since a lane's last step.
    ///   - watchdogMilliseconds: The time after which the service manager restarts a silent worker, or nil for none.
    package init(maxLoopAgeMilliseconds: Int, watchdogMilliseconds: Int?) {
        maxLoopAge = UInt64(max(0, maxLoopAgeMilliseconds)) * 1_000_000
        watchdogInterval = watchdogMilliseconds.map { UInt64(min(max(0, $0), Self.longestWatchdog)) * 500_000 }
    }

    /// Returns the messages that follow from a snapshot and the log entries that were created from it.
    package mutating func messages(for snapshot: WorkerSnapshot, _ entries: [LogEntry]) -> [Message] {
        var result: [Message] = []
        if snapshot.isReady, !isReady, !snapshot.isDraining {
            isReady = true
            result += [.ready, .status("ready")]
        }
        if snapshot.isDraining, !isStopping {
            isStopping = true
            result += [.stopping, .status("finishing the work in progress")]
        }
        if let devices = snapshot.devices, !devices.isRestored, !isReady, !isStopping {
            result.append(.restoring("restoring the registry of devices, \(devices.remaining) offsets left"))
        }
        result += entries.compactMap(Self.status).map(Message.status)
        guard let watchdogInterval, Health.notLive(snapshot, maxLoopAge: maxLoopAge).isEmpty else { return result }
        if let sent = watchdogAt, snapshot.now.saturatingSubtract(sent) < watchdogInterval { return result }
        watchdogAt = snapshot.now
        return result + [.watchdog]
    }

    /// Returns the description for an entry, or nil if it does not change the state.
    private static func status(_ entry: LogEntry) -> String? {
        switch entry.event {
        case "progress": entry.fields.prefix(2).compactMap(text).joined(separator: " ")
        case "brokers.unreachable": ([entry.message] + entry.fields.prefix(1).compactMap(text)).joined(separator: " ")
        case "brokers.reachable": entry.message
        default: nil
        }
    }

    private static func text(_ field: LogFields.Field) -> String? {
        switch field.value {
        case .text(let text): "\(field.name)=\(text)"
        case .number(let number): "\(field.name)=\(number)"
        case .list, .json: nil
        }
    }
}
