/// A matcher of one segment of a path, or of the end of a path.
///
/// Matchers are normalized: the values of an enumeration are sorted, and if the table folds case, literals, affixes,
/// and enumeration values are lowercase. Equal matchers match the same texts, regardless of the names of captures.
///
/// See RouteTableReference, "Patterns".
package indirect enum Matcher: Sendable, Hashable {
    /// Exactly this segment.
    case literal([UInt8])

    /// One of these segments, sorted by bytes.
    case enumeration([[UInt8]])

    /// `inner` between literal texts, at least one of which is not empty.
    case affix(prefix: [UInt8], inner: Matcher, suffix: [UInt8])

    /// A 64-bit integer in canonical form, within the bounds.
    case int(min: Int64, max: Int64)

    /// `true`, `false`, `1`, or `0`.
    case bool

    /// A calendar date, `YYYY-MM-DD`.
    case date

    /// 32 hexadecimal digits of either case, grouped 8-4-4-4-12.
    case uuid

    /// From `min` to `max` characters of a class.
    case characters(CharacterClass, min: Int, max: Int)

    /// Any segment.
    ///
    /// Segments are never empty.
    case any

    /// A tail whose first segment is the name of a coordinator.
    ///
    /// It ends a pattern.
    case coordinatorPath

    /// Any path that contains this segment.
    ///
    /// It is the only matcher of its pattern.
    case anySegment([UInt8])

    /// One or more segments.
    ///
    /// It ends a pattern.
    case restPlus

    /// No further segments.
    ///
    /// It ends a pattern.
    case end

    /// Any number of segments.
    ///
    /// It ends a pattern.
    case restStar
}

extension Matcher {
    /// A Boolean value that indicates whether no matcher can follow this one in a pattern.
    package var isTerminal: Bool {
        switch self {
        case .coordinatorPath, .anySegment, .restPlus, .end, .restStar: true
        default: false
        }
    }

    /// The rank in the precedence of matchers, from 0 (the most specific) to 9.
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

/// A set of the ASCII characters that a class can have: `A-Z a-z 0-9 - . _ ~`.
package struct CharacterClass: Sendable, Hashable {
    /// Bit n represents the byte n.
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// Creates an empty class.
    package init() {}

    /// Returns a Boolean value that indicates whether the class contains the byte.
    package func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<64: low >> UInt64(byte) & 1 == 1
        case 64..<128: high >> UInt64(byte &- 64) & 1 == 1
        default: false
        }
    }

    /// Adds a byte.
    ///
    /// A byte above 127 is ignored, because no class can contain it.
    package mutating func insert(_ byte: UInt8) {
        switch byte {
        case 0..<64: low |= 1 << UInt64(byte)
        case 64..<128: high |= 1 << UInt64(byte &- 64)
        default: break
        }
    }

    /// The number of characters in the class.
    package var count: Int { low.nonzeroBitCount + high.nonzeroBitCount }

    /// The characters, sorted.
    package var characters: [UInt8] { (0..<128).filter(contains) }

    /// The class as bits: byte n is bit n of `low`, and byte 64 + n is bit n of `high`.
    package var bits: (low: UInt64, high: UInt64) { (low, high) }

    /// Returns a Boolean value that indicates whether a class can contain the byte.
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

extension Matcher {
    /// The texts that `bool` matches.
    package static let boolTexts: [[UInt8]] = ["true", "false", "1", "0"].map { Array($0.utf8) }

    /// All texts of a matcher with few texts, or nil for others.
    package var finiteTexts: [[UInt8]]? {
        switch self {
        case .literal(let text): [text]
        case .enumeration(let values): values
        case .bool: Self.boolTexts
        default: nil
        }
    }
}
