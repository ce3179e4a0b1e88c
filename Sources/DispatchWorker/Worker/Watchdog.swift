/// The thread that looks after the lanes: stop signals, calls that never return, a stop that takes too long.
///
/// With transactions a hard exit is safe: at worst an open transaction is aborted and its records are taken again.
final class Watchdog: Sendable {
    private let shared: WorkerShared
    private let heartbeats: [LaneHeartbeat]
    private let callLimitNanoseconds: UInt64
    private let graceNanoseconds: UInt64
    private let heedsSignals: Bool
    private let ended = Monitor(false)

    init(
        shared: WorkerShared, heartbeats: [LaneHeartbeat], transactionTimeoutMilliseconds: Int,
        graceMilliseconds: Int, heedsSignals: Bool
    ) {
        self.shared = shared
        self.heartbeats = heartbeats
        callLimitNanoseconds = UInt64(transactionTimeoutMilliseconds + 30_000) * 1_000_000
        graceNanoseconds = UInt64(max(1_000, graceMilliseconds - 2_000)) * 1_000_000
        self.heedsSignals = heedsSignals
    }

    /// Ends the watch.
    func stop() { ended.signal { $0 = true } }

    /// Watches until `stop`.
    func run() {
        var drainingSince: UInt64?
        let before = StopSignals.count
        while ended.wait(milliseconds: 100, until: { $0 ? true : nil }) == nil {
            let now = SystemClock.monotonicNanoseconds()
            if heedsSignals { heed(StopSignals.count - before) }
            if shared.isDraining && drainingSince == nil {
                drainingSince = now
                shared.log.log(LogEntry(.info, "draining", "finishing what is under way"))
            }
            if let since = drainingSince, now &- since >= graceNanoseconds {
                let reason = "the stop took longer than shutdown.grace allows"
                end(
                    shared.failure
                        ?? WorkerExit(
                            .forced, reason,
                            advice: "nothing is lost: what was open is taken again; look at the brokers' health"))
            }
            for (lane, heartbeat) in heartbeats.enumerated() { look(lane, heartbeat, now) }
        }
    }

    private func heed(_ signals: Int) {
        if signals >= 1 { shared.drain() }
        if signals >= 2 {
            end(
                WorkerExit(
                    .forced, "a second signal",
                    advice: "nothing is lost: what was open is taken again at the next start"))
        }
    }

    private func look(_ lane: Int, _ heartbeat: LaneHeartbeat, _ now: UInt64) {
        guard let (call, nanoseconds) = heartbeat.lasting(now: now), nanoseconds > callLimitNanoseconds else { return }
        shared.log.log(
            LogEntry(
                .error, "hung", lane: lane, "a call of the client library does not return",
                [LogField("call", .text(call.name)), LogField("ms", .number(Int64(nanoseconds / 1_000_000)))]))
        end(
            WorkerExit(
                .tryAgain, "\(call.name) does not return", advice: "a supervisor should start the worker again"))
    }

    private func end(_ exit: WorkerExit) -> Never {
        shared.log.logAndFlush(exit.line)
        StopSignals.exitNow(exit.code.rawValue)
    }
}

extension WorkerExit {
    /// The last line of the log.
    package var line: LogEntry {
        LogEntry(
            .error, "exit", reason,
            [
                LogField("code", .number(Int64(code.rawValue))), LogField("reason", .text(reason)),
                LogField("advice", .text(advice)),
            ])
    }
}
