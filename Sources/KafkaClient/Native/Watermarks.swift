internal import CRdKafka

// The two ends of a partition.
extension ClientHandle {
    /// The two ends, asked from the partition's leader; throws `.timedOut` when no answer came in time.
    ///
    /// Not by `rd_kafka_query_watermark_offsets`, which before 2.3.0 waits for its answer whatever its timeout says.
    func watermarks(of partition: TopicPartition, timeoutMilliseconds: Int32) throws(KafkaError) -> Watermarks {
        let began = ContinuousClock.now
        let low = try end(of: partition, LogicalOffset.beginning, timeoutMilliseconds)
        let spent = (ContinuousClock.now - began) / .milliseconds(1)
        let left = max(1, timeoutMilliseconds - Int32(min(spent, Double(timeoutMilliseconds))))
        return Watermarks(low: low, high: try end(of: partition, LogicalOffset.end, left))
    }

    /// One end: the request for "the first offset from this time on" takes -2 and -1 for the beginning and the end.
    private func end(
        of partition: TopicPartition, _ which: Int64, _ timeoutMilliseconds: Int32
    ) throws(KafkaError) -> Int64 {
        let list = PartitionList([PartitionOffset(partition, offset: which)])
        let code = call(.offsetsForTimes) { rd_kafka_offsets_for_times($0, list.pointer, timeoutMilliseconds) }
        try KafkaError.check(code)
        if let error = list.results.first?.error { throw error }
        // A list that comes back as it was asked had no answer.
        guard let offset = list.results.first?.offset else { throw KafkaError(code: .timedOut) }
        return offset
    }

    /// What the last answers to this consumer's fetches said of a partition's ends; nil before the first one.
    ///
    /// Asks nobody. `high` is the high watermark whatever the isolation level: behind transactions a reader of
    /// committed records never comes to it, since their control records are not handed out. `low` may be old or -1.
    func cachedWatermarks(of partition: TopicPartition) -> Watermarks? {
        var low: Int64 = 0
        var high: Int64 = 0
        let code = quickly { rd_kafka_get_watermark_offsets($0, partition.topic, partition.partition, &low, &high) }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, high >= 0 else { return nil }
        return Watermarks(low: max(-1, low), high: high)
    }
}
