internal import LinkCoordinator
internal import StrictJSON

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
            if isReplaced(.externalRefused) { return nil }
            return cause(of: route) {
                opensOutside($0) ? nil : "no scheme and host of its links is on the allow list of `externals`"
            }
        case .variants:
            for binding in canLeadElsewhere(route) ? [] : route.bindings {
                guard let model = names.models[binding.model.value],
                    let number = names.fields[model][binding.field.value]
                else { continue }
                let field = source.models[model].fields[number]
                if route.onInvalid == .drop, field.absence != .required { continue }
                if let cause = cause(of: route, { reason(binding, field, of: route, from: $0) }) { return cause }
            }
            return unavailableTarget(of: route).map { "no device has the screen `\($0)`, to which it leads" }
        }
    }

    /// Returns a Boolean value that indicates whether a device that lacks a screen, or a link whose captured path has
    /// none, may get something else before the values of the route are read.
    private func canLeadElsewhere(_ route: TableSource.Route) -> Bool {
        let isReplacing =
            switch route.unsupported {
            case .to(let target): if case .external = target.destination { true } else { isReplaced(.unsupported) }
            default: isReplaced(.unsupported)
            }
        // A captured path can have no screen, or too many.
        let isCaptured = route.variants.contains { if case .captured = $0.to.destination { true } else { false } }
        if isCaptured, source.fallback.contains(where: { $0.outcome != .reject }) { return true }
        return isReplacing
            && source.coordinators.contains { coordinator in
                coordinator.screens.contains { $0.since != nil || $0.until != nil || !$0.requires.isEmpty }
            }
    }

    /// Returns a Boolean value that indicates whether the fallback gives requests with a reason another outcome.
    private func isReplaced(_ reason: ReasonCode) -> Bool {
        let rule = source.fallback.first { $0.on?.contains { $0.value == reason } ?? true }
        return rule.map { $0.outcome != .reject } ?? false
    }

    /// Returns a screen that matches no device, if every variant leads to such a screen without a replacement.
    private func unavailableTarget(of route: TableSource.Route) -> String? {
        guard case .fallback = route.unsupported, !unavailableScreens.isEmpty, !isReplaced(.unsupported) else {
            return nil
        }
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

    /// Returns the reason why a binding of a route rejects every link that selects the route `first`.
    private func reason(
        _ binding: TableSource.Binding, _ field: TableSource.Field, of route: TableSource.Route,
        from first: TableSource.Route
    ) -> String? {
        let name = "\(binding.model.value).\(binding.field.value)"
        switch binding.source.value {
        case .path(let capture) where !isReplaced(.paramInvalid):
            let patterns = first.patterns
            let isNever =
                !patterns.isEmpty
                && patterns.allSatisfy { pattern in
                    pattern.path.capture(named: capture).map { isDisjoint($0, field.type) } ?? false
                }
            return isNever ? "no text of `{\(capture)}` is valid for `\(name)` of type `\(field.type.text)`" : nil
        // A repair can find another value than the constraint.
        case .query(let own) where !source.blocks.contains(where: \.repair):
            guard let constraint = first.query.first(where: { $0.name.value == own }) else { return nil }
            if case .equals(let value) = constraint.test, field.type.canonicalText(value) == nil,
                !isReplaced(.paramInvalid)
            {
                return "the route requires `\(own)` to be `\(value)`, which is not valid for `\(name)` of type "
                    + "`\(field.type.text)`"
            }
            if constraint.test == .absent, field.absence == .required, isAlwaysNeeded(binding.model.value, route),
                !isReplaced(.paramMissing), !isReplaced(.paramInvalid)
            {
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
                return stack.withSingleSlots(in: source).entries.contains { entry in
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

/// The parts of a table that other parts refer to.
private struct TableUse {
    /// A Boolean value that indicates whether requests can name any screen.
    ///
    /// It is true if a pattern captures a coordinator path, or if an example requests a `path`.
    var opensAll = false
    /// The indices of the coordinators in use.
    var coordinators: Set<Int> = []
    /// For each screen in use, the indices of its coordinator and of the screen.
    var screens: Set<[Int]> = []
    /// The names of screens whose views are used by other screens.
    var views: Set<String> = []
    var capabilities: Set<String> = []
    var guards: Set<String> = []
    var models: Set<String> = []

    private let source: TableSource
    private let names: TableNames

    init(_ source: TableSource, _ names: TableNames) {
        self.source = source
        self.names = names
        opensAll =
            source.routes.contains { $0.patterns.contains { $0.path.matchers.last == .coordinatorPath } }
            || source.examples.contains {
                if case .request(let request) = $0.request { request["path"] != nil } else { false }
            }
        for route in source.routes { add(route) }
        for own in source.guards { add(own.otherwise) }
        for rule in source.fallback { if let to = rule.to { add(to) } }
        for coordinator in source.coordinators {
            if let parent = coordinator.parent, let index = names.coordinators[parent.value] {
                coordinators.insert(index)
            }
            if let own = coordinator.guarding { guards.insert(own.value) }
            for screen in coordinator.screens {
                capabilities.formUnion(screen.requires.map(\.value))
                models.formUnion(screen.needs.map(\.value))
                if let view = screen.view { views.insert(view.value) }
            }
        }
    }

    private mutating func add(_ route: TableSource.Route) {
        var validates = route.requireAll
        for variant in route.variants {
            add(variant.to)
            if let notice = variant.notice { add(path: notice.value) }
            if let when = variant.when { capabilities.formUnion(when.capabilities.map(\.value)) }
            if case .external = variant.to.destination { validates = true }
        }
        if let notice = route.notice { add(path: notice.value) }
        if case .to(let target) = route.unsupported { add(target) }
        // Bound values must be valid, so a model that no screen needs still validates links that open outside the app.
        if validates { models.formUnion(route.bindings.map(\.model.value)) }
    }

    private mutating func add(_ target: TableSource.Target) {
        var first: StaticStack.Entry?
        if case .path(let segments) = target.destination { first = add(path: segments) }
        switch target.parents {
        case .none, .route: break
        case .initial:
            if let first { add(StaticStack.initialParents(of: first, in: source, names: names)) }
        case .paths(let paths):
            for path in paths { add(path: path.value) }
        }
    }

    @discardableResult
    private mutating func add(path segments: [String]) -> StaticStack.Entry? {
        for segment in segments { if let index = names.coordinators[segment] { coordinators.insert(index) } }
        guard let stack = try? StaticStack.compose(segments, in: source, names: names) else { return nil }
        add(stack)
        return stack.entries.first
    }

    private mutating func add(_ stack: StaticStack) {
        for entry in stack.entries {
            coordinators.insert(entry.coordinator)
            screens.insert([entry.coordinator, entry.screen])
        }
    }
}

extension TableAdvice {
    /// Adds warnings about parts that no target, parent, guard, notice, fallback, or `initial` refers to.
    mutating func addUnusedWarnings() {
        let use = TableUse(source, names)
        if !use.opensAll { addUnusedScreenWarnings(use) }
        for one in source.capabilities where !use.capabilities.contains(one.name.value) {
            warn(
                .unusedCapability, one.name,
                "no screen requires the capability `\(one.name.value)`, and no `when` names it")
        }
        for one in source.guards where !use.guards.contains(one.name.value) {
            warn(.unusedGuard, one.name, "no coordinator has the guard `\(one.name.value)`")
        }
        for one in source.vars where !one.isUsed {
            warn(.unusedVar, one.name, "the var `<\(one.name.value)>` is not used")
        }
        for model in source.models where !use.models.contains(model.name.value) {
            let name = model.name.value
            let binding = source.routes.first { $0.bindings.contains { $0.model.value == name } }
            problems.warning(
                .unusedModel, at: model.name.offset,
                binding.map { "no screen needs the model `\(name)`, which `\($0.id.value)` binds" }
                    ?? "no screen needs the model `\(name)`",
                suggestion: "name it in the `needs` of a screen, or remove it",
                routes: binding.map { [$0.id.value] } ?? [])
        }
    }

    private mutating func addUnusedScreenWarnings(_ use: TableUse) {
        for (index, coordinator) in source.coordinators.enumerated() {
            let name = coordinator.name.value
            guard use.coordinators.contains(index) else {
                warn(.unusedCoordinator, coordinator.name, "nothing leads to the coordinator `\(name)`")
                continue
            }
            for (number, screen) in coordinator.screens.enumerated() {
                let own = screen.name.value
                let isUsed =
                    use.screens.contains([index, number]) || coordinator.initial?.value == own
                    || use.views.contains(own)
                if isUsed { continue }
                problems.warning(
                    .unusedScreen, at: screen.name.offset, "nothing leads to the screen `\(name).\(own)`",
                    suggestion: "remove it, or add a route to `/\(name)/\(own)`; if requests name it by a path, "
                        + "add an example with such a request")
            }
        }
    }

    private mutating func warn(_ code: TableProblem.Code, _ name: Located<String>, _ message: String) {
        problems.warning(code, at: name.offset, message, suggestion: "use it, or remove it")
    }

    /// The maximum number of patterns of a route whose captures are tried in its template.
    private static let maxForms = 16

    /// Adds warnings about redirects by templates with captures whose paths match no route, or only the same route.
    ///
    /// A template without captures is resolved when the table is loaded. For the others, the possible paths of the
    /// template form a pattern, and the search of the proofs finds the patterns that overlap with it.
    mutating func addRedirectWarnings() {
        var trial = source
        var added: [(route: Int, own: Int)] = []
        // Redirects by id fill the template of their target with their own captures.
        let targets = Set(
            source.routes.compactMap { route in
                if case .redirect(.route(let id)) = route.action { names.routes[id.value] } else { nil }
            })
        for (index, route) in source.routes.enumerated() where !targets.contains(index) {
            guard case .redirect(.template(let template)) = route.action else { continue }
            if template.value.segments.allSatisfy({ $0.allSatisfy(\.isText) }) { continue }
            // A pattern that is not tried could match, so a warning could be wrong.
            if route.patterns.count > Self.maxForms { continue }
            var own = route
            // A request for the route by its id can have any parameters.
            own.query = []
            own.patterns = route.patterns.map { pattern in
                var result = pattern
                result.path = path(of: template.value, captured: pattern.path)
                return result
            }
            if own.patterns.isEmpty { continue }
            added.append((index, trial.routes.count))
            trial.routes.append(own)
        }
        if added.isEmpty { return }
        let space = PatternSpace([trial])
        let index = PatternIndex(space)
        var search = LinkSearch(space: space, budget: budget)
        var numbers: [Int: [Int]] = [:]
        for (number, pattern) in space.patterns.enumerated() { numbers[pattern.route, default: []].append(number) }
        var leads: [Int: Set<Int>] = [:]
        for (route, own) in added {
            leads[route] = matchingRoutes(of: numbers[own] ?? [], beside: source.routes.count, index, &search)
        }
        let endless = endlessRedirects(leads)
        let isRejected = ![ReasonCode.redirectLimit, .noRoute, .budget, .dotSegment].contains(where: isReplaced)
        for (route, _) in added where endless.contains(route) {
            let found = leads[route] ?? []
            if found.isEmpty || isRejected { warn(route, leadsTo: found) }
        }
    }

    /// Returns the redirects whose chains all lead back, to no route, or beyond the limit of redirects.
    ///
    /// A redirect by id can end, because its captures also fill the template of a route to which it leads.
    ///
    /// - Parameter leads: The routes to which redirects by templates can lead, as far as they are known.
    private func endlessRedirects(_ leads: [Int: Set<Int>]) -> Set<Int> {
        var endless = Set(leads.keys)
        for _ in 0..<TableChecks.maxRedirects {
            endless = endless.filter { leads[$0]?.isSubset(of: endless) == true }
        }
        return endless
    }

    private mutating func warn(_ index: Int, leadsTo found: Set<Int>) {
        let route = source.routes[index]
        guard case .redirect(.template(let template)) = route.action else { return }
        let path = "the template `\(template.value.text)`"
        let cause =
            found == [index]
            ? "\(path) leads back"
            : "\(path) leads only to redirects that end at no route within \(TableChecks.maxRedirects) redirects"
        problems.warning(
            found.isEmpty ? .redirectNowhere : .alwaysRejects, at: template.offset,
            found.isEmpty
                ? "no route matches a path of \(path)" : "every link of `\(route.id.value)` is rejected: \(cause)",
            suggestion: "correct the template, or add a route that matches it", routes: [route.id.value])
    }

    /// Returns the routes that match a link of one of the patterns, or nil if the search exceeded its budget.
    private func matchingRoutes(
        of patterns: [Int], beside count: Int, _ index: PatternIndex, _ search: inout LinkSearch
    ) -> Set<Int>? {
        var found: Set<Int> = []
        do throws(WorkBudget.Exhausted) {
            for number in patterns {
                for other in try index.candidates(for: number, before: .max, &search) {
                    let pattern = search.space.patterns[other]
                    if pattern.route >= count || found.contains(pattern.route) { continue }
                    let pair = [search.space.patterns[number], pattern]
                    if try search.find(inside: pair, outside: []) != nil { found.insert(pattern.route) }
                }
            }
        } catch {
            return nil
        }
        return found
    }

    /// Returns a pattern that matches the paths of a template for the captures of a pattern.
    ///
    /// The result can match more than the template produces.
    private func path(of template: TableSource.PathTemplate, captured pattern: Pattern) -> Pattern {
        var matchers: [Matcher] = []
        for (index, parts) in template.segments.enumerated() {
            let isLast = index == template.segments.count - 1
            switch segment(parts, pattern) {
            case .nothing: continue
            case .one(let matcher): matchers.append(matcher)
            case .tail(let tail):
                // Text after a tail can occur at any position after it.
                return Pattern(matchers: matchers + [isLast ? tail : .restStar], captures: [], text: template.text)
            }
        }
        return Pattern(matchers: matchers + [.end], captures: [], text: template.text)
    }

    private enum SegmentForm {
        case nothing
        case one(Matcher)
        case tail(Matcher)
    }

    private func segment(_ parts: [TableSource.TemplatePart], _ pattern: Pattern) -> SegmentForm {
        var before: [UInt8] = []
        var after: [UInt8] = []
        var inner: Matcher?
        for part in parts {
            switch part {
            case .text(let text):
                let bytes = source.foldsPathCase ? text.utf8.map(lowerASCII) : Array(text.utf8)
                if inner == nil { before += bytes } else { after += bytes }
            case .query: return .tail(.restStar)
            case .name(let name):
                let isRewrite = source.blocks.contains { $0.rewrites.contains { $0.name == name.value } }
                guard let capture = pattern.capture(named: name.value) else {
                    // A rewrite can capture nothing, and a capture that the pattern omits is empty.
                    if isRewrite { return .tail(.restStar) }
                    continue
                }
                if capture.isTail { return .tail(capture.matcher) }
                if inner != nil { return .one(.any) }
                inner = capture.matcher
            }
        }
        guard let inner else { return before.isEmpty ? .nothing : .one(.literal(before)) }
        if before.isEmpty && after.isEmpty { return .one(inner) }
        if case .literal(let text) = inner { return .one(.literal(before + text + after)) }
        if inner.composes(before, after) { return .one(.any) }
        return .one(.affix(prefix: before, inner: inner, suffix: after))
    }
}

extension TableSource.TemplatePart {
    /// A Boolean value that indicates whether the part is literal text.
    fileprivate var isText: Bool { if case .text = self { true } else { false } }
}
