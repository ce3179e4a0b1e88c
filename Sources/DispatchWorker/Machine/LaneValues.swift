package import KafkaClient

/// The counters of a lane since its start.
///
/// Committed items are counted when their commit returns.
package struct LaneCounters: Sendable, Equatable {
    /// Input records of committed transactions.
    package var records = 0
    /// Decisions of committed transactions.
    package var decisions = 0
    /// Dead letters of committed transactions.
    package var deadLetters = 0
    /// Committed transactions.
    package var committed = 0
    /// Aborted transactions.
    package var aborted = 0
    /// Producers that were replaced after an unknown outcome.
    package var rotations = 0
    /// Producers that were replaced after a failure.
    package var recreations = 0
    /// The number of times that the lane returned to committed offsets.
    package var rewinds = 0

    /// Creates counters that are zero.
    package init() {}
}

/// An event of a lane for the log.
package enum LaneNote: Sendable, Equatable {
    case ready(milliseconds: Int)
    case assigned([TopicPartition])
    case revoked([TopicPartition])
    case lost([TopicPartition])
    case committed(TransactionContent, milliseconds: Int)
    case aborted(AbortCause, KafkaErrorCode?)
    case rewound(partitions: Int)
    case rotated(RotationCause)
    case recreated(String, KafkaErrorCode)
    case fenced
    case dataLost(TopicPartition, wanted: Int64, got: Int64)
    /// A committed offset no longer exists. `from` determines where to continue.
    case commitVanished(TopicPartition, had: Int64)
    /// A broker refuses a record's outputs even when they are sent alone. `isDeadLetter` is true if the output is the
    /// record's dead letter.
    case refused(TopicPartition, offset: Int64, isDeadLetter: Bool, KafkaErrorCode)
    case failed(LaneCall, KafkaError)
}

/// The reason why a producer is replaced after an unknown outcome (the client side of KIP-890).
package enum RotationCause: String, Sendable {
    /// A call of the transaction was repeated.
    case retried
    /// `send_offsets` took so long that a silent repeat may still be under way.
    case slowOffsets = "slow offsets"
    /// The commit took longer than 2 s.
    case slowCommit = "slow commit"
    /// The connection to the transaction coordinator was lost during the transaction.
    case coordinator = "coordinator connection"
    /// A revocation left no time to wait for the commit.
    case revoked
}

/// The content of a transaction.
package struct TransactionContent: Sendable, Equatable {
    /// The begin time, in nanoseconds of the monotonic clock.
    package var beganAt: UInt64 = 0
    /// Input records.
    package var records = 0
    /// Decisions.
    package var decisions = 0
    /// Dead letters.
    package var deadLetters = 0
    /// Bytes of outputs.
    package var bytes = 0

    /// Creates an empty content.
    package init() {}
}

/// The result of processing a batch or a part of it.
package struct BatchResult: Sendable, Equatable {
    /// The number of messages that were read from the batch.
    package var messages = 0
    /// The number of new records of owned partitions among them.
    package var records = 0
    /// Decisions.
    package var decisions = 0
    /// Dead letters.
    package var deadLetters = 0
    /// The size of all outputs of the transaction in the arena, in bytes.
    package var bytes = 0
    /// The longest run of consecutive dead letters of one partition.
    package var longestDeadLetterRun = 0
    /// A Boolean value that indicates whether a dead letter had no open topic.
    ///
    /// This is a bug, and the transaction must not be committed.
    package var isBroken = false
    /// A Boolean value that indicates whether the time limit ended processing before the batch did.
    package var isLate = false

    /// Creates an empty result.
    package init() {}
}

/// The state of the credentials at the brokers.
///
/// A broker that refuses them repeats the error at least every 30 s. librdkafka suppresses an equal error of the same
/// connection for that time and tries to connect every second.
package enum Credentials: Sendable, Equatable {
    /// No broker refuses them.
    case accepted
    /// They have been refused since `since`, most recently at `last`.
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
