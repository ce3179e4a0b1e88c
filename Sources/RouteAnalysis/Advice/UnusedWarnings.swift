internal import LinkCoordinator
internal import StrictJSON

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
}
