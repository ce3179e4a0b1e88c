package import ByteStorage

// Phase 4: the stack of a target with its parents (2.6), and what the device lacks of it (2.5).
extension Resolver {
    /// Most entries of a stack; more are reason `budget`.
    package static var maxEntries: Int { 64 }

    /// Composes a target's stack, with its parents before it.
    package mutating func compose(_ target: Ref<TargetImage>, policy: TableSource.Route.UnknownScreen)
        throws(Rejection)
    {
        stack.removeAll()
        parentRoutes.removeAll()
        mode = target.mode == .unsaid ? .replace : target.mode
        stackIsStatic = target.isStatic
        if target.isLean { return }
        switch target.kind {
        case .external: return
        case .path: appendTarget(target, scope: 0)
        case .captured:
            if target.mode == .unsaid && appendsPath { mode = .append }
            let first = tail(target.name) ?? path.count
            try composePath(from: firstSegment &+ first, policy: policy)
            if !stack.isEmpty { insertParents(of: target) }
        }
        if !stackIsStatic { keepSingleSlots() }
    }

    /// Makes the entries of a lean target, which is otherwise written without them.
    package mutating func makeStack(of target: Ref<TargetImage>) {
        if target.isLean && stack.isEmpty { appendTarget(target, scope: 0) }
    }

    /// Appends a static path's entries, first those of parent routes, which bind in scopes of their own.
    private mutating func appendTarget(_ target: Ref<TargetImage>, scope: UInt8) {
        if target.entries.isEmpty { return }
        if target.parents == .route { appendParentRoute(target, scope: scope) }
        for entry in target.entries {
            var entry = entry
            entry.scope = scope
            entry.isParent = entry.isParent || scope > 0
            stack.append(entry)
        }
    }

    /// Appends the entries of a target's parent route, by its variant for this device, its own parents first.
    private mutating func appendParentRoute(_ target: Ref<TargetImage>, scope: UInt8) {
        let number = target.parentRoute
        let parent = image.routes.at(Int(number))
        let chosen = chooseVariant(of: parent)
        guard chosen < parent.variants.count, Int(scope) + 1 < image.scopes else { return }
        let inner = parent.variants.at(chosen).ref(\.target)
        if inner.entries.isEmpty { return }
        parentRoutes.append(number)
        appendTarget(inner, scope: scope + 1)
    }

    /// Puts the parents of a captured path before its entries.
    private mutating func insertParents(of target: Ref<TargetImage>) {
        var parents: [EntryImage] = []
        switch target.parents {
        case .none: return
        case .list: parents = Array(target.entries)
        case .initial:
            let first = stack[0]
            let coordinator = image.screens.at(Int(first.screen)).coordinator
            parents = Array(image.coordinators.at(Int(coordinator)).ancestors)
            if let last = parents.last, last.screen == first.screen { parents.removeLast() }
        case .route:
            let own = (0..<stack.count).map { stack[$0] }
            stack.removeAll()
            appendParentRoute(target, scope: 0)
            for entry in own { stack.append(entry) }
            return
        }
        let own = (0..<stack.count).map { stack[$0] }
        stack.removeAll()
        for var entry in parents {
            entry.isParent = true
            stack.append(entry)
        }
        for entry in own { stack.append(entry) }
    }

    /// Whether a coordinator path goes on top of the device's stack: it is relative, and no empty segment led it back
    /// to the root (N6).
    var appendsPath: Bool { mutating get { isRelative && resetAt < 0 } }

    /// Reads segments as a coordinator path: a coordinator's name switches to it, all else must be its screen.
    package mutating func composePath(from first: Int, policy: TableSource.Route.UnknownScreen) throws(Rejection) {
        stackIsStatic = false
        var current = -1
        if isRelative && device.has(.coordinator) {
            current = image.literals.find(node: LiteralTable.coordinators, text: device.coordinator)
        }
        var waiting = -1
        var index = first
        let end = segments.count
        while index < end {
            if index == resetAt {
                stack.removeAll()
                waiting = -1
            }
            let text = segments[index].text
            let coordinator = image.literals.find(node: LiteralTable.coordinators, text: text)
            if coordinator >= 0 {
                appendInitial(waiting)
                current = coordinator
                waiting = coordinator
            } else if current >= 0, case let screen = find(screen: text, of: current), screen >= 0 {
                stack.append(image.screens.at(screen).entry)
                waiting = -1
            } else if policy == .reject {
                throw Rejection(.unknownScreen, text)
            } else if policy == .skip {
                notes.append(Note("skipped:", text.prefix(bytes: maxDetailBytes)))
            } else {
                notes.append(Note("truncated:", text.prefix(bytes: maxDetailBytes)))
                break
            }
            index &+= 1
        }
        if index == end && resetAt == end {
            stack.removeAll()
            waiting = -1
        }
        appendInitial(waiting)
    }

