internal import CRdKafka

// The watermarks of a partition.
extension ClientHandle {
    /// Fetches the watermarks from the partition's leader.
    ///
    /// Throws `.timedOut` if no answer arrives in time.
    ///
    /// `rd_kafka_query_watermark_offsets` is not used because before 2.3.0 it ignores its timeout.
    func watermarks(of partition: TopicPartition, timeoutMilliseconds: Int32) throws(KafkaError) -> Watermarks {
        let began = ContinuousClock.now
        let low = try end(of: partition, LogicalOffset.beginning, timeoutMilliseconds)
        let spent = (ContinuousClock.now - began) / .milliseconds(1)
        let left = max(1, timeoutMilliseconds - Int32(min(spent, Double(timeoutMilliseconds))))
        return Watermarks(low: low, high: try end(of: partition, LogicalOffset.end, left))
    }

    /// Fetches one watermark.
    ///
    /// The request for the first offset since a time accepts -2 and -1 for the beginning and the end.
    private func end(
        of partition: TopicPartition, _ which: Int64, _ timeoutMilliseconds: Int32
    ) throws(KafkaError) -> Int64 {
        let list = PartitionList([PartitionOffset(partition, offset: which)])
        let code = call(.offsetsForTimes) { rd_kafka_offsets_for_times($0, list.pointer, timeoutMilliseconds) }
        try KafkaError.check(code)
        if let error = list.results.first?.error { throw error }
        // Without an answer, the list is returned unchanged.
        guard let offset = list.results.first?.offset else { throw KafkaError(code: .timedOut) }
        return offset
    }

    /// Returns the watermarks from the last fetch responses without a request, or nil before the first response.
    ///
    /// `high` is the high watermark regardless of the isolation level. A reader of committed records does not reach it
    /// after a transaction, because control records are not returned. `low` may be outdated or -1.
    func cachedWatermarks(of partition: TopicPartition) -> Watermarks? {
        var low: Int64 = 0
        var high: Int64 = 0
        let code = callWithoutWaiting {
            rd_kafka_get_watermark_offsets($0, partition.topic, partition.partition, &low, &high)
        }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, high >= 0 else { return nil }
        return Watermarks(low: max(-1, low), high: high)
    }
}
