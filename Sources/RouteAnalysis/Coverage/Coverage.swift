public import LinkCoordinator
internal import StrictJSON

/// Counts of the decisions that selected each route, variant, and pattern of a table.
///
/// Create it with `RouteTable.coverage(of:)`, or add one decision after another with ``add(_:)`` for a stream of them.
/// It counts only decisions of this table, in any version, which it identifies by the id before the `@` of their member
/// `table`. Route ids are stable across versions but variant indices are not, so variants are counted only for
/// decisions of this version. A decision identifies its pattern only if it has a trace (the member `explain`, which
/// `linkd resolve --explain --json` prints and the worker publishes for a sample).
public struct Coverage: Sendable, Equatable {
    /// A route of the table with its counts.
    public struct Route: Sendable, Equatable {
        /// The route's id.
        public let id: String
        /// The number of decisions whose route this is.
        public internal(set) var decisions = 0
        /// The number of decisions that this route redirected to another route.
        public internal(set) var redirected = 0
        /// The number of decisions of this version for each variant of the route, or empty if it has a single `to`.
        public internal(set) var variants: [Int]
        /// The route's patterns in the order of the file, with the longer form of an optional before the shorter one.
        public internal(set) var patterns: [Pattern]

        /// A Boolean value that indicates whether no decision reached this route.
        public var isUnused: Bool { decisions == 0 && redirected == 0 }
    }

    /// A pattern of a route with its count.
    public struct Pattern: Sendable, Equatable {
        /// The pattern, in the form that an explanation uses.
        public let text: String
        /// The number of decisions with a trace that selected the pattern.
        public internal(set) var decisions = 0
    }

    /// A reason with its count.
    public struct ReasonCount: Sendable, Equatable {
        /// The stable code, such as `no_route`.
        public let reason: Decision.Reason
        /// The number of decisions with the reason.
        public internal(set) var decisions: Int
    }

    /// The table's id.
    public let table: String
    /// All routes of the table, in the order of the file.
    public private(set) var routes: [Route]
    /// The number of decisions of this table.
    public private(set) var decisions = 0
    /// The number of decisions of this table without a route.
    public private(set) var withoutRoute = 0
    /// The number of decisions of this table whose route is not in this version.
    public private(set) var withUnknownRoute = 0
    /// The number of decisions of this table with a trace that identifies a pattern of this version.
    public private(set) var withTrace = 0
    /// The number of decisions that another version of this table made.
    ///
    /// Their variants are not counted.
    public private(set) var ofOtherVersions = 0
    /// The number of decisions of other tables, which no other count includes.
    public private(set) var ofOtherTables = 0
    /// The reasons, sorted by their codes.
    public private(set) var reasons: [ReasonCount] = []

    private let identity: String
    private let numbers: [String: Int]

    /// Creates a coverage of a table without decisions.
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
            withTrace += 1
        }
        guard let id = decision.route else {
            withoutRoute += 1
            return
        }
        guard let number = numbers[id] else {
            withUnknownRoute += 1
            return
        }
        routes[number].decisions += 1
        guard isOfThisVersion, let variant = decision.variant, routes[number].variants.indices.contains(variant) else {
            return
        }
        routes[number].variants[variant] += 1
    }

    private mutating func add(reason: Decision.Reason) {
        let index = reasons.firstIndex { $0.reason.rawValue >= reason.rawValue } ?? reasons.endIndex
        if index < reasons.endIndex, reasons[index].reason == reason {
            reasons[index].decisions += 1
        } else {
            reasons.insert(ReasonCount(reason: reason, decisions: 1), at: index)
        }
    }

    /// Returns the candidate that the decision's trace marks as chosen, or nil if it has no trace.
    private func chosenPattern(_ decision: Decision) -> (route: String, pattern: String)? {
        let candidates = decision.value["explain"]?["candidates"]?.array ?? []
        guard let chosen = candidates.first(where: { $0["chosen"] != nil }), let route = chosen["route"]?.string,
            let pattern = chosen["pattern"]?.string
        else { return nil }
        return (route, pattern)
    }
}

extension RouteTable {
    /// Returns the counts of the decisions for each route and variant, and for each pattern if the decisions have
    /// traces.
    public func coverage(of decisions: some Sequence<Decision>) -> Coverage {
        var coverage = Coverage(of: self)
        for decision in decisions { coverage.add(decision) }
        return coverage
    }
}
