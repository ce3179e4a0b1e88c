package import LinkCoordinator

/// A test of one character, for a transition of a segment's automaton.
package enum SymbolTest: Hashable {
    /// This character; with case folding, a lowercase letter represents both cases.
    case exact(Unicode.Scalar, folds: Bool)
    /// A digit in this range.
    case digits(UInt8, UInt8)
    /// A hexadecimal digit in either case.
    case hex
    /// A character of a class.
    case characters(CharacterClass)
    /// Any character.
    case any

    /// Returns a Boolean value that indicates whether a character passes the test.
    package func matches(_ scalar: Unicode.Scalar) -> Bool {
        let byte = scalar.isASCII ? UInt8(truncatingIfNeeded: scalar.value) : 0xFF
        switch self {
        case .exact(let own, let folds):
            return own == scalar || folds && scalar.isASCII && Unicode.Scalar(lowerASCII(byte)) == own
        case .digits(let low, let high): return byte >= low && byte <= high
        case .hex: return byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 6 && byte < 0x80
        case .characters(let set): return set.contains(byte)
        case .any: return true
        }
    }
}

/// The characters that matter for some matchers, in classes that their tests do not distinguish.
struct SymbolClasses {
    /// The classes, each represented by its first character.
    private(set) var classes: [[Unicode.Scalar]] = []

    /// Creates the classes of the unreserved characters, all named ones, and one that no test names.
    ///
    /// Characters that no test names are equivalent, so one of them represents all.
    init(_ tests: Set<SymbolTest>) {
        var scalars = Self.common
        var named = Set<Unicode.Scalar>()
        for case .exact(let scalar, _) in tests where named.insert(scalar).inserted && !scalars.contains(scalar) {
            scalars.append(scalar)
        }
        if let fresh = Self.rare.first(where: { !named.contains($0) }) { scalars.append(fresh) }
        let list = Array(tests)
        var classIndices: [[Bool]: Int] = [:]
        for scalar in scalars {
            let signature = list.map { $0.matches(scalar) }
            if let classIndex = classIndices[signature] {
                classes[classIndex].append(scalar)
            } else {
                classIndices[signature] = classes.count
                classes.append([scalar])
            }
        }
    }

    /// The unreserved characters, the most readable first.
    private static let common: [Unicode.Scalar] = Array(
        "xabcdefghijklmnopqrstuvwyz1234567890ABCDEFGHIJKLMNOPQRSTUVWXYZ-_~.".unicodeScalars)

    /// Characters that patterns seldom name; in practice no pattern names all of them.
    private static let rare: [Unicode.Scalar] = Array("!*'();@中文字链接路由页面屏幕".unicodeScalars)
}
