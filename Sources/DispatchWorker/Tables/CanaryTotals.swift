/// The committed decisions of a canary and its differences from the served table.
package struct CanaryTotals: Sendable, Equatable {
    /// The differences of one route.
    package struct Route: Sendable, Equatable {
        /// The route of the served table's decision, or a name in parentheses for several.
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

    /// The candidate: `id@version+hash`.
    package var table: String
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
    /// The differences by route.
    package var routes: [Route] = []

    /// Creates totals that are zero.
    package init(table: String, percent: Int, compare: Int) {
        self.table = table
        self.percent = percent
        self.compare = compare
    }
}
