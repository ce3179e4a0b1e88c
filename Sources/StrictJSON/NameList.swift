internal import ByteStorage

/// The names so far in the open objects, for the search for duplicates.
///
/// One stack serves all open objects: each owns the entries from its `firstName` on. The 64-bit filter of a scope
/// excludes most duplicates. Up to 16 names are compared one by one. More are sorted by their hashes when their object
/// ends, and once before. Anyone can compute names with equal hashes, so many of them are sorted again by a hash with a
/// secret. The time for an object with n members is therefore proportional to n.
struct NameList: ~Copyable {
    struct Entry {
        /// Bytes of the text or of the cursor's scratch memory, which do not change before the next text.
        var name: ByteView
        var hash: UInt32
        var offset: Int
    }

    static let maxLinearSearchCount = 16
    /// The number of names at which duplicates are searched for before the end of the object.
    static let earlySearchCount = 128

    private(set) var entries: UnsafeMutablePointer<Entry>
    private(set) var count = 0
    private var capacity = 64
    /// The largest number of names that are sorted by comparison and not by counting.
    private static let maxComparisonSortCount = 1024
    private var keys: UnsafeMutablePointer<UInt64>
    private var keyCapacity = 64

    init() {
        entries = .allocate(capacity: 64)
        keys = .allocate(capacity: 128)
    }

    deinit {
        entries.deallocate()
        keys.deallocate()
    }

    mutating func removeAll() { count = 0 }

    mutating func removeAll(from first: Int) { count = first }

    mutating func append(_ entry: Entry) {
        if count == capacity {
            let larger = UnsafeMutablePointer<Entry>.allocate(capacity: capacity * 2)
            larger.moveInitialize(from: entries, count: count)
            entries.deallocate()
            entries = larger
            capacity *= 2
        }
        entries[count] = entry
        count += 1
    }

    /// Returns a Boolean value that indicates whether `name` is among the entries from `first` on, by linear search.
    func contains(_ name: ByteView, hash: UInt32, from first: Int) -> Bool {
        var index = first
        while index < count {
            if entries[index].hash == hash && entries[index].name == name { return true }
            index += 1
        }
        return false
    }

    /// Returns the offset of a name that occurs twice from `first` on, or nil if there is none.
    ///
    /// It sorts numbers instead of entries, with the hash in the upper bits and the index in the lower bits. Then it
    /// compares the names that have the same hash.
    mutating func duplicate(from first: Int) -> Int? {
        let count = count - first
        if count < 2 { return nil }
        if count > keyCapacity { growKeys(count) }
        for index in 0..<count { keys[index] = UInt64(entries[first + index].hash) << 32 | UInt64(index) }
        return duplicate(among: sort(count, of: keys, keys + keyCapacity), first, isSecret: false)
    }

    /// Returns the least offset of a name that occurs twice among the names of sorted keys, or nil if there is none.
    ///
    /// - Parameter isSecret: A Boolean value that indicates whether the hashes in the keys have a secret.
    private func duplicate(among sorted: UnsafeMutableBufferPointer<UInt64>, _ first: Int, isSecret: Bool) -> Int? {
        var found: Int?
        var start = 0
        while start < sorted.count {
            var end = start + 1
            while end < sorted.count && sorted[end] >> 32 == sorted[start] >> 32 { end += 1 }
            if end - start > 1 {
                let same = UnsafeMutableBufferPointer(rebasing: sorted[start..<end])
                let offset: Int?
                if isOneName(same, first) {
                    offset = secondOffset(same, first)
                } else if !isSecret && same.count > Self.maxLinearSearchCount {
                    offset = duplicate(amongMany: same, first)
                } else {
                    offset = duplicate(among: same, first)
                }
                if let offset { found = min(found ?? offset, offset) }
            }
            start = end
        }
        return found
    }

