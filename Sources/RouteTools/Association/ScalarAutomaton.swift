internal import RouteAnalysis
internal import LinkCoordinator

/// A nondeterministic automaton over the characters of a text that runs many patterns at once.
///
/// The time for a text is at most proportional to its length times the number of states, for any patterns. Each pattern
/// has a number, and a text has the numbers of all patterns that match it.
struct ScalarAutomaton {
    /// A transition that consumes a character.
    struct Step {
        var test: ScalarTest
        var to: Int
    }

    /// The maximum number of states of the patterns of one file.
    static let maxStates = 1 << 17

    /// The transitions of each state.
    private(set) var steps: [[Step]] = []
    /// The transitions of each state that consume nothing.
    private var free: [[Int]] = []
    /// The number of the pattern that ends in each state, or -1.
    private var ends: [Int] = []
    private var starts: [Int] = []

    /// A Boolean value that indicates whether the patterns need more states than the limit.
    ///
    /// The automaton is then incomplete and must not be used.
    private(set) var isTooLarge = false

    /// Creates an automaton without patterns.
    init() {}

    // MARK: Building

    /// Adds a state.
    mutating func state() -> Int {
        if steps.count >= Self.maxStates {
            isTooLarge = true
            return 0
        }
        steps.append([])
        free.append([])
        ends.append(-1)
        return steps.count - 1
    }

    /// Adds a start state.
    mutating func begin() -> Int {
        let start = state()
        starts.append(start)
        return start
    }

    /// Adds a transition to a new state.
    mutating func step(from source: Int, _ test: ScalarTest) -> Int {
        let target = state()
        connect(source, test, target)
        return target
    }

    /// Adds a transition between two states.
    mutating func connect(_ source: Int, _ test: ScalarTest, _ target: Int) {
        guard !isTooLarge else { return }
        steps[source].append(Step(test: test, to: target))
    }

    /// Adds a transition that consumes nothing.
    mutating func join(_ source: Int, _ target: Int) {
        guard !isTooLarge else { return }
        free[source].append(target)
    }

    /// Adds a state that consumes any number of any characters.
    mutating func anything(from source: Int) -> Int {
        let target = state()
        join(source, target)
        connect(target, .any, target)
        return target
    }

    /// Adds a text, character by character.
    mutating func word(_ text: String, from source: Int, folds: Bool) -> Int {
        var last = source
        for scalar in text.unicodeScalars { last = step(from: last, .exact(scalar, folds: folds)) }
        return last
    }

    /// Marks the end of a pattern.
    ///
    /// A state has at most one number, so a second pattern gets a state of its own.
    mutating func finish(_ state: Int, pattern number: Int) {
        let end = self.state()
        join(state, end)
        if !isTooLarge { ends[end] = number }
    }

    /// Adds the texts of a matcher of one segment.
    mutating func segment(_ matcher: Matcher, from source: Int, folds: Bool) -> Int {
        var own = SegmentAutomaton()
        own.add(matcher, folds: folds)
        let first = steps.count
        for _ in own.steps.indices { _ = state() }
        let target = state()
        guard !isTooLarge else { return 0 }
        for (index, list) in own.steps.enumerated() {
            for step in list { connect(first + index, .segment(step.test), first + step.target) }
            if own.accepts[index] { join(first + index, target) }
        }
        for start in own.starts { join(source, first + start) }
        return target
    }

    // MARK: Running

    /// Returns the states before the first character.
    func start() -> [Int] {
        var set = Set<Int>()
        for state in starts { insert(state, into: &set) }
        return set.sorted()
    }

    /// Returns the states after a character.
    func step(_ states: [Int], _ scalar: Unicode.Scalar) -> [Int] {
        var set = Set<Int>()
        for state in states {
            for step in steps[state] where step.test.matches(scalar) { insert(step.to, into: &set) }
        }
        return set.sorted()
    }

    /// Returns the sorted numbers of the patterns that end in some states.
    func numbers(_ states: [Int]) -> [Int] {
        var found = Set<Int>()
        for state in states where ends[state] >= 0 { found.insert(ends[state]) }
        return found.sorted()
    }

