/// The counts of delivery reports since the producer was created.
package struct DeliveryCounts: Sendable, Equatable {
    /// Records that a broker has stored.
    package var delivered: Int
    /// Records that failed, not including purged ones.
    package var failed: Int
    /// Records that were purged, by `purge` or by an abort.
    package var purged: Int
    /// Failed records by code since `forgetDeliveryErrors`.
    package var failures: [KafkaErrorCode: Int]
    /// The last error since `forgetDeliveryErrors` that is about one record (too large, invalid, bad timestamp), or
    /// nil.
    package var lastRecordError: KafkaError?
    /// The last error since `forgetDeliveryErrors`, or nil.
    package var lastError: KafkaError?

    /// The number of records with a delivery report.
    package var reported: Int { delivered + failed + purged }

    /// Creates counts.
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
