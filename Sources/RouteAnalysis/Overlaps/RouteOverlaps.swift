package import LinkCoordinator

/// The patterns of other routes that match some of the links that a route's patterns match, each with a link.
package struct RouteOverlaps: Sendable {
    /// The relation between the links of a route's pattern and the links of another pattern.
    package enum Relation: String, Sendable, CaseIterable {
        /// Both match the same links.
        case same
        /// The route's pattern matches all links of the other, and more.
        case wider
        /// The other pattern matches all links of the route's pattern, and more.
        case narrower
        /// Each matches links that the other does not.
        case crossing
    }

    /// A pattern of another route, and a link that both match.
    package struct Overlap: Sendable {
        /// The route's pattern.
        package var pattern: String
        /// The id of the other route.
        package var other: String
        /// The pattern of the other route.
        package var otherPattern: String
        /// The relation of the links.
        package var relation: Relation
        /// A Boolean value that indicates whether the other pattern has the higher precedence.
        package var isPreceded: Bool
        /// A link that both patterns match.
        package var link: String
        /// The id of the route that this link selects, before redirects.
        package var selected: String?
    }

    /// The maximum number of overlaps in a list.
    package static let limit = 64

    /// The overlaps, the ones with a higher precedence first.
    package private(set) var overlaps: [Overlap] = []

    /// A Boolean value that indicates whether the list contains every overlap.
    ///
    /// It does not if there are more than `limit`, or if the search exceeded its budget.
    package private(set) var isComplete = true

    /// Searches the overlaps of one route of a table.
    ///
    /// - Parameters:
    ///   - route: The index of the route in the table.
    ///   - table: The table.
    ///   - budget: The limit on the work of the search.
    package init(
        ofRoute route: Int, in table: RouteTable,
        budget: WorkBudget = WorkBudget(perSearch: 200_000, total: 20_000_000)
    ) {
        let space = PatternSpace([table.source])
        let index = PatternIndex(space)
        var search = LinkSearch(space: space, budget: budget)
        for number in space.patterns.indices where space.patterns[number].route == route {
            let candidates: [Int]
            do throws(WorkBudget.Exhausted) {
                candidates = try index.candidates(for: number, before: space.patterns.count, &search)
            } catch {
                isComplete = false
                continue
            }
            for other in candidates where space.patterns[other].route != route {
                guard overlaps.count < Self.limit else {
                    isComplete = false
                    return
                }
                do throws(WorkBudget.Exhausted) {
                    if let found = try Self.overlap(number, other, table, &search) { overlaps.append(found) }
                } catch {
                    isComplete = false
                }
            }
        }
        overlaps = overlaps.filter(\.isPreceded) + overlaps.filter { !$0.isPreceded }
    }

    /// Returns the overlap of two patterns, or nil if no link matches both.
    private static func overlap(
        _ number: Int, _ other: Int, _ table: RouteTable, _ search: inout LinkSearch
    ) throws(WorkBudget.Exhausted) -> Overlap? {
        let (one, two) = (search.space.patterns[number], search.space.patterns[other])
        guard let witness = try search.find(inside: [one, two], outside: []) else { return nil }
        let hasOwn = try search.exists(inside: [one], outside: [two])
        let hasOther = try search.exists(inside: [two], outside: [one])
        let relation: Relation =
            switch (hasOwn, hasOther) {
            case (false, false): .same
            case (true, false): .wider
            case (false, true): .narrower
            case (true, true): .crossing
            }
        let link = witness.text(in: table.source)
        return Overlap(
            pattern: search.space.source(of: one).text, other: table.source.routes[two.route].id.value,
            otherPattern: search.space.source(of: two).text, relation: relation, isPreceded: other < number,
            link: link, selected: table.selection(of: link)?.route)
    }
}
