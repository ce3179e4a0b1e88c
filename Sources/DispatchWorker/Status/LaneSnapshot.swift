package import KafkaClient
internal import Synchronization

/// The state of a lane at one time, for readers on other threads.
///
/// Times are nanoseconds of the monotonic clock. The snapshot has no ages: readers subtract.
package final class LaneSnapshot: Sendable {
    /// The lane's number.
    package let lane: Int
    /// The time of the snapshot.
    package let publishedAt: UInt64
    package let stage: LaneStage
    /// A Boolean value that indicates whether the lane has joined its group at least once with all topics open.
    package let isReady: Bool
    /// A Boolean value that indicates whether consumption is paused.
    package let isPaused: Bool
    /// The call that the lane makes or repeats next, or nil while it polls and processes.
    package let waitsFor: LaneCall?
    /// The content of the open transaction, or nil if none is open.
    package let transaction: TransactionContent?
    /// The time of the last poll, or nil outside of the group.
    package let lastPollAt: UInt64?
    /// The last commit, or nil before the first one.
    package let lastCommit: LaneCommit?
    /// The counters of the machine.
    package let counters: LaneCounters
    /// The counters and histograms.
    package let metrics: LaneMetrics
    /// The owned partitions.
    package let partitions: [PartitionView]
    /// The last errors, oldest first, at most `LaneError.limit`.
    package let lastErrors: [LaneError]
    /// The reason why the lane ends, or nil.
    package let exit: WorkerExit?
    /// The number of the tables' version that the lane uses.
    package let tables: Int
    /// The canary's totals at the last commit, or nil without a canary.
    package let canary: CanaryTotals?

    /// Creates a snapshot of a machine.
    package init(
        lane: Int, machine: LaneMachine, at now: UInt64,
        lastCommit: LaneCommit? = nil, metrics: LaneMetrics = LaneMetrics(),
        lastErrors: [LaneError] = [], tables: Int = 0, canary: CanaryTotals? = nil
    ) {
        self.lane = lane
        publishedAt = now
        stage = machine.stage
        isReady = machine.isReady
        isPaused = machine.isPaused
        waitsFor = machine.waitsFor
        transaction = machine.transaction.open?.content
        lastPollAt = if case .member(let lastPoll) = machine.group { lastPoll } else { nil }
        self.lastCommit = lastCommit
        counters = machine.counters
        self.metrics = metrics
        partitions = machine.partitions.slots.map(PartitionView.init)
        self.lastErrors = lastErrors
        exit = machine.exit
        self.tables = tables
        self.canary = canary
    }
}

/// A commit of a lane.
package struct LaneCommit: Sendable, Equatable {
    /// The time at which it returned.
    package var at: UInt64
    /// The duration of the call in milliseconds.
    package var milliseconds: Int
}

/// The state of an owned partition in a snapshot.
package struct PartitionView: Sendable, Equatable {
    package var partition: TopicPartition
    /// The smallest offset that is accepted next.
    package var next: Int64 = 0
    /// The offset up to which every record has its outcome.
    ///
    /// It is the committed offset while records are processed whose commit has not returned.
    package var settled: Int64 = 0
    /// The group's committed offset, or nil if there is none.
    package var committed: Int64?
    /// The end of the partition for the lane at its last fetch, or nil before the first one.
    package var end: Int64?
    /// A Boolean value that indicates whether the consumer returns the next record of the lane.
    package var isCurrent = false
    /// A Boolean value that indicates whether consumption is paused.
    package var isPaused = false
    /// A Boolean value that indicates whether the partition waits for its dead-letter topic.
    package var isWaiting = false
    /// The state of a partition whose dead letters are slowed, or nil.
    package var slowed: SlowedPartition?
}

extension PartitionView {
    /// Creates the view of a partition about which nothing is known.
    package init(_ partition: TopicPartition) { self.init(partition: partition) }

    /// Creates the view of an owned partition.
    package init(_ slot: OwnedPartition) {
        self.init(
            partition: slot.partition, next: slot.next.value, settled: slot.settled, committed: slot.committed,
            end: slot.end, isCurrent: !slot.needsPosition, isPaused: slot.isPaused,
            isWaiting: slot.positionState == .waiting, slowed: slot.slowed)
    }
}

/// An error of a lane in a snapshot.
///
/// It has the same texts as the log, which contain no payload.
package struct LaneError: Sendable, Equatable {
    /// The maximum number of errors in a snapshot.
    package static let limit = 8
    /// The maximum length of a message in characters.
    package static let messageLimit = 256

    /// The name of the log's event.
    package var event: String
    /// The error's code, or an empty string.
    package var code: String
    package var message: String
    /// The time, in nanoseconds of the monotonic clock.
    package var at: UInt64
}

extension LaneError {
    /// Creates the error of a log entry, or returns nil for an entry that is no warning or error.
    init?(_ entry: LogEntry, at now: UInt64) {
        guard entry.level <= .warning else { return nil }
        var code = ""
        for field in entry.fields where field.name == "code" || field.name == "cause" && code.isEmpty {
            if case .text(let text) = field.value { code = text }
        }
        self.init(event: entry.event, code: code, message: String(entry.message.prefix(Self.messageLimit)), at: now)
    }
}

