package import ByteStorage

// Phase 4: composes the stack of a target with its parents and checks that the device supports it.
// See RouteTableReference, "Stacks".
extension Resolver {
    /// Composes the stack of a variant, or the stack of the route's rule if the device does not support a screen.
    @inline(__always)
    mutating func compose(
        _ variant: Ref<CompiledVariant>, of route: Ref<CompiledRoute>
    ) throws(Rejection) -> Composition {
        let target = variant.ref(\.target)
        if target.kind == .external || target.isSelfContained {
            var composition = Composition(target)
            composition.usesProgram = target.isSelfContained
            return composition
        }
        return try checkSupport(compose(target, policy: route.unknownScreen), route: route)
    }

    /// Composes the stack of a requested coordinator path.
    mutating func composeRequest() throws(Rejection) -> Composition {
        noteFacts()
        let composition = try composePlain()
        return try checkSupport(composition, route: nil)
    }

    /// Composes the stack of a requested coordinator path, regardless of what a device supports.
    package mutating func composePlain() throws(Rejection) -> Composition {
        var composition = Composition(tableData.plainTarget)
        composition.isStatic = false
        try composePath(from: 0, policy: .reject)
        keepSingleSlots()
        composition.mode = request.mode == .unspecified ? (appendsPath ? .append : .replace) : request.mode
        return composition
    }

    /// Composes the stack of a target, preceded by its parents.
    package mutating func compose(
        _ target: Ref<CompiledTarget>, policy: TableSource.Route.UnknownScreen
    ) throws(Rejection) -> Composition {
        stack.removeAll()
        parentRoutes.removeAll()
        var composition = Composition(target)
        if target.isSelfContained { return composition }
        switch target.kind {
        case .external: return composition
        case .path: appendTarget(target, scope: 0)
        case .captured:
            if target.mode == .unspecified && appendsPath { composition.mode = .append }
            composition.isStatic = false
            try composePath(from: pathStart(of: target), policy: policy)
            if !stack.isEmpty { insertParents(of: target) }
        }
        if !composition.isStatic { keepSingleSlots() }
        return composition
    }

    /// Creates the entries of a self-contained target, which is otherwise written without them.
    package mutating func makeStack(of composition: Composition) {
        if composition.target.isSelfContained && stack.isEmpty { appendTarget(composition.target, scope: 0) }
    }

    /// Appends the entries of parent routes, which bind in their own scopes, and then the entries of a static path.
    private mutating func appendTarget(_ target: Ref<CompiledTarget>, scope: UInt8) {
        if target.entries.isEmpty { return }
        if target.parents == .route { appendParentRoute(target, scope: scope) }
        for entry in target.entries {
            var entry = entry
            entry.scope = scope
            entry.isParent = entry.isParent || scope > 0
            stack.append(entry)
        }
    }

    /// Appends the entries of a target's parent route in the variant for this device, preceded by the parent's own
    /// parents.
    private mutating func appendParentRoute(_ target: Ref<CompiledTarget>, scope: UInt8) {
        let number = target.parentRoute
        let parent = tableData.routes.at(Int(number))
        guard !parent.variants.isEmpty, Int(scope) + 1 < tableData.scopes else { return }
        let inner = firstVariant(of: parent).ref(\.target)
        if inner.entries.isEmpty { return }
        parentRoutes.append(number)
        appendTarget(inner, scope: scope + 1)
    }

    /// Inserts the parents of a captured path before its entries.
    private mutating func insertParents(of target: Ref<CompiledTarget>) {
        var parents: [CompiledEntry] = []
        switch target.parents {
        case .none: return
        case .list: parents = Array(target.entries)
        case .initial:
            let first = stack[0]
            let coordinator = tableData.screens.at(Int(first.screen)).coordinator
            parents = Array(tableData.coordinators.at(Int(coordinator)).ancestors)
            if let last = parents.last, last.screen == first.screen { parents.removeLast() }
        case .route: break
        }
        let own = (0..<stack.count).map { stack[$0] }
        stack.removeAll()
        if target.parents == .route { appendParentRoute(target, scope: 0) }
        for var entry in parents {
            entry.isParent = true
            stack.append(entry)
        }
        for entry in own { stack.append(entry) }
    }

    /// A Boolean value that indicates whether a coordinator path is appended to the device's stack.
    ///
    /// This is the case if the path is relative and no empty segment reset it.
    ///
    /// See RouteTableReference, "Empty segments".
    var appendsPath: Bool { mutating get { link.isRelative && selection.path.resetAt == nil } }

    /// Returns the index of the first segment of the path that a target captures.
    package mutating func pathStart(of target: Ref<CompiledTarget>) -> Int {
        selection.path.first &+ (tail(target.name) ?? path.count)
    }

