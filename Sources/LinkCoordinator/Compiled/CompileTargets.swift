internal import ByteStorage

// Compiles targets, the destinations of requests.
extension TableCompiler {
    /// Returns the entries of a static coordinator path.
    ///
    /// See RouteTableReference, "Stacks".
    func entries(of segments: [String]) -> [CompiledEntry] { staticScreens(segments).map { screens[$0].entry } }

    /// Returns the screens of a static coordinator path.
    ///
    /// A coordinator that no screen follows represents its initial screen.
    func staticScreens(_ segments: [String]) -> [Int] {
        var found: [Int] = []
        var current: String?
        var pendingCoordinator: String?
        func initial(_ name: String?) -> Int? {
            guard let name, let number = coordinatorNumbers[name] else { return nil }
            return source.coordinators[number].initial.flatMap { screenNumbers["\(name)/\($0.value)"] }
        }
        for segment in segments {
            if coordinatorNumbers[segment] != nil {
                if let screen = initial(pendingCoordinator) { found.append(screen) }
                current = segment
                pendingCoordinator = segment
            } else if let name = current, let screen = screenNumbers["\(name)/\(segment)"] {
                found.append(screen)
                pendingCoordinator = nil
            }
        }
        if let screen = initial(pendingCoordinator) { found.append(screen) }
        return found
    }

    /// Compiles a target.
    mutating func compile(_ target: TableSource.Target) -> CompiledTarget {
        var compiled = Self.emptyTarget
        compiled.mode = target.mode.map(Self.mode) ?? .unspecified
        compiled.dismissModals = target.dismissModals
        var own: [CompiledEntry] = []
        switch target.destination {
        case .root: break
        case .path(let segments): own = self.entries(of: segments)
        case .captured(let name):
            compiled.kind = .captured
            compiled.name = nameNumber(name.value)
        case .external(let template):
            compiled.kind = .external
            compiled.template = storage.store(parts(template.parts))
        }
        if let present = target.present?.value, let last = own.last { own[own.count - 1] = presented(last, present) }
        var above: [CompiledEntry] = []
        switch target.parents {
        case .none: break
        case .initial:
            compiled.parents = .initial
            if let first = own.first { above = ancestors(before: first) }
        case .paths(let paths):
            compiled.parents = .list
            above = paths.flatMap { entries(of: $0.value) }
        case .route(let route):
            // A refused table, which is compiled only to be explained, may refer to a missing route.
            if let number = routeNumbers[route.value] {
                compiled.parents = .route
                compiled.parentRoute = Int32(number)
            }
        }
        if compiled.kind == .path && own.isEmpty { above = [] }
        let whole = keepSingleSlots(above.map { parent(of: $0) } + own)
        compiled.entries = storage.store(whole)
        compiled.isStatic = compiled.kind == .path && (compiled.parents != .route || own.isEmpty)
        compiled.dependsOnDevice = whole.contains { screens[Int($0.screen)].dependsOnDevice }
        compiled.isGuarded = whole.contains { coordinators[Int(screens[Int($0.screen)].coordinator)].guarding >= 0 }
        if compiled.isStatic { compiled.program = program(whole, target).store(in: storage) }
        compiled.isSelfContained =
            compiled.isStatic && !compiled.dependsOnDevice && !compiled.isGuarded
            && whole.count <= StaticStack.maxEntries
        compiled.required = storage.store(whole.flatMap { Array(screens[Int($0.screen)].required) })
        return compiled
    }

    static var emptyTarget: CompiledTarget {
        CompiledTarget(
            kind: .path, mode: .unspecified, dismissModals: false, entries: UnsafeBufferPointer(start: nil, count: 0),
            name: -1, template: UnsafeBufferPointer(start: nil, count: 0), parents: .none, parentRoute: -1,
            program: Program(ops: UnsafeBufferPointer(start: nil, count: 0), constantBytes: 0), isStatic: false,
            dependsOnDevice: true, isGuarded: true)
    }

    private func parent(of entry: CompiledEntry) -> CompiledEntry {
        var entry = entry
        entry.isParent = true
        return entry
    }

