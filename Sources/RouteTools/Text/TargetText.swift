internal import LinkCoordinator

/// Texts of the targets of a table.
struct TargetText {
    private let source: TableSource
    private let names: TableNames

    /// Creates texts for the targets of a table.
    init(_ source: TableSource) {
        self.source = source
        names = TableNames(source)
    }

    /// Returns the destination of a target: its stack with parents from bottom to top, a URL, a captured path, or the
    /// root.
    func text(of target: TableSource.Target) -> String {
        switch target.destination {
        case .root: return "the root"
        case .external(let template): return template.text
        case .captured(let name): return "the captured path {\(name.value)}"
        case .path:
            guard let stack = stack(of: target) else { return "" }
            var parts = stack.over.map { ["(the stack of \($0))"] } ?? []
            parts += stack.entries.map(entry)
            return parts.isEmpty ? "the root" : parts.joined(separator: " > ")
        }
    }

    /// Returns the entries of a static target with its parents from bottom to top, and the route whose stack is below
    /// them, if any.
    ///
    /// Returns nil for other destinations, and for a path that is not a stack.
    func stack(of target: TableSource.Target) -> (entries: [StaticStack.Entry], over: String?)? {
        guard case .path(let segments) = target.destination,
            var own = try? StaticStack.compose(segments, in: source, names: names)
        else { return nil }
        if let present = target.present, let last = own.entries.indices.last {
            own.entries[last].present = present.value
        }
        var over: String?
        switch target.parents {
        case .none: break
        case .initial:
            if let first = own.entries.first {
                own.entries = StaticStack.initialParents(of: first, in: source, names: names).entries + own.entries
            }
        case .paths(let paths):
            own.entries = paths.flatMap { entries($0.value) } + own.entries
        case .route(let id): over = id.value
        }
        return (own.withSingleSlots(in: source).entries, over)
    }

    /// Returns the way to apply the stack, or nil for the default.
    func presentationText(of target: TableSource.Target) -> String? {
        var parts: [String] = []
        if let mode = target.mode, mode != .replace { parts.append(mode.rawValue) }
        if target.dismissModals { parts.append("sheets, covers, and alerts are closed first") }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// Returns the names of the guards whose coordinators are, or can be, in the stack of the target.
    func guards(of target: TableSource.Target) -> [String] {
        switch target.destination {
        case .root, .external: return []
        case .captured: return source.guards.map(\.name.value)
        case .path(let segments):
            var entries = self.entries(segments)
            if case .initial = target.parents, let first = entries.first {
                entries += StaticStack.initialParents(of: first, in: source, names: names).entries
            }
            if case .paths(let paths) = target.parents {
                entries += paths.flatMap { self.entries($0.value) }
            }
            var found: [String] = []
            for entry in entries {
                guard let name = source.coordinators[entry.coordinator].guarding?.value else { continue }
                if !found.contains(name) { found.append(name) }
            }
            return found
        }
    }

    /// Returns the entries of a coordinator path, or none if it is not a stack.
    func entries(_ path: [String]) -> [StaticStack.Entry] {
        StaticStack.entries(of: path, in: source, names: names)
    }

    private func entry(_ entry: StaticStack.Entry) -> String {
        let coordinator = source.coordinators[entry.coordinator]
        let text = "\(coordinator.name.value).\(coordinator.screens[entry.screen].name.value)"
        return entry.present == .push ? text : "\(text) [\(entry.present.rawValue)]"
    }
}
