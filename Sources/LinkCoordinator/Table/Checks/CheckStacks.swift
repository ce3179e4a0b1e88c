extension TableChecks {
    /// The maximum number of different parent stacks that are checked for a target.
    private static let maxParentStacks = 256

    /// Checks a static path and returns its stack, or nil if the path has an error or cannot be checked.
    mutating func compose(_ segments: [String], at offset: Int, routes: [String]) -> StaticStack? {
        if damage.coordinators { return nil }
        do throws(StaticStack.Failure) {
            return try StaticStack.compose(segments, in: source, names: names)
        } catch {
            reportStackFailure(error, at: offset, routes: routes)
            return nil
        }
    }

    private mutating func reportStackFailure(_ failure: StaticStack.Failure, at offset: Int, routes: [String]) {
        switch failure {
        case .unknownCoordinator(let name):
            unknown(
                .unknownCoordinator, Located(name, at: offset), "coordinator", among: names.coordinators.keys,
                routes: routes)
        case .unknownScreen(let name, let coordinator):
            let own = source.coordinators[coordinator]
            unknown(
                .unknownScreen, Located(name, at: offset),
                message: "`\(name)` is neither a coordinator nor a screen of `\(own.name.value)`",
                among: own.screens.map(\.name.value) + names.coordinators.keys, routes: routes)
        }
    }

    /// Returns the stacks that a target without captures can have, including parents, or no stacks for any other
    /// target.
    func stacks(of target: TableSource.Target, visited: [Int] = []) -> [StaticStack] {
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
        for under in parentStacks(of: target, first: first, visited: visited) {
            let whole = StaticStack(under.entries + own.entries).withSingleSlots(in: source)
            if stacks.insert(whole).inserted { ordered.append(whole) }
        }
        return ordered
    }

    private func parentStacks(
        of target: TableSource.Target, first: StaticStack.Entry, visited: [Int]
    ) -> [StaticStack] {
        switch target.parents {
        case .none: return [StaticStack()]
        case .initial: return [StaticStack.initialParents(of: first, in: source, names: names)]
        case .paths(let paths):
            let parts = paths.map { try? StaticStack.compose($0.value, in: source, names: names) }
            return [StaticStack(parts.flatMap { $0?.entries ?? [] })]
        case .route(let id):
            // A chain of parents that is longer than the maximum stack is reported as too deep without being followed
            // further.
            guard let route = names.routes[id.value], !visited.contains(route),
                visited.count <= StaticStack.maxEntries
            else { return [StaticStack()] }
            var found: [StaticStack] = []
            for variant in source.routes[route].variants where found.count < Self.maxParentStacks {
                found += stacks(of: variant.to, visited: visited + [route])
            }
            return found.isEmpty ? [StaticStack()] : Array(found.prefix(Self.maxParentStacks))
        }
    }

    /// Checks the names and presentation of a target's path and parents.
    mutating func checkStack(_ target: TableSource.Target, routes: [String] = []) {
        guard let own = checkNames(of: target, routes: routes) else { return }
        if let present = target.present, let last = own.entries.last {
            let screen = source.coordinators[last.coordinator].screens[last.screen]
            let allowed = screen.present.isEmpty ? [.push] : screen.present.map(\.value)
            if !allowed.contains(present.value) {
                problems.error(
                    .presentation, at: present.offset,
                    "the screen `\(screen.name.value)` cannot be presented as `\(present.value.rawValue)`",
                    suggestion: "add it to `present` of the screen", routes: routes)
                return
            }
        }
        for stack in stacks(of: target) {
            if stack.entries.count > StaticStack.maxEntries {
                problems.error(
                    .stackTooDeep, at: target.destinationOffset,
                    "the stack has \(stack.entries.count) entries, the limit is \(StaticStack.maxEntries)",
                    routes: routes)
                return
            }
            if let (entry, rule) = stack.brokenPresentation(in: source) {
                let coordinator = source.coordinators[entry.coordinator]
                problems.error(
                    .presentation, at: target.destinationOffset,
                    "\(rule): \(coordinator.name.value).\(coordinator.screens[entry.screen].name.value) in "
                        + print(stack), routes: routes)
                return
            }
        }
    }

    /// Checks the names in a target's path and parents, and returns the stack of the path.
    private mutating func checkNames(of target: TableSource.Target, routes: [String]) -> StaticStack? {
        var own: StaticStack? = StaticStack()
        if case .path(let segments) = target.destination {
            own = compose(segments, at: target.destinationOffset, routes: routes)
        }
        switch target.parents {
        case .none, .initial: break
        case .paths(let paths):
            for path in paths where compose(path.value, at: path.offset, routes: routes) == nil { own = nil }
        case .route(let id):
            guard let parent = names.routes[id.value] else {
                if !damage.routeIDs {
                    unknown(.unknownRoute, id, "route", among: names.routes.keys, routes: routes)
                }
                return nil
            }
            checkParent(source.routes[parent], id, routes: routes)
        }
        return own
    }

    /// Checks that the targets of a route whose entries are parents are paths or the root.
    private mutating func checkParent(_ parent: TableSource.Route, _ id: Located<String>, routes: [String]) {
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
                routes: routes + [id.value])
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
            checkAllowed(template, at: target.destinationOffset, routes: [])
            return
        case .path, .root: break
        }
        checkStack(target)
        if damage.coordinators { return }
        for stack in stacks(of: target) where !checkPlain(stack, what, at: target.destinationOffset, routes: []) {
            return
        }
    }

    /// Returns a Boolean value that indicates whether no entry needs data or has a guard, and reports the first entry
    /// that does.
    private mutating func checkPlain(_ stack: StaticStack, _ what: String, at offset: Int, routes: [String]) -> Bool {
        for entry in stack.entries {
            let coordinator = source.coordinators[entry.coordinator]
            let screen = coordinator.screens[entry.screen]
            let name = "\(coordinator.name.value).\(screen.name.value)"
            guard screen.needs.isEmpty, coordinator.guarding == nil else {
                let reason = screen.needs.isEmpty ? "has a guard" : "needs data"
                problems.error(
                    .targetNotPlain, at: offset, "\(what) must not need data or a guard, but `\(name)` \(reason)",
                    routes: routes)
                return false
            }
        }
        return true
    }

    /// Checks that a notice is a static path to screens without data and guard.
    mutating func checkNotice(_ notice: Located<[String]>, routes: [String]) {
        guard let stack = compose(notice.value, at: notice.offset, routes: routes) else { return }
        if let (_, rule) = stack.brokenPresentation(in: source) {
            problems.error(.presentation, at: notice.offset, rule, routes: routes)
        }
        _ = checkPlain(stack, "a notice", at: notice.offset, routes: routes)
    }

    /// Checks that the scheme and host of an external target are on the allowlist.
    mutating func checkAllowed(_ template: TableSource.ExternalTemplate, at offset: Int, routes: [String]) {
        if damage.externals || damage.link { return }
        if source.externals.allow(scheme: template.scheme, host: template.host, port: template.port) { return }
        let host = String(decoding: template.host, as: UTF8.self)
        problems.error(
            .externalNotAllowed, at: offset, "\(template.scheme)://\(host) is not on the allowlist",
            suggestion: "add the scheme and the host to `externals`", routes: routes)
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
}
