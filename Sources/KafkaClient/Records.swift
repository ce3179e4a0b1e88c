package import ByteStorage

/// One consumed record as the worker sees it: where it stands and views of its bytes.
///
/// The views live until the batch that it came with is released.
package struct ConsumedRecord {
    /// Index of the topic among those that this consumer has met (`KafkaConsumer.topicName(at:)`).
    package var topic: Int32
    /// Partition number.
    package var partition: Int32
    /// Offset in the partition.
    package var offset: Int64
    /// Record timestamp in milliseconds since 1970, or -1 when the record has none.
    package var timestamp: Int64
    /// The key, or nil when the record has none (an empty key is not nil).
    package var key: ByteView?
    /// The value, or nil for a tombstone (an empty value is not nil).
    package var value: ByteView?
    /// Position in the batch, for `headers(of:)`.
    package var index: Int32
    /// Whether the record has at least one header.
    package var hasHeaders: Bool

    /// Makes a record.
    package init(
        topic: Int32, partition: Int32, offset: Int64, timestamp: Int64, key: ByteView?, value: ByteView?, index: Int32,
        hasHeaders: Bool
    ) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.index = index
        self.hasHeaders = hasHeaders
    }
}

/// One record to produce without headers; its partition and topic are said once per call.
///
/// The value is not copied: its bytes must live until the transaction has ended or, at least once, until every
/// delivery was reported. The key is copied by the client.
package struct OutboundRecord {
    /// The key, or nil for none.
    package var key: ByteView?
    /// The value.
    package var value: ByteView

    /// Makes a record.
    package init(key: ByteView?, value: ByteView) {
        self.key = key
        self.value = value
    }
}

/// A header: a name and a value; nil is no value, which is not the same as an empty one.
package struct RecordHeader: Sendable, Equatable {
    /// The name, as bytes of UTF-8.
    package var name: [UInt8]
    /// The value, or nil for null.
    package var value: [UInt8]?

    /// Makes a header.
    package init(name: [UInt8], value: [UInt8]?) {
        self.name = name
        self.value = value
    }
}
