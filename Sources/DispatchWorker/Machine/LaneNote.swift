package import KafkaClient

/// An event of a lane for the log.
package enum LaneNote: Sendable, Equatable {
    case ready(milliseconds: Int)
    case assigned([TopicPartition])
    case revoked([TopicPartition])
    case lost([TopicPartition])
    case committed(TransactionContent, milliseconds: Int)
    case aborted(AbortCause, KafkaErrorCode?)
    case rewound(partitions: Int)
    case paused(partitions: Int)
    case resumed
    case rotated(RotationCause)
    case recreated(String, KafkaErrorCode)
    case fenced
    case dataLost(TopicPartition, expected: Int64, actual: Int64)
    /// A committed offset no longer exists. `from` determines where to continue.
    case commitVanished(TopicPartition, had: Int64)
    /// A broker refuses the outputs of a record even when they are alone in a transaction. `isDeadLetter` is true if
    /// the output is the record's dead letter.
    case refused(TopicPartition, offset: Int64, isDeadLetter: Bool, KafkaErrorCode)
    /// A limit on dead letters was exceeded. The lane ends.
    case deadLetterLimit(DeadLetterExcess)
    case failed(LaneCall, KafkaError)

    /// The advice for an operator, or nil.
    ///
    /// Brokers do not return the committed offsets of partitions while a transaction with offsets of them is open, and
    /// the library repeats the request until its time is over.
    package var advice: String? {
        guard case .failed(.fetchCommitted, let error) = self, error.code == .timedOut else { return nil }
        return "if this repeats, look for a transaction that does not end: kafka-transactions.sh find-hanging"
    }
}
