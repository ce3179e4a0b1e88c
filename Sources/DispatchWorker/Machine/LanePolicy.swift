/// What a lane's machine must know of the configuration, as plain values.
package struct LanePolicy: Sendable, Equatable {
    /// Transactions or not.
    package var guarantee = Guarantee.exactlyOnce
    /// Where a partition without a committed offset starts.
    package var from = StartPolicy.earliest
    /// What to do when records are gone.
    package var dataLoss = DataLossPolicy.stop
    /// When a transaction ends.
    package var commit = CommitLimits()
    /// Records taken at once.
    package var batchRecords = 1_000
    /// `transaction.timeout.ms`.
    package var transactionTimeoutMilliseconds = 30_000
    /// `session.timeout.ms`.
    package var sessionTimeoutMilliseconds = 45_000
    /// How long the start may take without a broker.
    package var startTimeoutMilliseconds = 30_000
    /// Whether the transactional id stays over restarts, so that a twin can own it.
    package var isStable = false
    /// `dlq.max.ratio`, 0 for off.
    package var deadLetterMaxRatio = 0.0
    /// `dlq.max.consecutive`, 0 for off.
    package var deadLetterMaxConsecutive = 0

    /// Makes the default policy.
    package init() {}

    /// Takes what concerns a lane out of a configuration.
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
    }
}
