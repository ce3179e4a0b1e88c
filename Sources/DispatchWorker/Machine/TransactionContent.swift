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

    /// Creates an empty content.
    package init() {}
}

/// The reason why a producer is replaced after an unknown outcome (the client side of KIP-890).
package enum RotationCause: String, Sendable {
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
}

/// The reason for an abort, for the log.
package enum AbortCause: String, Sendable, CaseIterable {
    case revoked, lost, refused, timeout, error, shutdown
}
