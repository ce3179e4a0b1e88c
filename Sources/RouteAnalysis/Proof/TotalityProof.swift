internal import LinkCoordinator

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
    ///   - isWhole: A Boolean value that indicates whether a route was read completely; others are skipped.
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
