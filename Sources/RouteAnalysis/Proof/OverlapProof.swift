internal import ByteStorage
package import LinkCoordinator

/// Proves that a link selects every pattern, and that no two routes overlap without declaring it.
///
/// The proof is exact, also for unions of patterns. If a search exceeds its budget, the warning `unproved` is reported.
/// Once the maximum number of errors is reported, the table is rejected anyway, and its remaining patterns are not
/// proved.
///
/// See RouteTableReference, "Overlaps".
package struct OverlapProof {
    private let source: TableSource
    private let index: PatternIndex
    private var search: LinkSearch
    /// Pairs of routes with a reported problem, the smaller index first.
    private var reported = Set<Pair>()
    /// Pairs of routes with patterns that match a common link.
    private var overlappingRoutes = Set<Pair>()
    /// The ids in the `overlaps` of each route.
    private let acknowledged: [Set<String>]
    /// The language of each pattern, equal for patterns that match the same links.
    private let languages: [Int]
    /// The languages for which it is known whether a valid link matches.
    private var isWritable: [Int: Bool] = [:]
    /// The routes whose proof exceeded the budget, each with the other routes involved.
    private var open: [Int: Set<Int>] = [:]

    private struct Pair: Hashable {
        var first: Int
        var second: Int

        init(_ a: Int, _ b: Int) {
            first = min(a, b)
            second = max(a, b)
        }
    }

    /// Proves a table that was read completely, and adds the problems.
    package static func run(_ source: TableSource, budget: WorkBudget = WorkBudget(), into problems: inout ProblemList)
    {
        var proof = OverlapProof(source, budget)
        for number in proof.search.space.patterns.indices {
            // Many patterns with the same links are reported in pairs, which without a limit is quadratic in the file's
            // size.
            if problems.isFull { return }
            proof.check(number, &problems)
        }
        proof.checkOverlapNames(&problems)
        proof.reportUnproved(&problems)
    }

    private init(_ source: TableSource, _ budget: WorkBudget) {
        self.source = source
        acknowledged = source.routes.map { Set($0.overlaps.map(\.value)) }
        let space = PatternSpace([source])
        index = PatternIndex(space)
        languages = Self.languages(of: space.patterns)
        search = LinkSearch(space: space, budget: budget)
    }

    /// The parts of a pattern that determine the links that it matches.
    private struct Language: Hashable {
        var rule: Int
        var segments: [Int]
        var tail: ProofPattern.Tail
        var constraints: [String: Set<TableSource.QueryConstraint.Test>]
    }

    private static func languages(of patterns: [ProofPattern]) -> [Int] {
        var numbers: [Language: Int] = [:]
        return patterns.map { pattern in
            let tests = Dictionary(grouping: pattern.constraints, by: \.name.value).mapValues { Set($0.map(\.test)) }
            let language = Language(
                rule: pattern.rule, segments: pattern.segments, tail: pattern.tail, constraints: tests)
            let number = numbers[language] ?? numbers.count
            numbers[language] = number
            return number
        }
    }

    private var patterns: [ProofPattern] { search.space.patterns }

    /// Checks a pattern against all patterns with higher precedence.
    private mutating func check(_ number: Int, _ problems: inout ProblemList) {
        let pattern = patterns[number]
        do throws(WorkBudget.Exhausted) {
            let candidates = try index.candidates(for: number, &search)
            var preceding: [Int] = []
            for other in candidates {
                // For one route, only a pattern that is never selected is reported, so an overlap need not be proved.
                let isOwn = patterns[other].route == pattern.route
                if try isOwn ? true : overlaps(number, other) { preceding.append(other) }
            }
            if try isCovered(number, by: preceding) { try reportUnreachable(number, preceding, &problems) }
            for other in preceding where patterns[other].route != pattern.route && !problems.isFull {
                reportOverlap(number, other, &problems)
            }
        } catch {
            open[pattern.route, default: []].formUnion([])
        }
    }

    /// Returns a Boolean value that indicates whether two patterns match a common link.
    private mutating func overlaps(_ number: Int, _ other: Int) throws(WorkBudget.Exhausted) -> Bool {
        if includes(number, other) { return try hasLinks(other) }
        return try search.exists(inside: [patterns[number], patterns[other]], outside: [])
    }

    /// Returns a Boolean value that indicates whether a pattern matches any valid link.
    private mutating func hasLinks(_ number: Int) throws(WorkBudget.Exhausted) -> Bool {
        if let known = isWritable[languages[number]] { return known }
        let found = try search.exists(inside: [patterns[number]], outside: [])
        isWritable[languages[number]] = found
        return found
    }

    /// Returns a Boolean value that indicates whether a pattern matches all links of another.
    ///
    /// It compares the two patterns directly, so it returns false if only a search can decide.
    private func includes(_ number: Int, _ other: Int) -> Bool {
        isEqual(number, other) || patterns[number].plainlyIncludes(patterns[other], search.space.segments)
    }

    /// Returns a Boolean value that indicates whether other patterns match all links of a pattern.
    private mutating func isCovered(_ number: Int, by others: [Int]) throws(WorkBudget.Exhausted) -> Bool {
        if others.contains(where: { includes($0, number) }) { return true }
        return try !search.exists(inside: [patterns[number]], outside: others.map { patterns[$0] })
    }

    private func isEqual(_ a: Int, _ b: Int) -> Bool { languages[a] == languages[b] }

    /// Reports two patterns of different routes that match a common link, the second one with higher precedence.
    private mutating func reportOverlap(_ worseNumber: Int, _ betterNumber: Int, _ problems: inout ProblemList) {
        let (worse, better) = (patterns[worseNumber], patterns[betterNumber])
        let pair = Pair(worse.route, better.route)
        overlappingRoutes.insert(pair)
        let byIDOnly = differByIDOnly(worse, better)
        if includes(worseNumber, betterNumber) || reported.contains(pair) || !byIDOnly && isAcknowledged(pair) {
            return
        }
        guard let witness = overlapWitness(worse, better) else { return }
        reported.insert(pair)
        let (a, b) = (id(better), id(worse))
        let message = "\(text(worse)) of `\(b)` and \(text(better)) of `\(a)` both match some links"
        problems.error(
            .overlap, at: search.space.source(of: worse).offset,
            byIDOnly
                ? message + ", and only the routes' ids determine which is selected"
                : message + ", and neither matches all links of the other; `\(a)` is selected" + remark(witness),
            suggestion: byIDOnly
                ? "distinguish them by `query` or `priority`"
                : "distinguish them, or add \"overlaps\": [\"\(a)\"] to `\(b)` if this is intended",
            routes: [b, a], witness: witness.text(in: source))
    }

    /// Returns a link that two patterns match, unless one of them matches all links of the other.
    private mutating func overlapWitness(_ worse: ProofPattern, _ better: ProofPattern) -> LinkWitness? {
        do throws(WorkBudget.Exhausted) {
            guard try search.exists(inside: [worse], outside: [better]),
                try search.exists(inside: [better], outside: [worse])
            else { return nil }
            return try search.find(inside: [worse, better], outside: [])
        } catch {
            open[worse.route, default: []].insert(better.route)
            return nil
        }
    }

    private mutating func reportUnreachable(
        _ number: Int, _ others: [Int], _ problems: inout ProblemList
    ) throws(WorkBudget.Exhausted) {
        let pattern = patterns[number]
        let offset = search.space.source(of: pattern).offset
        guard let witness = try search.find(inside: [pattern], outside: []) else {
            problems.error(
                .unreachable, at: offset, "\(text(pattern)) of `\(id(pattern))` matches no valid link",
                suggestion: "remove it", routes: [id(pattern)])
            return
        }
        var overlapping: [Int] = []
        for other in others where try overlaps(number, other) { overlapping.append(other) }
        let covering = try coverers(of: number, overlapping)
        let names = covering.map { id($0) }.unique
        let coveringText = covering.prefix(3).map { "\(text($0)) of `\(id($0))`" }.joined(separator: ", ")
        let more = covering.count > 3 ? " and \(covering.count - 3) more" : ""
        problems.error(
            .unreachable, at: offset,
            "\(text(pattern)) of `\(id(pattern))` is never selected: every link that it matches selects "
                + (covering.count == 1 ? "" : "one of ") + coveringText + more + remark(witness),
            suggestion: "remove it, or distinguish it by `query`",
            routes: [id(pattern)] + names.filter { $0 != id(pattern) }, witness: witness.text(in: source))
    }

    /// Returns a small set of patterns that match all links of a pattern: one pattern if one is enough.
    private mutating func coverers(
        of number: Int, _ others: [Int]
    ) throws(WorkBudget.Exhausted) -> [ProofPattern] {
        let pattern = patterns[number]
        for other in others {
            if try isCovered(number, by: [other]) { return [patterns[other]] }
        }
        var remaining = others.map { patterns[$0] }
        guard remaining.count <= 64 else { return remaining }
        for index in others.indices.reversed() {
            var fewer = remaining
            fewer.remove(at: index)
            if try !search.exists(inside: [pattern], outside: fewer) { remaining = fewer }
        }
        return remaining
    }

    /// Reports names in `overlaps` of routes without a common link.
    private func checkOverlapNames(_ problems: inout ProblemList) {
        let numbers = Dictionary(
            zip(source.routes.map(\.id.value), source.routes.indices), uniquingKeysWith: { first, _ in first })
        for (route, one) in source.routes.enumerated() {
            for name in one.overlaps {
                guard let other = numbers[name.value], !overlappingRoutes.contains(Pair(route, other)),
                    open[route] == nil, open[other] == nil
                else { continue }
                problems.warning(
                    .noOverlap, at: name.offset, "no link matches both `\(one.id.value)` and `\(name.value)`",
                    suggestion: "remove the name from `overlaps`", routes: [one.id.value, name.value])
            }
        }
    }

    private func reportUnproved(_ problems: inout ProblemList) {
        for (route, others) in open.sorted(by: { $0.key < $1.key }) {
            let one = source.routes[route]
            problems.warning(
                .unproved, at: one.offset,
                "the proof for `\(one.id.value)` exceeded the work budget: it may never be selected, or overlap other "
                    + "routes without declaring it",
                suggestion: "reduce the number of patterns that overlap it",
                routes: [one.id.value] + others.sorted().map { source.routes[$0].id.value })
        }
    }

    private func id(_ pattern: ProofPattern) -> String { source.routes[pattern.route].id.value }

    private func text(_ pattern: ProofPattern) -> String { "`\(search.space.source(of: pattern).text)`" }

    private func remark(_ witness: LinkWitness) -> String {
        witness.isRewritten ? " (a rewrite changes the link before a route is selected)" : ""
    }

    /// Returns a Boolean value that indicates whether only the ids of their routes, the last step of the precedence,
    /// order two patterns.
    private func differByIDOnly(_ a: ProofPattern, _ b: ProofPattern) -> Bool {
        let (x, y) = (source.routes[a.route], source.routes[b.route])
        var (p, q) = (x.precedence(of: search.space.source(of: a)), y.precedence(of: search.space.source(of: b)))
        (p.route, q.route) = ("", "")
        p.path = Pattern(matchers: p.path.matchers, captures: [], text: "")
        q.path = Pattern(matchers: q.path.matchers, captures: [], text: "")
        return Precedence.compare(p, q) == 0
    }

    private func isAcknowledged(_ pair: Pair) -> Bool {
        let (first, second) = (source.routes[pair.first].id.value, source.routes[pair.second].id.value)
        return acknowledged[pair.first].contains(second) || acknowledged[pair.second].contains(first)
    }
}

