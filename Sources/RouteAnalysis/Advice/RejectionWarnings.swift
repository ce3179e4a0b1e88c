internal import LinkCoordinator

extension TableAdvice {
    /// Adds warnings about routes that reject every link without declaring it.
    mutating func addRejectionWarnings() {
        var causes: [Int: String] = [:]
        for (index, route) in source.routes.enumerated() { causes[index] = reason(route) }
        // Routes that redirect to such a route by its id reject every link too.
        for _ in 0..<TableChecks.maxRedirects {
            for (index, route) in source.routes.enumerated() where causes[index] == nil {
                guard case .redirect(.route(let id)) = route.action, let target = names.routes[id.value],
                    causes[target] != nil
                else { continue }
                causes[index] = "it redirects to `\(id.value)`"
            }
        }
        for (index, route) in source.routes.enumerated() {
            guard let cause = causes[index] else { continue }
            problems.warning(
                .alwaysRejects, at: route.offset, "every link of `\(route.id.value)` is rejected: \(cause)",
                suggestion: "correct the route, or add \"exclude\": { \"outcome\": \"reject\" } if this is intended",
                routes: [route.id.value])
        }
    }

    /// Returns the reason why every link of a route is rejected.
    ///
    /// Returns nil if some links are not rejected, or if the route declares that it rejects.
    private func reason(_ route: TableSource.Route) -> String? {
        switch route.action {
        case .redirect, .exclude(.none), .exclude(.reject): return nil
        case .exclude(.external):
            return opensOutside(route) ? nil : "no scheme and host of its links is on the allow list of `externals`"
        case .variants:
            for binding in route.bindings {
                guard let model = names.models[binding.model.value],
                    let number = names.fields[model][binding.field.value]
                else { continue }
                let field = source.models[model].fields[number]
                if route.onInvalid == .drop, field.absence != .required { continue }
                if let cause = reason(binding, field, of: route) { return cause }
            }
            return unavailableTarget(of: route).map { "no device has the screen `\($0)`, to which it leads" }
        }
    }

    /// Returns a screen that matches no device, if every variant leads to such a screen without a replacement.
    private func unavailableTarget(of route: TableSource.Route) -> String? {
        guard case .fallback = route.unsupported, !unavailableScreens.isEmpty else { return nil }
        let rule = source.fallback.first { $0.on?.contains { $0.value == .unsupported } ?? true }
        if let rule, rule.outcome != .reject { return nil }
        var found: String?
        for variant in route.variants {
            guard case .path(let segments) = variant.to.destination,
                let stack = try? StaticStack.compose(segments, in: source, names: names),
                let unavailable = stack.withSingleSlots(in: source).entries.first(where: {
                    unavailableScreens.contains([$0.coordinator, $0.screen])
                })
            else { return nil }
            let coordinator = source.coordinators[unavailable.coordinator]
            found = found ?? "\(coordinator.name.value).\(coordinator.screens[unavailable.screen].name.value)"
        }
        return found
    }

    private func reason(
        _ binding: TableSource.Binding, _ field: TableSource.Field, of route: TableSource.Route
    ) -> String? {
        let name = "\(binding.model.value).\(binding.field.value)"
        switch binding.source.value {
        case .path(let capture):
            let patterns = route.patterns
            let isNever =
                !patterns.isEmpty
                && patterns.allSatisfy { pattern in
                    pattern.path.capture(named: capture).map { isDisjoint($0, field.type) } ?? false
                }
            return isNever ? "no text of `{\(capture)}` is valid for `\(name)` of type `\(field.type.text)`" : nil
        case .query(let own):
            guard let constraint = route.query.first(where: { $0.name.value == own }) else { return nil }
            if case .equals(let value) = constraint.test, field.type.canonicalText(value) == nil {
                return "the route requires `\(own)` to be `\(value)`, which is not valid for `\(name)` of type "
                    + "`\(field.type.text)`"
            }
            if constraint.test == .absent, field.absence == .required, isAlwaysNeeded(binding.model.value, route) {
                return "the route requires `\(own)` to be absent from the query, but `\(name)` needs it"
            }
            return nil
        default: return nil
        }
    }

    /// Returns a Boolean value that indicates whether every variant shows a screen that needs the model.
    private func isAlwaysNeeded(_ model: String, _ route: TableSource.Route) -> Bool {
        route.requireAll
            || route.variants.allSatisfy { variant in
                guard case .path(let segments) = variant.to.destination,
                    let stack = try? StaticStack.compose(segments, in: source, names: names)
                else { return false }
                return stack.entries.contains { entry in
                    source.coordinators[entry.coordinator].screens[entry.screen].needs.contains { $0.value == model }
                }
            }
    }

    /// Returns a Boolean value that indicates whether no text of a capture is valid for a type.
    ///
    /// It compares only the two types, so it returns false if that is not enough to decide.
    private func isDisjoint(_ capture: Capture, _ type: FieldType) -> Bool {
        switch (capture.matcher, type) {
        case (.int(let low, let high), .int(let min, let max)): return high < min || low > max
        case (.enumeration, _):
            return capture.spellings.allSatisfy { type.canonicalText(String(decoding: $0, as: UTF8.self)) == nil }
        case (.bool, .string(let min, let max)): return min > 5 || max < 4
        case (.characters(_, let low, let high), .string(let min, let max)): return high < min || low > max
        case (.characters(_, let low, let high), .uuid): return high < 36 || low > 36
        case (.characters(_, let low, let high), .date): return high < 10 || low > 10
        // No class contains the colons of a time.
        case (.characters, .dateTime): return true
        case (.uuid, .string(let min, let max)): return min > 36 || max < 36
        case (.date, .string(let min, let max)): return min > 10 || max < 10
        default: return false
        }
    }

    /// Returns a Boolean value that indicates whether a link of a route can have a scheme and host of the allow list.
    private func opensOutside(_ route: TableSource.Route) -> Bool {
        let externals = source.externals
        return route.patterns.isEmpty
            || route.patterns.contains { pattern in
                source.blocks.contains { block in
                    let schemes = block.schemes.map { $0.value.lowercased() }
                    let named = pattern.scheme.map { [$0.lowercased()] } ?? schemes
                    let isAllowed = named.contains { externals.schemes.contains($0) && schemes.contains($0) }
                    guard isAllowed || block.acceptsOtherSchemes else { return false }
                    let hosts = block.hostRole == .segment ? [.any] : block.hosts.map(\.value)
                    return hosts.contains { host in
                        host.overlaps(pattern.host ?? .any) && externals.hosts.contains { $0.overlaps(host) }
                    }
                }
            }
    }
}
