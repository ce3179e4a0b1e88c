/// A stack as far as it is known without a link: the entries of static paths and of parents (route-table.md, 2.6).
package struct StaticStack: Sendable, Hashable {
    /// One entry.
    package struct Entry: Sendable, Hashable {
        /// Index of the coordinator in the table.
        package var coordinator: Int
        /// Index of the screen in the coordinator.
        package var screen: Int
        /// How it is presented.
        package var present: Presentation
    }

    /// Why a path is no stack.
    package enum Failure: Error, Sendable, Equatable {
        /// The first segment is no coordinator.
        case unknownCoordinator(String)
        /// A segment is neither a screen of the coordinator (by index) nor a coordinator.
        case unknownScreen(String, coordinator: Int)
    }

    /// Most entries of a stack.
    package static let maxEntries = 64

    /// Most sheets and covers in a stack.
    package static let maxModals = 4

    /// The entries, the lowest first.
    package var entries: [Entry] = []

    /// Makes a stack of entries.
    package init(_ entries: [Entry] = []) { self.entries = entries }
}

extension StaticStack {
    /// Composes a static path.
    ///
    /// A coordinator's name switches to it; anything else must be one of its screens; a coordinator that is followed
    /// by another or by the end stands for its initial screen, or for nothing.
    package static func compose(
        _ segments: [String], in source: TableSource, names: TableNames
    ) throws(Failure) -> StaticStack {
        var stack = StaticStack()
        var current: Int?
        var isBare = false
        for segment in segments {
            if let next = names.coordinators[segment] {
                if isBare, let current { stack.appendInitial(of: current, in: source, names: names) }
                current = next
                isBare = true
                continue
            }
            guard let coordinator = current else { throw .unknownCoordinator(segment) }
            guard let screen = names.screens[coordinator][segment] else {
                throw .unknownScreen(segment, coordinator: coordinator)
            }
            stack.append(coordinator, screen, in: source)
            isBare = false
        }
        if isBare, let current { stack.appendInitial(of: current, in: source, names: names) }
        return stack
    }

    /// The initial screens from the outermost parent of a coordinator down to its own (`parents: initial`).
    ///
    /// - Parameter first: The entry that they are for; the coordinator's own initial screen is left out if it is that.
    package static func initialParents(
        of first: Entry, in source: TableSource, names: TableNames
    ) -> StaticStack {
        // Most coordinators have no initial screen: those are passed over at once, however long the line is.
        var line = [first.coordinator]
        var passed = Set(line)
        while let next = names.initialAbove[line[line.count - 1]], passed.insert(next).inserted { line.append(next) }
        var stack = StaticStack()
        for coordinator in line.reversed() { stack.appendInitial(of: coordinator, in: source, names: names) }
        if let own = stack.entries.last, own.coordinator == first.coordinator, own.screen == first.screen {
            stack.entries.removeLast()
        }
        return stack
    }

    private mutating func append(_ coordinator: Int, _ screen: Int, in source: TableSource) {
        let present = source.coordinators[coordinator].screens[screen].defaultPresentation
        entries.append(Entry(coordinator: coordinator, screen: screen, present: present))
    }

    private mutating func appendInitial(of coordinator: Int, in source: TableSource, names: TableNames) {
        guard let initial = source.coordinators[coordinator].initial,
            let screen = names.screens[coordinator][initial.value]
        else { return }
        append(coordinator, screen, in: source)
    }

    /// The stack in which of each coordinator with `slot: single` only the last entry stays.
    package func withSingleSlots(in source: TableSource) -> StaticStack {
        var seen = Set<Int>()
        var kept: [Entry] = []
        for entry in entries.reversed() {
            if source.coordinators[entry.coordinator].singleSlot, !seen.insert(entry.coordinator).inserted { continue }
            kept.append(entry)
        }
        return StaticStack(kept.reversed())
    }

    /// The first entry that breaks a rule of presentation, with the rule in words; nil if none does.
    package func brokenPresentation(in source: TableSource) -> (entry: Entry, rule: String)? {
        var modals = 0
        for (index, entry) in entries.enumerated() {
            if entry.present == .sheet || entry.present == .cover { modals += 1 }
            if modals > Self.maxModals { return (entry, "a stack has at most \(Self.maxModals) sheets and covers") }
            guard index > 0 else { continue }
            let below = entries[index - 1]
            if below.present == .alert { return (entry, "nothing can be shown on an alert") }
            let isModal = below.present == .sheet || below.present == .cover
            if entry.present == .push, isModal, !source.coordinators[below.coordinator].screens[below.screen].nav {
                return (entry, "a push onto a sheet or cover needs its 'nav': true")
            }
        }
        return nil
    }
}