/// Finds a device for which no variant holds, for a route whose last variant has a condition.
///
/// It starts with the cell of all devices and subtracts the cell of each variant. If a cell is left after the last
/// variant, one of its devices is the witness.
enum TotalityProof {
    /// The maximum number of cells for one route.
    private static let maxCells = 10_000

    /// Adds a device without a matching variant to the errors of the structural checks.
    ///
    /// - Parameters:
    ///   - source: The table.
    ///   - problems: The list of problems.
    ///   - isOver: A function that returns true to end the proof after the current variant.
    ///   - isWhole: A Boolean value that indicates whether a route was read completely. Other routes are skipped.
    static func run(
        _ source: TableSource, into problems: inout ProblemList, until isOver: () -> Bool,
        where isWhole: (TableSource.Route) -> Bool
    ) {
        let open = source.routes.filter { $0.variants.last?.when?.isEmpty == false && isWhole($0) }
        if open.isEmpty { return }
        let space = DeviceSpace(source)
        for route in open {
            guard let last = route.variants.last, let device = deviceWithoutVariant(route, space, isOver) else {
                continue
            }
            problems.addDevice(
                device, to: .variantOrder, at: last.offset, ", and for some devices no variant holds")
        }
    }

    private static func deviceWithoutVariant(
        _ route: TableSource.Route, _ space: DeviceSpace, _ isOver: () -> Bool
    ) -> String? {
        var remaining: [DeviceCell] = [[:]]
        for variant in route.variants {
            let cell = variant.when.map { space.cell(of: $0) } ?? [:]
            remaining = remaining.flatMap { space.subtract(cell, from: $0) }
            // The cells of the remaining variants would not be removed, so the device could be wrong.
            if remaining.count > maxCells || isOver() { return nil }
        }
        return remaining.first.map { space.device(of: $0).json }
    }
}

