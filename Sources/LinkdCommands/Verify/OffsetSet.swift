/// A set of offsets of one partition, with one bit for each offset of a range.
struct OffsetSet {
    /// The offsets that the set can have.
    let range: Range<Int64>
    private(set) var words: [UInt64]

    /// Creates an empty set.
    init(_ range: Range<Int64>) {
        self.range = range
        words = Array(repeating: 0, count: (range.count + 63) / 64)
    }

    /// Returns a Boolean value that indicates whether the set has an offset, which must be in the range.
    func contains(_ offset: Int64) -> Bool {
        let bit = offset - range.lowerBound
        return words[Int(bit >> 6)] & (1 << UInt64(bit & 63)) != 0
    }

    /// Adds an offset, which must be in the range, and returns false if the set had it.
    @discardableResult
    mutating func insert(_ offset: Int64) -> Bool {
        let bit = offset - range.lowerBound
        let mask: UInt64 = 1 << UInt64(bit & 63)
        let isNew = words[Int(bit >> 6)] & mask == 0
        words[Int(bit >> 6)] |= mask
        return isNew
    }

    /// Calls a function with the offset of each bit of a word.
    func forEach(in word: UInt64, at index: Int, _ body: (Int64) -> Void) {
        var bits = word
        while bits != 0 {
            body(range.lowerBound + Int64(index * 64 + bits.trailingZeroBitCount))
            bits &= bits - 1
        }
    }
}

/// The indexes of devices of the events of one partition that can still get more decisions.
///
/// The decisions of one event go to the partitions of their devices, which are read at different speeds. So the indexes
/// from 1 on are kept until all partitions were read up to a later event. Index 0 needs no place here, so an event with
/// one device costs nothing.
struct IndexWindow {
    /// The indexes of one event, one bit each.
    typealias Indexes = SIMD8<UInt64>

    private var entries: [Int64: Indexes] = [:]
    /// The offset below which all decisions were read, and only wrong events are kept.
    private var closedBelow = Int64.min
    /// The offset below which events were closed before all partitions were read that far.
    private(set) var closedEarlyBelow = Int64.min

    /// The number of events.
    var count: Int { entries.count }

    /// Adds an index from 1 on, and returns false if the event had it.
    ///
    /// A decision of an event that was whole is too late, which its order shows.
    mutating func insert(_ offset: Int64, _ index: Int) -> Bool {
        let mask: UInt64 = 1 << UInt64(index & 63)
        guard var indexes = entries[offset] ?? (offset < closedBelow ? nil : Indexes()) else { return true }
        let isNew = indexes[index >> 6] & mask == 0
        indexes[index >> 6] |= mask
        entries[offset] = indexes
        return isNew
    }

    /// Removes the events below an offset that miss no index, after all their decisions were read.
    ///
    /// - Parameter decided: The events with the index 0.
    mutating func close(below end: Int64, decided: OffsetSet) {
        guard end > closedBelow else { return }
        closedBelow = end
        for (offset, indexes) in entries where offset < end {
            if Self.firstMissing(indexes, hasFirst: decided.contains(offset)) == nil { entries[offset] = nil }
        }
    }

    /// Removes and returns all events, or the first half of them before all their decisions were read.
    mutating func take(half: Bool) -> [(offset: Int64, indexes: Indexes)] {
        let sorted = entries.sorted { $0.key < $1.key }
        let taken = sorted.prefix(half ? (sorted.count + 1) / 2 : sorted.count)
        if half, let last = taken.last { closedEarlyBelow = max(closedEarlyBelow, last.key + 1) }
        for (offset, _) in taken { entries[offset] = nil }
        return taken.map { ($0.key, $0.value) }
    }

    /// Returns the first index that is absent below one that is present, or nil if there is none.
    static func firstMissing(_ indexes: Indexes, hasFirst: Bool) -> Int? {
        var indexes = indexes
        if hasFirst { indexes[0] |= 1 }
        for word in 0..<8 where indexes[word] != .max {
            let length = (~indexes[word]).trailingZeroBitCount
            let later = (word + 1..<8).contains { indexes[$0] != 0 }
            return indexes[word] >> UInt64(length) != 0 || later ? word * 64 + length : nil
        }
        return nil
    }
}
