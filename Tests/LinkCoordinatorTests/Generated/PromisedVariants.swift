import LinkCoordinator
import ByteStorage

/// Which routes of a table promise their screens: whatever a condition lets through has what the screens behind it ask.
///
/// A variant without a condition promises nothing: what a device lacks of it, it lacked before.
struct PromisedVariants {
    private let source: TableSource
    private let names: TableNames

    init(_ source: TableSource) {
        self.source = source
        names = TableNames(source)
    }

    /// Whether every condition of the route, and of the routes that its parents may come from, promises its screens.
    func hold(for route: TableSource.Route) -> Bool {
        routes(from: route, seen: []).allSatisfy { route in
            route.variants.allSatisfy { variant in
                guard let when = variant.when, !when.isEmpty else { return true }
                return screens(of: variant.to, seen: [route.id.value])?.allSatisfy { covers(when, $0) } ?? false
            }
        }
    }

    /// The route and all whose entries may be its parents.
    private func routes(from route: TableSource.Route, seen: Set<String>) -> [TableSource.Route] {
        guard !seen.contains(route.id.value) else { return [] }
        var found = [route]
        for case .route(let id) in route.variants.map(\.to.parents) {
            guard let parent = names.routes[id.value] else { continue }
            found += routes(from: source.routes[parent], seen: seen.union([route.id.value]))
        }
        return found
    }

    /// The screens that a target may show, parents by any of their variants included; nil where a link names them.
    private func screens(of target: TableSource.Target, seen: Set<String>) -> [TableSource.Screen]? {
        guard case .path(let segments) = target.destination,
            let own = try? StaticStack.compose(segments, in: source, names: names)
        else {
            if case .captured = target.destination { return nil }
            return []
        }
        var entries = own.entries
        var found: [TableSource.Screen] = []
        switch target.parents {
        case .none: break
        case .initial:
            if let first = own.entries.first {
                entries += StaticStack.initialParents(of: first, in: source, names: names).entries
            }
        case .paths(let paths):
            for path in paths {
                entries += (try? StaticStack.compose(path.value, in: source, names: names))?.entries ?? []
            }
        case .route(let id):
            guard !seen.contains(id.value), let parent = names.routes[id.value] else { break }
            for variant in source.routes[parent].variants {
                guard let more = screens(of: variant.to, seen: seen.union([id.value])) else { return nil }
                found += more
            }
        }
        return found + entries.map { source.coordinators[$0.coordinator].screens[$0.screen] }
    }

    /// Whether a device for which the condition holds has the screen, in a table without `until`.
    private func covers(_ when: TableSource.Condition, _ screen: TableSource.Screen) -> Bool {
        let given = when.capabilities.map(\.value)
        guard screen.requires.allSatisfy({ given.contains($0.value) }) else { return false }
        guard let since = screen.since else { return true }
        let tests = when.app.filter { $0.relation == .atLeast || $0.relation == .above }.map(\.version)
        let capabilities = source.capabilities.filter { given.contains($0.name.value) }.compactMap(\.minApp)
        return (tests + capabilities).contains { Self.isAtLeast($0, since) }
    }

    private static func isAtLeast(_ version: VersionText, _ least: VersionText) -> Bool {
        version.bytes.withUnsafeBufferPointer { version in
            least.bytes.withUnsafeBufferPointer { least in
                guard let version = Version(ByteView(version)), let least = Version(ByteView(least)) else {
                    return false
                }
                return Version.compare(version, least) >= 0
            }
        }
    }
}
