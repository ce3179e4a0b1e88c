/// A pattern that does not match the link.
struct RejectedPattern {
    /// The route's index in the table.
    var route: Int
    /// The pattern's index in the route.
    var pattern: Int
    /// The alignment of the pattern with the link's path.
    var alignment: PatternAlignment
    /// The other mismatches: scheme, host, and query constraints.
    var others: [Explanation.Mismatch]

    /// The distance from the link; each other mismatch costs as much as a different type.
    private var cost: Int { alignment.cost + others.count * PatternAlignment.Cost.type }

    /// A sort key: the more similar of two patterns has the lesser rank.
    var rank: [Int] { [alignment.isNear ? 0 : 1, cost, -alignment.literals, route, pattern] }
}
