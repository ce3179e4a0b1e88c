/// Proves of every pattern that some link chooses it, and of every two routes that they do not overlap unsaid
/// (route-table.md, 2.3).
///
/// Exact, unions included; what would take too much work is told as a warning `unproved`.
package struct OverlapProof {
    private let source: TableSource
    private let index: PatternIndex
    private var search: LinkSearch
    /// Pairs of routes that were complained of, the smaller index first.
    private var told = Set<Pair>()
    /// Pairs of routes of which some patterns take one link.
    private var meeting = Set<Pair>()
    /// For each route the ids in its `overlaps`.
    private let acknowledged: [Set<String>]
    /// For each route what could not be proved of it, and with which others.
    private var open: [Int: Set<Int>] = [:]

    private struct Pair: Hashable {
        var first: Int
        var second: Int

        init(_ a: Int, _ b: Int) {
            first = min(a, b)
            second = max(a, b)
        }
    }

    /// Proves a table that was read whole and notes what does not hold.
    package static func run(_ source: TableSource, budget: WorkBudget = WorkBudget(), into problems: inout ProblemList)
    {
        var proof = OverlapProof(source, budget)
        for number in proof.search.space.patterns.indices { proof.check(number, &problems) }
        proof.checkOverlapNames(&problems)
        proof.tellUnproved(&problems)
    }

    private init(_ source: TableSource, _ budget: WorkBudget) {
        self.source = source
        acknowledged = source.routes.map { Set($0.overlaps.map(\.value)) }
        let space = PatternSpace([source])
        index = PatternIndex(space)
        search = LinkSearch(space, budget: budget)
    }

    private var patterns: [ProofPattern] { search.space.patterns }

    /// One pattern against all that are better.
    private mutating func check(_ number: Int, _ problems: inout ProblemList) {
        let pattern = patterns[number]
        do throws(WorkBudget.Exhausted) {
            var better: [(pattern: ProofPattern, witness: Witness)] = []
            for other in try index.candidates(for: number, &search) {
                if let witness = try search.find(inside: [pattern, patterns[other]], outside: []) {
                    better.append((patterns[other], witness))
                }
            }
            let others = better.map(\.pattern)
            if try search.find(inside: [pattern], outside: others) == nil {
                try tellUnreachable(pattern, others, &problems)
            }
            for (other, witness) in better where other.route != pattern.route {
                judge(pattern, other, witness, &problems)
            }
        } catch {
            open[pattern.route, default: []].formUnion([])
        }
    }

    /// Two patterns of different routes that take one link, the better one second.
    private mutating func judge(
        _ worse: ProofPattern, _ better: ProofPattern, _ witness: Witness, _ problems: inout ProblemList
    ) {
        let pair = Pair(worse.route, better.route)
        meeting.insert(pair)
        let byIDOnly = differByIDOnly(worse, better)
        if told.contains(pair) || !byIDOnly && isAcknowledged(pair) { return }
        do throws(WorkBudget.Exhausted) {
            if try search.find(inside: [worse], outside: [better]) == nil { return }
            if try search.find(inside: [better], outside: [worse]) == nil { return }
        } catch {
            open[worse.route, default: []].insert(better.route)
            return
        }
        told.insert(pair)
        let (a, b) = (id(better), id(worse))
        let what = "\(text(worse)) of '\(b)' and \(text(better)) of '\(a)' both take some links"
        problems.error(
            .overlap, at: search.space.source(of: worse).offset,
            byIDOnly
                ? what + ", and nothing but the routes' ids tells which is chosen"
                : what + ", and neither takes all of the other's; '\(a)' is chosen" + remark(witness),
            suggestion: byIDOnly
                ? "tell them apart by 'query' or 'priority'"
                : "tell them apart, or say \"overlaps\": [\"\(a)\"] in '\(b)' if that is meant",
            routes: [b, a], witness: witness.text(in: source))
    }

    private mutating func tellUnreachable(
        _ pattern: ProofPattern, _ others: [ProofPattern], _ problems: inout ProblemList
    ) throws(WorkBudget.Exhausted) {
        let place = search.space.source(of: pattern).offset
        guard let witness = try search.find(inside: [pattern], outside: []) else {
            problems.error(
                .unreachable, at: place, "\(text(pattern)) of '\(id(pattern))' takes no link that can be written",
                suggestion: "take it away", routes: [id(pattern)])
            return
        }
        let covering = try coverers(of: pattern, others)
        var names: [String] = []
        for other in covering where !names.contains(id(other)) { names.append(id(other)) }
        let takers = covering.prefix(3).map { "\(text($0)) of '\(id($0))'" }.joined(separator: ", ")
        let more = covering.count > 3 ? " and \(covering.count - 3) more" : ""
        problems.error(
            .unreachable, at: place,
            "\(text(pattern)) of '\(id(pattern))' is never chosen: every link that it takes goes to "
                + (covering.count == 1 ? "" : "one of ") + takers + more + remark(witness),
            suggestion: "take it away, or tell it apart by 'query'",
            routes: [id(pattern)] + names.filter { $0 != id(pattern) }, witness: witness.text(in: source))
    }

    /// Few patterns that together take all that a pattern takes: one where one does.
    private mutating func coverers(
        of pattern: ProofPattern, _ others: [ProofPattern]
    ) throws(WorkBudget.Exhausted) -> [ProofPattern] {
        for other in others {
            if try search.find(inside: [pattern], outside: [other]) == nil { return [other] }
        }
        var left = others
        guard left.count <= 64 else { return left }
        for index in others.indices.reversed() {
            var fewer = left
            fewer.remove(at: index)
            if try search.find(inside: [pattern], outside: fewer) == nil { left = fewer }
        }
        return left
    }

    /// Names in `overlaps` of routes that share no link.
    private func checkOverlapNames(_ problems: inout ProblemList) {
        let numbers = Dictionary(
            zip(source.routes.map(\.id.value), source.routes.indices), uniquingKeysWith: { first, _ in first })
        for (route, one) in source.routes.enumerated() {
            for name in one.overlaps {
                guard let other = numbers[name.value], !meeting.contains(Pair(route, other)),
                    open[route] == nil, open[other] == nil
                else { continue }
                problems.warning(
                    .noOverlap, at: name.offset, "no link is taken by both '\(one.id.value)' and '\(name.value)'",
                    suggestion: "take the name out of 'overlaps'", routes: [one.id.value, name.value])
            }
        }
    }

    private func tellUnproved(_ problems: inout ProblemList) {
        for (route, others) in open.sorted(by: { $0.key < $1.key }) {
            let one = source.routes[route]
            problems.warning(
                .unproved, at: one.offset,
                "whether '\(one.id.value)' is chosen at all, and with which routes it overlaps, could not be proved "
                    + "within the work budget",
                suggestion: "fewer patterns that overlap it make it provable",
                routes: [one.id.value] + others.sorted().map { source.routes[$0].id.value })
        }
    }

    private func id(_ pattern: ProofPattern) -> String { source.routes[pattern.route].id.value }

    private func text(_ pattern: ProofPattern) -> String { "'\(search.space.source(of: pattern).text)'" }

    private func remark(_ witness: Witness) -> String {
        witness.isRewritten ? " (a rewrite changes the link before it is looked up)" : ""
    }

    /// Whether nothing but step 6, the ids, tells two patterns apart.
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
