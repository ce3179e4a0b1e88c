/// A pattern of Apple's `components` as a finite automaton, to tell whether two patterns share a path.
struct Glob {
    /// A step from one state to the next: with a byte of a set, or of any.
    private struct Step {
        /// The bytes; nil for any.
        var bytes: Set<UInt8>?
        var to: Int
    }

    /// The text with which every match begins.
    private var start: [UInt8] = []
    private var steps: [[Step]] = [[]]
    private var free: [[Int]] = [[]]
    private var end = 0

    /// Reads a pattern; variables that are not named stand for any text.
    init(_ pattern: String, variables: [(name: String, values: [String])], foldsCase: Bool) {
        start = pattern.utf8.prefix { !"*?$".utf8.contains($0) }.map { foldsCase ? Self.lower($0) : $0 }
        var rest = Array(pattern.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "*"): star()
            case UInt8(ascii: "?"): step(nil)
            case UInt8(ascii: "$") where rest.first == UInt8(ascii: "("):
                let name = String(decoding: rest.dropFirst().prefix { $0 != UInt8(ascii: ")") }, as: UTF8.self)
                rest = rest.dropFirst(name.utf8.count + 2)
                variable(name, variables, foldsCase)
            default: step(foldsCase ? [Self.lower(byte), Self.upper(byte)] : [byte])
            }
        }
    }

    /// Whether some text is in both languages.
    static func overlap(_ a: Glob, _ b: Glob) -> Bool {
        // Most pairs part here, and the product of the automata is not walked.
        guard zip(a.start, b.start).allSatisfy(==) else { return false }
        var seen: Set<[Int]> = [[0, 0]]
        var waiting = [[0, 0]]
        while let pair = waiting.popLast() {
            if pair[0] == a.end, pair[1] == b.end { return true }
            var next = a.free[pair[0]].map { [$0, pair[1]] } + b.free[pair[1]].map { [pair[0], $0] }
            for one in a.steps[pair[0]] {
                for other in b.steps[pair[1]] {
                    let isShared =
                        one.bytes.map { own in other.bytes.map { !own.isDisjoint(with: $0) } ?? true } ?? true
                    if isShared { next.append([one.to, other.to]) }
                }
            }
            for pair in next where seen.insert(pair).inserted { waiting.append(pair) }
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
                // A value may hold wildcards of its own.
                if byte == UInt8(ascii: "?") {
                    step(nil)
                } else {
                    step(foldsCase ? [Self.lower(byte), Self.upper(byte)] : [byte])
                }
            }
            free[end].append(last)
        }
        end = last
    }

    private static func lower(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte }
    private static func upper(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "a") < 26 ? byte & 0xDF : byte }

    /// Apple's own variables of one character.
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
