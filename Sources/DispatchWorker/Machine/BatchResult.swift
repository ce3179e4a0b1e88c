package import KafkaClient

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
    /// The longest run of consecutive dead letters of one partition.
    package var longestDeadLetterRun = 0
    /// The number of dead letters by reason.
    package var reasons: [DeadLetterReason: Int] = [:]
    /// The counts of the records that a replay has written, which are part of the other counts.
    ///
    /// They do not count for the limits on dead letters.
    package var replays = DeadLetterCounts()
    /// The partition and the offset of the last dead letter that is not a replay, or nil if there is none.
    package var lastDeadLetter: PartitionOffset?
    /// A Boolean value that indicates whether a dead letter had no open topic.
    ///
    /// This is a bug, and the transaction must not be committed.
    package var isBroken = false
    /// A Boolean value that indicates whether the time limit ended processing before the batch did.
    package var isLate = false

    /// Creates an empty result.
    package init() {}

    /// Counts a dead letter.
    @inline(never)
    package mutating func countDeadLetter(
        _ reason: DeadLetterReason, _ partition: TopicPartition, offset: Int64, isReplay: Bool = false
    ) {
        deadLetters += 1
        reasons[reason, default: 0] += 1
        if isReplay {
            replays.deadLetters += 1
            replays.reasons[reason, default: 0] += 1
        } else {
            lastDeadLetter = PartitionOffset(partition, offset: offset)
        }
    }
}

/// The messages of the last poll that are not processed yet.
package enum BatchState: Sendable, Equatable {
    /// No messages.
    case none
    /// Messages that are not processed yet, at least one.
    case remaining(Int)
    /// Messages that must be released without being processed.
    case dropped
}
