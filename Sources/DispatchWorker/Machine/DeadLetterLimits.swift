package import KafkaClient
package import LinkIngest

/// Counts of dead letters among some records.
package struct DeadLetterCounts: Sendable, Equatable {
    /// The number of records.
    package var records = 0
    /// The number of dead letters among them.
    package var deadLetters = 0
    /// The number of dead letters by reason.
    package var reasons: [DeadLetterReason: Int] = [:]
    /// The partition and the offset of the last dead letter, or nil if there is none.
    package var example: PartitionOffset?

    /// Adds the counts of later records.
    mutating func add(_ later: DeadLetterCounts) {
        records += later.records
        deadLetters += later.deadLetters
        reasons.merge(later.reasons, uniquingKeysWith: +)
        example = later.example ?? example
    }

    /// The reasons with their counts, the most frequent one first.
    package var reasonList: [String] {
        reasons.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
            .map { "\($0.key.rawValue) \($0.value)" }
    }

    /// The position of the last dead letter as `TOPIC-PARTITION-OFFSET`.
    package var exampleText: String {
        example.map { "\($0.partition.topic)-\($0.partition.partition)-\($0.offset)" } ?? "none"
    }
}

/// The share of dead letters among the last records of a partition.
///
/// The records of a replay do not count. They failed before, so many of them may fail again without a defect of the
/// input. When records are consumed again, a copy from the last commit replaces the share, so no record counts twice.
struct DeadLetterWatch: Sendable, Equatable {
    /// The time after which a record no longer counts, in nanoseconds.
    static let windowNanoseconds: UInt64 = 60_000_000_000
    /// The number and the time of records up to which results are added up, so that small ones need little memory.
    private static let sampleRecords = 64
    private static let sampleNanoseconds: UInt64 = 1_000_000_000

    private struct Sample: Sendable, Equatable {
        var counts: DeadLetterCounts
        var beganAt: UInt64
    }

    /// The counts of the last records, newest last.
    ///
    /// Only the newest ones that add up to the window are kept.
    private var samples: [Sample] = []
    private var records = 0
    /// The time of the last record, or nil before the first one.
    private(set) var countedAt: UInt64?
    /// The time of the last dead letter, or nil before the first one.
    private(set) var deadLetterAt: UInt64?

    /// The counts of the last records.
    var counts: DeadLetterCounts {
        var result = DeadLetterCounts()
        for sample in samples { result.add(sample.counts) }
        return result
    }

    /// Counts records, and keeps the last `window` of them.
    ///
    /// With `isAging`, they remain for 60 s. Records that arrive slowly because of their dead letters remain until
    /// others replace them.
    mutating func count(_ counts: DeadLetterCounts, window: Int, isAging: Bool, now: UInt64) {
        countedAt = now
        if counts.deadLetters > 0 { deadLetterAt = now }
        records += counts.records
        if let last = samples.indices.last, samples[last].counts.records + counts.records <= Self.sampleRecords,
            now.saturatingSubtract(samples[last].beganAt) < Self.sampleNanoseconds
        {
            samples[last].counts.add(counts)
        } else {
            samples.append(Sample(counts: counts, beganAt: now))
        }
        let limit = isAging ? now.saturatingSubtract(Self.windowNanoseconds) : 0
        while let oldest = samples.first, oldest.beganAt < limit || records - oldest.counts.records >= window {
            records -= oldest.counts.records
            samples.removeFirst()
        }
    }

    /// Returns a Boolean value that indicates whether the share exceeds `ratio`, or nil if fewer records than `window`
    /// count.
    func exceeds(_ ratio: Double, window: Int) -> Bool? {
        guard records >= window else { return nil }
        return Double(samples.reduce(0) { $0 + $1.counts.deadLetters }) > ratio * Double(records)
    }

    /// Returns a Boolean value that indicates whether a record was counted in the last 60 s.
    func isActive(now: UInt64) -> Bool { Self.isRecent(countedAt, now) }

    /// Returns a Boolean value that indicates whether a dead letter was counted in the last 60 s.
    func hasRecentDeadLetter(now: UInt64) -> Bool { Self.isRecent(deadLetterAt, now) }

    private static func isRecent(_ time: UInt64?, _ now: UInt64) -> Bool {
        time.map { now.saturatingSubtract($0) < windowNanoseconds } ?? false
    }
}

