internal import RouteAnalysis

/// A set of at most 128 symbols of an alphabet.
struct SymbolMask: Hashable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// Adds the symbol with an index below 128.
    mutating func insert(_ index: Int) {
        if index < 64 { low |= 1 << UInt64(index) } else { high |= 1 << UInt64(index - 64) }
    }

    /// A Boolean value that indicates whether the set has no symbols.
    var isEmpty: Bool { low == 0 && high == 0 }

    /// The smallest index, or nil for the empty set.
    var first: Int? {
        if low != 0 { return low.trailingZeroBitCount }
        return high != 0 ? 64 + high.trailingZeroBitCount : nil
    }

    /// Returns the symbols that are in this set and also in another, and those that are not in the other.
    func split(by other: SymbolMask) -> (inside: SymbolMask, outside: SymbolMask) {
        var (inside, outside) = (self, self)
        inside.low &= other.low
        inside.high &= other.high
        outside.low &= ~other.low
        outside.high &= ~other.high
        return (inside, outside)
    }
}

/// The characters from which a search builds paths, in the usual spelling of links.
///
/// A character that RFC 3986 allows in a path stands for itself, and any other one is percent-encoded. Characters that
/// no pattern names are equivalent, so a few readable ones represent them.
final class PathAlphabet {
    /// A character with its spelling in a link.
    struct Symbol {
        /// The character.
        var scalar: Unicode.Scalar
        /// The spelling in a path.
        var written: String
    }

    /// The symbols, the most readable first.
    let symbols: [Symbol]
    /// The symbols that stand for themselves, and each of the others alone.
    let groups: [SymbolMask]
    /// A Boolean value that indicates whether the patterns name more characters than the alphabet can have.
    let isCut: Bool

    private var masks: [ScalarTest: SymbolMask] = [:]
    private var unitMasks: [AndroidPatternText.Test: SymbolMask] = [:]

    private static let plain = Array(
        "xabcdefghijklmnopqrstuvwyz1234567890ABCDEFGHIJKLMNOPQRSTUVWXYZ-_/.~!$&'()*+,;=:@".unicodeScalars)
    private static let maxCount = 128

    /// Creates an alphabet with the characters that patterns name.
    init(named: Set<Unicode.Scalar>) {
        var symbols = Self.plain.map { Symbol(scalar: $0, written: String($0)) }
        let others = named.subtracting(Self.plain).filter { $0.value >= 0x20 && $0.value != 0x7F && $0.value < 0x10000 }
        for scalar in others.sorted().prefix(Self.maxCount - symbols.count) {
            symbols.append(Symbol(scalar: scalar, written: PercentText.encode(String(scalar))))
        }
        isCut = others.count > Self.maxCount - Self.plain.count
        self.symbols = symbols
        var plain = SymbolMask()
        for index in Self.plain.indices { plain.insert(index) }
        groups =
            [plain]
            + (Self.plain.count..<symbols.count).map { index in
                var one = SymbolMask()
                one.insert(index)
                return one
            }
    }

    /// Returns the symbols that pass a test.
    func mask(_ test: ScalarTest) -> SymbolMask {
        if let known = masks[test] { return known }
        var mask = SymbolMask()
        for (index, symbol) in symbols.enumerated() where test.matches(symbol.scalar) { mask.insert(index) }
        masks[test] = mask
        return mask
    }

    /// Returns the symbols that pass a test of Android.
    func mask(_ test: AndroidPatternText.Test) -> SymbolMask {
        if let known = unitMasks[test] { return known }
        var mask = SymbolMask()
        for (index, symbol) in symbols.enumerated() {
            if test.matches(UInt16(truncatingIfNeeded: symbol.scalar.value)) { mask.insert(index) }
        }
        unitMasks[test] = mask
        return mask
    }

    /// Returns one symbol of each set that some tests do not distinguish.
    func representatives(_ tests: Set<SymbolMask>) -> [Int] {
        var parts = groups
        for test in tests {
            var next: [SymbolMask] = []
            for part in parts {
                let (inside, outside) = part.split(by: test)
                if !inside.isEmpty { next.append(inside) }
                if !outside.isEmpty { next.append(outside) }
            }
            parts = next
        }
        return parts.compactMap(\.first).sorted()
    }
}

extension ScalarAutomaton {
    /// Returns the tests of the transitions from some states.
    func masks(_ states: [Int], _ alphabet: PathAlphabet) -> Set<SymbolMask> {
        var masks = Set<SymbolMask>()
        for state in states {
            for step in steps[state] { masks.insert(alphabet.mask(step.test)) }
        }
        return masks
    }

    /// The characters that the patterns name.
    var named: Set<Unicode.Scalar> {
        var named = Set<Unicode.Scalar>()
        for step in steps.joined() {
            switch step.test {
            case .exact(let scalar, _): named.insert(scalar)
            case .segment(let test): if case .exact(let scalar, _) = test { named.insert(scalar) }
            default: break
            }
        }
        return named
    }
}
