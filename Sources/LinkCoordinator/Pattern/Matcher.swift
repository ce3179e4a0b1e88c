/// What one segment of a pattern takes, or what a pattern's end takes (route-table.md, 2.2).
///
/// A matcher is in normal form: values of an enum are sorted, and where the table folds case, literals, affixes and
/// enum values are in lower case. So equal matchers take the same texts, and names of captures do not count.
package indirect enum Matcher: Sendable, Hashable {
    /// Exactly this segment.
    case literal([UInt8])

    /// One of these segments, sorted bytewise.
    case enumeration([[UInt8]])

    /// `inner` between literal text; at least one of the two texts is not empty.
    case affix(prefix: [UInt8], inner: Matcher, suffix: [UInt8])

    /// A 64-bit number in its canonical spelling, within the bounds.
    case int(min: Int64, max: Int64)

    /// `true`, `false`, `1` or `0`.
    case bool

    /// A date of the calendar as `YYYY-MM-DD`.
    case date

    /// 32 hexadecimal digits in either case, grouped 8-4-4-4-12.
    case uuid

    /// `min` to `max` characters of a class.
    case characters(CharacterClass, min: Int, max: Int)

    /// Any segment (segments are never empty).
    case any

    /// A tail whose first segment is the name of a coordinator. Ends a pattern.
    case coordinatorPath

    /// Any path that contains this segment. Stands alone.
    case anySegment([UInt8])

    /// One segment or more. Ends a pattern.
    case restPlus

    /// Nothing left. Ends a pattern.
    case end

    /// Any number of segments. Ends a pattern.
    case restStar
}

extension Matcher {
    /// Whether nothing can follow this matcher in a pattern.
    package var isTerminal: Bool {
        switch self {
        case .coordinatorPath, .anySegment, .restPlus, .end, .restStar: true
        default: false
        }
    }

    /// Place in the table of 2.2, from 0 (the most specific) to 9.
    package var rank: Int {
        switch self {
        case .literal: 0
        case .enumeration: 1
        case .affix: 2
        case .int, .bool, .date, .uuid, .characters: 3
        case .any: 4
        case .coordinatorPath: 5
        case .anySegment: 6
        case .restPlus: 7
        case .end: 8
        case .restStar: 9
        }
    }
}

/// A set of the characters that a class may hold: `A-Z a-z 0-9 - . _ ~`, all of them ASCII.
package struct CharacterClass: Sendable, Hashable {
    /// Bit n stands for the byte n.
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// Makes an empty class.
    package init() {}

    /// Whether the class holds the byte.
    package func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<64: low >> UInt64(byte) & 1 == 1
        case 64..<128: high >> UInt64(byte &- 64) & 1 == 1
        default: false
        }
    }

    /// Adds a byte; one over 127 is left out, for no class holds it.
    package mutating func insert(_ byte: UInt8) {
        switch byte {
        case 0..<64: low |= 1 << UInt64(byte)
        case 64..<128: high |= 1 << UInt64(byte &- 64)
        default: break
        }
    }

    /// Number of characters in the class.
    package var count: Int { low.nonzeroBitCount + high.nonzeroBitCount }

    /// The characters, sorted.
    package var characters: [UInt8] { (0..<128).filter(contains) }

    /// Both halves as bits: byte n is bit n of the first, byte 64 + n bit n of the second.
    package var bits: (low: UInt64, high: UInt64) { (low, high) }

    /// Whether a byte may stand in a class at all.
    package static func allows(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }
}
