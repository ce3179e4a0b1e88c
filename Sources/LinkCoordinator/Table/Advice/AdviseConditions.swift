internal import StrictJSON

extension TableAdvice {
    /// Warns of versions that no device can have, and of variants that are never taken.
    mutating func adviseConditions() {
        for coordinator in source.coordinators {
            for screen in coordinator.screens {
                guard let since = screen.since, let until = screen.until, compare(since, until) >= 0 else { continue }
                problems.warning(
                    .neverHolds, at: screen.name.offset,
                    "no app has the screen '\(coordinator.name.value).\(screen.name.value)': it is there since "
                        + "\(since.text), and until \(until.text)", suggestion: "let 'since' be below 'until'")
            }
        }
        for route in source.routes { adviseVariants(of: route) }
    }

    private mutating func adviseVariants(of route: TableSource.Route) {
        var seen: [String: Int] = [:]
        for (index, variant) in route.variants.enumerated() {
            guard let when = variant.when, !when.isEmpty else { continue }
            let what = "the condition of variant \(index) of '\(route.id.value)'"
            if let tests = [("app", when.app), ("os", when.os)].first(where: { isEmpty($0.1) }) {
                let text = tests.1.map { $0.relation.rawValue + $0.version.text }.joined(separator: " ")
                problems.warning(
                    .neverHolds, at: when.offset, "\(what) never holds: no version is '\(text)'",
                    suggestion: "a version must pass all comparisons of '\(tests.0)'", routes: [route.id.value])
            } else if let name = contradiction(when.query, route.query) {
                problems.warning(
                    .neverHolds, at: when.offset,
                    "\(what) never holds: it wants another '\(name)' of the query than the route",
                    suggestion: "take the variant away, or mend 'query'", routes: [route.id.value])
            } else if let earlier = seen.updateValue(index, forKey: key(when)) {
                problems.warning(
                    .neverHolds, at: when.offset, "\(what) never decides: variant \(earlier) has the same",
                    suggestion: "take one of them away", routes: [route.id.value])
            }
        }
    }

    private func compare(_ a: VersionText, _ b: VersionText) -> Int {
        a.bytes.withUnsafeBufferPointer { first in
            b.bytes.withUnsafeBufferPointer { second in
                guard let first = Version(ByteView(first)), let second = Version(ByteView(second)) else { return 0 }
                return Version.compare(first, second)
            }
        }
    }

    /// Whether no version passes all tests; between two versions there is always another.
    private func isEmpty(_ tests: [TableSource.Condition.VersionTest]) -> Bool {
        for low in tests where [.atLeast, .above, .equal].contains(low.relation) {
            for high in tests where [.atMost, .below, .equal].contains(high.relation) {
                let order = compare(low.version, high.version)
                if order > 0 || order == 0 && (low.relation == .above || high.relation == .below) { return true }
            }
        }
        return false
    }

    /// A name of which two lists of constraints want different things.
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

    /// The condition as text that is the same for the same tests, places aside.
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
