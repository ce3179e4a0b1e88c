internal import CRdKafka

// The member's side of the group: what it owns, and answers to rebalances.
extension KafkaConsumer {
    /// How the group hands over partitions.
    package var rebalanceProtocol: RebalanceProtocol { RebalanceProtocol(of: handle.pointer) }

    /// Whether the current assignment is lost: others may own it already.
    package var assignmentLost: Bool { rd_kafka_assignment_lost(handle.pointer) != 0 }

    /// What is assigned now.
    package func assignment() throws(KafkaError) -> [TopicPartition] {
        var list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
        try KafkaError.check(rd_kafka_assignment(handle.pointer, &list))
        guard let list else { return [] }
        return PartitionList(taking: list).partitions
    }

    /// Consumes exactly these partitions from these offsets.
    package func assign(_ offsets: [PartitionOffset]) throws(KafkaError) {
        context.isAnswered = true
        let list = PartitionList(offsets)
        try KafkaError.check(rd_kafka_assign(handle.pointer, list.pointer))
    }

    /// Consumes nothing any more.
    package func unassign() throws(KafkaError) {
        context.isAnswered = true
        try KafkaError.check(rd_kafka_assign(handle.pointer, nil))
    }

    /// Consumes these partitions too, from these offsets (cooperative groups).
    package func incrementalAssign(_ offsets: [PartitionOffset]) throws(KafkaError) {
        context.isAnswered = true
        let list = PartitionList(offsets)
        try KafkaError.check(rd_kafka_incremental_assign(handle.pointer, list.pointer))
    }

    /// Consumes these partitions no more (cooperative groups).
    package func incrementalUnassign(_ partitions: [TopicPartition]) throws(KafkaError) {
        context.isAnswered = true
        let list = PartitionList(partitions)
        try KafkaError.check(rd_kafka_incremental_unassign(handle.pointer, list.pointer))
    }

    /// The member's place in the group, for `KafkaProducer.sendOffsets`; nil when there is no group.
    package func groupMetadata() -> GroupMetadata? {
        guard let metadata = rd_kafka_consumer_group_metadata(handle.pointer) else { return nil }
        return GroupMetadata(taking: metadata)
    }
}