    /// The name of the coordinator in which a coordinator path begins.
    ///
    /// A relative path begins in the device's coordinator.
    package var startCoordinator: ByteView? {
        mutating get {
            if !link.isRelative { return nil }
            device.asked |= DeviceFacts.Fact.coordinator.bit
            return device.facts.has(.coordinator) ? device.facts.coordinator : nil
        }
    }

    /// Reads segments as a coordinator path.
    ///
    /// The name of a coordinator switches to it. Any other segment must be a screen of the current coordinator.
    package mutating func composePath(from first: Int, policy: TableSource.Route.UnknownScreen) throws(Rejection) {
        var current = -1
        if let name = startCoordinator {
            current = tableData.literals.find(node: LiteralTable.coordinators, text: name)
        }
        var pendingCoordinator = -1
        var index = first
        let end = segments.count
        let resetAt = selection.path.resetAt
        while index < end {
            if index == resetAt {
                stack.removeAll()
                pendingCoordinator = -1
            }
            let text = segments[index].text
            let coordinator = tableData.literals.find(node: LiteralTable.coordinators, text: text)
            if coordinator >= 0 {
                appendInitial(pendingCoordinator)
                current = coordinator
                pendingCoordinator = coordinator
            } else if current >= 0, case let screen = find(screen: text, of: current), screen >= 0 {
                stack.append(tableData.screens.at(screen).entry)
                pendingCoordinator = -1
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
            pendingCoordinator = -1
        }
        appendInitial(pendingCoordinator)
    }

    private mutating func find(screen: ByteView, of coordinator: Int) -> Int {
        tableData.literals.find(node: LiteralTable.screens(of: coordinator), text: screen)
    }

    /// Appends the initial screen of a coordinator that is followed by another coordinator or by the end of the path.
    private mutating func appendInitial(_ coordinator: Int) {
        guard coordinator >= 0 else { return }
        let initial = tableData.coordinators.at(coordinator).initial
        if initial >= 0 { stack.append(tableData.screens.at(Int(initial)).entry) }
    }

    /// Removes all entries but the last of each coordinator that has a single slot.
    package mutating func keepSingleSlots() {
        guard tableData.hasSingleSlots else { return }
        var remaining: [CompiledEntry] = []
        var index = stack.count
        while index > 0 {
            index -= 1
            let coordinator = tableData.screens.at(Int(stack[index].screen)).coordinator
            if tableData.coordinators.at(Int(coordinator)).singleSlot,
                remaining.contains(where: { tableData.screens.at(Int($0.screen)).coordinator == coordinator })
            {
                continue
            }
            remaining.append(stack[index])
        }
        stack.removeAll()
        for entry in remaining.reversed() { stack.append(entry) }
    }

    /// Checks that the device supports all entries, and otherwise applies the route's rule.
    package mutating func checkSupport(
        _ composition: Composition, route: Ref<CompiledRoute>?
    ) throws(Rejection) -> Composition {
        if composition.isStatic && !composition.target.dependsOnDevice { return composition }
        guard let lacking = firstUnsupported() else { return composition }
        let name = unsupportedName(lacking)
        guard let route else { throw name }
        switch route.unsupported {
        case .fallback: throw name
        case .truncate:
            if lacking == 0 { throw name }
            notes.append(Note("unsupported:", name.head, ".", name.tail))
            stack.truncate(to: lacking)
            var shorter = composition
            shorter.isStatic = false
            return shorter
        case .target:
            guard let target = route.unsupportedTarget else { throw name }
            let other = try compose(target, policy: .reject)
            if firstUnsupported() != nil { throw name }
            notes.append(Note("unsupported:", name.head, ".", name.tail))
            return other
        }
    }

    /// Returns the index of the first entry that the device does not support, or nil.
    mutating func firstUnsupported() -> Int? {
        for index in 0..<stack.count where !supports(stack[index].screen) { return index }
        return nil
    }

    private mutating func unsupportedName(_ index: Int) -> Rejection {
        let (coordinator, screen) = names(of: stack[index])
        return Rejection(.unsupported, coordinator, dot: screen)
    }

    /// Returns the names of an entry's coordinator and screen.
    package mutating func names(of entry: CompiledEntry) -> (coordinator: ByteView, screen: ByteView) {
        let screen = tableData.screens.at(Int(entry.screen))
        return (tableData.coordinators.at(Int(screen.coordinator)).name, screen.name)
    }

    /// Checks the rules of presentation on the composed stack.
    ///
    /// Static stacks are checked when the table is loaded.
    package mutating func checkPresentation(_ composition: Composition) throws(Rejection) {
        if composition.isStatic { return }
        try checkPresentation()
    }

    private mutating func checkPresentation() throws(Rejection) {
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
                    || (entry.present == .push && onModal && !tableData.screens.at(Int(below.screen)).nav)
            }
            if broken {
                let (coordinator, screen) = names(of: entry)
                throw Rejection(.presentation, coordinator, dot: screen)
            }
        }
    }

    /// Returns the guard of the first entry whose guard requires a claim that the device does not have, or nil.
    @inline(__always)
    mutating func stoppingGuard(_ composition: Composition) -> Ref<CompiledGuard>? {
        composition.isStatic && !composition.target.isGuarded ? nil : stoppingGuard()
    }

    private mutating func stoppingGuard() -> Ref<CompiledGuard>? {
        for index in 0..<stack.count {
            let coordinator = tableData.screens.at(Int(stack[index].screen)).coordinator
            let number = tableData.coordinators.at(Int(coordinator)).guarding
            if number >= 0, case let guarding = tableData.guards.at(Int(number)), !hasClaim(guarding.claim) {
                return guarding
            }
        }
        return nil
    }
}

