internal import LinkCoordinator

/// Finds, for a route whose last variant has a condition, a device for which no variant holds.
///
/// The devices that no variant took so far are kept as cells that share nothing; each variant takes its own away. What
/// is left after the last has no decision, and one of those devices is the witness.
enum TotalityProof {
    /// Most cells that are kept for one route.
    private static let maxCells = 10_000

    /// Adds the witnesses to the errors that the check of the table's structure noted.
    ///
    /// - Parameter isWhole: A Boolean value that indicates whether a route read whole; of others nothing is said.
    static func run(
        _ source: TableSource, into problems: inout ProblemList, where isWhole: (TableSource.Route) -> Bool
    ) {
        let open = source.routes.filter { $0.variants.last?.when?.isEmpty == false && isWhole($0) }
        if open.isEmpty { return }
        let space = DeviceSpace(source)
        for route in open {
            guard let last = route.variants.last, let device = deviceWithoutVariant(route, space) else { continue }
            problems.addDevice(
                device, to: .variantOrder, at: last.offset, ", and for some devices no variant holds")
        }
    }

    private static func deviceWithoutVariant(_ route: TableSource.Route, _ space: DeviceSpace) -> String? {
        var left: [DeviceCell] = [[:]]
        for variant in route.variants {
            let taken = variant.when.map { space.cell(of: $0) } ?? [:]
            left = left.flatMap { space.subtract(taken, from: $0) }
            if left.count > maxCells { break }
        }
        return left.first.map { space.device(of: $0).json }
    }
}
