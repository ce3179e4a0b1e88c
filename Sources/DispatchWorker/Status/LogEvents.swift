package import KafkaClient
internal import LinkCoordinator
internal import LinkIngest

/// The log entries that follow from the state of the worker.
///
/// This is a value without I/O and without a clock. Its owner passes snapshots, at least one a second.
package struct LogEvents: Sendable {
    private var brokers = BrokerLines()
    private var commits = SlowCommits()
    private var joins = JoiningLanes()
    private var topics = MissingTopicLines()
    private var unowned = UnownedLines()
    private var commitTimes = UnfinishedCommits()
    private var stalls: StallDetector
    private var meter = ProgressMeter()

    /// Creates the entries of a worker before its first snapshot.
    package init(maxStallMilliseconds: Int) { stalls = StallDetector(limitMilliseconds: maxStallMilliseconds) }

    /// The progress of the owned partitions at the last snapshot.
    package var progress: [TopicPartition: PartitionProgress] { stalls.progress }

    /// The seconds of unfinished commits by lane, at the last snapshot.
    package var unfinished: [Int: Double] { commitTimes.seconds }

    /// Returns the entries for the time since the last snapshot.
    package mutating func entries(for snapshot: WorkerSnapshot) -> [LogEntry] {
        var result = brokers.entries(for: snapshot)
        result += topics.entries(for: snapshot)
        result += unowned.entries(for: snapshot)
        result += stalls.check(snapshot)
        commitTimes.check(snapshot)
        // During an outage, lanes wait, which the line of the outage explains.
        if snapshot.brokers.isAnswering(now: snapshot.now) {
            result += commits.entries(for: snapshot)
            result += joins.entries(for: snapshot)
        }
        if let line = meter.line(snapshot) { result.append(line) }
        return result
    }
}

/// The lines about an outage: one at its beginning, one for each further cause, one every 5 minutes, and one at its
/// end.
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
            return [LogEntry(.info, "brokers.reachable", "a broker answers again", ["ms": .elapsed(passed)])]
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
        let advice = brokers.cause?.advice ?? "check --bootstrap, the network, and whether the brokers are running"
        return LogEntry(
            .error, "brokers.unreachable", "no broker answers",
            [
                "cause": .text(brokers.cause?.summary ?? "no answer"), "address": brokers.address.map(LogValue.text),
                "ms": .elapsed(now.saturatingSubtract(since)), "advice": .text(advice),
            ])
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
                        ["call": .text(call), "ms": .elapsed(passed)]))
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

    private struct Known {
        var since: UInt64
        var saidAt: UInt64?
    }

    private var lanes: [Int: Known] = [:]

    mutating func entries(for snapshot: WorkerSnapshot) -> [LogEntry] {
        var result: [LogEntry] = []
        var joining: [Int: Known] = [:]
        for view in snapshot.lanes where Self.isJoining(view.snapshot) {
            var known = lanes[view.snapshot.lane] ?? Known(since: snapshot.now)
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
        case .starting, .initializing, .opening, .joining, .fenced: lane.exit == nil
        default: false
        }
    }

    private static func entry(_ view: LaneView, _ passed: UInt64) -> LogEntry {
        let call = view.calls.last?.call.rawValue ?? view.snapshot.waitsFor?.rawValue
        return LogEntry(
            .info, "joining", lane: view.snapshot.lane, "waiting for an assignment",
            [
                "stage": .text(view.snapshot.stage.rawValue), "call": call.map(LogValue.text),
                "join_state": (view.consumer?.joinState).map(LogValue.text), "ms": .elapsed(passed),
            ])
    }
}

extension LogValue {
    /// Creates the number of milliseconds of a time in nanoseconds.
    static func elapsed(_ nanoseconds: UInt64) -> LogValue {
        .number(Int64(clamping: nanoseconds / 1_000_000))
    }
}

/// The lines about partitions with lag that no member of the group owns: one at the beginning, one every 5 minutes, and
/// one at the end.
struct UnownedLines: Sendable {
    private static let interval: UInt64 = 300_000_000_000

    private var told: (since: UInt64, saidAt: UInt64)?

    mutating func entries(for snapshot: WorkerSnapshot) -> [LogEntry] {
        guard let group = snapshot.groupLag, !snapshot.isDraining else { return [] }
        let unowned = group.unowned
        guard let since = unowned.compactMap(\.unownedSince).min() else {
            guard let ended = told else { return [] }
            told = nil
            let passed = snapshot.now.saturatingSubtract(ended.since)
            return [
                LogEntry(.info, "owned", "every partition with lag has an owner again", ["ms": .elapsed(passed)])
            ]
        }
        if let told, snapshot.now.saturatingSubtract(told.saidAt) < Self.interval { return [] }
        told = (told?.since ?? since, snapshot.now)
        return [Self.line(group, unowned, since: since, now: snapshot.now)]
    }

