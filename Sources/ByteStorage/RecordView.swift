/// One consumed record: its position and views of its bytes.
///
/// The views are valid until its batch is released.
package struct ConsumedRecord {
    /// The consumer's index of the topic, whose name is not part of the record.
    package var topic: Int32
    /// The partition number.
    package var partition: Int32
    /// The offset in the partition.
    package var offset: Int64
    /// The timestamp in milliseconds since 1970, or -1 if the record has none.
    package var timestamp: Int64
    /// The key, or nil if the record has none.
    ///
    /// An empty key is not nil.
    package var key: ByteView?
    /// The value, or nil for a tombstone.
    ///
    /// An empty value is not nil.
    package var value: ByteView?
    /// The index in the batch, for `headers(of:)`.
    package var index: Int32
    /// A Boolean value that indicates whether the record has at least one header.
    package var hasHeaders: Bool

    /// Creates a record.
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

/// A header: a name and a value.
package struct RecordHeader: Sendable, Equatable {
    /// The name, in UTF-8.
    package var name: [UInt8]
    /// The value, or nil for null, which is different from an empty value.
    package var value: [UInt8]?

    /// Creates a header.
    package init(name: [UInt8], value: [UInt8]?) {
        self.name = name
        self.value = value
    }
}

/// A header as views of borrowed bytes.
///
/// The owning form is `RecordHeader`.
package struct HeaderView: Sendable {
    package var name: ByteView
    /// The value, or nil for null, which is different from an empty value.
    package var value: ByteView?

    /// Creates a header.
    package init(name: ByteView, value: ByteView?) {
        self.name = name
        self.value = value
    }

    /// A copy that owns its bytes.
    package var copied: RecordHeader { RecordHeader(name: name.array, value: value?.array) }
}
