internal import LinkCoordinator
internal import StrictJSON

/// The coordinators of a table in the order of a map, and the numbers of their screens.
struct ScreenNumbers {
    /// The indices of the coordinators in the table, each after its parent.
    let order: [Int]
    /// The position of each coordinator in `order`, by its index in the table.
    private let positions: [Int: Int]
    /// The number of the first screen of each coordinator, by its index in the table.
    private let first: [Int: Int]
    /// The number of screens.
    let count: Int

    /// Numbers the screens of a table.
    init(_ source: TableSource, _ names: TableNames) {
        order = source.coordinatorsAfterParents(names)
        positions = Dictionary(uniqueKeysWithValues: zip(order, order.indices))
        var first: [Int: Int] = [:]
        var next = 0
        for index in order {
            first[index] = next
            next += source.coordinators[index].screens.count
        }
        self.first = first
        count = next
    }

    /// Returns the position of a coordinator.
    func position(ofCoordinator index: Int) -> Int? { positions[index] }

    /// Returns the number of a screen by the indices of its coordinator and of itself in the table.
    func number(_ coordinator: Int, _ screen: Int) -> Int { (first[coordinator] ?? 0) + screen }

    /// Writes the members of a target: its screens from bottom to top, and the way to show them.
    func write(_ target: TableSource.Target, _ targets: TargetText, to json: inout JSONText) {
        switch target.destination {
        case .external(let template): json.text("url", template.text)
        case .captured(let name): json.text("captured", name.value)
        case .root: json.boolean("root", true)
        case .path:
            guard let stack = targets.stack(of: target) else { return }
            json.beginArray("stack")
            for entry in stack.entries { json.number(nil, Int64(number(entry.coordinator, entry.screen))) }
            json.endArray()
            if let present = target.present { json.text("present", present.value.rawValue) }
            if let over = stack.over { json.text("over", over) }
        }
        if let mode = target.mode, mode != .replace { json.text("mode", mode.rawValue) }
        if target.dismissModals { json.boolean("dismissModals", true) }
    }
}
