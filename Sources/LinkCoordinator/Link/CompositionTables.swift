#if canImport(Darwin)
internal import Foundation
#else
@_spi(_Unicode) internal import Swift
#endif

/// The properties of characters that NFC requires, read from the standard library once for a process.
///
/// All data comes from the standard library, so that both always agree.
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
