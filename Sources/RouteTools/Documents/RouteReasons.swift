internal import RouteAnalysis
package import LinkCoordinator
internal import StrictJSON

/// The reasons with which a request that selects a route can fail, derived from the table.
///
/// The list is complete: no other reason can occur for a link of the route. It omits the reasons of failures before the
/// selection of a route (scheme, host, encoding), which are the same for all routes.
package struct RouteReasons {
    private let table: RouteTable
    private let names: TableNames

    /// Creates the reasons for the routes of a table.
    package init(_ table: RouteTable) {
        self.table = table
        names = TableNames(table.source)
    }

    /// Returns the reasons in the order in which they are detected, each with its cause.
    package func reasons(of route: TableSource.Route) -> [(reason: ReasonCode, cause: String)] {
        switch route.action {
        case .exclude(.external): return [(.externalRefused, "the link's scheme or host is not on the allow list")]
        case .exclude: return [(.excluded, "the route is excluded")]
        case .redirect(.route): return [(.redirectLimit, "the redirect would be the sixth")]
        case .redirect(.template(let template)): return reasons(of: template.value, route)
        case .variants(let variants): return targetReasons(route, variants)
        }
    }

    private func reasons(
        of template: TableSource.PathTemplate, _ route: TableSource.Route
    ) -> [(reason: ReasonCode, cause: String)] {
        var reasons: [(ReasonCode, String)] = []
        let names = template.segments.joined().compactMap { part -> String? in
            if case .name(let name) = part { name.value } else { nil }
        }
        if names.contains(where: { Self.mayBeDots($0, in: route) }) {
            reasons.append((.dotSegment, "the redirect produces a segment that consists only of dots"))
        }
        if names.contains(where: { name in
            route.patterns.contains { $0.path.capture(named: name)?.isTail ?? false }
        }) {
            reasons.append((.budget, "the redirect produces too many segments"))
        }
        reasons.append((.noRoute, "no pattern matches the path of the redirect"))
        reasons.append((.redirectLimit, "the redirect leads back to the route, or would be the sixth"))
        return reasons
    }

    private func targetReasons(
        _ route: TableSource.Route, _ variants: [TableSource.Variant]
    ) -> [(reason: ReasonCode, cause: String)] {
        var reasons: [(ReasonCode, String)] = []
        let captured = variants.contains { if case .captured = $0.to.destination { true } else { false } }
        if captured, route.unknownScreen == .reject {
            reasons.append((.unknownScreen, "a captured segment is not a screen of its coordinator"))
        }
        if variants.contains(where: { Self.putsDots($0.to, route) }) {
            reasons.append((.dotSegment, "a capture produces a segment of the URL that consists only of dots"))
        }
        let screens = captured ? allScreens : variants.flatMap { self.screens(of: $0.to) }
        let shown = screens + variants.flatMap { parents(of: $0.to) }
        let conditions = Set(shown.compactMap(ConditionText.text)).sorted()
        if !conditions.isEmpty {
            reasons.append((.unsupported, "a screen requires: " + conditions.joined(separator: "; ")))
        }
        let invalid = route.bindings.filter { mayBeInvalid($0, in: route) }.map(Self.name)
        if !invalid.isEmpty { reasons.append((.paramInvalid, invalid.joined(separator: ", "))) }
        let needed = Set(screens.flatMap { $0.needs.map(\.value) })
        let missing = missing(route, needed)
        if !missing.isEmpty { reasons.append((.paramMissing, missing.joined(separator: ", "))) }
        if captured {
            reasons.append((.budget, "the stack would have more than \(StaticStack.maxEntries) entries"))
            reasons.append((.presentation, "the captured stack violates a rule of presentation"))
        }
        return reasons
    }

    private static func name(_ binding: TableSource.Binding) -> String {
        "\(binding.model.value).\(binding.field.value)"
    }

    private static func putsDots(_ target: TableSource.Target, _ route: TableSource.Route) -> Bool {
        guard case .external(let template) = target.destination else { return false }
        return template.parts.contains { part in
            if case .name(let name) = part { mayBeDots(name.value, in: route) } else { false }
        }
    }

    /// Returns a Boolean value that indicates whether a capture can consist only of dots.
    ///
    /// A capture of a whole segment cannot, but a capture of a part can.
    private static func mayBeDots(_ name: String, in route: TableSource.Route) -> Bool {
        route.patterns.contains { pattern in
            guard let capture = pattern.path.capture(named: name) else { return true }
            guard case .segment(let prefix, let suffix) = capture.extent, prefix + suffix > 0 else { return false }
            switch capture.matcher {
            case .any: return true
            case .characters(let set, _, _): return set.contains(UInt8(ascii: "."))
            default: return false
            }
        }
    }

    /// Returns the required fields of needed models that the route does not always fill.
    private func missing(_ route: TableSource.Route, _ needed: Set<String>) -> [String] {
        var found: [String] = []
        for model in table.source.models where route.requireAll || needed.contains(model.name.value) {
            for field in model.fields where field.absence == .required {
                let binding = route.bindings.first { $0.model == model.name && $0.field == field.name }
                let isRequired = needed.contains(model.name.value) || (route.requireAll && binding != nil)
                guard isRequired else { continue }
                switch binding?.source.value {
                case .constant: continue
                case .path(let name) where route.patterns.allSatisfy({ $0.path.capture(named: name) != nil }): continue
                default: found.append("\(model.name.value).\(field.name.value)")
                }
            }
        }
        return found
    }

    /// Returns a Boolean value that indicates whether a value can be invalid for its field.
    private func mayBeInvalid(_ binding: TableSource.Binding, in route: TableSource.Route) -> Bool {
        guard let field = field(of: binding) else { return false }
        if route.onInvalid == .drop, field.absence != .required { return false }
        switch binding.source.value {
        case .constant: return false
        case .query, .fragment, .payload: return true
        case .rewrite: return !Self.acceptsEveryText(field.type)
        case .path(let name):
            return route.patterns.contains { pattern in
                guard let capture = pattern.path.capture(named: name) else { return false }
                return !Self.implies(capture.matcher, field.type)
            }
        }
    }

    /// Returns the field that a binding fills.
    func field(of binding: TableSource.Binding) -> TableSource.Field? {
        table.source.models.first { $0.name == binding.model }?.field(named: binding.field.value)
    }

    private static func acceptsEveryText(_ type: FieldType) -> Bool {
        if case .string(let min, let max) = type { return min <= 1 && max == FieldType.maxTextBytes }
        return false
    }

    /// Returns a Boolean value that indicates whether all texts of a matcher are valid for a type.
    private static func implies(_ matcher: Matcher, _ type: FieldType) -> Bool {
        switch (matcher, type) {
        case (.uuid, .uuid), (.bool, .bool), (.date, .date): true
        case (.int(let low, let high), .int(let min, let max)): low >= min && high <= max
        case (.enumeration(let values), .enumeration(let fields)): values.allSatisfy(fields.contains)
        case (.characters(_, let low, let high), .string(let min, let max)): low >= min && high <= max
        case (.uuid, .string(let min, let max)): min <= 36 && max >= 36
        case (.date, .string(let min, let max)): min <= 10 && max >= 10
        default: acceptsEveryText(type)
        }
    }

    private var allScreens: [TableSource.Screen] { table.source.coordinators.flatMap(\.screens) }

    /// Returns the screens of a static target, without its parents: a parent that lacks data is dropped.
    private func screens(of target: TableSource.Target) -> [TableSource.Screen] {
        entries(of: target).map(screen)
    }

    /// Returns the screens that are put before a static target.
    private func parents(of target: TableSource.Target, depth: Int = 0) -> [TableSource.Screen] {
        switch target.parents {
        case .none: return []
        case .initial:
            guard case .captured = target.destination else {
                return entries(of: target).first.map {
                    StaticStack.initialParents(of: $0, in: table.source, names: names).entries.map(screen)
                } ?? []
            }
            return allScreens
        case .paths(let paths):
            return paths.flatMap { StaticStack.entries(of: $0.value, in: table.source, names: names) }
                .map(screen)
        case .route(let id):
            // The chain of parents ends, because the table has no cycles.
            guard let index = names.routes[id.value], depth < table.source.routes.count else { return [] }
            return table.source.routes[index].variants.flatMap {
                screens(of: $0.to) + parents(of: $0.to, depth: depth + 1)
            }
        }
    }

    private func entries(of target: TableSource.Target) -> [StaticStack.Entry] {
        guard case .path(let segments) = target.destination else { return [] }
        return StaticStack.entries(of: segments, in: table.source, names: names)
    }

    private func screen(_ entry: StaticStack.Entry) -> TableSource.Screen {
        table.source.coordinators[entry.coordinator].screens[entry.screen]
    }
}

