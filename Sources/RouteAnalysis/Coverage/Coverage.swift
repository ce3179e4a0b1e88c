public import LinkCoordinator
internal import StrictJSON

/// How often decisions took each route of a table, each of its variants and each of its patterns.
///
/// Made by `Table.coverage(of:)`, or fed one decision after another with ``add(_:)`` where they come from a stream.
/// Only decisions of this table count, of whatever version: they are known by the id before the `@` of their member
/// `table`. A decision names its route by an id, which stays the same from version to version, but its variant by its
/// number, which does not: variants are counted from decisions of this very version. Which pattern was taken a
/// decision says only where it carries its trace (the member `explain`, as `linkd resolve --explain --json` prints it
/// and the worker publishes for a sample).
public struct Coverage: Sendable, Equatable {
    /// A route of the table and what was taken of it.
    public struct Route: Sendable, Equatable {
        /// The route's id.
        public let id: String
        /// Decisions that this route made.
        public internal(set) var decisions = 0
        /// Decisions that came here and were redirected to another route.
        public internal(set) var redirected = 0
        /// Decisions of this version by variant, as many as the route lists; empty where it has one `to` only.
        public internal(set) var variants: [Int]
        /// The route's patterns in the order of the file, an optional's shorter form after its fuller one.
        public internal(set) var patterns: [Pattern]

        /// Whether no decision came here at all.
        public var isUnused: Bool { decisions == 0 && redirected == 0 }
    }

    /// A pattern of a route and how often it was taken.
    public struct Pattern: Sendable, Equatable {
        /// The pattern as an explanation names it.
        public let text: String
        /// Decisions with a trace that took it.
        public internal(set) var decisions = 0
    }

    /// A reason and how often it was given.
    public struct ReasonCount: Sendable, Equatable {
        /// The stable code, such as `no_route`.
        public let reason: String
        /// Decisions that say it.
        public internal(set) var decisions: Int
    }

    /// The table's id.
    public let table: String
    /// Every route of the table, in the order of the file.
    public private(set) var routes: [Route]
    /// Decisions of this table.
    public private(set) var decisions = 0
    /// Those of them that say no route.
    public private(set) var withoutRoute = 0
    /// Those of them whose route this version of the table does not have.
    public private(set) var unknown = 0
    /// Those of them that carry a trace, so that their pattern is known.
    public private(set) var traced = 0
    /// Those of them that another version of the table made: which variant they took is not counted.
    public private(set) var ofOtherVersions = 0
    /// Decisions of other tables, which count nowhere else.
    public private(set) var ofOtherTables = 0
    /// Reasons in the order of their codes.
    public private(set) var reasons: [ReasonCount] = []

    private let identity: String
    private let numbers: [String: Int]

    /// Makes a coverage of a table that counts nothing yet.
    public init(of table: RouteTable) {
        self.table = table.id
        identity = table.identity
        routes = table.source.routes.map { route in
            Route(
                id: route.id.value, variants: route.listsVariants ? route.variants.map { _ in 0 } : [],
                patterns: route.patterns.map { Pattern(text: $0.text) })
        }
        numbers = Dictionary(routes.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Counts one decision.
    public mutating func add(_ decision: Decision) {
        guard decision.table?.split(separator: "@").first.map(String.init) == table else {
            ofOtherTables += 1
            return
        }
        decisions += 1
        let isOfThisVersion = decision.table == identity
        ofOtherVersions += isOfThisVersion ? 0 : 1
        if let reason = decision.reason { add(reason: reason) }
        let chosen = chosenPattern(decision)
        for id in decision.via {
            guard let number = numbers[id] else { continue }
            routes[number].redirected += 1
        }
        if let chosen, let number = numbers[chosen.route],
            let index = routes[number].patterns.firstIndex(where: { $0.text == chosen.pattern })
        {
            routes[number].patterns[index].decisions += 1
            traced += 1
        }
        guard let id = decision.route else {
            withoutRoute += 1
            return
        }
        guard let number = numbers[id] else {
            unknown += 1
            return
        }
        routes[number].decisions += 1
        guard isOfThisVersion, let variant = decision.variant, routes[number].variants.indices.contains(variant) else {
            return
        }
        routes[number].variants[variant] += 1
    }

    private mutating func add(reason: String) {
        let place = reasons.firstIndex { $0.reason >= reason } ?? reasons.endIndex
        if place < reasons.endIndex, reasons[place].reason == reason {
            reasons[place].decisions += 1
        } else {
            reasons.insert(ReasonCount(reason: reason, decisions: 1), at: place)
        }
    }

    /// The candidate that the decision's trace marks as chosen.
    private func chosenPattern(_ decision: Decision) -> (route: String, pattern: String)? {
        let candidates = decision.value["explain"]?["candidates"]?.array ?? []
        guard let chosen = candidates.first(where: { $0["chosen"] != nil }), let route = chosen["route"]?.string,
            let pattern = chosen["pattern"]?.string
        else { return nil }
        return (route, pattern)
    }
}

extension RouteTable {
    /// How often the decisions took each route of this table, each variant and, where a decision carries its trace,
    /// each pattern.
    public func coverage(of decisions: some Sequence<Decision>) -> Coverage {
        var coverage = Coverage(of: self)
        for decision in decisions { coverage.add(decision) }
        return coverage
    }
}
