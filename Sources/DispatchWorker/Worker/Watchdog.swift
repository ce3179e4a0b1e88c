package import KafkaClient
internal import SystemThreads

/// The thread that supervises a worker from its start: it handles signals and ends the process if a call never returns
/// or a stop takes too long.
///
/// With transactions, a forced exit is safe. An open transaction is aborted and its records are consumed again. All
/// times are measured with the monotonic clock.
package final class Watchdog: Sendable {
    /// The duration of a call, in nanoseconds, after which the cluster is probed.
    private static let suspicion: UInt64 = 2_000_000_000

    private let shared: WorkerShared
    private let watches: [(lane: Int?, calls: CallWatch)]
    private let reachability: Reachability
    private let callLimitNanoseconds: UInt64
    private let callbackLimitNanoseconds: UInt64
    private let graceNanoseconds: UInt64
    private let handlesSignals: Bool
    private let thread = StoppableThread(name: "watchdog")

    /// Creates a watchdog that is not started.
    ///
    /// - Parameters:
    ///   - shared: The stop request and the exits of the lanes.
    ///   - watches: The calls to supervise, each with its lane.
    ///   - reachability: The monitor that distinguishes a hang from an outage.
    ///   - configuration: The configuration with the time limits of calls and of a stop.
    ///   - handlesSignals: A Boolean value that indicates whether signals stop the process.
    package init(
        shared: WorkerShared, watches: [(lane: Int?, calls: CallWatch)], reachability: Reachability,
        configuration: WorkerConfiguration, handlesSignals: Bool
    ) {
        self.shared = shared
        self.watches = watches
        self.reachability = reachability
        let properties = configuration.clientProperties
        callLimitNanoseconds = UInt64(ClientSettings.callBound(properties)) * 1_000_000
        callbackLimitNanoseconds = UInt64(ClientSettings.pollInterval(properties)) * 1_000_000
        graceNanoseconds = UInt64(max(1_000, configuration.shutdownGraceMilliseconds - 2_000)) * 1_000_000
        self.handlesSignals = handlesSignals
    }

    /// Starts the watchdog.
    ///
    /// A second call has no effect.
    package func start() {
        if !thread.start({ [self] in run() }) { shared.fail(.noThread) }
    }

    /// Stops the watchdog and waits until its thread has ended.
    package func stop() {
        thread.stop()
        thread.join(milliseconds: 5_000)
        reachability.setMonitoring(false)
    }

    private func run() {
        var detectors = watches.map { _ in
            HangDetector(limit: callLimitNanoseconds, callbackLimit: callbackLimitNanoseconds)
        }
        var drainingSince: UInt64?
        var isPaused = false
        var before = SystemClock.monotonicNanoseconds()
        while thread.sleep(milliseconds: 100) {
            let now = SystemClock.monotonicNanoseconds()
            if handlesSignals { handleSignals(&isPaused) }
            if shared.isDraining && drainingSince == nil {
                drainingSince = now
                shared.log.log(.info, "draining", "finishing the work in progress")
            }
            if let since = drainingSince, now &- since >= graceNanoseconds { endSlowStop() }
            checkCalls(&detectors, now, passed: now &- before)
            before = now
        }
    }

    /// Passes signals on.
    ///
    /// Their owners answer them on other threads, so that this thread stays free of I/O.
    private func handleSignals(_ isPaused: inout Bool) {
        switch StopSignals.request {
        case .none: break
        case .drain: shared.drain()
        case .end:
            end(
                WorkerExit(
                    .forced, "a second stop signal was received",
                    advice: "no data is lost: records that are not committed are processed again after the next start"))
        }
        let before = isPaused
        isPaused = StopSignals.isPaused
        if isPaused != before { shared.setPaused(isPaused) }
        shared.requests.update(status: StopSignals.quits, reload: StopSignals.hangups)
    }

    /// Ends the process, or only the wait for its lanes if they have committed all records of `stop.after`.
    ///
    /// The lanes then only close their clients, which the library may never do (librdkafka issues 4527 and 4884). With
    /// another exit code than 0, a supervisor would start the worker for as many records again.
    private func endSlowStop() {
        if shared.stop.isReached && shared.failure == nil {
            guard shared.abandon() else { return }
            shared.log.log(
                .warning, "librdkafka", "the clients do not close within shutdown.grace\(waiting), and are left behind")
            return
        }
        end(
            shared.failure
                ?? WorkerExit(
                    .forced, "the stop took longer than shutdown.grace allows\(waiting)",
                    advice: "no data is lost: records that are not committed are processed again; check the brokers"))
    }

    /// The calls in which the lanes wait, for the reason of a forced exit.
    private var waiting: String {
        let calls = watches.compactMap { watch in watch.calls.entries.last?.call.rawValue }
        return calls.isEmpty ? "" : " (waiting in \(Set(calls).sorted().joined(separator: ", ")))"
    }

    private func checkCalls(_ detectors: inout [HangDetector], _ now: UInt64, passed: UInt64) {
        let entries = watches.map(\.calls.entries)
        let unmetNeeds = watches.map(\.calls.unmetNeeds)
        let begins = entries.compactMap(\.last?.began) + unmetNeeds.compactMap(\.first?.began)
        let isSuspicious = begins.contains { now.saturatingSubtract($0) > Self.suspicion }
        reachability.setMonitoring(isSuspicious)
        let isReachable = isSuspicious && reachability.isReachable(now: now)
        for index in entries.indices {
            let hang = detectors[index].check(
                entries[index], unmetNeeds: unmetNeeds[index], passed: passed, isReachable: isReachable)
            if let hang { endHang(hang, watches[index].lane) }
        }
    }

    private func endHang(_ hang: HangDetector.Hang, _ lane: Int?) -> Never {
        let fields: LogFields = [
            "call": .text(hang.call.rawValue), "ms": .number(hang.milliseconds),
            "inside": hang.outer.isEmpty ? nil : .list(hang.outer.map(\.rawValue)),
            "need": (hang.need?.rawValue).map(LogValue.text),
        ]
        let what =
            hang.need == nil
            ? "a call of the client library does not return"
            : "the client library has lost its coordinator although the coordinator answers"
        shared.log.log(.error, "hung", lane: lane, what, fields)
        end(
            shared.failure
                ?? WorkerExit(
                    .tryAgain,
                    hang.need.map { "\($0.rawValue): not received although the coordinator answers" }
                        ?? "\(hang.call.rawValue) does not return",
                    advice: "a supervisor should restart the worker"))
    }

    private func end(_ exit: WorkerExit) -> Never {
        shared.log.logAndFlush(exit.line)
        StopSignals.exitNow(exit.code.rawValue)
    }
}

