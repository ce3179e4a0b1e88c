package import KafkaClient

/// The settings that concern a lane, as plain values.
package struct LanePolicy: Sendable, Equatable {
    package var guarantee = Guarantee.exactlyOnce
    /// The start of a partition without a committed offset.
    package var from = StartPolicy.earliest
    /// The reaction to lost records.
    package var dataLoss = DataLossPolicy.stop
    /// The limits that end a transaction.
    package var commit = CommitLimits()
    /// The maximum number of records of one poll.
    package var batchRecords = 1_000
    /// `transaction.timeout.ms`.
    package var transactionTimeoutMilliseconds = 30_000
    /// `session.timeout.ms`.
    package var sessionTimeoutMilliseconds = 45_000
    /// The time in milliseconds that the start may take without an answer from a broker.
    package var startTimeoutMilliseconds = 30_000
    /// A Boolean value that indicates whether the transactional id survives restarts, so another process may have the
    /// same one.
    package var isStable = false
    /// A Boolean value that indicates whether the lane may end its process because another one has its instance name.
    ///
    /// Only the first lane may. Otherwise two processes whose lanes fenced each other would both end.
    package var decidesContest = true
    /// `dlq.max.ratio`, or 0 for no limit.
    package var deadLetterMaxRatio = 0.0
    /// `dlq.max.consecutive`, or 0 for no limit.
    package var deadLetterMaxConsecutive = 0
    /// `dlq.excess`.
    package var deadLetterExcess = ExcessPolicy.slow
    /// `dlq.max.rate`: the dead letters per second of a slowed partition.
    package var deadLetterMaxRate = 100
    /// The number of records of a partition to which `dlq.max.ratio` refers.
    package var deadLetterWindow = 1_000
    /// The texts about missing rights.
    package var rights = RightsText()
    /// The inputs that are compacted, in which a record may be missing.
    package var compactedInputs: Set<String> = []
    /// A Boolean value that indicates whether the client knows the ids of topics.
    package var hasTopicIDs = false
    /// `trace.log`: a Boolean value that indicates whether the times of sampled records are logged.
    package var logsTraces = false

    /// Creates the default policy.
    package init() {}

    /// Creates the policy of a configuration.
    package init(_ configuration: WorkerConfiguration, _ identity: LaneIdentity) {
        guarantee = configuration.guarantee
        from = configuration.from
        dataLoss = configuration.dataLoss
        commit = configuration.commit
        batchRecords = configuration.batchRecords
        transactionTimeoutMilliseconds = ClientSettings.transactionTimeout(configuration.clientProperties)
        sessionTimeoutMilliseconds = ClientSettings.sessionTimeout(configuration.clientProperties)
        startTimeoutMilliseconds = configuration.startTimeoutMilliseconds
        isStable = identity.isStable
        decidesContest = identity.lane == 0
        deadLetterMaxRatio = configuration.deadLetterMaxRatio
        deadLetterMaxConsecutive = configuration.deadLetterMaxConsecutive
        deadLetterExcess = configuration.deadLetterExcess
        deadLetterMaxRate = configuration.deadLetterMaxRate
        rights = RightsText(configuration)
        logsTraces = configuration.logsTraces
    }
}

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
    /// Add offsets to the transaction. A repeated call has the same arguments. Nil selects the producer's own limit.
    case sendOffsets([PartitionOffset], isRepeat: Bool, milliseconds: Int?)
    /// Commit the transaction. Nil selects the producer's own limit.
    case commit(milliseconds: Int?)
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
    /// Fetch the ids of these topics.
    case identify([String])
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
    /// Destroy the consumer without leaving the group.
    case abandon
    /// Ask the group who has the lane's instance name.
    case findHolders
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
    case findHolders = "describe_groups"
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
    case paused(partitions: Int)
    case resumed
    case rotated(RotationCause)
    case recreated(String, KafkaErrorCode)
    /// Another client has the lane's transactional id, or its name in the group.
    case fenced(ClientKind)
    case dataLost(TopicPartition, expected: Int64, actual: Int64, contradiction: WitnessContradiction? = nil)
    /// It cannot be checked whether the topic is still the same.
    case witnessUnknown(TopicPartition, offset: Int64)
    /// A committed offset no longer exists. `from` determines where to continue.
    case commitVanished(TopicPartition, had: Int64)
    /// A broker refuses the outputs of a record even when they are alone in a transaction. `isDeadLetter` is true if
    /// the output is the record's dead letter.
    case refused(TopicPartition, offset: Int64, isDeadLetter: Bool, KafkaErrorCode)
    /// A limit on dead letters was exceeded. The lane ends.
    case deadLetterLimit(DeadLetterExcess)
    /// The dead letters of a partition exceed `dlq.max.ratio`. From now on, `rate` of them per second are written.
    case slowed(TopicPartition, DeadLetterCounts, ratio: Double, rate: Int)
    /// A partition is no longer slowed.
    case recovered(TopicPartition, milliseconds: Int)
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
}