/// A normalized link that demonstrates a result, before it is written as text.
struct LinkWitness {
    /// The scheme and host.
    var origin: Origin
    /// The decoded segments.
    var segments: [[UInt8]]
    /// The names and values of the query.
    var query: [QueryConstraints.Item]
    /// A Boolean value that indicates whether a rewrite changes the link, so resolving it does not show the result.
    var isRewritten = false

    /// Returns the link as text: the origin, the percent-encoded segments, and the query in its dialect.
    func text(in source: TableSource) -> String {
        head + QueryConstraints(source.blocks[origin.block].query).text(of: query)
    }

    /// The scheme and authority, or the scheme and the first segment if the tables read the authority differently.
    var authority: String {
        let first = segments.first ?? []
        let lead = origin.escapesAuthority ? LinkEncoding.escape(first) : LinkEncoding.encode(first)
        let host = origin.isAuthoritySegment ? lead : String(decoding: origin.host, as: UTF8.self)
        return "\(origin.scheme)://\(host)\(origin.port.map { ":\($0)" } ?? "")"
    }

    /// The path with percent-encoded segments.
    var path: String {
        let own = segments.dropFirst(origin.isAuthoritySegment ? 1 : 0)
        return own.isEmpty ? "/" : own.map { "/" + LinkEncoding.encode($0) }.joined()
    }

