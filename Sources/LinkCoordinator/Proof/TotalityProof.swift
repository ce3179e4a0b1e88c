/// Proves of every route that a decision exists for every device: one of its variants always holds.
///
/// The devices that no variant took so far are kept as cells that share nothing; each variant takes its own away. What
/// is left after the last has no decision, and one of those devices is the witness.
enum TotalityProof {
    /// Most cells that are kept for one route.
    private static let maxCells = 10_000

    /// Proves a table and notes the routes for which some device has no variant.
    ///
    /// - Parameter isWhole: Whether a route read whole; of others nothing is said.
    static func run(
        _ source: TableSource, into problems: inout ProblemList, where isWhole: (TableSource.Route) -> Bool
    ) {
        let open = source.routes.filter { $0.variants.last?.when?.isEmpty == false && isWhole($0) }
        if open.isEmpty { return }
        let space = DeviceSpace(source)
        for route in open { check(route, space, &problems) }
    }

    private static func check(
        _ route: TableSource.Route, _ space: DeviceSpace, _ problems: inout ProblemList
    ) {
        guard let last = route.variants.last else { return }
        var left: [DeviceCell] = [[:]]
        for variant in route.variants {
            let taken = variant.when.map { space.cell(of: $0) } ?? [:]
            left = left.flatMap { space.subtract(taken, from: $0) }
            if left.count > maxCells { break }
        }
        let device = left.first.map { space.device(of: $0).json }
        problems.error(
            .variantOrder, at: last.offset,
            "the last variant of '\(route.id.value)' has a condition"
                + (device == nil ? "" : ", and for some devices no variant holds"),
            suggestion: "add a last variant without 'when'", routes: [route.id.value], device: device)
    }
}