/// Example links of a route: the table's own examples, resolved again, and generated ones.
struct RouteExamples {
    /// A link with its result.
    struct Example {
        var link: String
        /// The facts of the device as JSON, or nil for none.
        var device: String?
        var decision: Decision
        /// A Boolean value that indicates whether the link was generated, and is not an example of the table.
        var isGenerated: Bool
    }

    private let table: RouteTable
    private var byRoute: [String: [Example]] = [:]

    /// Resolves the examples of a table.
    init(_ table: RouteTable) {
        self.table = table
        for example in table.source.examples {
            guard let link = Self.link(of: example) else { continue }
            let decision = table.resolve(link, device: example.device.map { DeviceFacts($0) } ?? DeviceFacts())
            let shown = Example(link: link, device: example.device?.text, decision: decision, isGenerated: false)
            for route in Set(decision.via + [decision.route].compactMap { $0 }) {
                byRoute[route, default: []].append(shown)
            }
        }
    }

    /// Returns the examples of a route: the table's own, then a generated one for each pattern without an example.
    func examples(of route: TableSource.Route) -> [Example] {
        var examples = byRoute[route.id.value] ?? []
        let known = Set(examples.flatMap { Self.patterns($0, of: route, in: table) })
        for link in SampleLinks.all(of: route, in: table) {
            let generated = Example(link: link, decision: table.resolve(link), isGenerated: true)
            if known.isDisjoint(with: Self.patterns(generated, of: route, in: table)) { examples.append(generated) }
        }
        return examples
    }

    private static func patterns(_ example: Example, of route: TableSource.Route, in table: RouteTable) -> [String] {
        guard let found = table.selection(of: example.link), found.route == route.id.value else { return [] }
        return [found.pattern]
    }

    private static func link(of example: TableSource.Example) -> String? {
        switch example.request {
        case .link(let link): link
        case .request(let json): json["link"]?.string
        }
    }
}