    /// Returns the sorted numbers of the patterns that match a text.
    func numbers(matching text: String) -> [Int] {
        var states = start()
        for scalar in text.unicodeScalars {
            states = step(states, scalar)
            if states.isEmpty { return [] }
        }
        return numbers(states)
    }

    private func insert(_ state: Int, into set: inout Set<Int>) {
        var waiting = [state]
        while let next = waiting.popLast() {
            if set.insert(next).inserted { waiting += free[next] }
        }
    }
}

/// A test of one character, for a transition of an automaton.
enum ScalarTest: Hashable {
    /// This character, optionally in either case.
    case exact(Unicode.Scalar, folds: Bool)
    /// One of some ASCII characters, optionally in either case.
    case ascii(String, folds: Bool)
    /// A character of a segment that a matcher of a table tests. It is never a slash.
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

/// The start of links in a search: a scheme with a host.
struct HandingOrigin {
    /// The index of the block that reads the links, or nil if the table does not list the scheme.
    var block: Int?
    var scheme: String
    /// The host in lowercase, or the first segment if the block reads the host as one.
    var host: String
    /// The port, or nil for none.
    var port: UInt16?
    /// A Boolean value that indicates whether the host is a segment, which is percent-encoded in a link.
    var isSegment = false

    /// The link without a path.
    var text: String {
        "\(scheme)://\(isSegment ? PercentText.encode(host) : host)\(port.map { ":\($0)" } ?? "")"
    }
}

/// The paths that the routes of a table match for one origin.
///
/// It contains every path that the table assigns to a pattern, also with repeated slashes and with a slash at the end.
/// The number of a pattern is its place in the order of precedence.
struct TableLanguage {
    /// A pattern of a route.
    struct Entry {
        /// The index of the route.
        var route: Int
        /// A Boolean value that indicates whether the route also has conditions on the query.
        var isConditional: Bool
    }

    /// The patterns in order of precedence.
    private(set) var entries: [Entry] = []
    /// The automaton of the paths.
    private(set) var automaton = ScalarAutomaton()
    /// A Boolean value that indicates whether rewrites make the order of precedence inexact.
    private(set) var hasRewrites = false
    /// A Boolean value that indicates whether the table reads the host as the first segment.
    let isSegment: Bool

    private let source: TableSource
    /// A Boolean value that indicates whether the table counts repeated slashes as one instead of rejecting such links.
    let collapses: Bool

    /// Creates the language of the patterns that an origin can select.
    init(_ source: TableSource, _ origin: HandingOrigin) {
        self.source = source
        let block = origin.block.map { source.blocks[$0] }
        isSegment = block?.hostRole == .segment
        collapses = block?.emptySegments != .reject
        guard let block, Self.accepts(block, origin) else { return }
        hasRewrites = !block.rewrites.isEmpty
        let base = base(block)
        var found: [(precedence: Precedence, route: Int, pattern: TableSource.RoutePattern)] = []
        for (index, route) in source.routes.enumerated() {
            for pattern in route.patterns where Self.takes(pattern, origin, isSegment: isSegment) {
                found.append((route.precedence(of: pattern), index, pattern))
            }
        }
        found.sort { Precedence.compare($0.precedence, $1.precedence) < 0 }
        for one in found where add(one.pattern.path, entries.count, base, origin) {
            entries.append(Entry(route: one.route, isConditional: !source.routes[one.route].query.isEmpty))
        }
    }

    private static func accepts(_ block: TableSource.LinkBlock, _ origin: HandingOrigin) -> Bool {
        block.hostRole == .segment
            || block.hosts.contains { $0.value.matches(host: Array(origin.host.utf8), port: origin.port) }
    }

    private static func takes(
        _ pattern: TableSource.RoutePattern, _ origin: HandingOrigin, isSegment: Bool
    ) -> Bool {
        if let scheme = pattern.scheme, scheme != origin.scheme { return false }
        guard let rule = pattern.host, rule != .any else { return true }
        return !isSegment && rule.matches(host: Array(origin.host.utf8), port: origin.port)
    }