/// The result of phase 4: the target for a device.
///
/// The entries of its stack are in the resolver, unless `usesProgram` is `true`.
package struct Composition: BitwiseCopyable {
    /// The target of the variant, or of the route's rule for unsupported screens.
    package var target: Ref<CompiledTarget>
    /// The mode in which the stack is applied.
    var mode: RequestView.Mode
    /// A Boolean value that indicates whether the target's program writes exactly this stack.
    var isStatic: Bool
    /// A Boolean value that indicates whether the target's program is used without composing a stack.
    var usesProgram = false

    /// Creates the composition of a target whose stack does not depend on the device.
    @inline(__always)
    init(_ target: Ref<CompiledTarget>) {
        self.target = target
        mode = target.mode == .unspecified ? .replace : target.mode
        isStatic = target.isStatic
    }
}

// Binds the values of parents that are the entries of another route.
//
// Each route of the chain binds in its own scope.
// See RouteTableReference, "Parents".
extension Resolver {
    /// Reads the values that the parent routes of the composed stack bind, each into its scope.
    ///
    /// An invalid value removes the parent entries that need it. The entries of the route itself stay.
    package mutating func bindParents() throws(Rejection) {
        for index in 0..<parentRoutes.count {
            let number = parentRoutes[index]
            bind(parent: tableData.routes.at(Int(number)), number: number, scope: UInt8(truncatingIfNeeded: index + 1))
        }
        if record.isBroken { throw Rejection(.internalError) }
    }

    /// Binds the values of a parent route.
    ///
    /// For the second and further devices, the values are bound once, in the memory of the request, and then copied.
    private mutating func bind(parent: Ref<CompiledRoute>, number: Int32, scope: UInt8) {
        guard shared.isKept else { return bindValues(of: parent, scope: scope) }
        for index in 0..<readings.parents.count where readings.parents[index].route == number {
            return replay(readings.parents[index], parent, scope: scope)
        }
        openShared()
        let notesBefore = notes.count
        bindValues(of: parent, scope: scope)
        closeShared()
        readings.parents.append(
            ParentBinding(
                route: number, firstValue: Int32(truncatingIfNeeded: readings.parentValues.count),
                firstNote: Int32(truncatingIfNeeded: readings.parentNotes.count),
                noteCount: Int32(truncatingIfNeeded: notes.count &- notesBefore)))
        for index in 0..<parent.bindings.count {
            let field = Int(parent.bindings.at(index).field)
            readings.parentValues.append(values[values.slot(field, scope: scope)])
        }
        for index in notesBefore..<notes.count { readings.parentNotes.append(notes[index]) }
    }

    /// Copies the values that a parent route bound before into a scope.
    private mutating func replay(_ bound: ParentBinding, _ parent: Ref<CompiledRoute>, scope: UInt8) {
        let stamp = values.stamp(of: scope)
        let known = readings.parentValues.base + Int(bound.firstValue)
        for index in 0..<parent.bindings.count {
            let slot = values.slot(Int(parent.bindings.at(index).field), scope: scope)
            values[slot] = known[index]
            values[slot].stamp = stamp
        }
        for index in 0..<Int(bound.noteCount) { notes.append(readings.parentNotes[Int(bound.firstNote) &+ index]) }
    }

    private mutating func bindValues(of parent: Ref<CompiledRoute>, scope: UInt8) {
        for index in 0..<parent.bindings.count {
            let binding = parent.bindings.at(index)
            if bind(binding, scope: scope) { continue }
            let type = tableData.fields.at(Int(binding.field))
            let slot = values.slot(Int(binding.field), scope: scope)
            values[slot] = BoundValue(stamp: values.stamp(of: scope))
            if parent.drops && type.absence != .required {
                notes.append(Note("dropped:", type.modelName, ".", type.name))
            } else {
                values[slot].state = .invalid
            }
        }
    }
}