    /// Returns the least offset of a name that occurs twice among many names of one hash, or nil if there is none.
    ///
    /// The secret of `Hasher` is new in each process. It affects the order of comparisons only, not their result.
    @inline(never)
    private func duplicate(amongMany keys: UnsafeMutableBufferPointer<UInt64>, _ first: Int) -> Int? {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 2 * keys.count) { memory in
            guard let base = memory.baseAddress else { return nil }
            for (place, key) in keys.enumerated() {
                let index = key & 0xFFFF_FFFF
                var hasher = Hasher()
                hasher.combine(bytes: UnsafeRawBufferPointer(entries[first + Int(index)].name.buffer))
                let hash = UInt64(truncatingIfNeeded: hasher.finalize())
                (base + place).initialize(to: hash << 32 | index)
            }
            return duplicate(among: sort(keys.count, of: base, base + keys.count), first, isSecret: true)
        }
    }

    /// Sorts keys, and returns them in their memory or in another memory of the same size.
    private func sort(
        _ count: Int, of keys: UnsafeMutablePointer<UInt64>, _ other: UnsafeMutablePointer<UInt64>
    ) -> UnsafeMutableBufferPointer<UInt64> {
        let isSmall = count <= Self.maxComparisonSortCount
        let sorted = isSmall ? sortByComparing(keys, count) : sortByCounting(keys, other, count)
        return UnsafeMutableBufferPointer(start: sorted, count: count)
    }

    /// Returns the least offset of a name that occurs twice among names of one hash, or nil if there is none.
    private func duplicate(among keys: UnsafeMutableBufferPointer<UInt64>, _ first: Int) -> Int? {
        var same = keys
        let entries = entries
        func entry(_ key: UInt64) -> Entry { entries[first + Int(truncatingIfNeeded: key & 0xFFFF_FFFF)] }
        same.sort { a, b in
            let a = entry(a)
            let b = entry(b)
            return a.name == b.name ? a.offset < b.offset : a.name < b.name
        }
        var found: Int?
        for index in 1..<same.count {
            let a = entry(same[index - 1])
            let b = entry(same[index])
            if a.name == b.name { found = min(found ?? .max, max(a.offset, b.offset)) }
        }
        return found
    }

    /// Returns a Boolean value that indicates whether all names are equal, as one that occurs many times, which needs
    /// no order.
    private func isOneName(_ keys: UnsafeMutableBufferPointer<UInt64>, _ first: Int) -> Bool {
        let name = entries[first + Int(truncatingIfNeeded: keys[0] & 0xFFFF_FFFF)].name
        return keys.allSatisfy { entries[first + Int(truncatingIfNeeded: $0 & 0xFFFF_FFFF)].name == name }
    }

    /// Returns the second of the names' offsets in ascending order.
    private func secondOffset(_ keys: UnsafeMutableBufferPointer<UInt64>, _ first: Int) -> Int {
        var least = Int.max
        var second = Int.max
        for key in keys {
            let offset = entries[first + Int(truncatingIfNeeded: key & 0xFFFF_FFFF)].offset
            second = min(second, max(least, offset))
            least = min(least, offset)
        }
        return second
    }

    private mutating func growKeys(_ count: Int) {
        keys.deallocate()
        keyCapacity = max(count, keyCapacity * 2)
        // Counting sort alternates between the two halves.
        keys = .allocate(capacity: keyCapacity * 2)
    }

    private func sortByComparing(
        _ keys: UnsafeMutablePointer<UInt64>, _ count: Int
    ) -> UnsafeMutablePointer<UInt64> {
        var all = UnsafeMutableBufferPointer(start: keys, count: count)
        all.sort()
        return keys
    }

    /// Sorts by the hash in three rounds of eleven bits, the lowest first, which cover all 32 bits.
    private func sortByCounting(
        _ keys: UnsafeMutablePointer<UInt64>, _ other: UnsafeMutablePointer<UInt64>, _ count: Int
    ) -> UnsafeMutablePointer<UInt64> {
        var from = keys
        var to = other
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 2049) { starts in
            for shift in [UInt64(32), 43, 54] {
                starts.initialize(repeating: 0)
                for index in 0..<count { starts[Int(from[index] >> shift & 2047) + 1] += 1 }
                for digit in 1...2048 { starts[digit] += starts[digit - 1] }
                for index in 0..<count {
                    let digit = Int(from[index] >> shift & 2047)
                    to[starts[digit]] = from[index]
                    starts[digit] += 1
                }
                swap(&from, &to)
            }
        }
        return from
    }
}
