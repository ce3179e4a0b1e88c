internal import LinkCoordinator

/// Coordinator paths for which the coordinators of two tables can differ.
///
/// They contain every screen, and pairs of screens if the tables present or keep one of the two differently.
struct CoordinatorPaths {
    /// The paths, as segments; a name that neither table has represents all unknown names.
    private(set) var paths: [[String]] = []

    /// A Boolean value that indicates whether the paths contain every pair of screens of which one changed.
    private(set) var isWhole = true

    /// The maximum number of pairs.
    private static let maxPairs = 2_000

    /// Creates the paths for two tables.
    init(_ tables: [ProofTable]) {
        var names: [String] = []
        var screens: [String: [String]] = [:]
        for coordinator in tables.flatMap(\.source.coordinators) {
            let name = coordinator.name.value
            if screens[name] == nil { names.append(name) }
            for screen in coordinator.screens.map(\.name.value) where screens[name]?.contains(screen) != true {
                screens[name, default: []].append(screen)
            }
            screens[name, default: []] += []
        }
        var steps: [[String]] = []
        for name in names {
            paths += [[name], [name, Self.unknown]]
            steps += (screens[name] ?? []).map { [name, $0] }
        }
        paths += steps
        let changed = steps.filter { step in Set(tables.map { Self.signature(step, $0) }).count > 1 }
        for step in changed {
            paths.append(step + Array(repeating: step[1], count: StaticStack.maxModals))
            for other in steps {
                if paths.count < Self.maxPairs { paths += [step + other, other + step] } else { isWhole = false }
            }
        }
        // A path that ends at a coordinator after another one covers the initial screens.
        for name in names { paths += steps.prefix(1).map { $0 + [name] } }
    }

    private static let unknown = "zz-unknown"

    /// Returns the properties of a screen that affect the screens before and after it.
    private static func signature(_ step: [String], _ table: ProofTable) -> [String] {
        guard let coordinator = table.source.coordinators.first(where: { $0.name.value == step[0] }),
            let screen = coordinator.screen(named: step[1])
        else { return [] }
        return [screen.defaultPresentation.rawValue, "\(screen.nav)", "\(coordinator.singleSlot)"]
    }
}
