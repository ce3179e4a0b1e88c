package import KafkaClient

/// The log entries that follow from the state of the worker.
///
/// This is a value without I/O and without a clock. Its owner passes snapshots, at least one a second.
package struct LogEvents: Sendable {
    private var brokers = BrokerLines()
    private var commits = SlowCommits()
    private var joins = JoiningLanes()
    private var stalls: StallDetector
    private var meter = ProgressMeter()

    /// Creates the entries of a worker before its first snapshot.
    package init(maxStallMilliseconds: Int) { stalls = StallDetector(limitMilliseconds: maxStallMilliseconds) }

    /// The progress of the owned partitions at the last snapshot.
    package var progress: [TopicPartition: PartitionProgress] { stalls.progress }

    /// Returns the entries for the time since the last snapshot.
    package mutating func entries(for snapshot: WorkerSnapshot) -> [LogEntry] {
        var result = brokers.entries(for: snapshot)
        result += stalls.check(snapshot)
        // During an outage, lanes wait, which the line of the outage explains.
        if snapshot.brokers.isAnswering(now: snapshot.now) {
            result += commits.entries(for: snapshot)
            result += joins.entries(for: snapshot)
        }
        if let line = meter.line(snapshot) { result.append(line) }
        return result
    }
}

/// The lines of an outage: one when it begins, one for each further cause, one every 5 minutes while it lasts, and one
/// when it ends.
private struct BrokerLines: Sendable {
    private static let interval: UInt64 = 300_000_000_000
    /// The number of causes of an outage for which a line is written at once.
    private static let maxCauses = 4

    private struct Outage {
        var since: UInt64
        var saidAt: UInt64
        /// The advice for the causes so far.
        ///
        /// Causes with the same advice differ only in the broker.
        var advice: Set<String> = []
    }

    private var outage: Outage?

    mutating func entries(for snapshot: WorkerSnapshot) -> [LogEntry] {
        let brokers = snapshot.brokers
        guard let since = brokers.since, !brokers.isReachable else {
            guard let ended = outage else { return [] }
            outage = nil
            let passed = (brokers.answeredAt ?? snapshot.now).saturatingSubtract(ended.since)
            return [
                LogEntry(.info, "brokers.reachable", "a broker answers again", [LogField("ms", .elapsed(passed))])
            ]
        }
        var current = outage ?? Outage(since: since, saidAt: snapshot.now)
        let isNew = Self.isNew(brokers.cause, to: current)
        if outage != nil, !isNew, snapshot.now.saturatingSubtract(current.saidAt) < Self.interval { return [] }
        current.saidAt = snapshot.now
        if isNew, let cause = brokers.cause { current.advice.insert(cause.advice) }
        outage = current
        return [Self.line(brokers, since: since, now: snapshot.now)]
    }

    private static func isNew(_ cause: ConnectionCause?, to outage: Outage) -> Bool {
        guard let cause, outage.advice.count < maxCauses else { return false }
        return !outage.advice.contains(cause.advice)
    }

    private static func line(_ brokers: BrokerState, since: UInt64, now: UInt64) -> LogEntry {
        var fields = [LogField("cause", .text(brokers.cause?.summary ?? "no answer"))]
        if let address = brokers.address { fields.append(LogField("address", .text(address))) }
        fields.append(LogField("ms", .elapsed(now.saturatingSubtract(since))))
        let advice = brokers.cause?.advice ?? "check --bootstrap, the network, and whether the brokers are running"
        fields.append(LogField("advice", .text(advice)))
        return LogEntry(.error, "brokers.unreachable", "no broker answers", fields)
    }
}

/// The lines of commits that take longer than 5 s, one for each transaction.
private struct SlowCommits: Sendable {
    private static let limit: UInt64 = 5_000_000_000

    /// A commit: its transaction, by the time of its begin, and the time since which it is committed.
    private struct Known {
        var transaction: UInt64
        var since: UInt64
        var isSaid = false
    }

    private var lanes: [Int: Known] = [:]

    mutating func entries(for snapshot: WorkerSnapshot) -> [LogEntry] {
        var result: [LogEntry] = []
        var committing: [Int: Known] = [:]
        for view in snapshot.lanes where view.snapshot.stage == .committing {
            let lane = view.snapshot
            let transaction = lane.transaction?.beganAt ?? 0
            var known = lanes[lane.lane] ?? Known(transaction: transaction, since: lane.publishedAt)
            if known.transaction != transaction { known = Known(transaction: transaction, since: lane.publishedAt) }
            let passed = snapshot.now.saturatingSubtract(known.since)
            if passed > Self.limit, !known.isSaid {
                known.isSaid = true
                let call = view.calls.last?.call.rawValue ?? lane.waitsFor?.rawValue ?? "commit"
                result.append(
                    LogEntry(
                        .warning, "commit.slow", lane: lane.lane, "a commit takes long although brokers answer",
                        [LogField("call", .text(call)), LogField("ms", .elapsed(passed))]))
            }
            committing[lane.lane] = known
        }
        lanes = committing
        return result
    }
}

/// The lines of lanes without an assignment: one after 5 s, then one every 30 s.
private struct JoiningLanes: Sendable {
    private static let patience: UInt64 = 5_000_000_000
    private static let interval: UInt64 = 30_000_000_000

    private var lanes: [Int: (since: UInt64, saidAt: UInt64?)] = [:]

    mutating func entries(for snapshot: WorkerSnapshot) -> [LogEntry] {
        var result: [LogEntry] = []
        var joining: [Int: (since: UInt64, saidAt: UInt64?)] = [:]
        for view in snapshot.lanes where Self.isJoining(view.snapshot) {
            var known = lanes[view.snapshot.lane] ?? (since: snapshot.now, saidAt: nil)
            let passed = snapshot.now.saturatingSubtract(known.since)
            let isDue = known.saidAt.map { snapshot.now.saturatingSubtract($0) >= Self.interval }
            if isDue ?? (passed >= Self.patience) {
                known.saidAt = snapshot.now
                result.append(Self.entry(view, passed))
            }
            joining[view.snapshot.lane] = known
        }
        lanes = joining
        return result
    }

    private static func isJoining(_ lane: LaneSnapshot) -> Bool {
        switch lane.stage {
        case .starting, .initializing, .opening, .joining: lane.exit == nil
        default: false
        }
    }

    private static func entry(_ view: LaneView, _ passed: UInt64) -> LogEntry {
        var fields = [LogField("stage", .text(view.snapshot.stage.rawValue))]
        if let call = view.calls.last?.call.rawValue ?? view.snapshot.waitsFor?.rawValue {
            fields.append(LogField("call", .text(call)))
        }
        if let state = view.consumer?.joinState { fields.append(LogField("join_state", .text(state))) }
        fields.append(LogField("ms", .elapsed(passed)))
        return LogEntry(.info, "joining", lane: view.snapshot.lane, "waiting for an assignment", fields)
    }
}

extension LogValue {
    /// Creates the number of milliseconds of a time in nanoseconds.
    fileprivate static func elapsed(_ nanoseconds: UInt64) -> LogValue {
        .number(Int64(clamping: nanoseconds / 1_000_000))
    }
}