    /// The link without its query.
    var head: String { authority + path }
}

/// A limit on the work of a proof.
///
/// Deciding whether patterns cover another is coNP-hard in general.
///
/// A unit is one step with one pattern or one state. The budget counts work instead of time, so that a result is the
/// same on every machine. Ordinary tables stay far below the limits.
///
/// A caller who waits for an answer can end the work earlier. What was proved until then is no result.
package struct WorkBudget: Sendable {
    /// The error that is thrown when a search would exceed the budget.
    package struct Exhausted: Error, Sendable, Equatable {
        /// Creates the error.
        package init() {}
    }

    /// The maximum number of units of one search.
    package var perSearch: Int

    /// The remaining units of all searches together.
    package private(set) var remaining: Int

    private var remainingInSearch = 0
    /// The units until `isOver` is called again.
    private var unitsToCall = 0
    /// The units between two calls of `isOver`.
    private static let unitsPerCall = 10_000
    private let isOver: @Sendable () -> Bool

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - perSearch: The maximum number of units of one search.
    ///   - total: The units of all searches together.
    ///   - isOver: A function that returns true to take away all units. It is called before each search, and again
    ///     after some units.
    package init(
        perSearch: Int = 2_000_000, total: Int = 400_000_000, isOver: @escaping @Sendable () -> Bool = { false }
    ) {
        self.perSearch = perSearch
        remaining = total
        self.isOver = isOver
    }

    /// Begins a search with a new limit.
    package mutating func begin() {
        call()
        remainingInSearch = min(perSearch, remaining)
    }

    private mutating func call() {
        unitsToCall = Self.unitsPerCall
        if isOver() { remaining = 0 }
    }

    /// Uses units, or throws if the search, or all of them together, have none left.
    package mutating func spend(_ units: Int) throws(Exhausted) {
        remainingInSearch -= units
        remaining -= units
        unitsToCall -= units
        if unitsToCall < 0 { call() }
        if remainingInSearch < 0 || remaining < 0 { throw Exhausted() }
    }
}

/// The inputs that decide between variants: a device, and the query parameters that conditions read.
struct EvaluationContext: Hashable {
    var device = DeviceFacts()
    /// The query parameters with their values, or with nil for a name that is absent.
    var query: [String: String?] = [:]
}

extension DeviceSpace {
    /// Returns every combination of values of the facts, beginning with unknown facts only.
    ///
    /// If there would be more than `limit`, it returns combinations of any two facts up to about that limit, and
    /// `isWhole` is false.
    func contexts(limit: Int) -> (all: [EvaluationContext], isWhole: Bool) {
        let facts = values.sorted { "\($0.key)" < "\($1.key)" }
        var count = 1
        for (_, values) in facts { count = count > limit ? count : count * values.count }
        guard count > limit else { return (product(facts, from: [EvaluationContext()]), true) }
        var all = [EvaluationContext()]
        for (index, fact) in facts.enumerated() {
            for other in facts.dropFirst(index + 1) {
                if all.count > limit { break }
                all += product([fact, other], from: [EvaluationContext()])
            }
        }
        return (all, false)
    }

    private func product(
        _ facts: [(key: DeviceFact, value: [String?])], from start: [EvaluationContext]
    ) -> [EvaluationContext] {
        facts.reduce(start) { all, fact in
            all.flatMap { one in fact.value.map { self.with(fact.key, $0, one) } }
        }
    }

    /// Returns a context with another value of one fact.
    private func with(_ fact: DeviceFact, _ value: String?, _ one: EvaluationContext) -> EvaluationContext {
        var next = one
        if case .query(let name) = fact {
            next.query[name] = .some(value)
        } else if let value {
            Self.set(fact, value, &next.device)
        }
        return next
    }
}

extension TableSource.RoutePattern {
    /// The pattern with the scheme and host that it names.
    var text: String {
        guard scheme != nil || host != nil else { return path.text }
        return "\(scheme ?? "*")://\(host?.text ?? "*")\(path.text)"
    }
}