/// The state of a partition whose dead letters are slowed to `dlq.max.rate`.
///
/// It belongs to the owner: a new owner of the partition measures again.
package struct SlowedPartition: Sendable, Equatable {
    /// The length of a period with its own allowance, in nanoseconds.
    ///
    /// All partitions begin their periods at the same times, so that one call moves all of them.
    package static let periodNanoseconds: UInt64 = 1_000_000_000
    /// The shortest time for which a partition is slowed, so that a partition at the limit is not reported repeatedly.
    static let leastNanoseconds: UInt64 = 10_000_000_000

    /// The time since which the partition is slowed.
    package let since: UInt64
    /// The counts of the last records at that time.
    package let counts: DeadLetterCounts
    /// The number of dead letters that the current period still allows.
    package var allowance = 0
    /// The time of the next period.
    package var renewsAt: UInt64

    /// Creates the state of a partition whose limit is exceeded.
    package init(since: UInt64, counts: DeadLetterCounts) {
        self.since = since
        self.counts = counts
        renewsAt = Self.nextPeriod(since)
    }

    /// Begins the next period.
    mutating func renew(_ allowance: Int, now: UInt64) {
        self.allowance = allowance
        renewsAt = Self.nextPeriod(now)
    }

    private static func nextPeriod(_ now: UInt64) -> UInt64 { (now / periodNanoseconds + 1) * periodNanoseconds }
}

/// A limit on dead letters that was exceeded.
package struct DeadLetterExcess: Sendable, Equatable {
    /// The sentence that names the limit.
    package var limit: String
    /// The counts of the last records of the partition.
    package var counts: DeadLetterCounts

    /// The exit of a worker that exceeds the limit.
    var exit: WorkerExit {
        WorkerExit(
            .deadLetterLimit,
            "\(limit): \(counts.deadLetters) of the last \(counts.records) records are dead letters "
                + "(\(counts.reasonList.joined(separator: ", "))), for example \(counts.exampleText)",
            advice: "check the producer of this record, the tables, and the reasons in the worker reference; the open "
                + "transaction is aborted, so the input still has its records")
    }
}

/// The partitions of a lane that count for the limit of the process.
package struct DeadLetterLoad: Sendable, Equatable {
    /// The number of partitions whose dead letters are slowed.
    package var slowed = 0
    /// The number of partitions with a record in the last 60 s, and of slowed ones.
    package var active = 0
}

/// The limit on dead letters of a whole process, to which each lane reports its partitions.
///
/// A single bad producer slows its partition. If most partitions with records, and more than one, are slowed for 5
/// minutes, the worker ends. The cause then concerns all of them, such as a wrong table. A single partition ends no
/// worker, because one producer with one key would be enough, and other workers may have healthy partitions.
package struct DeadLetterMajority: Sendable {
    /// The time for which most partitions are slowed before the worker ends, in nanoseconds.
    package static let limitNanoseconds: UInt64 = 300_000_000_000
    /// The time between two reports of a lane, in nanoseconds.
    static let reportNanoseconds: UInt64 = 1_000_000_000
    /// The longest time without a majority that does not end the state, in nanoseconds.
    ///
    /// After a rebalance, the owners measure again.
    private static let graceNanoseconds = DeadLetterWatch.windowNanoseconds

    private var loads: [Int: DeadLetterLoad] = [:]
    private var since: UInt64?
    private var seenAt: UInt64 = 0

    /// Takes the report of a lane.
    ///
    /// Returns the numbers of the process if the limit is exceeded, or nil.
    package mutating func report(_ load: DeadLetterLoad, lane: Int, now: UInt64) -> DeadLetterLoad? {
        loads[lane] = load
        var total = DeadLetterLoad()
        for load in loads.values {
            total.slowed += load.slowed
            total.active += load.active
        }
        let isMajority = total.slowed > 1 && total.slowed * 2 > total.active
        if isMajority {
            if since == nil { since = now }
            seenAt = now
        } else if now.saturatingSubtract(seenAt) > Self.graceNanoseconds {
            since = nil
        }
        guard isMajority, let since, now.saturatingSubtract(since) >= Self.limitNanoseconds else {
            return nil
        }
        return total
    }
}

// The limits on dead letters. A partition that exceeds `dlq.max.ratio` continues slowly, and the others do not wait.
extension LaneMachine {
    private var hasDeadLetterLimit: Bool { policy.deadLetterMaxRatio > 0 || policy.deadLetterMaxConsecutive > 0 }

    /// The maximum number of records that are processed at once, which keeps the records that count below two windows.
    var recordLimit: Int { policy.deadLetterMaxRatio > 0 ? policy.deadLetterWindow : .max }

    /// Counts the outcomes of the records that were processed.
    mutating func countOutcomes(_ now: UInt64) {
        guard hasDeadLetterLimit else { return }
        var hasSlowed = false
        for index in partitions.slots.indices where partitions.slots[index].uncounted.records > 0 {
            let (deadLetters, longestRun) = partitions.countRecords(
                at: index, window: policy.deadLetterWindow, now: now)
            if policy.deadLetterMaxConsecutive > 0 && longestRun > policy.deadLetterMaxConsecutive {
                exceed(
                    "\(longestRun) consecutive dead letters in one partition exceed "
                        + "dlq.max.consecutive, which is \(policy.deadLetterMaxConsecutive)", at: index)
            } else if deadLetters > 0, partitions.slots[index].slowed == nil, isOverRatio(index) == true {
                if policy.deadLetterExcess == .stop {
                    exceed(
                        "the share of dead letters in one partition exceeds dlq.max.ratio, which is "
                            + "\(policy.deadLetterMaxRatio)", at: index)
                } else {
                    slow(index, now)
                    hasSlowed = true
                }
            }
        }
        guard hasSlowed && isExactlyOnce else { return }
        // Nothing of the batch that exceeds the limit is committed. With at-least-once, an abort would repeat records.
        if case .beginning = transaction { dropTransaction() } else { transactionFailed(.deadLetters) }
    }

