package import ByteStorage
internal import StrictJSON

#if canImport(Darwin)
internal import Foundation
#else
@_spi(_Unicode) internal import Swift
#endif

/// Returns the text in normalization form C (NFC).
///
/// ASCII text is returned unchanged.
///
/// See RouteTableReference, "Text".
///
/// - Parameter bytes: Well-formed UTF-8.
package func nfc(_ bytes: [UInt8]) -> [UInt8] {
    bytes.withUnsafeBufferPointer { text in
        if ByteView(text).isSurelyComposed { return bytes }
        var composer = Composer()
        var arena = OutputArena(chunkBytes: bytes.count * 2)
        arena.begin()
        composer.append(ByteView(text), to: &arena)
        return arena.finish().array
    }
}

/// Returns the text in normalization form C (NFC).
package func nfc(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 >= 0x80 }) else { return text }
    return String(decoding: nfc([UInt8](text.utf8)), as: UTF8.self)
}

extension ByteView {
    /// A Boolean value that indicates whether well-formed text is in NFC because all of its characters are in certain
    /// ranges.
    ///
    /// The ranges contain only starters that never change or compose in NFC (the Unicode quick check is `Yes` and the
    /// combining class is 0): characters up to U+02FF, Cyrillic letters, the dashes and quotation marks from U+2010 to
    /// U+2027, CJK ideographs, Hangul syllables, and the pictographs from U+1F300 to U+1FAFF. All other text is passed
    /// to `Composer`.
    package var isSurelyComposed: Bool {
        var index = 0
        while index < count {
            let lead = start[index]
            if lead < 0x80 {
                index &+= 1
                continue
            }
            guard let length = composedLength(at: index, lead: lead) else { return false }
            index &+= length
        }
        return true
    }

    private func composedLength(at index: Int, lead: UInt8) -> Int? {
        switch lead {
        case 0xC2...0xCB, 0xD0, 0xD1: return 2
        case 0xD2: return start[index &+ 1] >= 0x8A ? 2 : nil
        case 0xD3: return 2
        case 0xE2: return start[index &+ 1] == 0x80 && (0x90...0xA7).contains(start[index &+ 2]) ? 3 : nil
        case 0xE5...0xE8: return 3
        case 0xEB, 0xEC: return 3
        case 0xF0:
            return start[index &+ 1] == 0x9F && (0x8C...0xAB).contains(start[index &+ 2]) ? 4 : nil
        default: return nil
        }
    }
}

/// A composer that brings text into normalization form C (NFC) in linear time, without allocating memory for each text.
///
/// The standard library sorts long runs of combining marks in quadratic time, creates intermediate strings, and does
/// not order marks that result from the decomposition of a mark (U+0F75 after U+0328, Swift 6.3). This type implements
/// Unicode Standard Annex 15 on bytes: it decomposes, orders marks, and composes. It uses the Unicode data of the
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

    /// Orders the marks, and composes the starter with the marks that are not blocked.
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

/// The properties of characters that NFC requires, read from the standard library once for a process.
///
/// All data comes from the standard library, so both always agree.
struct CompositionTables: @unchecked Sendable {
    // `@unchecked Sendable` is safe because the memory is filled before it is shared, and never changed or freed.

    /// The shared tables, created for the first text that must be examined character by character.
    static let shared = CompositionTables()

    /// Scalars below this value have their own entries.
    ///
    /// Above it, only the compatibility ideographs decompose.
    private static let direct: UInt32 = 0x20000
    private static let ideographs: Range<UInt32> = 0x2F800..<0x2FA20
    private static let block: UInt32 = 64
    private static let pairBits: UInt64 = 13

    /// The entry of each scalar.
    ///
    /// Bits 0 to 7 are its combining class. Bit 8 is set if it can compose with the preceding character. The bits from
    /// 16 on are the position of its decomposition plus 1, or 0 for none.
    private let entries: UnsafeMutablePointer<UInt32>
    /// The decompositions: their length, followed by their scalars.
    private let parts: UnsafeMutablePointer<UInt32>
    /// A hash table of the pairs that compose: both scalars as one word, and the result.
    private let pairs: UnsafeMutablePointer<(key: UInt64, joined: UInt32)>