    private mutating func find(screen: ByteView, of coordinator: Int) -> Int {
        image.literals.find(node: LiteralTable.screens(of: coordinator), text: screen)
    }

    /// A coordinator that is followed by another or by the end stands for its initial screen.
    private mutating func appendInitial(_ coordinator: Int) {
        guard coordinator >= 0 else { return }
        let initial = image.coordinators.at(coordinator).initial
        if initial >= 0 { stack.append(image.screens.at(Int(initial)).entry) }
    }

    /// Coordinators with a single slot keep only their last entry.
    package mutating func keepSingleSlots() {
        guard image.hasSingleSlots else { return }
        var kept: [EntryImage] = []
        var index = stack.count
        while index > 0 {
            index -= 1
            let coordinator = image.screens.at(Int(stack[index].screen)).coordinator
            if image.coordinators.at(Int(coordinator)).singleSlot,
                kept.contains(where: { image.screens.at(Int($0.screen)).coordinator == coordinator })
            {
                continue
            }
            kept.append(stack[index])
        }
        stack.removeAll()
        for entry in kept.reversed() { stack.append(entry) }
    }

    /// Looks for an entry that the device lacks and does what the route says; returns the target that counts then.
    package mutating func checkSupport(_ target: Ref<TargetImage>, route: Ref<RouteImage>?)
        throws(Rejection) -> Ref<TargetImage>
    {
        if stackIsStatic && !target.asksDevice { return target }
        guard let lacking = firstUnsupported() else { return target }
        let name = unsupportedName(lacking)
        guard let route else { throw name }
        switch route.unsupported {
        case .fallback: throw name
        case .truncate:
            if lacking == 0 { throw name }
            notes.append(Note("unsupported:", name.head, ".", name.tail))
            stack.truncate(to: lacking)
            stackIsStatic = false
            return target
        case .target:
            guard let other = route.unsupportedTarget else { throw name }
            try compose(other, policy: .reject)
            if firstUnsupported() != nil { throw name }
            notes.append(Note("unsupported:", name.head, ".", name.tail))
            return other
        }
    }

    /// The first entry that the device lacks, or nil.
    mutating func firstUnsupported() -> Int? {
        for index in 0..<stack.count where !supports(stack[index].screen) { return index }
        return nil
    }

    private mutating func unsupportedName(_ index: Int) -> Rejection {
        let (coordinator, screen) = names(of: stack[index])
        return Rejection(.unsupported, coordinator, dot: screen)
    }

    /// The names of an entry's coordinator and screen.
    package mutating func names(of entry: EntryImage) -> (coordinator: ByteView, screen: ByteView) {
        let screen = image.screens.at(Int(entry.screen))
        return (image.coordinators.at(Int(screen.coordinator)).name, screen.name)
    }

    /// The rules of presentation on the finished stack: static ones were judged when the table was loaded.
    package mutating func checkPresentation() throws(Rejection) {
        if stackIsStatic { return }
        var modals = 0
        for index in 0..<stack.count {
            let entry = stack[index]
            let isModal = entry.present == .sheet || entry.present == .cover
            modals += isModal ? 1 : 0
            var broken = modals > 4 && isModal
            if index > 0 {
                let below = stack[index - 1]
                broken = broken || below.present == .alert
                let onModal = below.present == .sheet || below.present == .cover
                broken =
                    broken
                    || (entry.present == .push && onModal && !image.screens.at(Int(below.screen)).nav)
            }
            if broken {
                let (coordinator, screen) = names(of: entry)
                throw Rejection(.presentation, coordinator, dot: screen)
            }
        }
    }

    /// The guard that stops the stack, or -1: the first entry whose guard wants a claim that the device lacks.
    mutating func stoppingGuard(_ target: Ref<TargetImage>) -> Int {
        if stackIsStatic && !target.isGuarded { return -1 }
        for index in 0..<stack.count {
            let coordinator = image.screens.at(Int(stack[index].screen)).coordinator
            let number = image.coordinators.at(Int(coordinator)).guarding
            if number >= 0 && !hasClaim(image.guards.at(Int(number)).claim) { return Int(number) }
        }
        return -1
    }
}
