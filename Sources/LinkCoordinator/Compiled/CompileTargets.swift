internal import ByteStorage
internal import StrictJSON

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
        var waiting: String?
        func initial(_ name: String?) -> Int? {
            guard let name, let number = coordinatorNumbers[name] else { return nil }
            return source.coordinators[number].initial.flatMap { screenNumbers["\(name)/\($0.value)"] }
        }
        for segment in segments {
            if coordinatorNumbers[segment] != nil {
                if let screen = initial(waiting) { found.append(screen) }
                current = segment
                waiting = segment
            } else if let name = current, let screen = screenNumbers["\(name)/\(segment)"] {
                found.append(screen)
                waiting = nil
            }
        }
        if let screen = initial(waiting) { found.append(screen) }
        return found
    }

    /// Compiles a target.
    mutating func image(_ target: TableSource.Target) -> CompiledTarget {
        var image = Self.emptyTarget
        image.mode = target.mode.map(Self.mode) ?? .unsaid
        image.dismissModals = target.dismissModals
        var own: [CompiledEntry] = []
        switch target.destination {
        case .root: break
        case .path(let segments): own = self.entries(of: segments)
        case .captured(let name):
            image.kind = .captured
            image.name = nameNumber(name.value)
        case .external(let template):
            image.kind = .external
            image.template = slab.store(parts(template.parts))
        }
        if let present = target.present?.value, let last = own.last { own[own.count - 1] = presented(last, present) }
        var above: [CompiledEntry] = []
        switch target.parents {
        case .none: break
        case .initial:
            image.parents = .initial
            if let first = own.first { above = ancestors(before: first) }
        case .paths(let paths):
            image.parents = .list
            above = paths.flatMap { entries(of: $0.value) }
        case .route(let route):
            // A refused table, which is compiled only to be explained, may refer to a missing route.
            if let number = routeNumbers[route.value] {
                image.parents = .route
                image.parentRoute = Int32(number)
            }
        }
        if image.kind == .path && own.isEmpty { above = [] }
        let whole = keepSingleSlots(above.map { parent(of: $0) } + own)
        image.entries = slab.store(whole)
        image.isStatic = image.kind == .path && (image.parents != .route || own.isEmpty)
        image.asksDevice = whole.contains { screens[Int($0.screen)].asksDevice }
        image.isGuarded = whole.contains { coordinators[Int(screens[Int($0.screen)].coordinator)].guarding >= 0 }
        if image.isStatic { image.program = program(whole, target).store(in: slab) }
        image.isLean =
            image.isStatic && !image.asksDevice && !image.isGuarded && whole.count <= StaticStack.maxEntries
        image.required = slab.store(whole.flatMap { Array(screens[Int($0.screen)].required) })
        return image
    }

    static var emptyTarget: CompiledTarget {
        CompiledTarget(
            kind: .path, mode: .unsaid, dismissModals: false, entries: UnsafeBufferPointer(start: nil, count: 0),
            name: -1, template: UnsafeBufferPointer(start: nil, count: 0), parents: .none, parentRoute: -1,
            program: Program(ops: UnsafeBufferPointer(start: nil, count: 0), constantBytes: 0), isStatic: false,
            asksDevice: true, isGuarded: true)
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
        var kept: [CompiledEntry] = []
        for entry in entries.reversed() {
            let coordinator = screens[Int(entry.screen)].coordinator
            if coordinators[Int(coordinator)].singleSlot, !seen.insert(coordinator).inserted { continue }
            kept.append(entry)
        }
        return kept.reversed()
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
        var images: [CompiledTemplatePart] = []
        for part in parts {
            switch part {
            case .text(let text):
                images.append(CompiledTemplatePart(kind: .bytes, bytes: slab.view(text), name: -1, query: query("")))
            case .name(let name):
                images.append(
                    CompiledTemplatePart(kind: .capture, bytes: .empty, name: nameNumber(name.value), query: query("")))
            case .query(let name):
                images.append(CompiledTemplatePart(kind: .query, bytes: .empty, name: -1, query: query(name.value)))
            }
        }
        return images
    }

    /// Returns the target of `path` requests.
    func plainTarget() -> Ref<CompiledTarget> {
        slab.store([Self.emptyTarget]).at(0)
    }

    /// Compiles a notice.
    func notice(_ notice: Located<[String]>?) -> CompiledNotice {
        guard let notice else {
            return CompiledNotice(path: .empty, screens: UnsafeBufferPointer(start: nil, count: 0))
        }
        let found = staticScreens(notice.value)
        return CompiledNotice(path: slab.view(path(of: found)), screens: slab.store(found.map { Int32($0) }))
    }
}
