package import KafkaClient

/// The next action of a lane.
///
/// Each action is one step. Its result is reported to the machine before the next action is requested.
package enum LaneAction: Sendable, Equatable {
    /// Create a producer.
    case makeProducer
    /// Call `init_transactions` with this time limit. The call can be resumed.
    case initTransactions(milliseconds: Int)
    /// Open the output and dead-letter topics and fetch their partition counts and limits.
    case openTopics
    /// Create the consumer and subscribe it.
    case subscribe
    /// Poll the next batch.
    case poll(milliseconds: Int, maximum: Int)
    /// Poll to keep the group membership alive and drop all records.
    case keepAlive
    /// Process the rest of the batch: up to `records` records until the clock reaches `until` (nanoseconds), at least
    /// one.
    case process(records: Int, until: UInt64)
    /// Begin a transaction.
    case begin
    /// Produce the waiting outputs, from where the last call stopped.
    case produce
    /// Wait until the producer's queue has room.
    case drainQueue(milliseconds: Int)
    /// Add offsets to the transaction. A repeated call has the same arguments.
    case sendOffsets([PartitionOffset], isRepeat: Bool, milliseconds: Int)
    /// Commit the transaction. -1 selects the producer's own limit.
    case commit(milliseconds: Int)
    /// With at-least-once, wait until every output is delivered.
    case flush(milliseconds: Int)
    /// With at-least-once, commit offsets with the consumer and wait for the answer up to the limit.
    case commitOffsets([PartitionOffset], milliseconds: Int)
    /// Abort the transaction.
    case abort
    /// Destroy the producer, which then no longer uses borrowed memory.
    case dropProducer
    /// Release the batch.
    case discard
    /// Fetch the group's committed offsets.
    case fetchCommitted([TopicPartition])
    /// Seek to these offsets.
    case seek([PartitionOffset])
    /// Remove these partitions and assign them again, because seeking failed.
    case reassign([PartitionOffset], all: [PartitionOffset])
    /// Fetch the watermarks of a partition.
    case findEnds(TopicPartition)
    /// Pause fetching of these partitions.
    case pause([TopicPartition])
    /// Resume fetching of these partitions.
    case resume([TopicPartition])
    /// Answer an assignment. `all` are the owned partitions including the new ones.
    case assign([PartitionOffset], all: [PartitionOffset])
    /// Answer a revocation.
    case unassign([TopicPartition])
    /// Report the exit of this lane to the process, before a call that may not return.
    case announce(WorkerExit)
    /// Sleep.
    case wait(milliseconds: Int)
    /// Leave the group.
    case close
    /// End: nothing is left to do.
    case end
}

/// The calls whose failures are reported to the machine.
///
/// The raw value names the call of librdkafka in log messages.
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
    case commitOffsets = "commit"
    case abort = "abort_transaction"
    case fetchCommitted = "committed"
    case findEnds = "offsets_for_times"
    case seek = "seek_partitions"
    case reassign = "reassign"
    case pause = "pause_partitions"
    case resume = "resume_partitions"
    case assign = "assign"
    case unassign = "unassign"
}
