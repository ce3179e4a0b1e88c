internal import LinkCoordinator

/// One sentence about what a route does.
struct RouteSentence {
    private let source: TableSource
    private let targets: TargetText

    /// Creates sentences for the routes of a table.
    init(_ source: TableSource, _ targets: TargetText) {
        self.source = source
        self.targets = targets
    }

    /// Returns what a route with these results does, such as `Opens catalog.item (app from 4.0.0); otherwise opens
    /// https://shop.example/p/{id}`.
    func text(_ exits: [RouteExits.Exit]) -> String {
        let parts = exits.map { exit in
            let own = text(exit)
            guard let condition = exit.condition else { return own }
            return condition == "otherwise" ? "otherwise \(own)" : "\(own) (\(condition))"
        }
        let sentence = parts.joined(separator: "; ")
        return sentence.prefix(1).uppercased() + sentence.dropFirst()
    }

    private func text(_ exit: RouteExits.Exit) -> String {
        switch exit.kind {
        case .none: "does nothing"
        case .reject: "rejects the link"
        case .outside: "opens the link itself outside the app"
        case .redirect:
            exit.template.map { "continues as \($0)" } ?? "continues with the route \(exit.route ?? "")"
        case .navigate, .external: exit.target.map(text) ?? "opens the app"
        }
    }

    private func text(_ target: TableSource.Target) -> String {
        switch target.destination {
        case .root: return "shows the root of the app"
        case .external(let template): return "opens \(template.text)"
        case .captured(let name): return "opens the screens that {\(name.value)} names"
        case .path:
            guard let stack = targets.stack(of: target), let top = stack.entries.last else {
                return "shows the root of the app"
            }
            let below = stack.entries.dropLast().last.map { " over \(name($0))" } ?? stack.over.map { " over \($0)" }
            let manner = top.present == .push ? "" : top.present == .alert ? " as an alert" : " in a \(top.present)"
            return "opens \(name(top))\(manner)\(below ?? "")"
        }
    }

    private func name(_ entry: StaticStack.Entry) -> String {
        let coordinator = source.coordinators[entry.coordinator]
        return "\(coordinator.name.value).\(coordinator.screens[entry.screen].name.value)"
    }
}
