internal import StrictJSON
package import ByteStorage

/// Brings text to normal form C in time proportional to its length, without allocating per text.
///
/// The library's own way sorts long runs of combining marks in square time, makes Strings on the way, and does not put
/// marks in order that come of a mark's decomposition (U+0F75 behind U+0328; Swift 6.3). This is the algorithm of
/// Unicode Standard Annex 15 over bytes: decompose, put marks in order, join. The data is the library's.
package struct Composer: ~Copyable {
    /// Marks behind the starter: their scalar, in the upper half their combining class.
    private var marks = Growable<UInt64>(capacity: 32)
    private var sorted = Growable<UInt64>(capacity: 32)
    /// The last character that marks and others may join, or `none`.
    private var starter = Self.none
    /// A Boolean value that indicates whether marks stand out of the order of their classes.
    private var isUnordered = false

    private static var none: UInt32 { .max }

    /// Runs longer than this are sorted by counting.
    private static var insertionLimit: Int { 24 }

    /// Makes a composer.
    package init() {}

    /// Appends well-formed UTF-8 in normal form C to the open record of `arena`.
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
                settle(tables, &arena)
                starter = scalar
            } else if entry >> 16 != 0 {
                for part in tables.decomposition(of: scalar) { take(part, tables.entry(part), tables, &arena) }
            } else {
                take(scalar, entry, tables, &arena)
            }
        }
        settle(tables, &arena)
    }

    /// Takes a scalar that does not decompose.
    private mutating func take(
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
        // Marks that were left were judged: the starter that others have changed since is not theirs to join.
        if entry & 1 << 8 != 0 && starter != Self.none { write(&arena) } else { settle(tables, &arena) }
        starter = scalar
    }

    /// Joins what can be joined and writes the starter and its marks.
    @inline(__always)
    private mutating func settle(_ tables: CompositionTables, _ arena: inout OutputArena) {
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

    /// Puts the marks in order and joins those with the starter that nothing blocks from it.
    private mutating func joinMarks(_ tables: CompositionTables) {
        if isUnordered { order() }
        isUnordered = false
        if starter == Self.none { return }
        var kept = 0
        for index in 0..<marks.count {
            let mark = marks[index]
            let isBlocked = kept > 0 && marks[kept - 1] >> 32 >= mark >> 32
            let joined = isBlocked ? 0 : tables.joined(starter, UInt32(truncatingIfNeeded: mark))
            if joined != 0 {
                starter = joined
            } else {
                marks[kept] = mark
                kept += 1
            }
        }
        marks.truncate(to: kept)
    }

    /// Sorts the marks by their classes; those of one class keep their order.
    private mutating func order() {
        if marks.count > Self.insertionLimit { return orderByCounting() }
        for index in 1..<marks.count {
            let mark = marks[index]
            var place = index
            while place > 0 && marks[place - 1] >> 32 > mark >> 32 {
                marks[place] = marks[place - 1]
                place -= 1
            }
            marks[place] = mark
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

    /// The scalar at `index` of well-formed UTF-8; `index` goes behind it.
    @inline(__always)
    private static func scalar(_ text: ByteView, _ index: inout Int) -> UInt32 {
        let lead = UInt32(text.start[index])
        func tail(_ place: Int) -> UInt32 { UInt32(text.start[index &+ place]) & 0x3F }
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
