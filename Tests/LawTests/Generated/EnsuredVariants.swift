import LinkCoordinator
import ByteStorage

/// The routes of a table whose conditions ensure that the device supports their screens.
///
/// A variant without a condition ensures nothing, because a device that does not support it did not support it before.
struct EnsuredVariants {
    private let source: TableSource
    private let names: TableNames

    init(_ source: TableSource) {
        self.source = source
        names = TableNames(source)
    }

    /// Returns a Boolean value that indicates whether every condition of the route, and of the routes that supply its
    /// parents, ensures support for the screens.
    func hold(for route: TableSource.Route) -> Bool {
        routes(from: route, seen: []).allSatisfy { route in
            route.variants.allSatisfy { variant in
                guard let when = variant.when, !when.isEmpty else { return true }
                return screens(of: variant.to, seen: [route.id.value])?.allSatisfy { covers(when, $0) } ?? false
            }
        }
    }

    /// Returns the route and all routes that can supply its parents.
    private func routes(from route: TableSource.Route, seen: Set<String>) -> [TableSource.Route] {
        guard !seen.contains(route.id.value) else { return [] }
        var found = [route]
        for case .route(let id) in route.variants.map(\.to.parents) {
            guard let parent = names.routes[id.value] else { continue }
            found += routes(from: source.routes[parent], seen: seen.union([route.id.value]))
        }
        return found
    }

    /// Returns the screens that a target may show, including parents of any variant, or nil if the link names them.
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

    /// Returns a Boolean value that indicates whether a device for which the condition holds supports the screen, in a
    /// table without `until`.
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