    // MARK: Questions

    /// Returns the routes that can be selected among the patterns that match a path, in order.
    ///
    /// A pattern without conditions on the query precedes all later ones.
    func selectable(_ numbers: [Int]) -> [Int] {
        var routes: [Int] = []
        for number in numbers {
            let entry = entries[number]
            if !routes.contains(entry.route) { routes.append(entry.route) }
            if !entry.isConditional, !hasRewrites { break }
        }
        return routes
    }

    /// Returns a Boolean value that indicates whether a route is selected for every query.
    func surelyTakes(_ numbers: [Int]) -> Bool { numbers.contains { !entries[$0].isConditional } }

    // MARK: Building

    /// Adds the optional prefixes that rewrites remove, and returns the state after them.
    private mutating func base(_ block: TableSource.LinkBlock) -> Int {
        var base = automaton.begin()
        for rewrite in isSegment ? [] : block.rewrites {
            var end = base
            for matcher in rewrite.pattern.matchers.dropLast() { end = segment(matcher, from: end) }
            let next = automaton.state()
            automaton.join(base, next)
            automaton.join(end, next)
            base = next
        }
        return base
    }

    /// Adds a pattern, or returns false if no link of the origin matches it.
    private mutating func add(_ path: Pattern, _ number: Int, _ base: Int, _ origin: HandingOrigin) -> Bool {
        var segments = path.matchers.dropLast()
        var terminal = path.matchers.last ?? .end
        if isSegment {
            let host = Array(origin.host.utf8)
            if let first = segments.popFirst() {
                guard
                    Pattern(matchers: [first, .end], captures: [], text: "").matches(
                        [host], foldsCase: source.foldsPathCase, isCoordinator: { _ in false })
                else { return false }
            } else if case .end = terminal {
                return false
            } else if case .anySegment = terminal {
                if matchesTail(terminal, host) { terminal = .restStar }
            } else {
                guard matchesTail(terminal, host) else { return false }
                terminal = .restStar
            }
        }
        var end = base
        for matcher in segments { end = segment(matcher, from: end) }
        let isRoot = segments.isEmpty && !isSegment
        switch terminal {
        case .restStar where isRoot:
            automaton.finish(automaton.anything(from: slash(from: end)), pattern: number)
        case .restStar: rest(from: end, number)
        case .restPlus:
            let first = automaton.step(from: slash(from: end), .segment(.any))
            automaton.finish(automaton.anything(from: first), pattern: number)
        case .coordinatorPath:
            let start = slash(from: end)
            for name in source.coordinators.map(\.name.value) {
                rest(from: automaton.word(name, from: start, folds: false), number)
            }
        case .anySegment(let text):
            let between = automaton.state()
            automaton.join(end, between)
            automaton.join(segment(.any, from: between), between)
            rest(from: segment(.literal(text), from: between), number)
        default: closing(from: isRoot && !hasRewrites ? slash(from: end) : end, number)
        }
        return true
    }

    private func matchesTail(_ terminal: Matcher, _ host: [UInt8]) -> Bool {
        terminal.matchesTail([host], from: 0, foldsCase: source.foldsPathCase) { segment in
            source.coordinators.contains { $0.name.value.utf8.elementsEqual(segment) }
        }
    }

    private mutating func slash(from source: Int) -> Int {
        let target = automaton.step(from: source, .exact("/", folds: false))
        if collapses { automaton.connect(target, .exact("/", folds: false), target) }
        return target
    }

    private mutating func segment(_ matcher: Matcher, from state: Int) -> Int {
        automaton.segment(matcher, from: slash(from: state), folds: source.foldsPathCase)
    }

    /// Ends a pattern, optionally after slashes.
    private mutating func closing(from state: Int, _ number: Int) {
        automaton.finish(state, pattern: number)
        automaton.finish(slash(from: state), pattern: number)
    }

    /// Ends a pattern after any number of segments.
    private mutating func rest(from state: Int, _ number: Int) {
        automaton.finish(state, pattern: number)
        automaton.finish(automaton.anything(from: slash(from: state)), pattern: number)
    }
}