/// A detector of calls into librdkafka that do not return, which checks a `CallWatch` at short intervals.
///
/// Time is charged to the innermost call, so that a poll is not charged for the calls of its callback. It is charged
/// only while all parts of the cluster are reachable: in an outage, calls wait but do not hang. If the process itself
/// was suspended, the time counts as one interval.
package struct HangDetector: Sendable {
    /// A call that does not return, or whose repetitions never succeed.
    package struct Hang: Sendable, Equatable {
        package var call: LibraryCall
        /// The calls that contain it, outermost first.
        package var outer: [LibraryCall]
        /// The time that it was charged with, in milliseconds.
        package var milliseconds: Int64
        /// The need that is not met, or nil for a call that does not return.
        package var need: ClientNeed? = nil
    }

    /// The longest interval between two checks that is charged, in nanoseconds.
    package static let longestInterval: UInt64 = 1_000_000_000

    private let limit: UInt64
    private let callbackLimit: UInt64
    private var spent: [UInt64: UInt64] = [:]

    /// Creates a detector.
    ///
    /// - Parameters:
    ///   - limit: The time in nanoseconds after which a call counts as hung. By then every transaction has timed out.
    ///   - callbackLimit: The same for the handler of a rebalance, which repeats requests until they are answered. By
    ///     then the group has continued without it.
    package init(limit: UInt64, callbackLimit: UInt64) {
        self.limit = limit
        self.callbackLimit = max(limit, callbackLimit)
    }

    /// Checks the current calls and needs.
    ///
    /// Returns the call that hangs, or nil.
    ///
    /// - Parameters:
    ///   - entries: The calls that have not returned, outermost first.
    ///   - unmetNeeds: The needs that are not met.
    ///   - passed: The time since the previous check, in nanoseconds.
    ///   - isReachable: A Boolean value that indicates whether all brokers and the coordinators answer.
    package mutating func check(
        _ entries: [CallWatch.Entry], unmetNeeds: [CallWatch.UnmetNeed] = [], passed: UInt64, isReachable: Bool
    ) -> Hang? {
        if entries.isEmpty && unmetNeeds.isEmpty {
            if !spent.isEmpty { spent.removeAll(keepingCapacity: true) }
            return nil
        }
        spent = spent.filter { known in
            entries.contains { $0.number == known.key } || unmetNeeds.contains { $0.number == known.key }
        }
        guard isReachable else { return nil }
        let interval = min(passed, Self.longestInterval)
        if let inner = entries.last {
            let total = charge(inner.number, interval)
            if total > (inner.call == .rebalanceCallback ? callbackLimit : limit) {
                return Hang(
                    call: inner.call, outer: entries.dropLast().map(\.call), milliseconds: Int64(total / 1_000_000))
            }
        }
        for unmet in unmetNeeds {
            let total = charge(unmet.number, interval)
            if total > bound(of: unmet.need) {
                return Hang(
                    call: Self.call(of: unmet.need), outer: [], milliseconds: Int64(total / 1_000_000), need: unmet.need
                )
            }
        }
        return nil
    }

    /// Returns the call that requests the answer.
    private static func call(of need: ClientNeed) -> LibraryCall {
        switch need {
        case .committedOffsets: .committed
        case .committing: .commit
        case .membership: .consumerPoll
        }
    }

    private mutating func charge(_ number: UInt64, _ interval: UInt64) -> UInt64 {
        let total = (spent[number] ?? 0) + interval
        spent[number] = total
        return total
    }

    /// Returns the time after which a need counts as a hang.
    ///
    /// Committed offsets may wait for another member's transaction, which ends within its own timeout. A group waits
    /// for its slowest member.
    private func bound(of need: ClientNeed) -> UInt64 {
        switch need {
        case .committedOffsets, .committing: 2 * limit
        case .membership: callbackLimit
        }
    }
}
