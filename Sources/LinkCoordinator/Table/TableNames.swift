/// The indices of the names in a table.
///
/// If a name occurs twice, which is reported when the table is read, the first one is used.
package struct TableNames: Sendable {
    /// The index of each coordinator.
    package let coordinators: [String: Int]

    /// The index of each screen, by the index of its coordinator.
    package let screens: [[String: Int]]

    /// The nearest parent with an initial screen, for each coordinator.
    package let initialAbove: [Int?]

    /// The index of each route.
    package let routes: [String: Int]

    /// The index of each model.
    package let models: [String: Int]

    /// The index of each field, by the index of its model.
    package let fields: [[String: Int]]

    /// The index of each guard.
    package let guards: [String: Int]

    /// The index of each capability.
    package let capabilities: [String: Int]

    /// Collects the names of a table.
    package init(_ source: TableSource) {
        coordinators = Self.index(source.coordinators.map(\.name.value))
        screens = source.coordinators.map { Self.index($0.screens.map(\.name.value)) }
        let parents = source.coordinators.map { [coordinators] in $0.parent.flatMap { coordinators[$0.value] } }
        let hasInitial = zip(source.coordinators, screens).map { coordinator, screens in
            coordinator.initial.map { screens[$0.value] != nil } ?? false
        }
        initialAbove = Self.nearest(above: parents, where: hasInitial)
        routes = Self.index(source.routes.map(\.id.value))
        models = Self.index(source.models.map(\.name.value))
        fields = source.models.map { Self.index($0.fields.map(\.name.value)) }
        guards = Self.index(source.guards.map(\.name.value))
        capabilities = Self.index(source.capabilities.map(\.name.value))
    }

    /// Returns, for each index, the nearest parent that satisfies the condition, or nil if there is none or if its
    /// parents form a cycle without one.
    private static func nearest(above parents: [Int?], where holds: [Bool]) -> [Int?] {
        var found: [Int?] = parents.map { _ in nil }
        var isDone = parents.map { _ in false }
        for start in parents.indices {
            var chain: [Int] = []
            var next = start
            var nearest: Int?
            while !isDone[next] {
                isDone[next] = true
                chain.append(next)
                guard let parent = parents[next] else { break }
                nearest = holds[parent] ? parent : found[parent]
                if nearest != nil { break }
                next = parent
            }
            // No parent between an element of the chain and `nearest` satisfies the condition.
            for one in chain { found[one] = nearest }
        }
        return found
    }

    private static func index(_ names: [String]) -> [String: Int] {
        Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
    }
}

/// A stack that does not depend on a link: the entries of static paths and of parents.
///
/// See RouteTableReference, "Stacks" and "Parents".
package struct StaticStack: Sendable, Hashable {
    /// An entry of the stack.
    package struct Entry: Sendable, Hashable {
        /// The index of the coordinator in the table.
        package var coordinator: Int
        /// The index of the screen in the coordinator.
        package var screen: Int
        /// The presentation of the entry.
        package var present: Presentation

        /// Creates an entry.
        package init(coordinator: Int, screen: Int, present: Presentation) {
            self.coordinator = coordinator
            self.screen = screen
            self.present = present
        }
    }

    /// The reason why a path is not a stack.
    package enum Failure: Error, Sendable, Equatable {
        /// The first segment is not a coordinator.
        case unknownCoordinator(String)
        /// A segment is neither a coordinator nor a screen of the current coordinator, which is given by its index.
        case unknownScreen(String, coordinator: Int)
    }

    /// The maximum number of entries in a stack.
    package static let maxEntries = 64

    /// The maximum number of sheets and covers in a stack.
    package static let maxModals = 4

    /// The entries, the lowest first.
    package var entries: [Entry] = []

    /// Creates a stack of entries.
    package init(_ entries: [Entry] = []) { self.entries = entries }

    /// Composes the stack of a static path.
    ///
    /// The name of a coordinator switches to it. Any other segment must be one of its screens. A coordinator that is
    /// followed by another one or by the end represents its initial screen, if it has one.
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

    /// Returns the entries of a static path, or none if the path is not a valid stack.
    package static func entries(of segments: [String], in source: TableSource, names: TableNames) -> [Entry] {
        (try? compose(segments, in: source, names: names))?.entries ?? []
    }

    /// Returns the initial screens from the outermost parent of a coordinator down to its own (`parents: initial`).
    ///
    /// - Parameters:
    ///   - first: The entry that follows. If it is the coordinator's own initial screen, that screen is left out.
    ///   - source: The table.
    ///   - names: The names of the table.
    package static func initialParents(
        of first: Entry, in source: TableSource, names: TableNames
    ) -> StaticStack {
        // Most coordinators have no initial screen. They are skipped at once, regardless of the length of the chain.
        var chain = [first.coordinator]
        var passed = Set(chain)
        while let next = names.initialAbove[chain[chain.count - 1]], passed.insert(next).inserted { chain.append(next) }
        var stack = StaticStack()
        for coordinator in chain.reversed() { stack.appendInitial(of: coordinator, in: source, names: names) }
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

    /// Returns the stack with only the last entry of each coordinator that has `slot: single`.
    package func withSingleSlots(in source: TableSource) -> StaticStack {
        var seen = Set<Int>()
        var remaining: [Entry] = []
        for entry in entries.reversed() {
            if source.coordinators[entry.coordinator].singleSlot, !seen.insert(entry.coordinator).inserted { continue }
            remaining.append(entry)
        }
        return StaticStack(remaining.reversed())
    }

    /// Returns the first entry that violates a rule of presentation, with the rule in words, or nil.
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
                return (entry, "a push onto a sheet or cover requires `\"nav\": true` of its screen")
            }
        }
        return nil
    }
}
