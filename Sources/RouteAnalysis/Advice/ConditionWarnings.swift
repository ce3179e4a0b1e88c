internal import LinkCoordinator

extension TableAdvice {
    /// The maximum number of conditional variants of a route to compare, and of cells that can remain of one variant.
    private static let (maxVariants, maxCells) = (64, 64)

    /// The maximum number of cell subtractions for one table; later variants get no warning.
    private static let maxSteps = 50_000

    /// Adds warnings about screens and variants that match no device, and about variants that are never selected.
    mutating func addConditionWarnings() {
        for (index, coordinator) in source.coordinators.enumerated() {
            for (number, screen) in coordinator.screens.enumerated() {
                addScreenWarnings(screen, "\(coordinator.name.value).\(screen.name.value)", [index, number])
            }
        }
        for route in source.routes { addVariantWarnings(of: route) }
    }

    private mutating func addScreenWarnings(_ screen: TableSource.Screen, _ name: String, _ indices: [Int]) {
        if let since = screen.since, let until = screen.until, since.order(until) >= 0 {
            unavailableScreens.insert(indices)
            problems.warning(
                .neverHolds, at: screen.name.offset,
                "no version of the app has the screen `\(name)`: `since` is \(since.text), `until` is \(until.text)",
                suggestion: "set `since` to a version below `until`")
        } else if let conflict = DeviceNeeds(screen, in: source, names: names).conflict {
            unavailableScreens.insert(indices)
            problems.warning(
                .neverHolds, at: screen.name.offset, "no device has the screen `\(name)`: \(conflict)",
                suggestion: "require capabilities that one device can have, or correct them in \"capabilities\"")
        }
    }

    private mutating func addVariantWarnings(of route: TableSource.Route) {
        var seen: [String: Int] = [:]
        let cells = cells(of: route)
        for (index, variant) in route.variants.enumerated() {
            guard let when = variant.when, !when.isEmpty else { continue }
            let subject = "the condition of variant \(index) of `\(route.id.value)`"
            if let tests = [("app", when.app), ("os", when.os)].first(where: { DeviceNeeds.isEmpty($0.1) }) {
                problems.warning(
                    .neverHolds, at: when.offset,
                    "\(subject) never holds: no version satisfies `\(DeviceNeeds.text(tests.1))`",
                    suggestion: "correct `\(tests.0)`: a version must satisfy all of its comparisons",
                    routes: [route.id.value])
            } else if let name = contradiction(when.query, route.query) {
                problems.warning(
                    .neverHolds, at: when.offset,
                    "\(subject) never holds: its `query` contradicts the route's `query` for `\(name)`",
                    suggestion: "remove the variant, or correct `query`", routes: [route.id.value])
            } else if let conflict = DeviceNeeds(when, in: source, names: names).conflict {
                problems.warning(
                    .neverHolds, at: when.offset, "\(subject) never holds: \(conflict)",
                    suggestion: "require what one device can have, or correct \"capabilities\"",
                    routes: [route.id.value])
            } else if let earlier = seen.updateValue(index, forKey: key(when)) {
                problems.warning(
                    .neverHolds, at: when.offset, "\(subject) has no effect: variant \(earlier) has the same condition",
                    suggestion: "remove one of the two variants", routes: [route.id.value])
            } else if let space = cells?.space, let own = cells?.cells, let cover = cover(of: index, own, space) {
                let coverText = cover.map { "variant \($0) matches" } ?? "the variants before it match"
                problems.warning(
                    .neverHolds, at: when.offset, "\(subject) has no effect: \(coverText) all its requests",
                    suggestion: "move it before \(cover.map { "variant \($0)" } ?? "them"), or remove it",
                    routes: [route.id.value])
            }
        }
    }

    /// Returns the device space of a route's variants with the cells that match each condition.
    ///
    /// Returns nil if there are fewer than two conditions, or too many.
    private func cells(of route: TableSource.Route) -> (space: DeviceSpace, cells: [DeviceCell])? {
        let conditions = route.variants.compactMap(\.when)
        guard (2...Self.maxVariants).contains(conditions.count) else { return nil }
        var reduced = TableSource(id: source.id, version: source.version)
        let capabilities = Set(conditions.flatMap { $0.capabilities.compactMap { names.capabilities[$0.value] } })
        reduced.capabilities = capabilities.sorted().map { source.capabilities[$0] }
        var questions = DeviceQuestions()
        for condition in conditions { questions.add(condition, of: reduced) }
        let space = DeviceSpace(questions, capabilities: reduced.capabilities)
        return (space, route.variants.map { $0.when.map { space.cell(of: $0) } ?? [:] })
    }

    /// Returns the earlier variant that covers this one.
    ///
    /// The inner optional is nil if only several variants together cover it. The result is nil if a device is left for
    /// the variant, or if the search exceeds its limits.
    private mutating func cover(of index: Int, _ cells: [DeviceCell], _ space: DeviceSpace) -> Int?? {
        let own = cells[index]
        guard !own.values.contains(where: \.isEmpty) else { return nil }
        let single = cells[..<index].firstIndex { earlier in
            earlier.allSatisfy { fact, allowed in own[fact].map { $0.isSubset(of: allowed) } ?? false }
        }
        if let single { return .some(single) }
        guard index > 1 else { return nil }
        var remaining = [own]
        for earlier in cells[..<index] {
            comparedCells += remaining.count
            if remaining.count > Self.maxCells || comparedCells > Self.maxSteps { return nil }
            remaining = remaining.flatMap { space.subtract(earlier, from: $0) }
        }
        return remaining.isEmpty ? .some(nil) : nil
    }

    /// Returns a query name for which two lists of constraints contradict each other, or nil if there is none.
    private func contradiction(
        _ own: [TableSource.QueryConstraint], _ others: [TableSource.QueryConstraint]
    ) -> String? {
        for constraint in own {
            for other in others where other.name == constraint.name {
                switch (constraint.test, other.test) {
                case (.equals(let a), .equals(let b)) where a != b: return constraint.name.value
                case (.absent, .equals), (.absent, .present), (.equals, .absent), (.present, .absent):
                    return constraint.name.value
                default: continue
                }
            }
        }
        return nil
    }

    /// Returns a text of the condition that is equal for equal tests, whatever their source locations.
    private func key(_ when: TableSource.Condition) -> String {
        func list(_ texts: [String]?) -> String { texts.map { $0.sorted().map(\.debugDescription).joined() } ?? "-" }
        let query = when.query.map { "\($0.name.value.debugDescription)\($0.test)" }
        let attributes = when.attributes.map { "\($0.name.value.debugDescription)\(list($0.values))" }
        return [
            list(when.app.map { $0.relation.rawValue + $0.version.text }),
            list(when.os.map { $0.relation.rawValue + $0.version.text }), list(when.capabilities.map(\.value)),
            list(when.claims.map(\.value)), list(when.platforms), list(when.regions), list(when.locales),
            list(attributes), list(query),
        ].joined(separator: "|")
    }
}
