internal import LinkCoordinator
internal import RouteAnalysis

/// A pattern of Apple's `components` as a finite automaton, which determines whether two patterns match a common path.
struct Glob {
    /// A transition to the next state, for a byte of a set or for any byte.
    private struct Step {
        /// The bytes, or nil for any.
        var bytes: Set<UInt8>?
        var to: Int
    }

    /// The common prefix of all matches.
    fileprivate var start: [UInt8] = []
    /// The common suffix of all matches, reversed.
    private var finish: [UInt8] = []
    private var steps: [[Step]] = [[]]
    private var free: [[Int]] = [[]]
    private var end = 0

    /// Parses a pattern of a path, in which unknown variables match any text.
    ///
    /// Slashes at the end of a path and of a pattern are insignificant, and a pattern that ends with `/*` also matches
    /// the path before it.
    init(_ pattern: String, variables: [(name: String, values: [String])], foldsCase: Bool) {
        let own = Array(ApplePatternText.path(pattern).utf8)
        let isOpen = own.count > 2 && own.suffix(2).elementsEqual("/*".utf8)
        start = own.prefix { !"*?$".utf8.contains($0) }.map { foldsCase ? lowerASCII($0) : $0 }
        if isOpen, start.count == own.count - 1 { start.removeLast() }
        finish = own.reversed().prefix { !"*?)".utf8.contains($0) }.map { foldsCase ? lowerASCII($0) : $0 }
        var rest = own[...]
        var beforeTail: Int?
        while let byte = rest.popFirst() {
            if isOpen, rest.count == 1 { beforeTail = end }
            switch byte {
            case UInt8(ascii: "*"): star()
            case UInt8(ascii: "?"): step(nil)
            case UInt8(ascii: "$") where rest.first == UInt8(ascii: "("):
                let name = String(decoding: rest.dropFirst().prefix { $0 != UInt8(ascii: ")") }, as: UTF8.self)
                rest = rest.dropFirst(name.utf8.count + 2)
                variable(name, variables, foldsCase)
            default: step(foldsCase ? [lowerASCII(byte), Self.upper(byte)] : [byte])
            }
        }
        if let beforeTail { free[beforeTail].append(end) }
    }

    /// Returns a Boolean value that indicates whether two patterns match a common text.
    static func overlap(_ a: Glob, _ b: Glob) -> Bool {
        // Most pairs differ here, which avoids the product of the automata.
        guard zip(a.start, b.start).allSatisfy(==), zip(a.finish, b.finish).allSatisfy(==) else { return false }
        var seen: Set<[Int]> = [[0, 0]]
        var pending = [[0, 0]]
        while let pair = pending.popLast() {
            if pair[0] == a.end, pair[1] == b.end { return true }
            var next = a.free[pair[0]].map { [$0, pair[1]] } + b.free[pair[1]].map { [pair[0], $0] }
            for one in a.steps[pair[0]] {
                for other in b.steps[pair[1]] {
                    let isShared =
                        one.bytes.map { own in other.bytes.map { !own.isDisjoint(with: $0) } ?? true } ?? true
                    if isShared { next.append([one.to, other.to]) }
                }
            }
            for pair in next where seen.insert(pair).inserted { pending.append(pair) }
        }
        return false
    }

    private mutating func newState() -> Int {
        steps.append([])
        free.append([])
        return steps.count - 1
    }

    private mutating func step(_ bytes: Set<UInt8>?) {
        let next = newState()
        steps[end].append(Step(bytes: bytes, to: next))
        end = next
    }

    private mutating func star() {
        steps[end].append(Step(bytes: nil, to: end))
        let next = newState()
        free[end].append(next)
        end = next
    }

    private mutating func variable(
        _ name: String, _ variables: [(name: String, values: [String])], _ foldsCase: Bool
    ) {
        if let bytes = Self.predefined[name] { return step(bytes) }
        guard let values = variables.first(where: { $0.name == name })?.values else { return star() }
        let start = end
        let last = newState()
        for value in values {
            end = start
            for byte in value.utf8 {
                // A value can contain wildcards.
                if byte == UInt8(ascii: "?") {
                    step(nil)
                } else {
                    step(foldsCase ? [lowerASCII(byte), Self.upper(byte)] : [byte])
                }
            }
            free[end].append(last)
        }
        end = last
    }

    private static func upper(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "a") < 26 ? byte & 0xDF : byte }

    /// Apple's predefined variables of one character.
    static let predefined: [String: Set<UInt8>] = {
        let digit = Set("0123456789".utf8)
        let lower = Set("abcdefghijklmnopqrstuvwxyz".utf8)
        let upper = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        return [
            "digit": digit, "lower": lower, "upper": upper, "alpha": lower.union(upper),
            "alnum": digit.union(lower).union(upper), "xdigit": digit.union("abcdefABCDEF".utf8),
        ]
    }()
}

/// An ordered list of patterns, indexed for a fast search for overlaps.
struct GlobIndex {
    private let globs: [Glob?]
    /// The indices of the patterns by their common prefix, and these prefixes sorted.
    private var byStart: [[UInt8]: [Int]] = [:]
    private let starts: [[UInt8]]

    /// Creates the index, in which a pattern that is nil overlaps with none.
    init(_ globs: [Glob?]) {
        self.globs = globs
        for (number, glob) in globs.enumerated() {
            if let glob { byStart[glob.start, default: []].append(number) }
        }
        starts = byStart.keys.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Returns a Boolean value that indicates whether a pattern after an index overlaps with another pattern.
    func overlaps(_ glob: Glob, after number: Int) -> Bool {
        for length in 0...glob.start.count where isOverlapping(glob, Array(glob.start.prefix(length)), number) {
            return true
        }
        let low = starts.partitioningIndex { !$0.lexicographicallyPrecedes(glob.start) }
        let longer = starts[low...].prefix { $0.starts(with: glob.start) }.filter { $0.count > glob.start.count }
        return longer.contains { isOverlapping(glob, $0, number) }
    }

    private func isOverlapping(_ glob: Glob, _ start: [UInt8], _ number: Int) -> Bool {
        (byStart[start] ?? []).contains { other in
            other > number && globs[other].map { Glob.overlap(glob, $0) } ?? false
        }
    }
}
