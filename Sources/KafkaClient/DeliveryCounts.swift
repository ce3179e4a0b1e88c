/// What delivery reports told since the producer was made.
package struct DeliveryCounts: Sendable, Equatable {
    /// Records that a broker has.
    package var delivered: Int
    /// Records that failed, without purged ones.
    package var failed: Int
    /// Records that an abort or a purge took.
    package var purged: Int
    /// Failed records by code, since errors were forgotten last.
    package var failures: [KafkaErrorCode: Int]
    /// The last error that speaks of one record (too large, invalid, bad timestamp), since errors were forgotten last.
    package var lastRecordError: KafkaError?
    /// The last error of any kind, since errors were forgotten last.
    package var lastError: KafkaError?

    /// Records whose fate is known.
    package var reported: Int { delivered + failed + purged }

    /// Makes counts.
    package init(
        delivered: Int = 0, failed: Int = 0, purged: Int = 0, failures: [KafkaErrorCode: Int] = [:],
        lastRecordError: KafkaError? = nil, lastError: KafkaError? = nil
    ) {
        self.delivered = delivered
        self.failed = failed
        self.purged = purged
        self.failures = failures
        self.lastRecordError = lastRecordError
        self.lastError = lastError
    }
}
