package import KafkaClient

/// The state of a lane's producer.
///
/// A transaction exists only in `ready`. `retireProducer` leads from every case but `absent` to `retiring`.
///
/// Times are nanoseconds of the monotonic clock.
package enum ProducerState: Sendable, Equatable {
    /// No producer exists. The next one is created at this time or later. `producerMade` leads to `initializing`, or
    /// with at-least-once to `ready`.
    case absent(notBefore: UInt64)
    /// The producer exists, and `init_transactions` has not succeeded yet. Its success leads to `ready`.
    case initializing(retryAt: UInt64)
    /// The producer is ready for transactions.
    case ready(Transaction, TopicsState)
    /// The producer must be destroyed. The next one is created `wait` milliseconds later. `producerDropped` leads to
    /// `absent`.
    case retiring(wait: Int)
}

/// The state of the topics that a producer writes to.
package enum TopicsState: Sendable, Equatable {
    /// At least one topic is not open. No record is processed until it is. `topicsOpened` leads to `open`.
    case unopened(retryAt: UInt64)
    /// All topics are open, except dead-letter topics that do not exist, for which the partitions of their inputs wait
    /// (`OwnedPartition.isWaiting`). At this time it leads to `refreshing`, and a new input without an open dead-letter
    /// topic leads to `unopened`.
    case open(refreshAt: UInt64)
    /// All topics are open, and their partition counts are fetched again. Every answer leads to `open`.
    case refreshing
}

/// The state of a lane's transaction.
///
/// Each case holds only its own data, so no flag outlives its state.
///
/// With at-least-once, the same cases describe the outputs and offsets that are delivered and committed together.
package enum Transaction: Sendable, Equatable {
    /// No transaction. Processed records or an offset to store begin one.
    case none
    /// The transaction begins, and its first outputs wait. Nil means offsets alone.
    ///
    /// `begun` leads to `offering` or `idle`. An exit or a lost partition drops it.
    case beginning(BatchResult?, retryAt: UInt64)
    /// The transaction has begun.
    case running(OpenTransaction, Phase)

    /// The phase of a transaction that has begun.
    ///
    /// Besides the ways that its cases name, `transactionFailed` leads from every phase to `aborting`, or with
    /// at-least-once to a new producer. A new producer leads from every phase to `none`.
    package enum Phase: Sendable, Equatable {
        /// It accepts records. `processed` leads to `offering`, and `startCommit` to `sendingOffsets` or `flushing`.
        case idle
        /// Outputs are being produced. `produced` leads to `idle`, and a full queue to `blocked`.
        case offering(BatchResult)
        /// Outputs wait for room in the producer's queue. Room leads to `offering`.
        case blocked(BatchResult)
        /// Its offsets are being added. A repeated call has the same arguments. `offsetsSent` leads to `committing`.
        case sendingOffsets([PartitionOffset], isRepeat: Bool, retryAt: UInt64)
        /// It holds these offsets and has been committing since `began`. `committed` leads to `none`.
        case committing([PartitionOffset], began: UInt64, retryAt: UInt64)
        /// With at-least-once, its outputs are being delivered. `flushed` leads to `committingOffsets`.
        case flushing(retryAt: UInt64)
        /// With at-least-once, its outputs are delivered, and these offsets are being committed. `committed` leads to
        /// `none`.
        case committingOffsets([PartitionOffset], began: UInt64, retryAt: UInt64)
        /// It must be aborted. `aborted` leads to `none`.
        case aborting(AbortCause, retryAt: UInt64)

        /// The processed batch that the producer has not accepted, or nil.
        var staged: BatchResult? {
            switch self {
            case .offering(let staged), .blocked(let staged): staged
            default: nil
            }
        }

        /// A Boolean value that indicates whether the transaction can still be committed.
        var isCommittable: Bool {
            switch self {
            case .idle, .sendingOffsets, .committing, .flushing, .committingOffsets: true
            case .offering, .blocked, .aborting: false
            }
        }

        /// A Boolean value that indicates whether a lane that ends waits for the result.
        var outlastsExit: Bool {
            switch self {
            case .committing, .aborting: true
            default: false
            }
        }
    }

    /// The data of the running transaction, or nil if none is running.
    package var open: OpenTransaction? { if case .running(let open, _) = self { open } else { nil } }

    /// The phase of the running transaction, or nil if none is running.
    package var phase: Phase? { if case .running(_, let phase) = self { phase } else { nil } }

    /// The processed batch that the producer has not accepted, or nil.
    package var staged: BatchResult? { if case .beginning(let staged, _) = self { staged } else { phase?.staged } }

    /// Changes the data of the running transaction, if there is one.
    mutating func update(_ change: (inout OpenTransaction) -> Void) {
        guard case .running(var open, let phase) = self else { return }
        change(&open)
        self = .running(open, phase)
    }
}

