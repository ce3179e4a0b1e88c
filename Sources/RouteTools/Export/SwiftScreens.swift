internal import LinkCoordinator

/// The enumeration of a table's screens, with the models that a screen needs as its values, and the name for the
/// destinations of the table.
struct SwiftScreens {
    /// A case of the enumeration.
    private struct Case {
        var name: String
        var coordinator: String
        var screen: String
        /// The screen whose view displays this one.
        var view: String?
        /// The labels and types of the models.
        var models: [(label: String, type: String)]
        /// The arguments of the entry after the coordinator and the screen, without the models.
        var arguments: [String]
    }

    private let table: RouteTable
    private let names: SwiftTypeNames
    private var cases: [Case] = []

    /// Creates the enumeration.
    init(_ table: RouteTable, names: SwiftTypeNames, models: SwiftModels) {
        self.table = table
        self.names = names
        var caseNames = SwiftNames.names(reserving: SwiftNames.ofEnumerations)
        let paths = table.source.coordinators.flatMap { coordinator in
            coordinator.screens.map { coordinator.name.value + "/" + $0.name.value }
        }
        let named = caseNames.assign(paths)
        for coordinator in table.source.coordinators {
            for screen in coordinator.screens {
                var labelNames = SwiftNames.names()
                let labels = labelNames.assign(screen.needs.map(\.value))
                let path = coordinator.name.value + "/" + screen.name.value
                var one = Case(
                    name: named[path] ?? path, coordinator: coordinator.name.value, screen: screen.name.value,
                    view: screen.view?.value, models: [], arguments: Self.arguments(of: screen))
                for model in screen.needs.map(\.value) {
                    let type = models.type(of: model)
                    if one.models.contains(where: { $0.type == type }) { continue }
                    one.models.append((labels[model] ?? model, type))
                }
                cases.append(one)
            }
        }
    }

    /// The declarations.
    var lines: [String] {
        var lines = [
            "/// A screen of the table `\(table.id)`, with the models that it needs.",
            "public nonisolated enum \(names.screen): StackScreen {",
        ]
        for one in cases {
            let view = one.view.map { ", displayed by the view of `\($0)`" } ?? ""
            lines.append("    /// `\(one.coordinator)/\(one.screen)`\(view)")
            lines += declaration(one)
        }
        if !cases.isEmpty { lines.append("") }
        lines += ["    public init(_ entry: StackEntry) throws(DestinationError) {"]
        lines += initializer.map { "        " + $0 }
        lines += ["    }", "", "    public func entry() throws(ModelError) -> StackEntry {"]
        lines += entries.map { "        " + $0 }
        return lines + [
            "    }", "}", "",
            "/// A decision of the table `\(table.id)`, for a switch over everything that it can require.",
            "public typealias \(names.destination) = LinkDestination<\(names.screen)>",
        ]
    }

    private func declaration(_ one: Case) -> [String] {
        // The name of the case already says what a single value is.
        let isSingle = one.models.count == 1
        let values = one.models.map { (isSingle ? "" : SwiftNames.code($0.label) + ": ") + $0.type }
        return SwiftLines.call("case \(SwiftNames.code(one.name))", values, indent: 4)
    }

    private var initializer: [String] {
        let unknown = "throw .unknownScreen(coordinator: entry.coordinator, screen: entry.screen)"
        if cases.isEmpty { return [unknown] }
        var lines = ["switch (entry.coordinator, entry.screen) {"]
        for one in cases {
            lines.append("case (\(SwiftNames.literal(one.coordinator)), \(SwiftNames.literal(one.screen))):")
            let isSingle = one.models.count == 1
            let values = one.models.map { model in
                (isSingle ? "" : SwiftNames.label(model.label) + ": ") + "try entry.payload(\(model.type).self)"
            }
            lines += SwiftLines.call("self = .\(SwiftNames.code(one.name))", values, indent: 4)
        }
        return lines + ["default:", "    " + unknown, "}"]
    }

    /// The statements that return the entry of a screen.
    private var entries: [String] {
        if cases.isEmpty { return ["switch self {}"] }
        var lines = ["switch self {"]
        for one in cases {
            let screen = [
                "coordinator: \(SwiftNames.literal(one.coordinator))", "screen: \(SwiftNames.literal(one.screen))",
            ]
            // Names of values that nothing else in the function has.
            let values = one.models.indices.map { "value\($0)" }
            let bound = values.isEmpty ? "" : "(\(values.map { "let " + $0 }.joined(separator: ", ")))"
            lines.append("case .\(SwiftNames.code(one.name))\(bound):")
            var models: [String] = []
            if !values.isEmpty {
                lines.append("    let models = try Models(\(values.joined(separator: ", ")))")
                models = ["models: models"]
            }
            lines += SwiftLines.call("return StackEntry", screen + one.arguments + models, indent: 4)
        }
        return lines + ["}"]
    }

    /// Returns the arguments of an entry that differ from the defaults.
    private static func arguments(of screen: TableSource.Screen) -> [String] {
        var arguments: [String] = []
        if let view = screen.view { arguments.append("view: \(SwiftNames.literal(view.value))") }
        if screen.defaultPresentation != .push { arguments.append("present: .\(screen.defaultPresentation.rawValue)") }
        if screen.nav { arguments.append("nav: true") }
        if let identity = screen.identity {
            let parts = identity.parts.map { part in
                switch part {
                case .text(let text): SwiftNames.literal(text)
                case .field(let model, let field):
                    "models.text(of: \(SwiftNames.literal(field)), in: \(SwiftNames.literal(model)))"
                }
            }
            arguments.append("identity: \(parts.joined(separator: " + "))")
        }
        return arguments
    }
}
