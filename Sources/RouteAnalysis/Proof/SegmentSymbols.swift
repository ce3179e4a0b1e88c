internal import LinkCoordinator

/// What one step of a segment's automaton takes: one character.
enum SymbolTest: Hashable {
    /// This character; where the table folds case, a small letter stands for both.
    case exact(Unicode.Scalar, folds: Bool)
    /// A digit of the range.
    case digits(UInt8, UInt8)
    /// A hexadecimal digit in either case.
    case hex
    /// A character of a class.
    case characters(CharacterClass)
    /// Any character.
    case any

    /// Whether the test takes a character.
    func takes(_ scalar: Unicode.Scalar) -> Bool {
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

/// The characters that matter for some matchers, in classes that none of their tests tells apart.
struct SymbolClasses {
    /// The classes; the first character of each stands for it.
    private(set) var classes: [[Unicode.Scalar]] = []

    /// Makes the classes of the unreserved characters, of all that the tests name, and of one that none names.
    ///
    /// Characters that no test names are alike, so one of them stands for all.
    init(_ tests: Set<SymbolTest>) {
        var scalars = Self.common
        var named = Set<Unicode.Scalar>()
        for case .exact(let scalar, _) in tests where named.insert(scalar).inserted && !scalars.contains(scalar) {
            scalars.append(scalar)
        }
        if let fresh = Self.rare.first(where: { !named.contains($0) }) { scalars.append(fresh) }
        let list = Array(tests)
        var places: [[Bool]: Int] = [:]
        for scalar in scalars {
            let signature = list.map { $0.takes(scalar) }
            if let place = places[signature] {
                classes[place].append(scalar)
            } else {
                places[signature] = classes.count
                classes.append([scalar])
            }
        }
    }

    /// The unreserved characters, those first that read best in a witness.
    private static let common: [Unicode.Scalar] = Array(
        "xabcdefghijklmnopqrstuvwyz1234567890ABCDEFGHIJKLMNOPQRSTUVWXYZ-_~.".unicodeScalars)

    /// Characters that patterns seldom name; more of them than a pattern has bytes are not needed in practice.
    private static let rare: [Unicode.Scalar] = Array("!*'();@中文字链接路由页面屏幕".unicodeScalars)
}
