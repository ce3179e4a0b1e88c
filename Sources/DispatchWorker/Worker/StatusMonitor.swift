/// The thread that reads the worker's state once a second: it reads statistics of the library, and logs what an operator
/// should know.
///
/// It is separate from the watchdog, which stays free of work that takes time.
package final class StatusMonitor: Sendable {
    /// The interval between two readings, in milliseconds.
    private static let interval = 1_000

    private struct Life {
        var isStarted = false
        var isStopped = false
        var isOver = false
    }

    private let status: WorkerStatus
    private let shared: WorkerShared
    private let maxStallMilliseconds: Int
    private let life = Monitor(Life())

    /// Creates a monitor that has not started.
    package init(status: WorkerStatus, shared: WorkerShared, configuration: WorkerConfiguration) {
        self.status = status
        self.shared = shared
        maxStallMilliseconds = configuration.maxStallMilliseconds
    }

    /// Starts the monitor.
    ///
    /// A second call has no effect. Without a thread, the worker runs without these lines.
    package func start() {
        let isFirst = life.withLock { life in
            defer { life.isStarted = true }
            return !life.isStarted
        }
        guard isFirst else { return }
        guard let thread = SystemThread.start({ [self] in run() }) else {
            life.signal { $0.isOver = true }
            return
        }
        thread.detach()
    }

    /// Stops the monitor and waits until its thread has ended.
    package func stop() {
        let isRunning = life.signal { life in
            life.isStopped = true
            return life.isStarted
        }
        if isRunning { _ = life.wait(milliseconds: 5_000) { $0.isOver ? true : nil } }
    }

    private func run() {
        var events = LogEvents(maxStallMilliseconds: maxStallMilliseconds)
        var answered = 0
        while life.wait(milliseconds: Self.interval, until: { $0.isStopped ? true : nil }) == nil {
            status.readStatistics()
            let snapshot = status.snapshot(now: SystemClock.monotonicNanoseconds())
            for entry in events.entries(for: snapshot) { shared.log.log(entry) }
            status.setProgress(events.progress)
            let requests = shared.requests.status
            if requests != answered { logStatus(snapshot) }
            answered = requests
        }
        life.signal { $0.isOver = true }
    }

    private func logStatus(_ snapshot: WorkerSnapshot) {
        shared.log.log(
            LogEntry(
                .info, LogEntry.status, "the status as requested",
                [LogField("status", .json(StatusDocument.json(snapshot)))]))
    }
}
