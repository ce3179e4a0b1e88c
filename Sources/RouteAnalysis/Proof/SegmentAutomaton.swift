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

    /// Adds a matcher under the next number; tails match no segment and add nothing.
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