    private static func line(
        _ group: GroupLag, _ unowned: [GroupLag.Partition], since: UInt64, now: UInt64
    ) -> LogEntry {
        let names = unowned.prefix(GroupLag.listLimit).map { "\($0.partition.topic)-\($0.partition.partition)" }
        return LogEntry(
            .error, "unowned", "no member of the group owns partitions with lag",
            [
                "partitions": .list(Array(names)), "count": .count(unowned.count),
                "lag": .number(unowned.reduce(0) { $0 &+ ($1.lag ?? 0) }), "state": .text(group.state ?? "unknown"),
                "members": .count(group.members), "ms": .elapsed(now.saturatingSubtract(since)),
                "advice": .text(advice(group)),
            ])
    }

    private static func advice(_ group: GroupLag) -> String {
        if group.isRebalancing {
            return "members that were killed leave after session.timeout.ms; if this lasts longer, find the workers "
                + "that start and end again and again, and give them instance names"
        }
        return group.members == 0
            ? "start workers of this group, and read why their lanes do not join"
            : "new partitions are assigned within 5 minutes; if this lasts longer, restart a worker of this group"
    }
}

/// The lines of topics that do not exist while the worker runs: one for each, and again every 5 minutes.
struct MissingTopicLines: Sendable {
    private static let interval: UInt64 = 300_000_000_000

    private var saidAt: [String: UInt64] = [:]

    mutating func entries(for snapshot: WorkerSnapshot) -> [LogEntry] {
        let missing = snapshot.brokers.missingTopics
        saidAt = saidAt.filter { missing.contains($0.key) }
        var result: [LogEntry] = []
        for topic in missing {
            if let said = saidAt[topic], snapshot.now.saturatingSubtract(said) < Self.interval { continue }
            saidAt[topic] = snapshot.now
            result.append(
                LogEntry(
                    .error, "topic.missing", "a topic of the worker does not exist",
                    [
                        "topic": .text(topic),
                        "advice": "find out who deleted it, and create it with `linkd topics create`",
                    ]))
        }
        return result
    }
}

/// The time since a commit began, by lane, while none has succeeded.
///
/// A commit that fails, is aborted, and begins again with the same records is the same unfinished one. It ends with the
/// next commit that succeeds, and when the lane has nothing to commit. A lane that has joined the group and has no
/// producer cannot commit either. Time is not charged while the process itself was suspended.
struct UnfinishedCommits: Sendable {
    /// The time after which a worker is not ready, in seconds.
    static let limit = 30.0

    private struct Known {
        var committed: Int
        var aborted: Int
        var charged: UInt64?
    }

    private var lanes: [Int: Known] = [:]
    private var checkedAt: UInt64?

    /// The seconds since a commit began, by lane.
    var seconds: [Int: Double] { lanes.compactMapValues { $0.charged.map { Double($0) / 1e9 } } }

    mutating func check(_ snapshot: WorkerSnapshot) {
        let passed = checkedAt.map { min(snapshot.now.saturatingSubtract($0), StallDetector.longestInterval) } ?? 0
        checkedAt = snapshot.now
        var checked: [Int: Known] = [:]
        for view in snapshot.lanes {
            let lane = view.snapshot
            let (committed, aborted) = (lane.counters.committed, lane.counters.aborted)
            var known = lanes[lane.lane] ?? Known(committed: committed, aborted: aborted)
            if known.committed != committed || Self.hasNothing(lane, snapshot) {
                known.charged = nil
            } else if let charged = known.charged {
                known.charged = charged + passed
            } else if lane.stage == .committing || lane.stage == .aborting || known.aborted != aborted
                || lane.isReady && Self.hasNoProducer(lane)
            {
                known.charged = 0
            }
            (known.committed, known.aborted) = (committed, aborted)
            checked[lane.lane] = known
        }
        lanes = checked
    }

    /// Returns a Boolean value that indicates whether a lane waits for a producer.
    private static func hasNoProducer(_ lane: LaneSnapshot) -> Bool {
        lane.stage == .starting || lane.stage == .initializing || lane.stage == .opening
    }

    /// Returns a Boolean value that indicates whether a lane has no records that wait for a commit.
    ///
    /// The positions of a lane without a producer mean nothing, because it may have lost its partitions for a moment. A
    /// partition that waits for its dead-letter topic has lag, and no records in a transaction.
    private static func hasNothing(_ lane: LaneSnapshot, _ snapshot: WorkerSnapshot) -> Bool {
        if hasNoProducer(lane) || lane.transaction != nil { return false }
        if lane.stage == .committing || lane.stage == .aborting { return false }
        return lane.isPaused
            || snapshot.partitions.allSatisfy { $0.lane != lane.lane || $0.lag == 0 || $0.isWaiting }
    }
}

