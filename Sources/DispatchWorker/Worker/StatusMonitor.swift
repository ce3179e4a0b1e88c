internal import SystemThreads

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
            status.setProgress(events.progress)
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
        }
    }

    private func logFailure(_ notifier: SystemdNotifier) {
        shared.log.log(
            LogEntry(
                .warning, "systemd", "a message to systemd was not sent",
                [
                    LogField("socket", .text(notifier.socketName)),
                    LogField("advice", .text("check NOTIFY_SOCKET, which systemd sets for Type=notify")),
                ]))
    }

    private func logStatus(_ snapshot: WorkerSnapshot) {
        shared.log.log(
            LogEntry(
                .info, LogEntry.status, "the status as requested",
                [LogField("status", .json(StatusDocument.json(snapshot)))]))
    }
}
