internal import LinkCoordinator
package import LinkDecider

/// The committed decisions of a canary, and the differences between its candidate and the served table.
///
/// The totals begin at zero when another candidate or another served table with its id is loaded, because the
/// differences are between these two tables.
package struct CanaryTotals: Sendable, Equatable {
    /// The differences of one route.
    package struct Route: Sendable, Equatable {
        /// The route of the served table's decision, ``withoutRoute``, or ``otherRoutes``.
        package var name: String
        /// The number of differences.
        package var count: UInt64
        /// The position of the first one: `topic-partition-offset-index`.
        package var witness: String

        /// Creates the differences of a route.
        package init(name: String, count: UInt64, witness: String) {
            self.name = name
            self.count = count
            self.witness = witness
        }
    }

    /// The maximum number of routes that are counted one by one.
    package static let routeLimit = 100
    /// The name for the differences of all further routes.
    package static let otherRoutes = "other"
    /// The name for the differences of decisions without a route.
    package static let withoutRoute = "(none)"

    /// The candidate: `id@version+hash`.
    package var table: String
    /// The served table: `id@version+hash`.
    package var base: String
    /// The share of devices for which the candidate decides, in hundredths of a percent.
    package var percent: Int
    /// The share of the other devices that are compared, in hundredths of a percent.
    package var compare: Int
    /// The decisions of the candidate.
    package var decided: UInt64 = 0
    /// The decisions that were compared.
    package var compared: UInt64 = 0
    /// The compared decisions that differ.
    package var different: UInt64 = 0
    /// The differences by route, in the order of their first one.
    package var routes: [Route] = []

    /// Creates totals that are zero.
    package init(table: String, base: String, percent: Int, compare: Int) {
        self.table = table
        self.base = base
        self.percent = percent
        self.compare = compare
    }

    /// Counts differences of a route.
    package mutating func countDifferences(of route: Route) {
        different &+= route.count
        if add(route) { return }
        if routes.count < Self.routeLimit {
            routes.append(route)
            return
        }
        var other = route
        other.name = Self.otherRoutes
        if !add(other) { routes.append(other) }
    }

    /// Adds differences to the entry of the same route, or returns false if there is none yet.
    private mutating func add(_ route: Route) -> Bool {
        guard let index = routes.firstIndex(where: { $0.name == route.name }) else { return false }
        routes[index].count &+= route.count
        return true
    }

    /// Adds the totals of the same two tables.
    package mutating func add(_ other: CanaryTotals) {
        decided &+= other.decided
        compared &+= other.compared
        for route in other.routes { countDifferences(of: route) }
    }

    /// Returns a Boolean value that indicates whether other totals are of the same two tables.
    package func hasTables(of other: CanaryTotals) -> Bool { table == other.table && base == other.base }
}

extension CanaryPlan {
    /// Totals of this plan that are zero.
    package var totals: CanaryTotals {
        CanaryTotals(table: candidate.identity, base: base.identity, percent: percent, compare: compare)
    }
}

/// The counts of a lane's canary, separately for the open transaction and for all committed ones.
struct CanaryCounts {
    private var plan: CanaryPlan
    private var uncommitted: CanaryTotals
    private var total: CanaryTotals

    init(_ plan: CanaryPlan) {
        self.plan = plan
        (uncommitted, total) = (plan.totals, plan.totals)
    }

    /// Uses a newer plan.
    ///
    /// The totals begin at zero if it has another candidate or another served table.
    mutating func use(_ plan: CanaryPlan) {
        self.plan = plan
        if !total.hasTables(of: plan.totals) { (uncommitted, total) = (plan.totals, plan.totals) }
    }

    /// Adds the counts of a record to the open transaction.
    mutating func add(_ record: CandidateCounts) {
        uncommitted.decided &+= record.decided
        uncommitted.compared &+= record.compared
        for difference in record.differences {
            uncommitted.countDifferences(
                of: CanaryTotals.Route(
                    name: difference.route ?? CanaryTotals.withoutRoute, count: 1, witness: difference.position))
        }
    }

    /// Ends the transaction, and returns the totals of all committed ones.
    mutating func ended(isCommitted: Bool) -> CanaryTotals {
        if isCommitted { total.add(uncommitted) }
        uncommitted = plan.totals
        return total
    }
}