    private init() {
        let count = Int(Self.direct) + Self.ideographs.count
        entries = .allocate(capacity: count)
        entries.initialize(repeating: 0, count: count)
        pairs = .allocate(capacity: 1 << Int(Self.pairBits))
        pairs.initialize(repeating: (0, 0), count: 1 << Int(Self.pairBits))
        var all: [UInt32] = []
        for start in Array(stride(from: 0xC0, to: Self.direct, by: Int(Self.block)))
            + Array(stride(from: Self.ideographs.lowerBound, to: Self.ideographs.upperBound, by: Int(Self.block)))
        {
            let scalars = (start..<start + Self.block).compactMap { Unicode.Scalar($0) }
            let isHangul = CharacterJoining.isSyllable(start) && CharacterJoining.isSyllable(start + Self.block - 1)
            if scalars.isEmpty || isHangul { continue }
            for scalar in scalars {
                let level = UInt32(scalar.properties.canonicalCombiningClass.rawValue)
                if level != 0 { entries[Self.index(of: scalar.value)] = level }
            }
            // A block that decomposes to itself has no character that decomposes.
            if Self.decomposed(scalars) == scalars.map(\.value) { continue }
            for scalar in scalars where !CharacterJoining.isSyllable(scalar.value) {
                let own = Self.decomposed([scalar])
                if own == [scalar.value] { continue }
                entries[Self.index(of: scalar.value)] |= UInt32(all.count + 1) << 16
                all += [UInt32(own.count)] + own
            }
        }
        parts = .allocate(capacity: max(all.count, 1))
        parts.initialize(from: all, count: all.count)
        for index in 0..<count where entries[index] >> 16 != 0 {
            let scalar = UInt32(index) < Self.direct ? UInt32(index) : UInt32(index) - Self.direct + 0x2F800
            addPair(of: scalar)
        }
        // Vowels and final consonants of Hangul compose by rule instead of pairs.
        for scalar in Array(0x1161...0x1175) + Array(0x11A8...0x11C2) { entries[scalar] |= 1 << 8 }
    }

    /// Stores the pair that a character is composed of, if NFC text can have that character.
    private func addPair(of scalar: UInt32) {
        let own = decomposition(of: scalar)
        guard own.count > 1, let last = own.last, Self.composed([scalar]) == [scalar] else { return }
        let head = Self.composed(Array(own.dropLast()))
        guard head.count == 1 else { return }
        let key = UInt64(head[0]) << 32 | UInt64(last)
        var pairSlot = Self.slot(key)
        while pairs[pairSlot].key != 0 { pairSlot = (pairSlot + 1) & ((1 << Int(Self.pairBits)) - 1) }
        pairs[pairSlot] = (key, scalar)
        entries[Self.index(of: last)] |= 1 << 8
    }

    private static func slot(_ key: UInt64) -> Int {
        Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) &>> (64 - pairBits))
    }

    private static func index(of scalar: UInt32) -> Int {
        scalar < direct ? Int(scalar) : Int(scalar - ideographs.lowerBound + direct)
    }

    private static func decomposed(_ scalars: [Unicode.Scalar]) -> [UInt32] {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        #if canImport(Darwin)
        return String(text).decomposedStringWithCanonicalMapping.unicodeScalars.map(\.value)
        #else
        return String(text)._nfd.map(\.value)
        #endif
    }

    private static func composed(_ scalars: [UInt32]) -> [UInt32] {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars.compactMap { Unicode.Scalar($0) })
        #if canImport(Darwin)
        return String(text).precomposedStringWithCanonicalMapping.unicodeScalars.map(\.value)
        #else
        return String(text)._nfc.map(\.value)
        #endif
    }

    /// Returns the entry of a scalar, which is 0 if the scalar does not decompose and never composes with the preceding
    /// character.
    @inline(__always)
    func entry(_ scalar: UInt32) -> UInt32 {
        if scalar < Self.direct { return entries[Int(scalar)] }
        return Self.ideographs.contains(scalar) ? entries[Self.index(of: scalar)] : 0
    }

    /// Returns the full decomposition of a scalar, or an empty buffer if it does not decompose.
    func decomposition(of scalar: UInt32) -> UnsafeBufferPointer<UInt32> {
        let index = Int(entry(scalar) >> 16)
        if index == 0 { return UnsafeBufferPointer(start: nil, count: 0) }
        return UnsafeBufferPointer(start: parts + index, count: Int(parts[index - 1]))
    }

    /// Returns the scalar that two scalars compose to, or 0.
    @inline(__always)
    func joined(_ first: UInt32, _ second: UInt32) -> UInt32 {
        let syllable = CharacterJoining.syllable(first, second)
        if syllable != 0 { return syllable }
        let key = UInt64(first) << 32 | UInt64(second)
        var pairSlot = Self.slot(key)
        while pairs[pairSlot].key != 0 {
            if pairs[pairSlot].key == key { return pairs[pairSlot].joined }
            pairSlot = (pairSlot + 1) & ((1 << Int(Self.pairBits)) - 1)
        }
        return 0
    }
}

/// The composition of Hangul syllables (The Unicode Standard, section 3.12).
enum CharacterJoining {
    /// Returns a Boolean value that indicates whether a scalar is a Hangul syllable.
    static func isSyllable(_ scalar: UInt32) -> Bool { scalar &- 0xAC00 < 11_172 }

    /// Returns the syllable of a leading consonant and a vowel, or of a syllable without a final consonant and such a
    /// consonant.
    ///
    /// Returns 0 for all other pairs.
    @inline(__always)
    static func syllable(_ first: UInt32, _ second: UInt32) -> UInt32 {
        if first &- 0x1100 < 19 && second &- 0x1161 < 21 {
            return 0xAC00 + ((first - 0x1100) * 21 + (second - 0x1161)) * 28
        }
        if isSyllable(first) && (first - 0xAC00) % 28 == 0 && second &- 0x11A8 < 27 { return first + second - 0x11A7 }
        return 0
    }
}
