internal import CRdKafka

/// A consumer's place in its group (member, generation), which fences a transaction's offsets.
///
/// Take a fresh one for every commit.
package struct GroupMetadata: ~Copyable {
    let pointer: OpaquePointer

    init(taking pointer: OpaquePointer) { self.pointer = pointer }

    deinit { rd_kafka_consumer_group_metadata_destroy(pointer) }
}
