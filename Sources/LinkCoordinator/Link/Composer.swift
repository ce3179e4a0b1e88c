internal import StrictJSON
package import ByteStorage

/// A composer that brings text into normalization form C (NFC) in linear time, without allocating memory for each text.
///
/// The standard library sorts long runs of combining marks in quadratic time, creates intermediate strings, and does
/// not order marks that result from the decomposition of a mark (U+0F75 after U+0328, Swift 6.3). This type implements
/// Unicode Standard Annex 15 on bytes: it decomposes, orders marks, and composes. The Unicode data is that of the
/// standard library.
package struct Composer: ~Copyable {
    /// The marks after the starter: the combining class in the upper half and the scalar in the lower half.
    private var marks = Growable<UInt64>(capacity: 32)
    private var sorted = Growable<UInt64>(capacity: 32)
    /// The last character that marks and other characters can compose with, or `none`.
    private var starter = Self.none
    /// A Boolean value that indicates whether the marks are not ordered by their classes.
    private var isUnordered = false

    private static var none: UInt32 { .max }

    /// The length above which runs are sorted by counting.
    private static var insertionLimit: Int { 24 }

    /// Creates a composer.
    package init() {}

    /// Appends well-formed UTF-8 in NFC to the open record of `arena`.
    package mutating func append(_ text: ByteView, to arena: inout OutputArena) {
        let tables = CompositionTables.shared
        starter = Self.none
        marks.removeAll()
        isUnordered = false
        var index = 0
        while index < text.count {
            let scalar = Self.scalar(text, &index)
            let entry = scalar < 0xC0 ? 0 : tables.entry(scalar)
            if entry == 0 {
                flush(tables, &arena)
                starter = scalar
            } else if entry >> 16 != 0 {
                for part in tables.decomposition(of: scalar) { add(part, tables.entry(part), tables, &arena) }
            } else {
                add(scalar, entry, tables, &arena)
            }
        }
        flush(tables, &arena)
    }

    /// Adds a scalar that does not decompose.
    private mutating func add(
        _ scalar: UInt32, _ entry: UInt32, _ tables: CompositionTables, _ arena: inout OutputArena
    ) {
        let level = UInt64(entry & 0xFF)
        if level != 0 {
            if marks.count > 0 && marks[marks.count - 1] >> 32 > level { isUnordered = true }
            marks.append(level << 32 | UInt64(scalar))
            return
        }
        if entry & 1 << 8 != 0 && starter != Self.none {
            if !marks.isEmpty { joinMarks(tables) }
            if marks.isEmpty, case let joined = tables.joined(starter, scalar), joined != 0 {
                starter = joined
                return
            }
        }
        // The remaining marks have been compared with the starter. They must not compose with the starter that later
        // marks have changed.
        if entry & 1 << 8 != 0 && starter != Self.none { write(&arena) } else { flush(tables, &arena) }
        starter = scalar
    }

    /// Composes the starter with its marks and writes the result.
    @inline(__always)
    private mutating func flush(_ tables: CompositionTables, _ arena: inout OutputArena) {
        if !marks.isEmpty { joinMarks(tables) }
        write(&arena)
    }

    @inline(__always)
    private mutating func write(_ arena: inout OutputArena) {
        if starter != Self.none { arena.append(scalar: starter) }
        for index in 0..<marks.count { arena.append(scalar: UInt32(truncatingIfNeeded: marks[index])) }
        marks.removeAll()
        starter = Self.none
    }

    /// Orders the marks and composes the starter with those that are not blocked.
    private mutating func joinMarks(_ tables: CompositionTables) {
        if isUnordered { order() }
        isUnordered = false
        if starter == Self.none { return }
        var remaining = 0
        for index in 0..<marks.count {
            let mark = marks[index]
            let isBlocked = remaining > 0 && marks[remaining - 1] >> 32 >= mark >> 32
            let joined = isBlocked ? 0 : tables.joined(starter, UInt32(truncatingIfNeeded: mark))
            if joined != 0 {
                starter = joined
            } else {
                marks[remaining] = mark
                remaining += 1
            }
        }
        marks.truncate(to: remaining)
    }

    /// Sorts the marks by their classes and keeps the order within a class.
    private mutating func order() {
        if marks.count > Self.insertionLimit { return orderByCounting() }
        for index in 1..<marks.count {
            let mark = marks[index]
            var position = index
            while position > 0 && marks[position - 1] >> 32 > mark >> 32 {
                marks[position] = marks[position - 1]
                position -= 1
            }
            marks[position] = mark
        }
    }

    private mutating func orderByCounting() {
        sorted.removeAll()
        for index in 0..<marks.count { sorted.append(marks[index]) }
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 257) { starts in
            starts.initialize(repeating: 0)
            for index in 0..<sorted.count { starts[Int(sorted[index] >> 32) + 1] += 1 }
            for level in 1...256 { starts[level] += starts[level - 1] }
            for index in 0..<sorted.count {
                let level = Int(sorted[index] >> 32)
                marks[starts[level]] = sorted[index]
                starts[level] += 1
            }
        }
    }

    /// Returns the scalar at `index` of well-formed UTF-8 and advances `index`.
    @inline(__always)
    private static func scalar(_ text: ByteView, _ index: inout Int) -> UInt32 {
        let lead = UInt32(text.start[index])
        func tail(_ offset: Int) -> UInt32 { UInt32(text.start[index &+ offset]) & 0x3F }
        if lead < 0x80 {
            index &+= 1
            return lead
        }
        if lead < 0xE0 {
            defer { index &+= 2 }
            return (lead & 0x1F) << 6 | tail(1)
        }
        if lead < 0xF0 {
            defer { index &+= 3 }
            return (lead & 0x0F) << 12 | tail(1) << 6 | tail(2)
        }
        defer { index &+= 4 }
        return (lead & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3)
    }
}
