internal import CRdKafka

/// The owner of an `rd_kafka_topic_partition_list_t`.
struct PartitionList: ~Copyable {
    let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    /// Creates a list without offsets.
    init(_ partitions: [TopicPartition]) {
        pointer = rd_kafka_topic_partition_list_new(Int32(clamping: partitions.count))
        for partition in partitions {
            rd_kafka_topic_partition_list_add(pointer, partition.topic, partition.partition)
        }
    }

    /// Creates a list with offsets.
    init(_ offsets: [PartitionOffset]) {
        pointer = rd_kafka_topic_partition_list_new(Int32(clamping: offsets.count))
        for offset in offsets {
            let element = rd_kafka_topic_partition_list_add(
                pointer, offset.partition.topic, offset.partition.partition)
            element?.pointee.offset = offset.offset
            if !offset.metadata.isEmpty { Self.set(offset.metadata, of: element) }
        }
    }

    /// Sets the metadata of an element, which the list frees.
    private static func set(_ metadata: String, of element: UnsafeMutablePointer<rd_kafka_topic_partition_t>?) {
        let size = metadata.utf8.count
        guard let element, let copy = rd_kafka_mem_malloc(nil, size) else { return }
        UnsafeMutableRawBufferPointer(start: copy, count: size).copyBytes(from: metadata.utf8)
        element.pointee.metadata = copy
        element.pointee.metadata_size = size
    }

    /// Creates a list of topics or regular expressions for `subscribe`.
    init(topics: [String]) {
        pointer = rd_kafka_topic_partition_list_new(Int32(clamping: topics.count))
        for topic in topics {
            rd_kafka_topic_partition_list_add(pointer, topic, RD_KAFKA_PARTITION_UA)
        }
    }

    /// Creates the owner of a list that a C call returned.
    init(adopting pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) { self.pointer = pointer }

    deinit { rd_kafka_topic_partition_list_destroy(pointer) }

    /// The partitions, copied.
    var partitions: [TopicPartition] { Self.partitions(of: pointer) }

    /// The results that a call wrote for each partition.
    ///
    /// A negative offset means none.
    var results: [PartitionResult] {
        Self.elements(of: pointer).map { element in
            PartitionResult(
                partition: TopicPartition(topic: String(cString: element.topic), partition: element.partition),
                offset: element.offset >= 0 ? element.offset : nil, error: KafkaError(element.err),
                metadata: Self.metadata(of: element))
        }
    }

    /// Returns the metadata of an element, or an empty text if it is longer than brokers accept.
    private static func metadata(of element: rd_kafka_topic_partition_t) -> String {
        guard let bytes = element.metadata, element.metadata_size <= 4_096 else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: bytes, count: element.metadata_size), as: UTF8.self)
    }

    /// Returns a copy of the partitions of a list that C owns.
    static func partitions(of list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) -> [TopicPartition] {
        elements(of: list).map {
            TopicPartition(topic: String(cString: $0.topic), partition: $0.partition)
        }
    }

    /// Returns the first error of a partition that a call wrote, or nil.
    static func firstError(of list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) -> KafkaError? {
        for element in elements(of: list) {
            if let error = KafkaError(element.err) { return error }
        }
        return nil
    }

    private static func elements(
        of list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>
    ) -> UnsafeBufferPointer<rd_kafka_topic_partition_t> {
        UnsafeBufferPointer(start: list.pointee.elems, count: Int(list.pointee.cnt))
    }
}

extension ClientHandle {
    /// Returns the current assignment of a consumer.
    func assignment() throws(KafkaError) -> [TopicPartition] {
        var list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
        try KafkaError.check(call(.assignment) { rd_kafka_assignment($0, &list) })
        guard let list else { return [] }
        return PartitionList(adopting: list).partitions
    }

    /// Fetches, for each partition, the offset of the first record whose timestamp is at least the given one.
    func offsets(
        forTimes times: [PartitionOffset], timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [PartitionResult] {
        let list = PartitionList(times)
        try KafkaError.check(
            call(.offsetsForTimes) { rd_kafka_offsets_for_times($0, list.pointer, timeoutMilliseconds) })
        return list.results
    }
}

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
