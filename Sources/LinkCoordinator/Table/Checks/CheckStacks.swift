extension TableChecks {
    /// The maximum number of different parent stacks that are checked for a target.
    package static let maxParentStacks = 256
    /// The maximum number of entries of all stacks that are composed above the stacks of other routes, so that a table
    /// is checked in seconds and with little memory.
    private static let maxStackEntries = 1 << 23

    /// Checks a static path and returns its stack, or nil if the path has an error or cannot be checked.
    mutating func compose(_ segments: [String], at offset: Int) -> StaticStack? {
        if damage.coordinators { return nil }
        do throws(StaticStack.Failure) {
            return try StaticStack.compose(segments, in: source, names: names)
        } catch {
            reportStackFailure(error, at: offset)
            return nil
        }
    }

    private mutating func reportStackFailure(_ failure: StaticStack.Failure, at offset: Int) {
        switch failure {
        case .unknownCoordinator(let name):
            unknown(
                .unknownCoordinator, Located(name, at: offset), "coordinator", among: names.coordinators.keys)
        case .unknownScreen(let name, let coordinator):
            let own = source.coordinators[coordinator]
            unknown(
                .unknownScreen, Located(name, at: offset),
                message: "`\(name)` is neither a coordinator nor a screen of `\(own.name.value)`",
                among: own.screens.map(\.name.value) + names.coordinators.keys)
        }
    }

    /// Returns the stacks that a target without captures can have, including parents, or no stacks for any other
    /// target.
    private mutating func stacks(of target: TableSource.Target) -> [StaticStack] {
        if stackEntries > Self.maxStackEntries { return [] }
        if case .route(let id) = target.parents, let route = names.routes[id.value], parentStacks[route] == nil {
            findStacks(ofRoute: route)
        }
        let stacks = stacksAboveParents(target)
        if stackEntries <= Self.maxStackEntries { return stacks }
        problems.error(
            .tooLarge, at: target.destinationOffset,
            "the stacks above the stacks of other routes have more than \(Self.maxStackEntries) entries in all",
            suggestion: "reduce the variants of routes that supply parents, or list the paths of the parents")
        return []
    }

    /// Finds the stacks of a route whose targets are parents, after the stacks of its own parents that it needs.
    ///
    /// Each route is computed once, because the number of ways through the parents grows exponentially with their
    /// depth.
    private mutating func findStacks(ofRoute route: Int) {
        var pending = [ParentSearch(route: route)]
        var open: Set<Int> = [route]
        while var search = pending.popLast() {
            if let parent = continueSearch(&search, open) {
                pending += [search, ParentSearch(route: parent)]
                open.insert(parent)
                continue
            }
            open.remove(search.route)
            if search.found.isEmpty { search.found = [StaticStack()] }
            parentStacks[search.route] = search.found
        }
    }

    /// A search for the different stacks of a route whose targets are parents.
    private struct ParentSearch {
        let route: Int
        /// The index of the next variant.
        var next = 0
        var found: [StaticStack] = []
        var seen = Set<StaticStack>()
    }

    /// Goes on with a search, and returns a parent whose stacks it needs first, or nil at its end.
    ///
    /// A stack that is too deep is the only result. A cycle of parents is reported elsewhere.
    ///
    /// - Parameter open: The routes whose stacks are being found.
    private mutating func continueSearch(_ search: inout ParentSearch, _ open: Set<Int>) -> Int? {
        let variants = source.routes[search.route].variants
        while search.next < variants.count && search.found.count < Self.maxParentStacks {
            let target = variants[search.next].to
            if case .route(let id) = target.parents, let parent = names.routes[id.value], parentStacks[parent] == nil,
                !open.contains(parent)
            {
                return parent
            }
            for stack in stacksAboveParents(target) where search.found.count < Self.maxParentStacks {
                if stack.entries.count > StaticStack.maxEntries {
                    search.found = [StaticStack(Array(stack.entries.suffix(StaticStack.maxEntries + 1)))]
                    return nil
                }
                if search.seen.insert(stack).inserted { search.found.append(stack) }
            }
            search.next += 1
        }
        return nil
    }

    private mutating func stacksAboveParents(_ target: TableSource.Target) -> [StaticStack] {
        var own = StaticStack()
        switch target.destination {
        case .path(let segments):
            guard let composed = try? StaticStack.compose(segments, in: source, names: names) else { return [] }
            own = composed
            if let present = target.present?.value, !own.entries.isEmpty {
                own.entries[own.entries.count - 1].present = present
            }
        case .root: return [own]
        case .captured, .external: return []
        }
        guard let first = own.entries.first else { return [own] }
        var stacks = Set<StaticStack>()
        var ordered: [StaticStack] = []
        let isAboveRoute = if case .route = target.parents { true } else { false }
        for under in stacksBelow(target, first: first) where stackEntries <= Self.maxStackEntries {
            if isAboveRoute { stackEntries += under.entries.count + own.entries.count }
            let whole = StaticStack(under.entries + own.entries).withSingleSlots(in: source)
            if stacks.insert(whole).inserted { ordered.append(whole) }
        }
        return ordered
    }

    private func stacksBelow(_ target: TableSource.Target, first: StaticStack.Entry) -> [StaticStack] {
        switch target.parents {
        case .none: return [StaticStack()]
        case .initial: return [StaticStack.initialParents(of: first, in: source, names: names)]
        case .paths(let paths):
            let parts = paths.map { try? StaticStack.compose($0.value, in: source, names: names) }
            return [StaticStack(parts.flatMap { $0?.entries ?? [] })]
        case .route(let id):
            // A cycle of parents is reported elsewhere.
            return names.routes[id.value].flatMap { parentStacks[$0] } ?? [StaticStack()]
        }
    }

    /// Checks the names and presentation of a target's path and parents, and returns the stacks that it can have.
    @discardableResult
    mutating func checkStack(_ target: TableSource.Target) -> [StaticStack] {
        let own = checkNames(of: target)
        let stacks = stacks(of: target)
        guard let own else { return stacks }
        if let present = target.present, let last = own.entries.last {
            let screen = source.coordinators[last.coordinator].screens[last.screen]
            let allowed = screen.present.isEmpty ? [.push] : screen.present.map(\.value)
            if !allowed.contains(present.value) {
                problems.error(
                    .presentation, at: present.offset,
                    "the screen `\(screen.name.value)` cannot be presented as `\(present.value.rawValue)`",
                    suggestion: "add it to `present` of the screen")
                return stacks
            }
        }
        for stack in stacks {
            if stack.entries.count > StaticStack.maxEntries {
                problems.error(
                    .stackTooDeep, at: target.destinationOffset,
                    "the stack has \(stack.entries.count) entries, the limit is \(StaticStack.maxEntries)")
                return stacks
            }
            if let (entry, rule) = stack.brokenPresentation(in: source) {
                let coordinator = source.coordinators[entry.coordinator]
                problems.error(
                    .presentation, at: target.destinationOffset,
                    "\(rule): \(coordinator.name.value).\(coordinator.screens[entry.screen].name.value) in "
                        + print(stack))
                return stacks
            }
        }
        return stacks
    }

    /// Checks the names in a target's path and parents, and returns the stack of the path.
    private mutating func checkNames(of target: TableSource.Target) -> StaticStack? {
        var own: StaticStack? = StaticStack()
        if case .path(let segments) = target.destination {
            own = compose(segments, at: target.destinationOffset)
        }
        switch target.parents {
        case .none, .initial: break
        case .paths(let paths):
            for path in paths where compose(path.value, at: path.offset) == nil { own = nil }
        case .route(let id):
            guard let parent = names.routes[id.value] else {
                if !damage.routeIDs {
                    unknown(.unknownRoute, id, "route", among: names.routes.keys)
                }
                return nil
            }
            checkParent(source.routes[parent], id)
        }
        return own
    }

    /// Checks that the targets of a route whose entries are parents are paths or the root.
    private mutating func checkParent(_ parent: TableSource.Route, _ id: Located<String>) {
        guard isWhole(parent) else { return }
        let isStatic = parent.variants.allSatisfy { variant in
            switch variant.to.destination {
            case .path, .root: true
            case .captured, .external: false
            }
        }
        if parent.variants.isEmpty || !isStatic {
            problems.error(
                .targetNotPlain, at: id.offset,
                "the route `\(id.value)` cannot supply parents: all of its targets must be static paths or the root",
                routes: problems.routes + [id.value])
        }
    }

    /// Checks that a target is static and needs neither data nor a claim.
    mutating func checkPlain(_ target: TableSource.Target, _ what: String, allowsExternal: Bool) {
        switch target.destination {
        case .captured:
            problems.error(.targetNotPlain, at: target.destinationOffset, "\(what) must be static, without `{…}`")
            return
        case .external(let template):
            if !allowsExternal {
                problems.error(.targetNotPlain, at: target.destinationOffset, "\(what) must be a path or the root")
            } else if template.parts.contains(where: { if case .text = $0 { false } else { true } }) {
                problems.error(.targetNotPlain, at: target.destinationOffset, "\(what) must not use captures")
            }
            checkAllowed(template, at: target.destinationOffset)
            return
        case .path, .root: break
        }
        let stacks = checkStack(target)
        if damage.coordinators { return }
        for stack in stacks where !checkPlain(stack, what, at: target.destinationOffset) {
            return
        }
    }

    /// Returns a Boolean value that indicates whether no entry needs data or has a guard.
    ///
    /// Reports the first entry that does.
    private mutating func checkPlain(_ stack: StaticStack, _ what: String, at offset: Int) -> Bool {
        for entry in stack.entries {
            let coordinator = source.coordinators[entry.coordinator]
            let screen = coordinator.screens[entry.screen]
            let name = "\(coordinator.name.value).\(screen.name.value)"
            guard screen.needs.isEmpty, coordinator.guarding == nil else {
                let reason = screen.needs.isEmpty ? "has a guard" : "needs data"
                problems.error(
                    .targetNotPlain, at: offset, "\(what) must not need data or a guard, but `\(name)` \(reason)")
                return false
            }
        }
        return true
    }

    /// Checks that a notice is a static path to screens without data and guard.
    mutating func checkNotice(_ notice: Located<[String]>) {
        guard let stack = compose(notice.value, at: notice.offset) else { return }
        if let (_, rule) = stack.brokenPresentation(in: source) {
            problems.error(.presentation, at: notice.offset, rule)
        }
        _ = checkPlain(stack, "a notice", at: notice.offset)
    }

    /// Checks that the scheme and host of an external target are on the allowlist.
    mutating func checkAllowed(_ template: TableSource.ExternalTemplate, at offset: Int) {
        if damage.externals || damage.link { return }
        if source.externals.allow(scheme: template.scheme, host: template.host, port: template.port) { return }
        let host = String(decoding: template.host, as: UTF8.self)
        problems.error(
            .externalNotAllowed, at: offset, "\(template.scheme)://\(host) is not on the allowlist",
            suggestion: "add the scheme and the host to `externals`")
    }

    /// Returns the canonical path of a stack: each screen, preceded by the coordinator where it changes.
    ///
    /// See DecisionReference, "Members".
    func print(_ stack: StaticStack) -> String {
        var out = ""
        var last: Int?
        for entry in stack.entries {
            let coordinator = source.coordinators[entry.coordinator]
            if entry.coordinator != last { out += "/" + coordinator.name.value }
            out += "/" + coordinator.screens[entry.screen].name.value
            last = entry.coordinator
        }
        return out.isEmpty ? "/" : out
    }

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
            if field.absence == .null || field.type.isList {
                problems.error(
                    .badTemplate, at: identity.offset,
                    "an identity requires fields that always have a single value, but `\(model).\(name)` is "
                        + (field.type.isList ? "a list" : "optional"),
                    suggestion: field.type.isList
                        ? "use another field" : "use another field, or give this one a default")
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