/// The data of an open transaction: its content, and events that make its outcome uncertain.
package struct OpenTransaction: Sendable, Equatable {
    /// The number of records and outputs, and the begin time.
    package var content = TransactionContent()
    /// The reason to replace the producer after the transaction, or nil.
    package var suspect: RotationCause?
    /// The first error of the transaction, or nil.
    package var error: KafkaErrorCode?
    /// The number of lost coordinator connections when the transaction began.
    package var coordinatorDrops = 0
    /// The number of records whose outputs the producer had not accepted when the transaction failed.
    var unproducedRecords = 0
    /// The number of records that are lost with the transaction if it is aborted.
    var records: Int { content.records + unproducedRecords }

    /// Creates an empty transaction.
    package init(beganAt: UInt64, coordinatorDrops: Int) {
        content.beganAt = beganAt
        self.coordinatorDrops = coordinatorDrops
    }
}

/// The content of a transaction.
package struct TransactionContent: Sendable, Equatable {
    /// The begin time, in nanoseconds of the monotonic clock.
    package var beganAt: UInt64 = 0
    /// The number of input records.
    package var records = 0
    /// The number of decisions.
    package var decisions = 0
    /// The number of dead letters.
    package var deadLetters = 0
    /// The size of the outputs, in bytes.
    package var bytes = 0
}

/// The reason why a producer is replaced after an unknown outcome (the client side of KIP-890).
package enum RotationCause: String, Sendable, CaseIterable {
    /// A call of the transaction was repeated.
    case retried
    /// `send_offsets` took so long that a repeated request may still be in flight.
    case slowOffsets = "slow offsets"
    /// The commit took longer than 2 s.
    case slowCommit = "slow commit"
    /// The connection to the transaction coordinator was lost during the transaction.
    case coordinator = "coordinator connection"
    /// A revocation left no time to wait for the commit.
    case revoked
    /// A broker refused a record.
    case refused
}

/// The reason for an abort, for the log.
package enum AbortCause: String, Sendable, CaseIterable {
    case revoked, lost, refused, timeout, error, shutdown
    /// The dead letters of a partition exceed `dlq.max.ratio`.
    case deadLetters = "dead_letters"
}

/// The result of processing a batch or a part of it.
package struct BatchResult: Sendable, Equatable {
    /// The number of messages that were read from the batch.
    package var messages = 0
    /// The number of new records of owned partitions among them.
    package var records = 0
    /// The number of decisions.
    package var decisions = 0
    /// The number of dead letters.
    package var deadLetters = 0
    /// The size of all outputs of the transaction so far, in bytes.
    package var bytes = 0
    /// A Boolean value that indicates whether a dead letter had no open topic.
    ///
    /// This is a bug, and the transaction must not be committed.
    package var isBroken = false
    /// A Boolean value that indicates whether the time limit ended processing before the batch did.
    package var isLate = false
}

/// The messages of the last poll that are not processed yet.
package enum BatchState: Sendable, Equatable {
    /// No messages. `polled` leads to `remaining`.
    case none
    /// Messages that are not processed yet, at least one. `processed` leads to `none` after the last one, and
    /// `dropBatch` to `dropped`.
    case remaining(Int)
    /// Messages that must be released without being processed. `discarded` leads to `none`.
    case dropped
}

/// The state of a lane's group membership.
package enum GroupState: Sendable, Equatable {
    /// The lane has not subscribed. The next try is at this time or later. `subscribed` leads to `member`, and
    /// `contest` to `fenced`.
    case outside(retryAt: UInt64)
    /// The lane is a member or is joining. The last poll was at this time. `closed` leads to `left`, and `contest` to
    /// `fenced`.
    case member(lastPoll: UInt64)
    /// The lane gives up its membership and its producer, because a broker replaced one of them for another client with
    /// the same instance name. The consumer must be destroyed. `abandoned` leads to `contested`.
    case fenced
    /// Without clients, the lane asks the group who has its instance name. It leads to `outside` when nobody has it.
    case contested(Contest)
    /// The lane has left the group and does not join it again. Nothing leads out.
    case left
}

