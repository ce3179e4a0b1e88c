internal import ByteStorage
package import LinkCoordinator

/// A nondeterministic automaton over the characters of one segment, with several matchers.
///
/// `SegmentProduct` runs all its matchers at once.
package struct SegmentAutomaton {
    /// A transition from one state to another.
    package struct Step {
        /// The test of the character.
        package var test: SymbolTest
        /// The next state.
        package var target: Int
    }

    /// The transitions of each state.
    package private(set) var steps: [[Step]] = []

    /// The matcher of each state.
    private(set) var owner: [Int] = []

    /// A Boolean value for each state that indicates whether its matcher accepts the texts that end there.
    package private(set) var accepts: [Bool] = []

    /// The start states of each matcher.
    package private(set) var starts: [Int] = []

    /// The tests of all transitions.
    var tests: Set<SymbolTest> { Set(steps.joined().map(\.test)) }

    private var current = 0
    /// A Boolean value that indicates whether the current matcher folds case.
    private var folds = false

    /// Creates an automaton without matchers.
    package init() {}

    /// Adds a matcher under the next number, or nothing for a tail, which matches no segment.
    package mutating func add(_ matcher: Matcher, folds: Bool) {
        self.folds = folds
        let ends = build(matcher, from: [begin()])
        for end in ends { accepts[end] = true }
        current += 1
    }

    /// Adds a list of case-sensitive texts under the next number.
    mutating func add(names: [[UInt8]]) {
        for end in words(names, from: [begin()], folds: false) { accepts[end] = true }
        current += 1
    }

    private mutating func begin() -> Int {
        let state = state()
        starts.append(state)
        return state
    }

    private mutating func state() -> Int {
        steps.append([])
        owner.append(current)
        accepts.append(false)
        return steps.count - 1
    }

    private mutating func step(from sources: [Int], _ test: SymbolTest) -> Int {
        let target = state()
        for source in sources { steps[source].append(Step(test: test, target: target)) }
        return target
    }

    /// Builds a matcher after the given states and returns its end states.
    private mutating func build(_ matcher: Matcher, from sources: [Int]) -> [Int] {
        switch matcher {
        case .literal(let text): return [word(text, from: sources, folds: folds)]
        case .enumeration(let values): return words(values, from: sources, folds: folds)
        case .affix(let prefix, let inner, let suffix):
            let middle = build(inner, from: prefix.isEmpty ? sources : [word(prefix, from: sources, folds: folds)])
            return suffix.isEmpty ? middle : [word(suffix, from: middle, folds: folds)]
        case .int(let min, let max): return integers(min, max, from: sources)
        case .bool: return words(Matcher.boolTexts, from: sources, folds: false)
        case .date: return dates(from: sources)
        case .uuid: return [uuid(from: sources)]
        case .characters(let set, let min, let max):
            var ends: [Int] = []
            var last = sources
            for count in 1...max {
                let next = step(from: last, .characters(set))
                if count >= min { ends.append(next) }
                last = [next]
            }
            return ends
        case .any:
            let end = step(from: sources, .any)
            steps[end].append(Step(test: .any, target: end))
            return [end]
        case .coordinatorPath, .anySegment, .restPlus, .end, .restStar: return []
        }
    }

    private mutating func word(_ text: [UInt8], from sources: [Int], folds: Bool) -> Int {
        var last = sources
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            last = [step(from: last, .exact(scalar, folds: folds))]
        }
        return last[0]
    }

    private mutating func words(_ texts: [[UInt8]], from sources: [Int], folds: Bool) -> [Int] {
        texts.filter { !$0.isEmpty }.map { word($0, from: sources, folds: folds) }
    }

    private mutating func uuid(from sources: [Int]) -> Int {
        var last = sources
        for length in [8, 4, 4, 4, 12] {
            if last != sources { last = [step(from: last, .exact("-", folds: false))] }
            for _ in 0..<length { last = [step(from: last, .hex)] }
        }
        return last[0]
    }
}

