internal import ByteStorage

/// The id of a decision, read from the first bytes of the decision without reading the rest.
///
/// A decision begins with its id: `TOPIC-PARTITION-OFFSET-INDEX`, and for a correction `~` and a number. A topic is
/// verified at the speed of the network, so the JSON of a decision is not parsed.
struct OutcomeID {
    /// The greatest index of a device.
    static let greatestIndex: Int64 = 499
    /// The greatest offset, so that an offset and an index fit into 63 bits.
    static let greatestOffset: Int64 = (1 << 54) - 1
    private static let start = ByteView(#"{"decision":""#)
    /// The limit of an id, in bytes: a topic has at most 249, and the numbers have at most 10, 17, 3, and 19.
    private static let byteLimit = 320

    /// The topic of the event.
    let topic: ByteView
    /// The partition of the event.
    let partition: Int32
    /// The offset of the event.
    let offset: Int64
    /// The index of the device.
    let index: Int
    /// A Boolean value that indicates whether the decision replaces another one of the same event and device.
    let isCorrection: Bool

    /// Reads the id of a decision, or returns nil if the value does not begin with one.
    init?(decision value: ByteView) {
        guard value.hasPrefix(Self.start) else { return nil }
        let rest = value.slice(Self.start.count, min(value.count, Self.start.count + Self.byteLimit))
        guard var end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        guard var last = Self.number(rest, &end) else { return nil }
        isCorrection = rest[end] == UInt8(ascii: "~")
        if isCorrection {
            guard last > 0, let index = Self.number(rest, &end) else { return nil }
            last = index
        }
        guard rest[end] == UInt8(ascii: "-"), last <= Self.greatestIndex, let offset = Self.number(rest, &end),
            rest[end] == UInt8(ascii: "-"), offset <= Self.greatestOffset, let number = Self.number(rest, &end),
            rest[end] == UInt8(ascii: "-"), let partition = Int32(exactly: number), end > 0
        else { return nil }
        topic = rest.slice(0, end)
        self.partition = partition
        self.offset = offset
        index = Int(last)
    }

    /// Returns the decimal number before `end` without leading zeros, and moves `end` to the byte before it.
    private static func number(_ text: ByteView, _ end: inout Int) -> Int64? {
        var start = end
        while start > 0, (0x30...0x39).contains(text[start - 1]) { start -= 1 }
        guard start > 0, start < end, text[start] != 0x30 || end - start == 1 else { return nil }
        let number = DeadLetterHead.decimal(text.slice(start, end))
        end = start - 1
        return number
    }
}
