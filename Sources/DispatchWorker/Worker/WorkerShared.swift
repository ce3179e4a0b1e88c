internal import Synchronization

/// What the lanes of a process share: the wish to stop, the counter of `stop.after`, the first exit.
package final class WorkerShared: Sendable {
    /// `stop.after`.
    package let stop: StopCounter
    /// Time and CPU for the report.
    package let meter = RunMeter()
    /// The log.
    package let log: Log
    private let draining = Atomic<Bool>(false)
    private let exit = Mutex<WorkerExit?>(nil)

    /// Makes the shared part of a worker.
    package init(stopAfter: Int64, log: Log) {
        stop = StopCounter(target: stopAfter)
        self.log = log
    }

    /// Whether the lanes are to finish.
    package var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// Asks the lanes to finish; returns whether this was the first time.
    @discardableResult
    package func drain() -> Bool { !draining.exchange(true, ordering: .relaxed) }

    /// A lane ends for a reason: the first one is the process's, the others drain.
    package func fail(_ reason: WorkerExit) {
        exit.withLock { if $0 == nil { $0 = reason } }
        drain()
    }

    /// The first reason that a lane ended for.
    package var failure: WorkerExit? { exit.withLock { $0 } }
}