// Numbers and dates, digit by digit.
extension SegmentAutomaton {
    private static let zero = UInt8(ascii: "0")

    private mutating func digit(from sources: [Int], _ low: Int, _ high: Int) -> Int {
        step(from: sources, .digits(Self.zero + UInt8(low), Self.zero + UInt8(high)))
    }

    /// Adds the canonical numbers from `min` to `max`.
    private mutating func integers(_ min: Int64, _ max: Int64, from sources: [Int]) -> [Int] {
        var ends: [Int] = []
        if max >= 0 {
            let low = UInt64(Swift.max(min, 0))
            if low == 0 { ends.append(digit(from: sources, 0, 0)) }
            if max > 0 { ends += magnitudes(Swift.max(low, 1), UInt64(max), from: sources) }
        }
        if min < 0 {
            let minus = step(from: sources, .exact("-", folds: false))
            ends += magnitudes(Swift.min(max, -1).magnitude, min.magnitude, from: [minus])
        }
        return ends
    }

    /// Adds the numbers from `low` to `high`, both above 0, without leading zeros.
    private mutating func magnitudes(_ low: UInt64, _ high: UInt64, from sources: [Int]) -> [Int] {
        let lows = Array(String(low).utf8).map { Int($0 - Self.zero) }
        let highs = Array(String(high).utf8).map { Int($0 - Self.zero) }
        if lows.count == highs.count { return digits(lows, highs, from: sources) }
        var ends = digits(lows, Array(repeating: 9, count: lows.count), from: sources)
        ends += digits([1] + Array(repeating: 0, count: highs.count - 1), highs, from: sources)
        // One chain for all lengths in between keeps the number of active states small.
        guard highs.count - lows.count > 1 else { return ends }
        var last = digit(from: sources, 1, 9)
        for length in 2..<highs.count {
            last = digit(from: [last], 0, 9)
            if length > lows.count { ends.append(last) }
        }
        return ends
    }

    /// Adds the digit strings of one length between two others.
    ///
    /// A state is bounded by the lower string, the upper string, both, or none.
    private mutating func digits(_ minDigits: [Int], _ maxDigits: [Int], from sources: [Int]) -> [Int] {
        var free: [Int] = []
        var atLow: [Int] = []
        var atHigh: [Int] = []
        var atBoth = sources
        for (low, high) in zip(minDigits, maxDigits) {
            var nextFree: [Int] = []
            var nextLow: [Int] = []
            var nextHigh: [Int] = []
            var nextBoth: [Int] = []
            if !free.isEmpty { nextFree.append(digit(from: free, 0, 9)) }
            if !atLow.isEmpty {
                nextLow.append(digit(from: atLow, low, low))
                if low < 9 { nextFree.append(digit(from: atLow, low + 1, 9)) }
            }
            if !atHigh.isEmpty {
                nextHigh.append(digit(from: atHigh, high, high))
                if high > 0 { nextFree.append(digit(from: atHigh, 0, high - 1)) }
            }
            if !atBoth.isEmpty {
                if low == high {
                    nextBoth.append(digit(from: atBoth, low, low))
                } else {
                    nextLow.append(digit(from: atBoth, low, low))
                    nextHigh.append(digit(from: atBoth, high, high))
                    if high - low > 1 { nextFree.append(digit(from: atBoth, low + 1, high - 1)) }
                }
            }
            (free, atLow, atHigh, atBoth) = (nextFree, nextLow, nextHigh, nextBoth)
        }
        return free + atLow + atHigh + atBoth
    }

    /// Adds the calendar's dates in the form `YYYY-MM-DD`.
    ///
    /// A state stores only as much of the year as determines whether it is a leap year.
    private mutating func dates(from sources: [Int]) -> [Int] {
        // The first two digits of the year must be divisible by 4 for a leap year such as 2000.
        let centuries = pairs(from: sources) { $0 % 4 == 0 }
        var leap: [Int] = []
        var common: [Int] = []
        for (divides, states) in [(true, centuries.yes), (false, centuries.no)] {
            let years = pairs(from: states) { $0 == 0 ? divides : $0 % 4 == 0 }
            leap += years.yes
            common += years.no
        }
        return months(from: leap, februaryDays: 29) + months(from: common, februaryDays: 28)
    }

