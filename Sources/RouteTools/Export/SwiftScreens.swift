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
    }

    private let table: RouteTable
    private let names: SwiftTypeNames
    private var cases: [Case] = []

    /// Creates the enumeration.
    init(_ table: RouteTable, names: SwiftTypeNames, models: SwiftModels) {
        self.table = table
        self.names = names
        var caseNames = SwiftNames(reserving: SwiftNames.ofEnumerations)
        for coordinator in table.source.coordinators {
            for screen in coordinator.screens {
                var labels = SwiftNames()
                let name = caseNames.next(coordinator.name.value + "-" + screen.name.value)
                var one = Case(
                    name: name, coordinator: coordinator.name.value, screen: screen.name.value,
                    view: screen.view?.value, models: [])
                for model in screen.needs.map(\.value) {
                    let type = models.type(of: model)
                    if one.models.contains(where: { $0.type == type }) { continue }
                    one.models.append((labels.next(model), type))
                }
                cases.append(one)
            }
        }
    }

    /// The declarations.
    var lines: [String] {
        var lines = [
            "/// A screen of the table `\(table.id)`, with the models that it needs.",
            "public nonisolated enum \(names.screen): LinkScreen {",
        ]
        for one in cases {
            let view = one.view.map { ", displayed by the view of `\($0)`" } ?? ""
            lines.append("    /// `\(one.coordinator)/\(one.screen)`\(view)")
            lines += declaration(one)
        }
        if !cases.isEmpty { lines.append("") }
        lines += ["    public init(_ entry: StackEntry) throws(DestinationError) {"]
        lines += initializer.map { "        " + $0 }
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
}
