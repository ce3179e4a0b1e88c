internal import LinkIngest

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

/// The indexes of devices of the messages of one partition that can still get more decisions.
///
/// A message has a unit, a number in the order of the messages: 128 times the offset, plus the item after 1 in a record
/// with several messages. The decisions of one message go to the partitions of their devices, which are read at
/// different speeds. So the indexes from 1 on are kept until all partitions were read up to a later event. Index 0
/// needs no place here, so an event with one device costs nothing.
struct IndexWindow {
    /// The indexes of one message, one bit each.
    typealias Indexes = SIMD8<UInt64>

    private var entries: [Int64: Indexes] = [:]
    /// The unit below which all decisions were read, and only wrong messages are kept.
    private var closedBelow = Int64.min
    /// The unit below which messages were closed before all partitions were read that far.
    private(set) var closedEarlyBelow = Int64.min

    /// The number of messages.
    var count: Int { entries.count }

    /// Adds an index from 1 on, and returns false if the message had it.
    ///
    /// A decision of a message that was whole is too late, which its order shows.
    mutating func insert(_ unit: Int64, _ index: Int) -> Bool {
        let mask: UInt64 = 1 << UInt64(index & 63)
        guard var indexes = entries[unit] ?? (unit < closedBelow ? nil : Indexes()) else { return true }
        let isNew = indexes[index >> 6] & mask == 0
        indexes[index >> 6] |= mask
        entries[unit] = indexes
        return isNew
    }

    /// Removes the messages below a unit that miss no index, after all their decisions were read.
    ///
    /// - Parameter hasFirst: A function that returns whether a message has the index 0.
    mutating func close(below end: Int64, hasFirst: (Int64) -> Bool) {
        guard end > closedBelow else { return }
        closedBelow = end
        for (unit, indexes) in entries where unit < end {
            if Self.firstMissing(indexes, hasFirst: hasFirst(unit)) == nil { entries[unit] = nil }
        }
    }

    /// Removes and returns all messages, or the first half of them before all their decisions were read.
    mutating func take(half: Bool) -> [(unit: Int64, indexes: Indexes)] {
        let sorted = entries.sorted { $0.key < $1.key }
        let taken = sorted.prefix(half ? (sorted.count + 1) / 2 : sorted.count)
        if half, let last = taken.last { closedEarlyBelow = max(closedEarlyBelow, last.key + 1) }
        for (unit, _) in taken { entries[unit] = nil }
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

/// The outcomes of the items of a record with several messages.
struct ItemOutcomes {
    /// The items with a decision of their first device, and those with any decision, as bits.
    private var first: UInt128 = 0
    private var decided: UInt128 = 0
    /// The items with a dead letter.
    private var dead: UInt128 = 0
    /// The items with a dead letter of another group.
    private var deadElsewhere: UInt128 = 0
    /// The number of items, or nil if it is unknown.
    var count: Int?

    /// Adds a decision, and returns false if the item had one with the index 0, and this one is one.
    mutating func insert(decided item: Int, _ index: Int) -> Bool {
        let isNew = !isDecided(item)
        decided |= 1 << UInt128(item)
        if index == 0 { first |= 1 << UInt128(item) }
        return isNew
    }

    /// Adds a dead letter, and returns false if the item had one, or nil if no record has such an item.
    mutating func insert(dead item: Int) -> Bool? {
        guard (0..<RecordBatch.limit).contains(item) else { return nil }
        let isNew = !isDead(item)
        dead |= 1 << UInt128(item)
        return isNew
    }

    /// Adds the dead letters of another group.
    mutating func add(elsewhere other: ItemOutcomes) { deadElsewhere |= other.dead }

    /// Returns a Boolean value that indicates whether the item has a decision with the index 0.
    func isDecided(_ item: Int) -> Bool { first >> UInt128(item) & 1 == 1 }
    func hasDecision(_ item: Int) -> Bool { decided >> UInt128(item) & 1 == 1 }
    func isDead(_ item: Int) -> Bool { dead >> UInt128(item) & 1 == 1 }

    /// The first item without an outcome, or nil if each one has one.
    var firstMissing: Int? {
        let item = (~(decided | dead | deadElsewhere)).trailingZeroBitCount
        return item < count ?? (128 - (decided | dead).leadingZeroBitCount) ? item : nil
    }

    /// The first item with an outcome that the record does not have, or nil.
    var firstBeyond: Int? {
        guard let count else { return nil }
        let beyond = (decided | dead) >> UInt128(count)
        return beyond == 0 ? nil : count + beyond.trailingZeroBitCount
    }
}
