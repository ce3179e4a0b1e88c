package import LinkCoordinator
package import StrictJSON

/// A link that opens a screen, and the decision about it.
///
/// The link was resolved again: it opens the screen with the given data on the given device.
package struct ScreenLink: Sendable {
    /// A reason why there is no link.
    package struct Failure: Error, Sendable, Equatable {
        /// The kinds of reasons.
        package enum Kind: Sendable, Equatable {
            /// The table has no such screen or route.
            case unknown
            /// The data is not an object of models and captures, or does not fit the route.
            case data
            /// No link leads to the screen on this device.
            case unreachable
        }

        package var kind: Kind
        package var message: String
        package var advice: String
    }

    package let link: String
    /// The id of the route that the link selects.
    package let route: String
    package let decision: Decision

    /// Writes a link.
    ///
    /// - Parameters:
    ///   - screen: The screen, as `coordinator/screen`, `coordinator.screen`, or `screen`, or nil for the one of the
    ///     route.
    ///   - id: The id of the route, or nil for the first of those that lead to the screen.
    ///   - data: An object with an object of fields for each model, and a value for each capture that no field is bound
    ///     to.
    ///   - scheme: The scheme of the link, or nil for any.
    ///   - host: The host of the link, or nil for any.
    ///   - device: The facts about the device.
    ///   - table: The table.
    package init(
        to screen: String?, route id: String? = nil, data: JSONValue, scheme: String? = nil, host: String? = nil,
        device: DeviceFacts = DeviceFacts(), in table: RouteTable
    ) throws(Failure) {
        let (models, captures) = try Self.values(data)
        let wanted = try screen.map { text throws(Failure) in try Self.screen(text, in: table) }
        var candidates = table.source.routes
        if let id {
            candidates.removeAll { $0.id.value != id }
            guard !candidates.isEmpty else {
                let near = NearestName.of(id, among: table.source.routes.map(\.id.value))
                throw Failure(
                    kind: .unknown, message: "the table has no route with this id",
                    advice: near.map { "use `\($0)`" } ?? "see `linkd routes list` for the routes")
            }
        }
        let names = TableNames(table.source)
        if let wanted { candidates.removeAll { Self.variants(of: $0, to: wanted, in: table, names).isEmpty } }
        var first: Failure?
        // The host of a web link is also one of other schemes of its block.
        let schemes = scheme == nil && host != nil ? ["https", nil] : [scheme]
        for route in candidates {
            var own: Failure?
            let variants = wanted.map { Self.variants(of: route, to: $0, in: table, names) } ?? []
            for scheme in schemes {
                do throws(LinkError) {
                    let plain = try table.link(
                        route: route.id.value, models: models, captures: captures, scheme: scheme, host: host,
                        device: device)
                    own = nil
                    let others = variants.compactMap { variant in
                        Self.link(plain, with: variant.when?.query ?? [], besides: route)
                    }
                    for link in [plain] + others {
                        let decision = table.resolve(link, device: device)
                        // The items of a variant can select another route.
                        if link != plain, decision.route != route.id.value { continue }
                        let entry = decision.stack.last.map { ($0.coordinator, $0.screen) } ?? ("", "")
                        if decision.outcome == .navigate, decision.reason == nil, wanted.map({ $0 == entry }) ?? true {
                            (self.link, self.route, self.decision) = (link, route.id.value, decision)
                            return
                        }
                        own = own ?? Self.other(decision, route: route.id.value)
                    }
                } catch {
                    own = Self.failure(error, route)
                }
            }
            first = first ?? own
        }
        if var first {
            let others = candidates.map(\.id.value)
            if others.count > 1 {
                first.advice += ", or pass --route with one of \(others.prefix(8).joined(separator: ", "))"
            }
            throw first
        }
        throw Failure(
            kind: .unreachable, message: "no route leads to the screen as the last one",
            advice: "add a route, or see `linkd routes list` for the screens that links open")
    }

    // MARK: Names

    private static func screen(_ text: String, in table: RouteTable) throws(Failure) -> (String, String) {
        let all = table.source.coordinators.flatMap { coordinator in
            coordinator.screens.map { (coordinator.name.value, $0.name.value) }
        }
        let bare = text.hasPrefix("/") ? String(text.dropFirst()) : text
        let named = all.filter { "\($0.0)/\($0.1)" == bare || "\($0.0).\($0.1)" == bare }
        let found = named.isEmpty ? all.filter { $0.1 == bare } : named
        if found.count == 1 { return found[0] }
        let paths = (found.isEmpty ? all : found).map { "\($0.0)/\($0.1)" }
        if found.isEmpty {
            let near = NearestName.of(bare, among: paths + all.map(\.1))
            throw Failure(
                kind: .unknown, message: "the table has no such screen",
                advice: near.map { "use `\($0)`" } ?? "use one such as \(paths.prefix(8).joined(separator: ", "))")
        }
        throw Failure(
            kind: .unknown, message: "several coordinators have a screen with this name",
            advice: "use \(paths.prefix(8).joined(separator: " or "))")
    }

    /// Returns the variants of a route that show a screen last.
    private static func variants(
        of route: TableSource.Route, to screen: (String, String), in table: RouteTable, _ names: TableNames
    ) -> [TableSource.Variant] {
        guard case .variants(let variants) = route.action else { return [] }
        return variants.filter { variant in
            guard case .path(let segments) = variant.to.destination,
                let last = StaticStack.entries(of: segments, in: table.source, names: names).last
            else { return false }
            let coordinator = table.source.coordinators[last.coordinator]
            return (coordinator.name.value, coordinator.screens[last.screen].name.value) == screen
        }
    }

    /// Returns a link with the items of a query that a variant requires, or nil if it requires none, or one from which
    /// a field of the route gets its value.
    private static func link(
        _ link: String, with constraints: [TableSource.QueryConstraint], besides route: TableSource.Route
    ) -> String? {
        let bound = route.bindings.compactMap { binding in
            if case .query(let name) = binding.source.value { name.lowercased() } else { nil }
        }
        if constraints.contains(where: { bound.contains($0.name.value.lowercased()) }) { return nil }
        let items = constraints.compactMap { constraint in
            let name = PercentText.encode(constraint.name.value)
            return switch constraint.test {
            case .equals(let value): name + "=" + PercentText.encode(value)
            case .present: name
            case .absent: nil
            }
        }
        guard !items.isEmpty, !link.contains("#") else { return nil }
        return link + (link.contains("?") ? "&" : "?") + items.joined(separator: "&")
    }

    private static func values(_ data: JSONValue) throws(Failure) -> (Models, [String: String]) {
        guard let members = data.object else {
            throw Failure(
                kind: .data, message: "the data is not a JSON object",
                advice: "pass the fields of each model, such as {\"Product\":{\"id\":7}}")
        }
        var models = Models()
        var captures: [String: String] = [:]
        for member in members {
            switch member.value.kind {
            case .object(let fields):
                for field in fields {
                    if case .object = field.value.kind {
                        throw Failure(
                            kind: .data, message: "a field of the data is an object, which no link can hold",
                            advice: "pass a text, a number, true, false, null, or a list for each field")
                    }
                }
                models.fields[member.name] = Dictionary(
                    fields.map { ($0.name, ModelValue($0.value)) }, uniquingKeysWith: { first, _ in first })
            case .string(let text), .number(let text): captures[member.name] = text
            case .bool(let value): captures[member.name] = "\(value)"
            case .null: continue
            case .array:
                throw Failure(
                    kind: .data, message: "a member of the data is a list",
                    advice: "pass an object of fields for a model, and a text for a capture")
            }
        }
        return (models, captures)
    }

    // MARK: Failures

    private static func failure(_ error: LinkError, _ route: TableSource.Route) -> Failure {
        let models = RouteText.models(route).map { model in
            let fields = route.bindings.filter { $0.model.value == model }.map(\.field.value)
            return "\(model) (\(fields.joined(separator: ", ")))"
        }
        let advice =
            switch error.code {
            case .missing, .value, .conflict, .unknownName:
                models.isEmpty
                    ? "correct --data" : "pass --data with the fields of \(models.joined(separator: " and "))"
            case .origin: "pass another --scheme or --host, or --route with another route"
            case .unwritable: "pass other --data, another --scheme or --host, or --route with another route"
            case .redirects: "pass --route with a route to which it redirects"
            case .noPattern: "add a pattern to the route"
            case .notRoundTripped: "pass other --data, or --device with the facts that the route needs"
            default: "pass --device with the facts that the route needs"
            }
        return Failure(
            kind: error.code == .origin || error.code == .notRoundTripped ? .unreachable : .data,
            message: "route \(route.id.value): \(error.description)", advice: advice)
    }

    private static func other(_ decision: Decision, route: String) -> Failure {
        let reason = decision.reason.map { " (\($0))" } ?? decision.guard.map { " (guard \($0))" } ?? ""
        let path = decision.path.map { " at \($0)" } ?? ""
        let facts = decision.guard == nil ? "{\"app\":\"6.1.0\"}" : "{\"claims\":[\"session\"]}"
        return Failure(
            kind: .unreachable,
            message:
                "route \(route): its link has the outcome \(decision.outcome.rawValue)\(path)\(reason) on this device",
            advice: "pass --device with facts with which the route leads to the screen, such as \(facts), or see "
                + "`linkd routes docs` for its conditions")
    }
}
