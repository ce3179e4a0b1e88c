/// The state of a lane's producer.
///
/// A transaction exists only in `ready`.
///
/// Times are nanoseconds of the monotonic clock.
package enum ProducerState: Sendable, Equatable {
    /// No producer exists. The next one is created at this time or later.
    case absent(notBefore: UInt64)
    /// The producer exists, and `init_transactions` has not succeeded yet.
    case initializing(retryAt: UInt64)
    /// The producer is ready for transactions.
    case ready(Transaction, TopicsState)
    /// The producer must be destroyed. The next one is created `wait` milliseconds later.
    case retiring(wait: Int)
}

/// The state of the topics that a producer writes to.
package enum TopicsState: Sendable, Equatable {
    /// At least one topic is not open. No record is processed until it is.
    case unopened(retryAt: UInt64)
    /// All topics are open. Their partition counts were fetched at this time.
    case open(since: UInt64)
    /// All topics are open, and their partition counts are fetched again.
    case refreshing
}
