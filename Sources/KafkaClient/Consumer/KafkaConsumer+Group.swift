internal import CRdKafka

// Group membership: the assignment and the answers to rebalances.
//
// A rebalance counts as answered when one of the assign functions has succeeded. If the handler's call throws, the
// rebalance is answered as librdkafka does without a handler, so that the group never waits for this member forever.
extension KafkaConsumer {
    /// The protocol by which the group assigns partitions.
    package var rebalanceProtocol: RebalanceProtocol { RebalanceProtocol(of: handle) }

    /// A Boolean value that indicates whether the current assignment is lost.
    ///
    /// Other members may already own it.
    package var assignmentLost: Bool { handle.callWithoutWaiting { rd_kafka_assignment_lost($0) } != 0 }

    /// Returns the current assignment.
    package func assignment() throws(KafkaError) -> [TopicPartition] { try handle.assignment() }

    /// Assigns exactly these partitions at these offsets.
    package func assign(_ offsets: [PartitionOffset]) throws(KafkaError) {
        let list = PartitionList(offsets)
        try KafkaError.check(handle.call(.assign) { rd_kafka_assign($0, list.pointer) })
        context.isAnswered = true
    }

    /// Removes the whole assignment.
    package func unassign() throws(KafkaError) {
        try KafkaError.check(handle.call(.assign) { rd_kafka_assign($0, nil) })
        context.isAnswered = true
    }

    /// Adds these partitions at these offsets to the assignment (cooperative groups).
    package func incrementalAssign(_ offsets: [PartitionOffset]) throws(KafkaError) {
        let list = PartitionList(offsets)
        try KafkaError.check(handle.call(.incrementalAssign) { rd_kafka_incremental_assign($0, list.pointer) })
        context.isAnswered = true
    }

    /// Removes these partitions from the assignment (cooperative groups).
    package func incrementalUnassign(_ partitions: [TopicPartition]) throws(KafkaError) {
        let list = PartitionList(partitions)
        try KafkaError.check(handle.call(.incrementalUnassign) { rd_kafka_incremental_unassign($0, list.pointer) })
        context.isAnswered = true
    }

    /// Returns the group metadata for `KafkaProducer.sendOffsets`, or nil outside of a group.
    package func groupMetadata() -> GroupMetadata? {
        guard let metadata = handle.call(.groupMetadata, { rd_kafka_consumer_group_metadata($0) }) else { return nil }
        return GroupMetadata(adopting: metadata)
    }
}
