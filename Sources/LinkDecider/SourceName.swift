internal import ByteStorage

/// The text `topic-partition-offset` of a record, or `topic-partition-offset.item` of one of its items.
///
/// It is updated in place, because usually only the last digit changes between records.
struct SourceName: ~Copyable {
    private let bytes: UnsafeMutablePointer<UInt8>
    private var count = 0
    /// The number of bytes of the item after the text of the record.
    private var itemBytes = 0
    private var topic = ByteView.empty
    private var partition: Int32 = -1
    private var offset: Int64 = -1

    /// The maximum size of a topic's name.
    ///
    /// Kafka allows 249 bytes.
    private static let maxTopicBytes = 249
    private static let maxBytes = maxTopicBytes + 40

    init() { bytes = .allocate(capacity: 2 * Self.maxBytes) }

    deinit { bytes.deallocate() }

    /// The text, which is valid until the next record or item.
    var view: ByteView { ByteView(start: bytes, count: count &+ itemBytes) }

    /// Updates the text for a record.
    @inline(__always)
    mutating func set(topic: ByteView, partition: Int32, offset: Int64) {
        let last = bytes + (count &- 1)
        if offset == self.offset &+ 1, partition == self.partition, last.pointee != UInt8(ascii: "9"),
            topic == self.topic
        {
            last.pointee &+= 1
            self.offset = offset
        } else {
            write(topic: topic, partition: partition, offset: offset)
        }
    }

    @inline(never)
    private mutating func write(topic: ByteView, partition: Int32, offset: Int64) {
        // A copy of the name for comparisons follows the text.
        let copy = bytes + Self.maxBytes
        let length = min(topic.count, Self.maxTopicBytes)
        copy.update(from: topic.start, count: length)
        self.topic = ByteView(start: copy, count: length)
        self.partition = partition
        self.offset = offset
        bytes.update(from: copy, count: length)
        count = length
        add(Int64(partition))
        add(offset)
    }

    /// Adds an item of the record in place of the last one, or removes it.
    ///
    /// An empty text stays empty.
    mutating func set(item: Int?) {
        itemBytes = 0
        guard let item, count > 0 else { return }
        let end = count
        add(Int64(item), after: UInt8(ascii: "."))
        itemBytes = count - end
        count = end
    }

    /// Appends a separator and a number.
    private mutating func add(_ number: Int64, after separator: UInt8 = UInt8(ascii: "-")) {
        bytes[count] = separator
        count += 1
        if number < 0 {
            bytes[count] = UInt8(ascii: "-")
            count += 1
        }
        var digits = 1
        var rest = number.magnitude
        while rest >= 10 {
            rest /= 10
            digits += 1
        }
        rest = number.magnitude
        for index in stride(from: count + digits - 1, through: count, by: -1) {
            bytes[index] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        count += digits
    }
}