    /// Adds two digits, divided by a test of their number.
    private mutating func pairs(from sources: [Int], _ test: (Int) -> Bool) -> (yes: [Int], no: [Int]) {
        let yes = state()
        let no = state()
        for tens in 0...9 {
            let first = digit(from: sources, tens, tens)
            for ones in 0...9 { digit(from: [first], ones, ones, to: test(tens * 10 + ones) ? yes : no) }
        }
        return ([yes], [no])
    }

    private mutating func digit(from sources: [Int], _ low: Int, _ high: Int, to target: Int) {
        let test = SymbolTest.digits(Self.zero + UInt8(low), Self.zero + UInt8(high))
        for source in sources { steps[source].append(Step(test: test, target: target)) }
    }

    private mutating func months(from years: [Int], februaryDays: Int) -> [Int] {
        let dash = step(from: years, .exact("-", folds: false))
        let tens = [digit(from: [dash], 0, 0), digit(from: [dash], 1, 1)]
        let end = state()
        for (days, months) in [
            (februaryDays, [2]), (30, [4, 6, 9, 11]), (31, [1, 3, 5, 7, 8, 10, 12]),
        ] {
            let month = state()
            for number in months { digit(from: [tens[number / 10]], number % 10, number % 10, to: month) }
            let day = step(from: [month], .exact("-", folds: false))
            for first in 0...(days / 10) {
                let last = first == days / 10 ? days % 10 : 9
                digit(from: [digit(from: [day], first, first)], first == 0 ? 1 : 0, last, to: end)
            }
        }
        return [end]
    }
}

/// A test of one character, for a transition of a segment's automaton.
package enum SymbolTest: Hashable {
    /// This character. With case folding, a lowercase letter represents both cases.
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
        let rare = Self.rare.lazy + Self.ideographs.lazy.compactMap { Unicode.Scalar($0) }
        if let fresh = rare.first(where: { !named.contains($0) }) { scalars.append(fresh) }
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

    /// Characters that patterns seldom name.
    private static let rare: [Unicode.Scalar] = Array("!*'();@".unicodeScalars)
    /// The unified ideographs of Unicode 1.1, more than a table can name.
    private static let ideographs: ClosedRange<UInt32> = 0x4E00...0x9FA5
}

/// Sample texts of a matcher: short ones first, then some that few other matchers match.
enum SegmentSamples {
    /// Returns texts of a matcher, or all of them if there are few.
    static func texts(of matcher: Matcher) -> [[UInt8]] {
        switch matcher {
        case .literal(let text): return [text]
        case .enumeration(let values): return values
        case .affix(let prefix, let inner, let suffix): return texts(of: inner).map { prefix + $0 + suffix }
        case .int(let min, let max):
            let numbers = [min, max, Swift.max(min, Swift.min(max, 7)), min &+ (max &- min) / 2, min &+ 1, max &- 1]
            return numbers.filter { $0 >= min && $0 <= max }.map { Array(String($0).utf8) }
        case .bool: return Matcher.boolTexts
        case .date: return ["2025-01-31", "1789-07-14", "0004-02-29"].map { Array($0.utf8) }
        case .uuid: return [Array("80674450-AAEC-4704-9D0F-63C7B2068FF1".utf8)]
        case .characters(let set, let min, let max):
            let characters = set.characters
            return [min, max, (min + max) / 2].flatMap { count in
                [0, 1, 7].map { offset in
                    (0..<count).map { characters[(offset + $0 * offset) % characters.count] }
                }
            }
        case .any: return ["x", "zz", "0", "q-7_k", "~", "Zq9.wv-k3j"].map { Array($0.utf8) }
        case .coordinatorPath, .anySegment, .restPlus, .end, .restStar: return []
        }
    }
}

