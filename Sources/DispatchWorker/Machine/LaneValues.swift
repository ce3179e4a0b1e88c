package import KafkaClient

/// What a lane has done since its start, in whole numbers; committed things are counted when their commit returned.
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
    /// Producers that were replaced because an outcome was indefinite.
    package var rotations = 0
    /// Producers that were replaced because they could do no more.
    package var recreations = 0
    /// Times that the lane went back to committed offsets.
    package var rewinds = 0

    /// Nothing yet.
    package init() {}
}

/// Something that happened in a lane and is worth a log line.
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
    /// A committed offset is there no more: `from` decides where to go on.
    case commitVanished(TopicPartition, had: Int64)
    /// A broker refuses a record's outputs, also when they are sent alone; `isDeadLetter` tells which outputs.
    case refused(TopicPartition, offset: Int64, isDeadLetter: Bool, KafkaErrorCode)
    case failed(LaneCall, KafkaError)
}

/// Why a producer is replaced after an outcome that nobody knows for sure (KIP-890's defence on the client's side).
package enum RotationCause: String, Sendable {
    /// A call of the transaction had to be repeated.
    case retried
    /// `send_offsets` took so long that a silent repeat may still be on its way.
    case slowOffsets = "slow offsets"
    /// The commit took longer than 2 s.
    case slowCommit = "slow commit"
    /// The connection to the transaction coordinator went down meanwhile.
    case coordinator = "coordinator connection"
    /// A revocation left no time to wait for the commit's end.
    case revoked
}

/// What a transaction holds.
package struct TransactionContent: Sendable, Equatable {
    /// When it began, in nanoseconds of the monotonic clock.
    package var beganAt: UInt64 = 0
    /// Input records.
    package var records = 0
    /// Decisions.
    package var decisions = 0
    /// Dead letters.
    package var deadLetters = 0
    /// Bytes of outputs.
    package var bytes = 0

    /// An empty one.
    package init() {}
}

/// What came of a batch, or of the part of it that fitted.
package struct BatchResult: Sendable, Equatable {
    /// Messages of the batch that were looked at.
    package var taken = 0
    /// Records among them that were ours and new.
    package var records = 0
    /// Decisions.
    package var decisions = 0
    /// Dead letters.
    package var deadLetters = 0
    /// Bytes that all outputs of the transaction take in the arena now.
    package var bytes = 0
    /// The longest run of dead letters of one partition.
    package var longestDeadLetterRun = 0
    /// Whether a dead letter had no open topic: a fault of ours, nothing of it may be committed.
    package var isBroken = false
    /// Whether its time was over before its records were.
    package var isLate = false

    /// Nothing.
    package init() {}
}

/// Whether brokers take our credentials.
///
/// A broker that refuses them says so again at least every 30 s for as long as it does: librdkafka keeps an equal error
/// of the same connection back that long and tries to connect every second.
package enum Credentials: Sendable, Equatable {
    /// They do, as far as anybody has said.
    case accepted
    /// They have been refused since `since`, at `last` for the last time.
    case refused(since: UInt64, last: UInt64)

    /// Refusals further apart are two stories: three times what librdkafka keeps an equal error back.
    static var silenceNanoseconds: UInt64 { 90_000_000_000 }

    /// Brokers refused them; returns since when they have.
    mutating func refuse(now: UInt64) -> UInt64 {
        var since = now
        if case .refused(let first, let last) = self, now.saturatingSubtract(last) < Self.silenceNanoseconds {
            since = first
        }
        self = .refused(since: since, last: now)
        return since
    }
}

/// How often a producer had to be made anew, and when enough is enough.
struct Recreations: Sendable, Equatable {
    private var times: [UInt64] = []
    private(set) var backoff = Backoff()
    /// When a young transaction was fenced last.
    private var fencedAt: UInt64?

    /// Counts one; returns whether it is one too many: more than 3 in 5 min.
    mutating func count(now: UInt64) -> Bool {
        times.removeAll { now &- $0 > 300_000_000_000 }
        times.append(now)
        return times.count > 3
    }

    /// The wait before the next producer.
    mutating func wait() -> Int { backoff.next() }

    /// Something was committed.
    mutating func succeeded() { backoff.reset() }

    /// Notes that a transaction younger than its timeout was fenced; returns whether it is the second in 60 s.
    mutating func fencedYoung(now: UInt64) -> Bool {
        defer { fencedAt = now }
        return fencedAt.map { now &- $0 <= 60_000_000_000 } ?? false
    }
}
