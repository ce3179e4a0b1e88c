internal import Synchronization

/// The state that the lanes of a process share: the stop request, the counter of `stop.after`, and the first exit.
package final class WorkerShared: Sendable {
    /// The counter of `stop.after`.
    package let stop: StopCounter
    /// The time and CPU for the report.
    package let meter = RunMeter()
    /// The log.
    package let log: Log
    /// The watch of the brokers, or nil without one.
    package let brokers: BrokerWatch?
    /// The lines of librdkafka that were logged.
    let library = Mutex(LibraryLines())
    /// The requests of an operator, which arrive as signals.
    package let requests = SignalRequests()
    private let draining = Atomic<Bool>(false)
    private let paused = Atomic<Bool>(false)
    private let exit = Mutex<WorkerExit?>(nil)

    /// Creates the shared state of a worker.
    package init(stopAfter: Int64, log: Log, brokers: BrokerWatch? = nil) {
        stop = StopCounter(target: stopAfter)
        self.log = log
        self.brokers = brokers
    }

    /// A Boolean value that indicates whether a stop was requested.
    package var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// Requests that the lanes end.
    ///
    /// Returns true for the first request.
    @discardableResult
    package func drain() -> Bool { !draining.exchange(true, ordering: .relaxed) }

    /// A Boolean value that indicates whether the lanes do not consume.
    package var isPaused: Bool { paused.load(ordering: .relaxed) }

    /// Requests that the lanes stop consuming, or that they consume again.
    package func setPaused(_ isPaused: Bool) { paused.store(isPaused, ordering: .relaxed) }

    /// Records the exit of a lane and requests that the others end.
    ///
    /// The first exit is that of the process.
    package func fail(_ reason: WorkerExit) {
        exit.withLock { if $0 == nil { $0 = reason } }
        drain()
    }

    /// The first exit of a lane, or nil.
    package var failure: WorkerExit? { exit.withLock { $0 } }
}

/// The requests of an operator, counted by the watchdog.
///
/// The owner of a request compares the count with the one it has answered.
package final class SignalRequests: Sendable {
    private let statusCount = Atomic<Int>(0)
    private let reloadCount = Atomic<Int>(0)

    /// Creates counts that are zero.
    package init() {}

    /// The number of requests to log the status (SIGQUIT).
    package var status: Int { statusCount.load(ordering: .relaxed) }

    /// The number of requests to load the tables again (SIGHUP).
    package var reload: Int { reloadCount.load(ordering: .relaxed) }

    /// Copies the numbers of received signals.
    package func update(status: Int, reload: Int) {
        statusCount.store(status, ordering: .relaxed)
        reloadCount.store(reload, ordering: .relaxed)
    }
}