extension String {
    /// The text with ASCII letters in lowercase, which is how the resolver compares names and facts.
    var lowercasedASCII: [UInt8] { utf8.map(lowerASCII) }
}

/// A sorted list of texts with values, so that texts with a common prefix are adjacent.
struct TextRange<Value> {
    private var texts: [[UInt8]] = []
    private var values: [Value] = []

    /// Sorts texts, which can have several values each.
    init(_ entries: [(text: [UInt8], value: Value)]) {
        let sorted = entries.sorted { compareBytes($0.text, $1.text) < 0 }
        texts = sorted.map(\.text)
        values = sorted.map(\.value)
    }

    /// Returns the values of the texts in a range of indices.
    func values(in indices: Range<Int>) -> ArraySlice<Value> { values[indices] }

    /// Returns the indices of the texts that begin with a prefix, including the prefix itself.
    func beginning(with prefix: [UInt8]) -> Range<Int> {
        let low = texts.partitioningIndex { compareBytes($0, prefix) >= 0 }
        let end = texts.partitioningIndex { compareBytes($0, prefix) >= 0 && !$0.starts(with: prefix) }
        return low..<max(low, end)
    }

    /// Returns the indices of the texts that are prefixes of a text, including itself, with one range for each length.
    func prefixes(of text: [UInt8]) -> [Range<Int>] {
        if texts.isEmpty { return [] }
        return (0...text.count).compactMap { count in
            let prefix = Array(text.prefix(count))
            let low = texts.partitioningIndex { compareBytes($0, prefix) >= 0 }
            guard low < texts.count, texts[low] == prefix else { return nil }
            return low..<texts.partitioningIndex { compareBytes($0, prefix) > 0 }
        }
    }
}

/// Literal prefixes and suffixes of segments, with values for each pair.
struct AffixRange<Value> {
    private let prefixes: TextRange<Value>
    private let suffixes: TextRange<Value>

    /// Sorts pairs by their prefixes, and by their reversed suffixes.
    init(_ entries: [(prefix: [UInt8], suffix: [UInt8], value: Value)]) {
        prefixes = TextRange(entries.map { ($0.prefix, $0.value) })
        suffixes = TextRange(entries.map { (Array($0.suffix.reversed()), $0.value) })
    }

    /// Creates a list of whole texts, with each text as its own prefix and suffix.
    init(texts: [(text: [UInt8], value: Value)]) { self.init(texts.map { ($0.text, $0.text, $0.value) }) }

    /// Returns the shorter list: the values with a compatible prefix, or the values with a compatible suffix.
    ///
    /// - Parameter isWhole: A Boolean value that indicates whether prefix and suffix are a whole text. Longer ones are
    ///   not compatible with it.
    func values(prefix: [UInt8], suffix: [UInt8], isWhole: Bool = false) -> [Value] {
        let byPrefix = Self.ranges(prefixes, prefix, isWhole)
        let bySuffix = Self.ranges(suffixes, Array(suffix.reversed()), isWhole)
        let usesPrefix = byPrefix.reduce(0) { $0 + $1.count } <= bySuffix.reduce(0) { $0 + $1.count }
        return (usesPrefix ? byPrefix : bySuffix).flatMap { (usesPrefix ? prefixes : suffixes).values(in: $0) }
    }

    private static func ranges(_ range: TextRange<Value>, _ text: [UInt8], _ isWhole: Bool) -> [Range<Int>] {
        let shorter = range.prefixes(of: text)
        return isWhole ? shorter : shorter + [longer(range, text, shorter)]
    }

    /// Returns the texts that begin with another one and are longer, because the equal ones are among its prefixes.
    private static func longer(
        _ range: TextRange<Value>, _ text: [UInt8], _ shorter: [Range<Int>]
    ) -> Range<Int> {
        let all = range.beginning(with: text)
        guard let last = shorter.last, last.lowerBound == all.lowerBound else { return all }
        return last.upperBound..<all.upperBound
    }
}
