/// The settings that concern a lane, as plain values.
package struct LanePolicy: Sendable, Equatable {
    /// The guarantee.
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
    /// A Boolean value that indicates whether the transactional id survives restarts, so that another process may have
    /// the same one.
    package var isStable = false
    /// `dlq.max.ratio`, or 0 for no limit.
    package var deadLetterMaxRatio = 0.0
    /// `dlq.max.consecutive`, or 0 for no limit.
    package var deadLetterMaxConsecutive = 0
    /// The texts about missing rights.
    package var rights = RightsText()
    /// `trace.log`: a Boolean value that indicates whether the times of sampled records are logged.
    package var logsTraces = false

    /// Creates the default policy.
    package init() {}

    /// Creates the policy of a configuration.
    package init(_ configuration: WorkerConfiguration, isStable: Bool) {
        guarantee = configuration.guarantee
        from = configuration.from
        dataLoss = configuration.dataLoss
        commit = configuration.commit
        batchRecords = configuration.batchRecords
        transactionTimeoutMilliseconds = ClientSettings.transactionTimeout(configuration.clientProperties)
        sessionTimeoutMilliseconds = ClientSettings.sessionTimeout(configuration.clientProperties)
        startTimeoutMilliseconds = configuration.startTimeoutMilliseconds
        self.isStable = isStable
        deadLetterMaxRatio = configuration.deadLetterMaxRatio
        deadLetterMaxConsecutive = configuration.deadLetterMaxConsecutive
        rights = RightsText(configuration)
        logsTraces = configuration.logsTraces
    }
}