/// A rebalance of the group, with the consumer's topic indices.
package enum RebalanceRequest: Sendable, Equatable {
    /// These partitions are assigned to this member.
    case assign([AssignedPartition])
    /// These partitions are revoked, and offsets can still be committed.
    case revoke([TopicPartition])
    /// These partitions are already lost.
    case lost([TopicPartition])
    /// The rebalance failed.
    case failed(KafkaError)
}

/// A rebalance that is being answered, inside a poll or the close.
///
/// Nothing is repeated or waited for in the callback. Work that cannot be done at once is left to the position state of
/// the partition.
package enum Callback: Sendable, Equatable {
    /// No rebalance. `rebalancing` leads to the other cases.
    case none
    /// Partitions are assigned, and their committed offsets are fetched once. Every answer leads to `assigning`.
    case fetchingCommitted([AssignedPartition])
    /// Partitions are assigned, and their starts are known. `assigned` leads to `none`.
    case assigning([PartitionStart])
    /// Partitions are revoked, and pending offsets are committed until the deadline. The end of the transaction and the
    /// deadline lead to `unassigning`.
    case revoking([TopicPartition], deadline: UInt64)
    /// Partitions are removed. `unassigned` leads to `none`.
    case unassigning([TopicPartition], isLost: Bool)
}

/// The members of a group that have a lane's instance name.
package struct InstanceHolders: Sendable, Equatable {
    /// The member ids.
    package var members: [String]
    /// The number of the broker that coordinates the group.
    package var coordinator: Int32
}

/// The search for another process with the lane's instance name, after a broker fenced the lane.
///
/// A coordinator that could not write while brokers were down goes back to an old member, and then fences the one that
/// has replaced it. So fencing alone does not prove that another process exists.
package struct Contest: Sendable, Equatable {
    /// A member of another process with the lane's instance name.
    struct Rival: Sendable, Equatable {
        /// The coordinator that described it.
        ///
        /// A new coordinator gives every member a new session.
        var coordinator: Int32
        /// The time of that coordinator's first answer.
        var since: UInt64
    }

    /// The time before which the group is not described.
    var retryAt: UInt64
    /// The other member, or nil before an answer that has one.
    var rival: Rival?
    /// The last error of a request, which is reported once.
    var error: KafkaErrorCode?
}

/// The member ids that coordinators gave to a lane.
struct OwnMembers: Sendable, Equatable {
    /// The number of ids that are kept.
    ///
    /// A coordinator goes back to a recent member.
    static let limit = 1_000

    private var ids: [String] = []

    /// Adds an id.
    mutating func insert(_ id: String) {
        if ids.contains(id) { return }
        if ids.count >= Self.limit { ids.removeFirst() }
        ids.append(id)
    }

    /// Returns a Boolean value that indicates whether the lane had this id.
    func contains(_ id: String) -> Bool { ids.contains(id) }
}

/// The state of the credentials at the brokers.
///
/// A broker that refuses them repeats the error at least every 30 s. librdkafka suppresses an equal error of the same
/// connection for that time and tries to connect every second.
package enum Credentials: Sendable, Equatable {
    /// No broker refuses them. `refuse` leads to `refused`.
    case accepted
    /// They have been refused since `since`, most recently at `last`. Every successful call leads to `accepted`.
    case refused(since: UInt64, last: UInt64)

    /// The time after which a refusal counts as a new one: three times librdkafka's suppression of equal errors.
    static var silenceNanoseconds: UInt64 { 90_000_000_000 }

    /// Records a refusal.
    ///
    /// Returns the time of the first one.
    mutating func refuse(now: UInt64) -> UInt64 {
        var since = now
        if case .refused(let first, let last) = self, now.saturatingSubtract(last) < Self.silenceNanoseconds {
            since = first
        }
        self = .refused(since: since, last: now)
        return since
    }
}

