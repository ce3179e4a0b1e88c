package import KafkaClient

/// The lag and the progress of an owned partition.
package struct PartitionLag: Sendable, Equatable {
    /// The lane that owns the partition.
    package var lane: Int
    /// The partition.
    package var partition: TopicPartition
    /// The records up to the last stable offset without an outcome, or nil if unknown.
    package var lag: Int64?
    /// The records between the last stable offset and the high watermark, or nil if unknown.
    package var unstable: Int64?
    /// The seconds since the partition last had progress or no lag.
    package var secondsSinceProgress = 0.0
    /// A Boolean value that indicates whether the partition has lag and no progress.
    package var isStalled = false

    /// Creates the lag of a partition.
    package init(lane: Int, partition: TopicPartition, lag: Int64? = nil, unstable: Int64? = nil) {
        self.lane = lane
        self.partition = partition
        self.lag = lag
        self.unstable = unstable
    }

    /// Creates the lag from a lane's state of a partition and the statistics of its consumer.
    ///
    /// The lag counts to the last stable offset, because records of open transactions cannot be consumed yet. It is 0
    /// after the control record of a transaction. It is unknown before the first fetch, and while only the broker knows
    /// where the partition starts.
    package init(lane: Int, _ view: PartitionView, _ statistics: LibraryStatistics.Partition?) {
        self.init(lane: lane, partition: view.partition)
        // The offsets of a paused partition are not fetched, so the lane asks for its end.
        let asked = view.isPaused ? view.end : nil
        guard view.isCurrent || view.committed != nil,
            let stable = [statistics?.stable, asked].compactMap({ $0 }).max()
        else { return }
        lag = max(0, stable - max(view.settled, statistics?.low ?? 0))
        if let high = statistics?.high { unstable = max(0, high - stable) }
    }
}
