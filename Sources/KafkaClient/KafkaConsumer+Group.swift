internal import CRdKafka

// The member's side of the group: what it owns, and answers to rebalances.
//
// A rebalance counts as answered when one of these has succeeded: one that throws leaves it to the answer that
// librdkafka would give without a handler, so that the group never waits for this member in vain.
extension KafkaConsumer {
    /// How the group hands over partitions.
    package var rebalanceProtocol: RebalanceProtocol { RebalanceProtocol(of: handle) }

    /// Whether the current assignment is lost: others may own it already.
    package var assignmentLost: Bool { handle.quickly { rd_kafka_assignment_lost($0) } != 0 }

    /// What is assigned now.
    package func assignment() throws(KafkaError) -> [TopicPartition] {
        var list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
        try KafkaError.check(handle.call(.assignment) { rd_kafka_assignment($0, &list) })
        guard let list else { return [] }
        return PartitionList(taking: list).partitions
    }

    /// Consumes exactly these partitions from these offsets.
    package func assign(_ offsets: [PartitionOffset]) throws(KafkaError) {
        let list = PartitionList(offsets)
        try KafkaError.check(handle.call(.assign) { rd_kafka_assign($0, list.pointer) })
        context.isAnswered = true
    }

    /// Consumes nothing any more.
    package func unassign() throws(KafkaError) {
        try KafkaError.check(handle.call(.assign) { rd_kafka_assign($0, nil) })
        context.isAnswered = true
    }

    /// Consumes these partitions too, from these offsets (cooperative groups).
    package func incrementalAssign(_ offsets: [PartitionOffset]) throws(KafkaError) {
        let list = PartitionList(offsets)
        try KafkaError.check(handle.call(.incrementalAssign) { rd_kafka_incremental_assign($0, list.pointer) })
        context.isAnswered = true
    }

    /// Consumes these partitions no more (cooperative groups).
    package func incrementalUnassign(_ partitions: [TopicPartition]) throws(KafkaError) {
        let list = PartitionList(partitions)
        try KafkaError.check(handle.call(.incrementalUnassign) { rd_kafka_incremental_unassign($0, list.pointer) })
        context.isAnswered = true
    }

    /// The member's place in the group, for `KafkaProducer.sendOffsets`; nil when there is no group.
    package func groupMetadata() -> GroupMetadata? {
        guard let metadata = handle.call(.groupMetadata, { rd_kafka_consumer_group_metadata($0) }) else { return nil }
        return GroupMetadata(taking: metadata)
    }
}
