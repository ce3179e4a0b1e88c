internal import RouteAnalysis

/// A test of one character, for a transition of an automaton.
enum ScalarTest: Hashable {
    /// This character, optionally in either case.
    case exact(Unicode.Scalar, folds: Bool)
    /// One of some ASCII characters, optionally in either case.
    case ascii(String, folds: Bool)
    /// A character of a segment that a matcher of a table tests; never a slash.
    case segment(SymbolTest)
    /// Any character.
    case any

    /// Returns a Boolean value that indicates whether a character passes the test.
    func matches(_ scalar: Unicode.Scalar) -> Bool {
        switch self {
        case .any: return true
        case .segment(let test): return scalar != "/" && test.matches(scalar)
        case .exact(let own, let folds): return own == scalar || folds && Self.fold(own) == Self.fold(scalar)
        case .ascii(let set, let folds):
            guard scalar.isASCII else { return false }
            if set.unicodeScalars.contains(scalar) { return true }
            return folds && set.unicodeScalars.contains { Self.fold($0) == Self.fold(scalar) }
        }
    }

    /// Returns the lowercase form of a character if it is one character, or else the character.
    static func fold(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if scalar.isASCII {
            return scalar.value &- 65 < 26 ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar
        }
        let lower = scalar.properties.lowercaseMapping.unicodeScalars
        return lower.count == 1 ? lower.first ?? scalar : scalar
    }
}
