extension TableChecks {
    /// Most redirects of one request.
    private static let maxRedirects = 5

    /// Where a redirect leads, scheme, host and query left aside.
    private enum Step {
        /// To one of these routes.
        case routes([Int])
        /// To nothing.
        case nowhere
        /// That depends on captures, or the route does not redirect.
        case open
    }

    /// Redirects by id or by a template without captures that end in a circle or in nothing.
    mutating func checkRedirectEnds() {
        if !damage.routes.isEmpty || damage.routeIDs || damage.coordinators { return }
        var steps: [Int: Step] = [:]
        for (index, route) in source.routes.enumerated() {
            guard case .redirect(let redirect) = route.action else { continue }
            let step = step(redirect)
            steps[index] = step
            guard case .nowhere = step else { continue }
            switch redirect {
            case .route(let id):
                unknown(.unknownRoute, id, "route", among: names.routes.keys, routes: [route.id.value])
            case .template(let template):
                problems.error(
                    .redirectNowhere, at: template.offset, "no route takes the path '\(template.value.text)'",
                    routes: [route.id.value])
            }
        }
        var told = Set<Int>()
        for index in steps.keys.sorted() where !told.contains(index) && mustCircle(index, steps, via: []) {
            told.formUnion(complainOfCircle(index, steps))
        }
    }

    private func step(_ redirect: TableSource.Redirect) -> Step {
        switch redirect {
        case .route(let id): return names.routes[id.value].map { .routes([$0]) } ?? .nowhere
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
            let routes = routes(taking: segments)
            return routes.isEmpty ? .nowhere : .routes(routes)
        }
    }

    /// Routes with the best of the patterns that take a path.
    private func routes(taking segments: [[UInt8]]) -> [Int] {
        var best: Pattern?
        var routes: [Int] = []
        for (index, route) in source.routes.enumerated() {
            for pattern in route.patterns {
                let taken = pattern.path.takes(segments, foldsCase: source.foldsPathCase) {
                    names.coordinators[String(decoding: $0, as: UTF8.self)] != nil
                }
                guard taken else { continue }
                let order = best.map { Pattern.compare(pattern.path, $0) } ?? -1
                if order < 0 {
                    best = pattern.path
                    routes = [index]
                } else if order == 0, !routes.contains(index) {
                    routes.append(index)
                }
            }
        }
        return routes
    }

    /// Whether every way on from a route comes back to a route on the way, or is longer than a request may be.
    private func mustCircle(_ index: Int, _ steps: [Int: Step], via: [Int]) -> Bool {
        if via.contains(index) || via.count > Self.maxRedirects { return true }
        guard case .routes(let next) = steps[index] ?? .open else { return false }
        return next.allSatisfy { mustCircle($0, steps, via: via + [index]) }
    }

    /// Complains of a way without end and gives the routes on it.
    private mutating func complainOfCircle(_ index: Int, _ steps: [Int: Step]) -> [Int] {
        var way = [index]
        while case .routes(let next) = steps[way[way.count - 1]] ?? .open, let first = next.first {
            way.append(first)
            if way.dropLast().contains(first) || way.count > Self.maxRedirects + 2 { break }
        }
        let ids = way.map { source.routes[$0].id.value }
        let route = source.routes[index]
        problems.error(
            .redirectCircle, at: route.offset,
            "the redirects of '\(route.id.value)' never end: \(ids.joined(separator: " -> "))",
            suggestion: "a route may redirect once, and a request at most \(Self.maxRedirects) times",
            routes: Array(Set(ids)).sorted())
        return way
    }

    /// Parents by route that lead back to themselves.
    mutating func checkParentRoutes() {
        var done = Set<Int>()
        for start in source.routes.indices where !done.contains(start) {
            _ = followParents(start, via: [], &done)
        }
    }

    /// Follows parents in depth; complains of the first circle and says whether there was one.
    private mutating func followParents(_ index: Int, via: [Int], _ done: inout Set<Int>) -> Bool {
        if let first = via.firstIndex(of: index) {
            let ids = (via[first...] + [index]).map { source.routes[$0].id.value }
            problems.error(
                .parentCircle, at: source.routes[index].offset,
                "the parents of routes go in a circle: \(ids.joined(separator: " -> "))",
                routes: Array(Set(ids)).sorted())
            return true
        }
        if done.contains(index) { return false }
        for variant in source.routes[index].variants {
            guard case .route(let id) = variant.to.parents, let next = names.routes[id.value] else { continue }
            if followParents(next, via: via + [index], &done) {
                done.formUnion(via + [index])
                return true
            }
        }
        done.insert(index)
        return false
    }
}
