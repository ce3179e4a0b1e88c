internal import LinkCoordinator

/// The possible results of a route, as the map and the graph of a table show them.
struct RouteExits {
    /// The kind of a result, or of a route.
    enum Kind: String, CaseIterable {
        case navigate, external, redirect, none, reject
        /// The link itself is opened outside the app.
        case outside
    }

    /// One possible result.
    struct Exit {
        var kind: Kind
        /// The condition in words, or nil if the result needs none.
        var condition: String?
        /// The ranges of app versions with this result, or nil if no version has it.
        var versions: ClosedRange<Int>?
        /// The target, for results that have one.
        var target: TableSource.Target?
        /// The id of the route to which a redirect leads, if it is known.
        var route: String?
        /// The template of a redirect.
        var template: String?
        /// A Boolean value that indicates whether this is the result for apps that lack a screen of the target.
        var isUnsupported = false
    }

    private let table: RouteTable
    private let names: TableNames
    private let spans: VersionSpans

    /// Creates the results of a table's routes, with versions as ranges of `spans`.
    init(_ table: RouteTable, _ names: TableNames, _ spans: VersionSpans) {
        self.table = table
        self.names = names
        self.spans = spans
    }

    /// Returns the results of a route, in the order in which they are tried.
    func exits(of route: TableSource.Route) -> [Exit] {
        let every = 0...(spans.count - 1)
        switch route.action {
        case .exclude(let outcome): return [Exit(kind: Self.kind(outcome), versions: every)]
        case .redirect(.route(let id)): return [Exit(kind: .redirect, versions: every, route: id.value)]
        case .redirect(.template(let template)):
            let target = SampleLinks.redirectTarget(of: route, in: table)
            return [Exit(kind: .redirect, versions: every, route: target, template: template.value.text)]
        case .variants(let variants): return exits(variants) + unsupported(route)
        }
    }

    /// Returns the kind of a route by its results: `navigate` if it can lead into the app.
    static func kind(_ exits: [Exit]) -> Kind {
        exits.contains { $0.kind == .navigate } ? .navigate : exits.first?.kind ?? .none
    }

    private static func kind(_ outcome: TableSource.Exclusion) -> Kind {
        switch outcome {
        case .external: .outside
        case .none: .none
        case .reject: .reject
        }
    }

    private static func kind(_ target: TableSource.Target) -> Kind {
        if case .external = target.destination { .external } else { .navigate }
    }

    private func exits(_ variants: [TableSource.Variant]) -> [Exit] {
        var exits: [Exit] = []
        var remaining: ClosedRange<Int>? = 0...(spans.count - 1)
        for variant in variants {
            let own = spans.range(of: table.source.versionTests(of: variant.when, names))
            let versions = Self.intersection(own, remaining)
            exits.append(
                Exit(
                    kind: Self.kind(variant.to),
                    condition: variants.count == 1 && variant.when == nil ? nil : ConditionText.text(of: variant.when),
                    versions: versions, target: variant.to))
            // A variant that depends on nothing else leaves no link of its versions to the following ones.
            if dependsOnVersionOnly(variant.when) { remaining = Self.difference(remaining, versions) }
        }
        return exits
    }

    private func unsupported(_ route: TableSource.Route) -> [Exit] {
        guard case .to(let target) = route.unsupported else { return [] }
        return [
            Exit(
                kind: Self.kind(target), condition: "if the app lacks a screen", versions: 0...(spans.count - 1),
                target: target, isUnsupported: true)
        ]
    }

    private func dependsOnVersionOnly(_ condition: TableSource.Condition?) -> Bool {
        guard var condition else { return true }
        condition.app = []
        return condition.isEmpty
    }

    private static func intersection(_ a: ClosedRange<Int>?, _ b: ClosedRange<Int>?) -> ClosedRange<Int>? {
        guard let a, let b, a.overlaps(b) else { return nil }
        return a.clamped(to: b)
    }

    /// Returns a range without the numbers of another range at one of its ends.
    ///
    /// A gap inside of it is not removed.
    private static func difference(_ a: ClosedRange<Int>?, _ b: ClosedRange<Int>?) -> ClosedRange<Int>? {
        guard let a, let b, a.overlaps(b) else { return a }
        if b.lowerBound <= a.lowerBound {
            return b.upperBound < a.upperBound ? (b.upperBound + 1)...a.upperBound : nil
        }
        return b.upperBound >= a.upperBound ? a.lowerBound...(b.lowerBound - 1) : a
    }
}
