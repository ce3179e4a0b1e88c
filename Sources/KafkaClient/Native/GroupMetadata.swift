internal import CRdKafka

/// A consumer's group metadata (member and generation), which fences a transaction's offsets.
///
/// Get a new one for every commit.
package struct GroupMetadata: ~Copyable {
    let pointer: OpaquePointer

    init(adopting pointer: OpaquePointer) { self.pointer = pointer }

    deinit { rd_kafka_consumer_group_metadata_destroy(pointer) }
}