    private func isOverRatio(_ index: Int) -> Bool? {
        guard policy.deadLetterMaxRatio > 0 else { return nil }
        return partitions.slots[index].watch.exceeds(policy.deadLetterMaxRatio, window: policy.deadLetterWindow)
    }

    private mutating func exceed(_ limit: String, at index: Int) {
        let slot = partitions.slots[index]
        var counts = slot.watch.counts
        // After a rewind, the last records may not be counted yet.
        if counts.deadLetters == 0, let slowed = slot.slowed { counts = slowed.counts }
        let excess = DeadLetterExcess(limit: limit, counts: counts)
        notes.append(.deadLetterLimit(excess))
        end(excess.exit)
    }

    private mutating func slow(_ index: Int, _ now: UInt64) {
        let slowed = SlowedPartition(since: now, counts: partitions.slots[index].watch.counts)
        partitions.slots[index].slowed = slowed
        partitions.hold(index)
        notes.append(
            .slowed(
                partitions.slots[index].partition, slowed.counts, ratio: policy.deadLetterMaxRatio,
                rate: policy.deadLetterMaxRate))
    }

    /// Begins the next period of slowed partitions, and pauses those whose allowance is used up, and those that wait.
    mutating func slowStep(_ now: UInt64) -> Step? {
        for index in partitions.slots.indices {
            guard let slowed = partitions.slots[index].slowed, slowed.renewsAt <= now else { continue }
            if partitions.slots[index].isHeld && partitions.slots[index].pending != nil {
                guard transaction.open != nil, !isCommitBlocked else { continue }
                // The partition continues after its last record, which must be committed before.
                return startedCommit(now)
            }
            renew(index, slowed, now)
        }
        let silent = partitions.slots.filter { $0.isSilent && !$0.isPaused }.map(\.partition)
        if !silent.isEmpty, now >= pauseRetryAt { return .act(.pause(silent)) }
        return endRequest(of: { $0.positionState == .waiting && $0.isPaused }, now).map { .act(.findEnds($0)) }
    }

    /// Begins the next period of a slowed partition, or ends its state.
    private mutating func renew(_ index: Int, _ slowed: SlowedPartition, _ now: UInt64) {
        let slot = partitions.slots[index]
        let passed = now.saturatingSubtract(slowed.since)
        let hasRecovered = isOverRatio(index) == false || !slot.watch.hasRecentDeadLetter(now: now)
        if hasRecovered && passed >= SlowedPartition.leastNanoseconds {
            partitions.slots[index].slowed = nil
            notes.append(.recovered(slot.partition, milliseconds: milliseconds(passed)))
        } else {
            partitions.slots[index].slowed?.renew(policy.deadLetterMaxRate, now: now)
        }
        // Records after the last one were dropped, so the position of the client is not used. While the partition was
        // not fetched, its topic may have been created again.
        if slot.isHeld {
            partitions.slots[index].positionState = .needsSeek(StartPosition(at: slot.next, witness: slot.witness))
        }
    }

    /// The time at which the next period of a slowed partition begins, or nil if there is none.
    var nextPeriod: UInt64? { partitions.slots.lazy.compactMap(\.slowed?.renewsAt).min() }

    /// Returns the numbers of partitions for the limit of the process.
    package func deadLetterLoad(now: UInt64) -> DeadLetterLoad {
        var load = DeadLetterLoad()
        for slot in partitions.slots {
            if slot.slowed != nil { load.slowed += 1 }
            if slot.slowed != nil || slot.watch.isActive(now: now) { load.active += 1 }
        }
        return load
    }

    /// Ends the lane because most partitions of the process have exceeded the limit for too long.
    ///
    /// The example is of a partition of this lane, or there is none.
    package mutating func deadLettersPersist(_ load: DeadLetterLoad) {
        guard exit == nil, let index = partitions.slots.indices.first(where: { partitions.slots[$0].slowed != nil })
        else { return }
        exceed(
            "\(load.slowed) of \(load.active) partitions with records have exceeded dlq.max.ratio, which is "
                + "\(policy.deadLetterMaxRatio), for \(DeadLetterMajority.limitNanoseconds / 60_000_000_000) minutes",
            at: index)
    }
}
