/// A histogram of a lane.
///
/// Durations are measured in nanoseconds.
package enum LaneHistogram: Int, Sendable, CaseIterable {
    /// Records of a batch that were processed at once.
    case batchRecords
    /// The duration of processing a batch.
    case resolveSeconds
    /// The time from a record's timestamp until its commit returned, of 1 in 64 records.
    case endToEndSeconds
    /// Input records of a committed transaction.
    case transactionRecords
    /// The time from the begin of a committed transaction until its commit returned.
    case transactionSeconds
    /// The duration of a commit call.
    case commitSeconds
    /// The duration of a call that adds offsets to a transaction.
    case sendOffsetsSeconds
    /// The duration of the lane's answer to a rebalance.
    case rebalanceSeconds

    /// The upper bounds of the buckets, without the last one, which has no bound.
    package var bounds: [UInt64] {
        switch self {
        case .batchRecords, .transactionRecords: Self.counts
        case .resolveSeconds: Self.shortTimes
        case .endToEndSeconds, .transactionSeconds, .commitSeconds, .sendOffsetsSeconds, .rebalanceSeconds: Self.times
        }
    }

    /// A Boolean value that indicates whether the values are nanoseconds.
    package var isTime: Bool {
        switch self {
        case .batchRecords, .transactionRecords: false
        default: true
        }
    }

    private static let counts: [UInt64] = [1, 10, 100, 1_000, 10_000, 50_000, 100_000, 500_000]
    /// From 100 µs to 1 s.
    private static let shortTimes: [UInt64] = [
        100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000,
        250_000_000, 500_000_000, 1_000_000_000,
    ]
    /// From 1 ms to 60 s.
    private static let times: [UInt64] = [
        1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000, 500_000_000,
        1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000, 30_000_000_000, 60_000_000_000,
    ]
}

/// The values of a histogram.
package struct HistogramValues: Sendable, Equatable {
    /// The upper bounds of the buckets, without the last one.
    package var bounds: [UInt64]
    /// The number of values in each bucket, which are one more than the bounds.
    package var buckets: [UInt64]
    /// The sum of the values.
    package var sum: UInt64

    /// The number of values.
    package var count: UInt64 { buckets.reduce(0, &+) }
}
