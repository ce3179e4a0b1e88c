internal import Synchronization

/// The state that the lanes of a process share: the stop request, the counter of `stop.after`, and the first exit.
package final class WorkerShared: Sendable {
    /// The counter of `stop.after`.
    package let stop: StopCounter
    /// The time and CPU for the report.
    package let meter = RunMeter()
    /// The log.
    package let log: Log
    private let draining = Atomic<Bool>(false)
    private let exit = Mutex<WorkerExit?>(nil)

    /// Creates the shared state of a worker.
    package init(stopAfter: Int64, log: Log) {
        stop = StopCounter(target: stopAfter)
        self.log = log
    }

    /// A Boolean value that indicates whether a stop was requested.
    package var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// Requests that the lanes end.
    ///
    /// Returns true for the first request.
    @discardableResult
    package func drain() -> Bool { !draining.exchange(true, ordering: .relaxed) }

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
