package import KafkaClient

/// What a lane does next.
///
/// Each is one step; the machine hears of its result before it is asked again.
package enum LaneAction: Sendable, Equatable {
    /// Make a producer.
    case makeProducer
    /// `init_transactions`, for at most this long: resumable.
    case initTransactions(milliseconds: Int)
    /// Open output and dead-letter topics at the producer and look at partitions and limits.
    case openTopics
    /// Make the consumer and subscribe it.
    case subscribe
    /// Fill the batch.
    case poll(milliseconds: Int, maximum: Int)
    /// Poll for the group's sake; whatever comes is thrown away.
    case serve
    /// Resolve what is left of the batch: up to `records` records, and until `until` (nanoseconds) at least one.
    case process(records: Int, until: UInt64)
    /// Begin a transaction.
    case begin
    /// Offer the outputs to the producer, from where it stopped.
    case produce
    /// Wait until the producer has room again.
    case drainQueue(milliseconds: Int)
    /// Add offsets to the transaction; a repeat has the same arguments as before.
    case sendOffsets([PartitionOffset], isRepeat: Bool, milliseconds: Int)
    /// Commit the transaction; -1 is the library's own bound.
    case commit(milliseconds: Int)
    /// At least once: wait until every output is delivered.
    case flush(milliseconds: Int)
    /// At least once: commit offsets with the consumer, and wait for the answer for at most this long.
    case storeOffsets([PartitionOffset], milliseconds: Int)
    /// Abort the transaction.
    case abort
    /// Destroy the producer: nothing that it was lent is used after this.
    case dropProducer
    /// Forget the batch.
    case discard
    /// Ask for the group's committed offsets.
    case fetchCommitted([TopicPartition])
    /// Go back (or on) to these offsets.
    case seek([PartitionOffset])
    /// Take these partitions away and assign them anew: seeking them failed.
    case reassign([PartitionOffset], all: [PartitionOffset])
    /// Ask for the ends of a partition.
    case findEnds(TopicPartition)
    /// Answer an assignment: `added` are new, `all` is what is owned then.
    case take([PartitionOffset], all: [PartitionOffset])
    /// Answer a revocation.
    case give([TopicPartition])
    /// Tell the process why this lane must end, before a call that may not return.
    case announce(WorkerExit)
    /// Sleep.
    case wait(milliseconds: Int)
    /// Leave the group.
    case close
    /// Nothing is left to do.
    case end
}

/// The calls whose failure the machine is told.
package enum LaneCall: String, Sendable, CaseIterable {
    case makeProducer = "rd_kafka_new"
    case initTransactions = "init_transactions"
    case openTopics = "metadata"
    case subscribe
    case consume
    case begin = "begin_transaction"
    case produce
    case sendOffsets = "send_offsets_to_transaction"
    case commit = "commit_transaction"
    case flush
    case storeOffsets = "commit"
    case abort = "abort_transaction"
    case fetchCommitted = "committed"
    case findEnds = "query_watermark_offsets"
    case seek = "seek_partitions"
    case reassign = "reassign"
    case take = "assign"
    case give = "unassign"
}

/// Why a transaction was aborted, for the log.
package enum AbortCause: String, Sendable {
    case revoked, lost, refused, timeout, error, shutdown
}
