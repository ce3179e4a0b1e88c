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
        }
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
                offset: element.offset >= 0 ? element.offset : nil, error: KafkaError(element.err))
        }
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
}