    private func ancestors(before first: CompiledEntry) -> [CompiledEntry] {
        let coordinator = coordinators[Int(screens[Int(first.screen)].coordinator)]
        var above = Array(coordinator.ancestors)
        if let last = above.last, last.screen == first.screen { above.removeLast() }
        return above
    }

    private func presented(_ entry: CompiledEntry, _ present: Presentation) -> CompiledEntry {
        let number = Int(screens[Int(entry.screen)].coordinator)
        let coordinator = source.coordinators[number]
        let name = screens[Int(entry.screen)].name.string
        guard let screen = coordinator.screen(named: name) else { return entry }
        return self.entry(screen, number: Int(entry.screen), coordinator: number, present: present)
    }

    private func keepSingleSlots(_ entries: [CompiledEntry]) -> [CompiledEntry] {
        var seen: Set<Int32> = []
        var remaining: [CompiledEntry] = []
        for entry in entries.reversed() {
            let coordinator = screens[Int(entry.screen)].coordinator
            if coordinators[Int(coordinator)].singleSlot, !seen.insert(coordinator).inserted { continue }
            remaining.append(entry)
        }
        return remaining.reversed()
    }

    /// Returns the program that writes the members from `outcome` through `stack`.
    private func program(_ entries: [CompiledEntry], _ target: TableSource.Target) -> ProgramBuilder {
        var builder = ProgramBuilder()
        builder.add(",\"outcome\":\"navigate\",\"mode\":\"\((target.mode ?? .replace).rawValue)\"")
        if target.dismissModals { builder.add(",\"dismissModals\":true") }
        builder.add(",\"path\":")
        builder.add(string: path(of: entries.map { Int($0.screen) }))
        builder.add(",\"stack\":[")
        for (index, entry) in entries.enumerated() {
            if index > 0 { builder.add(",") }
            let number = Int(screens[Int(entry.screen)].coordinator)
            let coordinator = source.coordinators[number]
            if let screen = coordinator.screen(named: screens[Int(entry.screen)].name.string) {
                builder.add(program(screen, coordinator: coordinator.name.value, present: entry.present))
            }
        }
        builder.add("]")
        return builder
    }

    /// Returns the canonical path of a stack, with each coordinator where it changes.
    func path(of numbers: [Int]) -> String {
        var text = ""
        var current: Int32 = -1
        for number in numbers {
            if screens[number].coordinator != current {
                current = screens[number].coordinator
                text += "/" + coordinators[Int(current)].name.string
            }
            text += "/" + screens[number].name.string
        }
        return text.isEmpty ? "/" : text
    }

    private static func mode(_ mode: TableSource.Target.Mode) -> RequestView.Mode {
        switch mode {
        case .replace: .replace
        case .append: .append
        case .reuse: .reuse
        }
    }

    /// Compiles the parts of a template.
    mutating func parts(_ parts: [TableSource.TemplatePart]) -> [CompiledTemplatePart] {
        var compiledParts: [CompiledTemplatePart] = []
        for part in parts {
            switch part {
            case .text(let text):
                compiledParts.append(
                    CompiledTemplatePart(kind: .bytes, bytes: storage.view(text), name: -1, query: query("")))
            case .name(let name):
                compiledParts.append(
                    CompiledTemplatePart(kind: .capture, bytes: .empty, name: nameNumber(name.value), query: query("")))
            case .query(let name):
                compiledParts.append(
                    CompiledTemplatePart(kind: .query, bytes: .empty, name: -1, query: query(name.value)))
            }
        }
        return compiledParts
    }

    /// Returns the target of `path` requests.
    func plainTarget() -> Ref<CompiledTarget> {
        storage.store([Self.emptyTarget]).at(0)
    }

    /// Compiles a notice.
    func notice(_ notice: Located<[String]>?) -> CompiledNotice {
        guard let notice else {
            return CompiledNotice(path: .empty, screens: UnsafeBufferPointer(start: nil, count: 0))
        }
        let found = staticScreens(notice.value)
        return CompiledNotice(path: storage.view(path(of: found)), screens: storage.store(found.map { Int32($0) }))
    }
}
