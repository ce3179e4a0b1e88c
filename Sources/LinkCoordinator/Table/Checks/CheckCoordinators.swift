extension TableChecks {
    /// Checks coordinators, their screens, and the names that they refer to.
    mutating func checkCoordinators() {
        for coordinator in source.coordinators {
            if let initial = coordinator.initial, coordinator.screen(named: initial.value) == nil {
                unknown(.unknownScreen, initial, "screen", among: coordinator.screens.map(\.name.value))
            }
            if let parent = coordinator.parent, names.coordinators[parent.value] == nil, !damage.coordinators {
                unknown(.unknownCoordinator, parent, "coordinator", among: names.coordinators.keys)
            }
            if let guarding = coordinator.guarding, names.guards[guarding.value] == nil, !damage.guards {
                unknown(.unknownGuard, guarding, "guard", among: names.guards.keys)
            }
            for screen in coordinator.screens { check(screen, of: coordinator) }
        }
        checkParentCycles()
    }

    private mutating func check(_ screen: TableSource.Screen, of coordinator: TableSource.Coordinator) {
        if names.coordinators[screen.name.value] != nil {
            problems.error(
                .nameClash, at: screen.name.offset,
                "the screen `\(screen.name.value)` has the name of a coordinator, so no path can refer to it",
                suggestion: "rename one of them")
        }
        if !damage.models {
            for model in screen.needs where names.models[model.value] == nil {
                unknown(.unknownModel, model, "model", among: names.models.keys)
            }
        }
        if !damage.capabilities {
            for capability in screen.requires where names.capabilities[capability.value] == nil {
                unknown(.unknownCapability, capability, "capability", among: names.capabilities.keys)
            }
        }
        if let view = screen.view, !screenNames.contains(view.value), !damage.coordinators {
            unknown(.unknownScreen, view, "screen", among: coordinator.screens.map(\.name.value))
        }
        if let identity = screen.identity, !damage.models { check(identity, of: screen) }
    }

    private mutating func check(_ identity: TableSource.IdentityTemplate, of screen: TableSource.Screen) {
        for part in identity.parts {
            guard case .field(let model, let name) = part else { continue }
            guard screen.needs.contains(where: { $0.value == model }), let index = names.models[model] else {
                unknown(
                    .unknownModel, Located(model, at: identity.offset),
                    message: "the identity uses the model `\(model)`, which is not in `needs` of the screen",
                    among: screen.needs.map(\.value), addition: "add it to `needs` of the screen")
                continue
            }
            guard let field = source.models[index].field(named: name) else {
                unknown(
                    .unknownField, Located("\(model).\(name)", at: identity.offset), "field",
                    among: source.models[index].fields.map { "\(model).\($0.name.value)" })
                continue
            }
            let isList = if case .list = field.type { true } else { false }
            if field.absence == .null || isList {
                problems.error(
                    .badTemplate, at: identity.offset,
                    "an identity requires fields that always have a single value, but `\(model).\(name)` is "
                        + (isList ? "a list" : "optional"),
                    suggestion: isList ? "use another field" : "use another field, or give this one a default")
            }
        }
    }

    /// Reports cycles of parents, each once, at its first coordinator in the file.
    private mutating func checkParentCycles() {
        var done = Set<Int>()
        for start in source.coordinators.indices where !done.contains(start) {
            var chain: [Int] = []
            var passed = Set<Int>()
            var next: Int? = start
            while let coordinator = next, !done.contains(coordinator), passed.insert(coordinator).inserted {
                chain.append(coordinator)
                next = source.coordinators[coordinator].parent.flatMap { names.coordinators[$0.value] }
            }
            if let next, let first = chain.firstIndex(of: next) {
                let cycle = chain[first...].map { source.coordinators[$0].name.value }
                let parent = source.coordinators[next].parent
                problems.error(
                    .parentCycle, at: parent?.offset ?? 0,
                    "the parents of coordinators form a cycle: \((cycle + [cycle[0]]).joined(separator: " -> "))",
                    suggestion: "remove `parent` from one of them")
            }
            done.formUnion(chain)
        }
    }

    /// Checks the targets of guards.
    mutating func checkGuards() {
        for own in source.guards {
            checkPlain(own.otherwise, "the target of the guard `\(own.name.value)`", allowsExternal: false)
        }
    }

    /// Checks the rules of `fallback`.
    mutating func checkFallback() {
        for rule in source.fallback {
            if let target = rule.to { checkPlain(target, "the target of a fallback", allowsExternal: true) }
        }
    }
}
