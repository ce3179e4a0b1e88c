extension TableChecks {
    /// The maximum number of redirects of a request.
    package static let maxRedirects = 5

    /// The destination of a redirect, regardless of scheme, host, and query.
    private enum Step {
        /// One of the routes in a list, by the number of the list.
        case routes(Int)
        /// No route.
        case nowhere
        /// A destination that depends on captures, or a route that does not redirect.
        case open
    }

    /// Reports redirects, by id or by a template without captures, that lead into a cycle or to no route.
    mutating func checkRedirectEnds() {
        if !damage.routes.isEmpty || damage.routeIDs || damage.coordinators { return }
        var steps: [Int: Step] = [:]
        var ends = RedirectEnds()
        for (index, route) in source.routes.enumerated() {
            guard case .redirect(let redirect) = route.action else { continue }
            let step = step(redirect, &ends)
            steps[index] = step
            guard case .nowhere = step else { continue }
            switch redirect {
            case .route(let id):
                unknown(.unknownRoute, id, "route", among: names.routes.keys, routes: [route.id.value])
            case .template(let template):
                problems.error(
                    .redirectNowhere, at: template.offset, "no route matches the path `\(template.value.text)`",
                    routes: [route.id.value])
            }
        }
        let ending = ending(steps, ends.lists)
        var reported = Set<Int>()
        for index in steps.keys.sorted() where !reported.contains(index) && !ending.contains(index) {
            reported.formUnion(reportCycle(index, steps, ends.lists))
        }
    }

    /// Returns the routes from which some chain of redirects ends within the limit of redirects.
    private func ending(_ steps: [Int: Step], _ lists: [[Int]]) -> Set<Int> {
        var ending = Set(source.routes.indices)
        for case (let index, .routes) in steps { ending.remove(index) }
        for _ in 0..<Self.maxRedirects {
            let open = lists.map { $0.contains { ending.contains($0) } }
            var more: [Int] = []
            for case (let index, .routes(let list)) in steps where open[list] && !ending.contains(index) {
                more.append(index)
            }
            if more.isEmpty { break }
            ending.formUnion(more)
        }
        return ending
    }

    /// The destinations of redirects.
    ///
    /// Equal texts have the same destination.
    private struct RedirectEnds {
        /// The lists of routes that steps refer to by number.
        var lists: [[Int]] = []
        private var known: [String: Step] = [:]
        private var paths: PathIndex?

        mutating func step(_ text: String, _ routes: () -> [Int]) -> Step {
            if let step = known[text] { return step }
            let found = routes()
            let step = found.isEmpty ? Step.nowhere : .routes(lists.count)
            if !found.isEmpty { lists.append(found) }
            known[text] = step
            return step
        }

        /// Returns the index of all patterns, created for the first template that needs it.
        mutating func index(of source: TableSource) -> PathIndex {
            let index = paths ?? PathIndex(source)
            paths = index
            return index
        }
    }

    private func step(_ redirect: TableSource.Redirect, _ ends: inout RedirectEnds) -> Step {
        switch redirect {
        case .route(let id): return ends.step(id.value) { names.routes[id.value].map { [$0] } ?? [] }
        case .template(let template):
            var segments: [[UInt8]] = []
            for parts in template.value.segments {
                var bytes: [UInt8] = []
                for part in parts {
                    guard case .text(let text) = part else { return .open }
                    bytes += Array(text.utf8)
                }
                segments.append(bytes)
            }
            let index = ends.index(of: source)
            return ends.step(template.value.text) { routes(matching: segments, index) }
        }
    }

    /// Returns the routes with the best of the patterns that match a path.
    private func routes(matching segments: [[UInt8]], _ paths: PathIndex) -> [Int] {
        var best: Pattern?
        var routes: [Int] = []
        let matching = paths.patterns(matching: segments) {
            names.coordinators[String(decoding: $0, as: UTF8.self)] != nil
        }
        for position in matching {
            let pattern = source.routes[position.route].patterns[position.pattern].path
            let order = best.map { Pattern.compare(pattern, $0) } ?? -1
            if order < 0 {
                best = pattern
                routes = [position.route]
            } else if order == 0, routes.last != position.route {
                routes.append(position.route)
            }
        }
        return routes
    }

    /// Reports a chain of redirects that never ends, and returns its routes.
    private mutating func reportCycle(_ index: Int, _ steps: [Int: Step], _ lists: [[Int]]) -> [Int] {
        var chain = [index]
        while case .routes(let list) = steps[chain[chain.count - 1]] ?? .open, let first = lists[list].first {
            chain.append(first)
            if chain.dropLast().contains(first) || chain.count > Self.maxRedirects + 2 { break }
        }
        let ids = chain.map { source.routes[$0].id.value }
        let route = source.routes[index]
        problems.error(
            .redirectCycle, at: route.offset,
            "the redirects of the route `\(route.id.value)` never end: \(ids.joined(separator: " -> "))",
            suggestion: "redirect each route at most once, and a request at most \(Self.maxRedirects) times",
            routes: Array(Set(ids)).sorted())
        return chain
    }

    /// Reports cycles of parent routes, each once.
    mutating func checkParentRoutes() {
        let parents = source.routes.map { route in
            route.variants.compactMap { variant -> Int? in
                guard case .route(let id) = variant.to.parents else { return nil }
                return names.routes[id.value]
            }
        }
        var done = [Bool](repeating: false, count: parents.count)
        for start in source.routes.indices where !done[start] {
            var chain: [(route: Int, next: Int)] = [(start, 0)]
            var positions = [start: 0]
            while let last = chain.last {
                guard last.next < parents[last.route].count else {
                    done[last.route] = true
                    positions[last.route] = nil
                    chain.removeLast()
                    continue
                }
                chain[chain.count - 1].next += 1
                let parent = parents[last.route][last.next]
                if let first = positions[parent] {
                    reportParentCycle(chain[first...].map(\.route))
                    for one in chain { done[one.route] = true }
                    break
                }
                if done[parent] { continue }
                positions[parent] = chain.count
                chain.append((parent, 0))
            }
        }
    }

    private mutating func reportParentCycle(_ cycle: [Int]) {
        let ids = (cycle + cycle.prefix(1)).map { source.routes[$0].id.value }
        problems.error(
            .parentCycle, at: source.routes[cycle[0]].offset,
            "the parents of routes form a cycle: \(ids.joined(separator: " -> "))",
            suggestion: "use other `parents` in one of them", routes: Array(Set(ids)).sorted())
    }
}