/// The search for the one record whose outputs a broker refuses.
///
/// Transactions become smaller until they hold only that record.
package struct Isolation: Sendable, Equatable {
    /// A record whose outputs are refused.
    ///
    /// It becomes a dead letter with the reason `refused_output`.
    package struct Refused: Sendable, Equatable {
        package var partition: TopicPartition
        package var offset: Int64
        /// The number of times that its dead letter was refused.
        package var deadLetterRefusals = 0
    }

    /// The result of one refusal.
    enum Finding: Equatable {
        /// No record is found yet. The next transaction has fewer records, or the same.
        case none
        /// The outputs of this record are refused even when they are alone in a transaction.
        case record(Refused)
        /// The dead letter of the same record is also refused.
        case deadLetter(Refused)
    }

    /// The number of refusals of a single record before it counts as the cause.
    static var tries: Int { 3 }
    /// The number of consecutive aborts up to which the search goes on without a delay.
    ///
    /// It is more than the halvings of the largest transaction and the tries of a record and its dead letter.
    static var quickFailures: Int { 40 }

    /// The number of consecutive aborts because of a record.
    package private(set) var failures = 0
    /// The maximum number of records of a transaction, or nil for no limit.
    package private(set) var limit: Int?
    /// The records that were found and are not committed yet.
    ///
    /// Several partitions may each have one.
    package var refused: [Refused] = []
    private var until: [PartitionOffset] = []

    /// A Boolean value that indicates whether a transaction was aborted because of a record that is not committed yet.
    var isActive: Bool { failures > 0 }

    /// Returns a Boolean value that indicates whether a record's outputs are refused, so that it becomes a dead letter.
    func isRefused(_ partition: TopicPartition, _ offset: Int64) -> Bool {
        refused.contains { $0.offset == offset && $0.partition == partition }
    }

    /// Records that a transaction was aborted because of one of its records.
    mutating func recordRefused(records: Int, pending: [PartitionOffset]) -> Finding {
        failures += 1
        guard failures >= Self.tries else { return .none }
        if records == 1, let only = pending.first, pending.count == 1 {
            if let index = refused.firstIndex(where: {
                $0.partition == only.partition && $0.offset == only.offset - 1
            }) {
                refused[index].deadLetterRefusals += 1
                return .deadLetter(refused[index])
            }
            let found = Refused(partition: only.partition, offset: only.offset - 1)
            refused.append(found)
            limit = 1
            return .record(found)
        }
        for offset in pending where !until.contains(where: { $0.partition == offset.partition }) {
            until.append(offset)
        }
        limit = max(1, min(limit ?? records, records) / 2)
        return .none
    }

    /// Records that a transaction was committed.
    ///
    /// `position` returns the next offset of a partition, or nil for one that is no longer owned.
    mutating func committed(position: (TopicPartition) -> Int64?) {
        guard isActive else { return }
        let hadRefused = !refused.isEmpty
        refused.removeAll { found in position(found.partition).map { $0 > found.offset } ?? true }
        guard refused.isEmpty else { return }
        until.removeAll { end in position(end.partition).map { $0 >= end.offset } ?? true }
        if hadRefused || until.isEmpty {
            self = Isolation()
        } else {
            // Others may be committed for any time while one of these partitions does not advance.
            limit = limit.map { min($0, 1 << 30) * 2 }
        }
    }
}

/// The number of recreated producers and its limit.
struct Recreations: Sendable, Equatable {
    private var times: [UInt64] = []
    private(set) var backoff = Backoff()
    /// The last time that a transaction younger than its timeout was fenced.
    private var fencedAt: UInt64?

    /// Counts a recreation.
    ///
    /// Returns true if there were more than 3 in 5 min.
    mutating func count(now: UInt64) -> Bool {
        times.removeAll { now &- $0 > 300_000_000_000 }
        times.append(now)
        return times.count > 3
    }

    /// Returns the delay before the next producer, in milliseconds.
    mutating func wait() -> Int { backoff.next() }

    /// Resets the delay after a commit.
    mutating func resetBackoff() { backoff.reset() }

    /// Records that a transaction younger than its timeout was fenced.
    ///
    /// Returns true if it is the second one in 60 s.
    mutating func countYoungFencing(now: UInt64) -> Bool {
        defer { fencedAt = now }
        return fencedAt.map { now &- $0 <= 60_000_000_000 } ?? false
    }
}

/// A delay that doubles from 100 ms to 5 s until a call succeeds.
package struct Backoff: Sendable, Equatable {
    private let first: Int
    private var milliseconds: Int

    /// Creates a delay that starts at `first` milliseconds.
    ///
    /// With 0, the first delay is zero and the second one 100 ms.
    package init(first: Int = 100) {
        self.first = first
        milliseconds = first
    }

    /// Returns the next delay in milliseconds.
    package mutating func next() -> Int {
        defer { milliseconds = min(max(100, milliseconds * 2), 5_000) }
        return milliseconds
    }

    /// Restarts at the first delay.
    package mutating func reset() { milliseconds = first }
}
