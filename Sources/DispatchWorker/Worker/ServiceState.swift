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

    private static func text(_ field: LogField) -> String? {
        switch field.value {
        case .text(let text): "\(field.name)=\(text)"
        case .number(let number): "\(field.name)=\(number)"
        case .list, .json: nil
        }
    }
}