/// The stage of a lane, for people who operate the worker.
package enum LaneStage: String, Sendable, CaseIterable {
    /// The lane has no producer.
    case starting
    /// The producer is being initialized, which ends the open transaction of a predecessor.
    case initializing
    /// The output and dead-letter topics are being opened.
    case opening
    /// The lane waits for an assignment of the group.
    case joining
    /// Another client has the lane's instance name. The lane asks the group, and then ends or joins it again.
    case fenced
    /// At least one partition is being moved to its committed offset.
    case positioning
    /// No records wait.
    case idle
    /// Records are being processed.
    case working
    /// The transaction is being committed.
    case committing
    /// The transaction is being aborted.
    case aborting
    /// Consumption is paused.
    case paused
    /// The lane finishes its work and leaves.
    case draining
    /// The lane has ended.
    case ended
}

extension LaneMachine {
    /// The stage of the lane.
    package var stage: LaneStage {
        let isLeaving = isDraining || exit != nil || group == .left
        switch producer {
        case .absent where isLeaving && !isMember: return .ended
        case .ready(.running(_, .aborting), _): return .aborting
        case .ready(.running(_, let phase), _) where phase.call != nil: return .committing
        case _ where isLeaving: return .draining
        case _ where isFenced: return .fenced
        case .absent, .retiring: return .starting
        case .initializing: return .initializing
        case .ready(_, .unopened): return .opening
        case .ready(let transaction, _): return stage(in: transaction)
        }
    }

    private var isFenced: Bool {
        switch group {
        case .fenced, .contested: true
        case .outside, .member, .left: false
        }
    }

    private func stage(in transaction: Transaction) -> LaneStage {
        guard isMember, !partitions.isEmpty || isReady, !unanswered.contains(.membership) else { return .joining }
        if isPaused { return .paused }
        if partitions.slots.contains(where: \.needsPosition) { return .positioning }
        return transaction == .none && batch == .none ? .idle : .working
    }

    /// The call that the lane makes or repeats next, or nil while it polls and processes.
    package var waitsFor: LaneCall? {
        if case .contested = group { return exit == nil ? .findHolders : nil }
        switch producer {
        case .absent, .retiring: return exit == nil ? .makeProducer : nil
        case .initializing: return .initTransactions
        case .ready(.running(_, let phase), _) where phase.call != nil: return phase.call
        case .ready(.beginning, _): return .begin
        case .ready(_, .unopened): return .openTopics
        case .ready: break
        }
        if case .outside = group { return .subscribe }
        for slot in partitions.slots {
            switch slot.positionState {
            case .current, .held, .waiting, .verifying, .unidentified: continue
            case .stale: return .fetchCommitted
            case .needsEnd, .outOfRange, .contradicted: return .findEnds
            case .needsSeek, .needsReturn: return .seek
            case .needsReassign: return .reassign
            }
        }
        return nil
    }
}

extension Transaction.Phase {
    /// The call that ends the transaction, or nil while it accepts records.
    fileprivate var call: LaneCall? {
        switch self {
        case .idle, .offering, .blocked: nil
        case .sendingOffsets: .sendOffsets
        case .committing: .commit
        case .flushing: .flush
        case .committingOffsets: .commitOffsets
        case .aborting: .abort
        }
    }
}

/// The place where a lane publishes its state, and where readers on other threads find it.
///
/// The lane never waits for a reader. While a reader holds the lock to copy a reference, the lane does not publish, but
/// does so at its next step.
package final class LaneStatus: Sendable {
    private struct Parked {
        var bytes: [UInt8]
        var at: UInt64
    }

    let current = Mutex<LaneSnapshot?>(nil)
    private let ofConsumer = Mutex<Parked?>(nil)
    private let ofProducer = Mutex<Parked?>(nil)

    /// Creates the status of a lane that has published nothing.
    package init() {}

    /// Publishes a snapshot, and returns a Boolean value that indicates whether it did.
    @discardableResult
    package func publish(_ snapshot: LaneSnapshot) -> Bool {
        // The previous snapshot is destroyed after the lock is released.
        let previous: LaneSnapshot?? = current.withLockIfAvailable { current in
            let previous = current
            current = snapshot
            return previous
        }
        return previous != nil
    }

    /// The newest snapshot, or nil before the first one.
    package var snapshot: LaneSnapshot? { current.withLock { $0 } }

    /// Keeps the newest statistics document of a client for the thread that reads it.
    package func park(_ document: [UInt8], of client: ClientKind, at now: UInt64) {
        switch client {
        case .consumer: ofConsumer.withLock { $0 = Parked(bytes: document, at: now) }
        case .producer: ofProducer.withLock { $0 = Parked(bytes: document, at: now) }
        }
    }

    /// Returns and removes the newest statistics document of a client, or nil if none has arrived since the last call.
    package func takeStatistics(of client: ClientKind) -> (bytes: [UInt8], at: UInt64)? {
        let parked: Parked? =
            switch client {
            case .consumer: ofConsumer.withLock { Self.take(&$0) }
            case .producer: ofProducer.withLock { Self.take(&$0) }
            }
        return parked.map { ($0.bytes, $0.at) }
    }

    private static func take(_ parked: inout Parked?) -> Parked? {
        defer { parked = nil }
        return parked
    }
}