/// The line `progress` of the log: the work of the last 30 s.
///
/// A worker without work and without lag writes none.
package struct ProgressMeter: Sendable {
    /// The interval between two lines, in nanoseconds.
    package static let interval: UInt64 = 30_000_000_000

    /// The committed work of all lanes since their start.
    private struct Totals {
        var records: UInt64 = 0
        var outcomes = [UInt64](repeating: 0, count: DecisionSummary.Outcome.allCases.count)
        var deadLetters = [UInt64](repeating: 0, count: DeadLetterReason.allCases.count)
        var commits = LaneMetrics().values(of: .commitSeconds)

        init(_ lanes: [LaneView] = []) {
            for metrics in lanes.map(\.snapshot.metrics) {
                for topic in metrics.topics {
                    records &+= topic.records
                    for index in deadLetters.indices { deadLetters[index] &+= topic.deadLetters[index] }
                }
                for index in outcomes.indices { outcomes[index] &+= metrics.outcomes[index] }
                let commits = metrics.values(of: .commitSeconds)
                for index in commits.buckets.indices { self.commits.buckets[index] &+= commits.buckets[index] }
            }
        }

        /// Returns the work without the work that was done before.
        ///
        /// No count is smaller than before, because a lane keeps its counts until the process ends.
        func since(_ before: Totals) -> Totals {
            var result = self
            result.records &-= before.records
            for index in outcomes.indices { result.outcomes[index] &-= before.outcomes[index] }
            for index in deadLetters.indices { result.deadLetters[index] &-= before.deadLetters[index] }
            for index in commits.buckets.indices { result.commits.buckets[index] &-= before.commits.buckets[index] }
            return result
        }
    }

    private var before = Totals()
    private var beganAt: UInt64?

    /// Returns the line at the end of an interval with work, or nil.
    package mutating func line(_ snapshot: WorkerSnapshot) -> LogEntry? {
        guard let began = beganAt else {
            beganAt = snapshot.now
            before = Totals(snapshot.lanes)
            return nil
        }
        let passed = snapshot.now.saturatingSubtract(began)
        guard passed >= Self.interval else { return nil }
        let all = Totals(snapshot.lanes)
        let work = all.since(before)
        before = all
        beganAt = snapshot.now
        let lags = snapshot.partitions.compactMap(\.lag)
        let lag = lags.reduce(0, &+)
        guard work.records > 0 || lag > 0 else { return nil }
        return LogEntry(
            .info, "progress", "records processed",
            Self.fields(work, seconds: Double(passed) / 1e9, lag: lags.isEmpty ? nil : lag, snapshot.tables))
    }

    private static func fields(
        _ work: Totals, seconds: Double, lag: Int64?, _ tables: [ServedTable]
    ) -> LogFields {
        var fields: LogFields = [
            "records_per_s": .number(Int64((Double(work.records) / seconds).rounded())),
            "lag": lag.map(LogValue.number),
        ]
        for (outcome, count) in zip(DecisionSummary.Outcome.allCases, work.outcomes) {
            fields.append("\(outcome)", .number(Int64(clamping: count)))
        }
        fields.append("dead_letters", .number(Int64(clamping: work.deadLetters.reduce(0, &+))))
        let reasons = zip(DeadLetterReason.allCases, work.deadLetters).filter { $0.1 > 0 }
        if !reasons.isEmpty { fields.append("reasons", .list(reasons.map { "\($0.0.rawValue)=\($0.1)" })) }
        if let median = work.commits.quantile(0.5), let high = work.commits.quantile(0.99) {
            fields.append("commit_p50_ms", .number(milliseconds(median)))
            fields.append("commit_p99_ms", .number(milliseconds(high)))
        }
        if !tables.isEmpty { fields.append("tables", .list(tables.map { "\($0.id)@\($0.version)+\($0.hash)" })) }
        return fields
    }

    private static func milliseconds(_ nanoseconds: UInt64) -> Int64 {
        Int64(clamping: (nanoseconds + 999_999) / 1_000_000)
    }
}

extension HistogramValues {
    /// Returns the upper bound of the bucket that contains a quantile, or nil without values.
    ///
    /// For a value beyond the last bound, it is that bound.
    package func quantile(_ share: Double) -> UInt64? {
        let total = count
        guard total > 0 else { return nil }
        let rank = max(1, (Double(total) * share).rounded(.up))
        var seen: UInt64 = 0
        for (bound, number) in zip(bounds, buckets) {
            seen += number
            if Double(seen) >= rank { return bound }
        }
        return bounds.last
    }
}
