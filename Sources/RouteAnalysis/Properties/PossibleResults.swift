internal import LinkCoordinator

/// The patterns and texts with which requests reach a route.
struct Arrival: Hashable {
    /// The route whose pattern matches: the route itself, or one that redirects to it by its id.
    var route: Int
    /// The maximum size of the text of a capture, in bytes.
    var maxBytes: Int
}

/// The possible results of a table's routes, fallbacks, and coordinator paths, for all devices.
struct PossibleResults {
    let table: ProofTable
    let space: DeviceSpace
    private let names: ScreenNames
    /// A function that returns true to leave out the remaining devices.
    private let isOver: () -> Bool
    private var byRoute: [Int: [Arrival: [PossibleResult]]] = [:]
    /// The ways in which the requests of the current route reach it.
    private(set) var arrival = Arrival(route: 0, maxBytes: 0)
    /// The patterns that can match the path of the requests.
    private(set) var arriving: [TableSource.RoutePattern] = []
    private var byReason: [ReasonCode: [PossibleResult]] = [:]
    private var support: [[Int]: DeviceCell?] = [:]
    /// A Boolean value that indicates whether some devices were left out because there are too many cells.
    private(set) var isCut = false
    /// A Boolean value that indicates whether parent routes have more stacks than are checked when a table is loaded.
    ///
    /// Some of them can be too deep, break a rule of presentation, or need what a fallback does not have.
    private(set) var hasUncheckedStacks = false
    private var parentStackCounts: [Int: Int] = [:]

    var source: TableSource { table.source }

    /// The maximum number of cells without one condition.
    private static let maxCells = 4_096
    /// The limits of the steps of one way to a route, and of all together.
    private static let (maxOfRoute, maxOfAll) = (1 << 19, 1 << 22)
    /// The steps of the current route, and the steps of all routes before it.
    ///
    /// A step compares two cells, or stores a fact of a new cell, so the steps bound the time and the memory.
    private var (steps, stepsBefore) = (0, 0)
    /// The devices of each variant of the routes that are parents.
    private var divided: [Int: [(TableSource.Variant, [DeviceCell])]] = [:]

    init(_ table: ProofTable, _ space: DeviceSpace, _ names: ScreenNames, until isOver: @escaping () -> Bool) {
        self.table = table
        self.isOver = isOver
        self.space = space
        self.names = names
    }

    /// An entry of a stack with what can remove it.
    struct Entry {
        var coordinator: Int
        var screen: Int
        var present: Presentation
        var isParent = false
        /// The route whose bindings fill the entry, or nil for a fallback and a guard.
        var route: Int?
        /// A Boolean value that indicates whether the entry belongs to a parent route.
        var isOfParentRoute = false
    }

    private struct Stack {
        var cell: DeviceCell
        var entries: [Entry]
    }

    /// The data of an entry: always there, there for some requests, or never.
    enum Filling { case sure, maybe, never }

    // MARK: Routes

    /// Returns the results of requests that end at a route.
    mutating func results(ofRoute number: Int, _ arrival: Arrival) -> [PossibleResult] {
        if let known = byRoute[number]?[arrival] { return known }
        self.arrival = arrival
        arriving = source.routes[arrival.route].patterns
        let found = compute(number)
        (steps, stepsBefore) = (0, stepsBefore + steps)
        byRoute[number, default: [:]][arrival] = found
        return found
    }

    /// A Boolean value that indicates whether no more steps can be made.
    ///
    /// If so, `isCut` is true afterward.
    private var isFull: Bool {
        mutating get {
            guard steps > Self.maxOfRoute || stepsBefore + steps > Self.maxOfAll || isOver() else { return false }
            isCut = true
            return true
        }
    }

    /// Returns the devices of a cell that are in another one, or nil if there are none.
    private mutating func meet(_ a: DeviceCell, _ b: DeviceCell) -> DeviceCell? {
        let common = a.intersection(b)
        steps += 1 + (common?.count ?? 0)
        return common
    }

    /// Returns the devices of cells that are in another one, as far as the limits allow.
    private mutating func meet(_ cells: [DeviceCell], _ cell: DeviceCell) -> [DeviceCell] {
        var found: [DeviceCell] = []
        for one in cells {
            if isFull { return found }
            if let common = meet(one, cell) { found.append(common) }
        }
        return found
    }

    private mutating func compute(_ number: Int) -> [PossibleResult] {
        let route = source.routes[number]
        switch route.action {
        case .redirect: return []
        case .exclude(.none): return [PossibleResult(cell: [:], outcome: .none)]
        case .exclude(.reject): return [PossibleResult(cell: [:], outcome: .reject)]
        case .exclude(.external):
            return [PossibleResult(cell: [:], outcome: .external, origin: .link)]
                + failures([.externalRefused], in: [:])
        case .variants(let variants):
            var found: [PossibleResult] = []
            let divided = divide(variants)
            // Devices that could not be divided can still lead to a refutation.
            (steps, stepsBefore) = (0, stepsBefore + steps)
            for (variant, cells) in divided {
                for cell in cells {
                    if isFull { return found }
                    found += results(of: variant, number, cell)
                }
            }
            return found
        }
    }

    /// Returns the devices of each variant.
    ///
    /// If there are too many cells, the further variants have all devices of their own conditions. The results are not
    /// complete then, but can still lead to a refutation.
    private mutating func divide(_ variants: [TableSource.Variant]) -> [(TableSource.Variant, [DeviceCell])] {
        var rest: [DeviceCell] = [[:]]
        var divided: [(TableSource.Variant, [DeviceCell])] = []
        for variant in variants {
            let own = variant.when.map { space.cell(of: $0) } ?? [:]
            if isFull {
                divided.append((variant, [own]))
                continue
            }
            divided.append((variant, meet(rest, own)))
            rest = without(own, rest)
        }
        return divided
    }

    private mutating func without(_ cell: DeviceCell, _ cells: [DeviceCell]) -> [DeviceCell] {
        var rest: [DeviceCell] = []
        for one in cells {
            if isFull { return rest }
            let parts = space.subtract(cell, from: one)
            steps += 1 + parts.count * (one.count + 1)
            rest += parts
            if rest.count > Self.maxCells {
                isCut = true
                return Array(rest.prefix(Self.maxCells))
            }
        }
        return rest
    }

    private mutating func results(
        of variant: TableSource.Variant, _ number: Int, _ cell: DeviceCell
    ) -> [PossibleResult] {
        let route = source.routes[number]
        var found = failures(bindingFailures(route), in: cell)
        switch variant.to.destination {
        case .external(let template): found += external(template, variant.notice, cell)
        case .captured: found += captured(variant, number, cell)
        case .path, .root:
            for stack in stacks(variant.to, number, cell) { found += shown(stack, variant, number) }
        }
        return found
    }

    /// Returns the results of a URL that is opened, or that has a segment `.` or `..`.
    private mutating func external(
        _ template: TableSource.ExternalTemplate, _ notice: Located<[String]>?, _ cell: DeviceCell
    ) -> [PossibleResult] {
        return adding(notice, to: opened(template, cell))
            + (mayHaveDots(template) ? failures([.dotSegment], in: cell) : [])
    }

    private func opened(_ template: TableSource.ExternalTemplate, _ cell: DeviceCell) -> PossibleResult {
        PossibleResult(
            cell: cell, outcome: .external,
            origin: .literal(scheme: template.scheme, host: template.host, port: template.port))
    }

    /// Returns a result with and without the notice, depending on whether the device has its screens.
    private mutating func adding(_ notice: Located<[String]>?, to result: PossibleResult) -> [PossibleResult] {
        guard let notice else { return [result] }
        let entries = table.stack(notice.value).map {
            Entry(coordinator: $0.coordinator, screen: $0.screen, present: $0.present)
        }
        let (supported, lacking) = split(Stack(cell: result.cell, entries: entries))
        return supported.map { cell in
            var shown = result
            shown.cell = cell
            shown.screens += entries.flatMap { screens($0, .notice) }
            return shown
        }
            + lacking.map {
                var hidden = result
                hidden.cell = $0.cell
                return hidden
            }
    }

    /// Returns the results that show a stack, or what the route has for a device without one of its screens.
    private mutating func shown(
        _ stack: Stack, _ variant: TableSource.Variant, _ route: Int
    ) -> [PossibleResult] {
        let (supported, lacking) = split(stack)
        var found = supported.flatMap { finish(Stack(cell: $0, entries: stack.entries), variant.notice) }
        for (cell, index) in lacking {
            if isFull { return found }
            switch source.routes[route].unsupported {
            case .fallback: found += failures([.unsupported], in: cell)
            case .truncate:
                if index == 0 {
                    found += failures([.unsupported], in: cell)
                } else {
                    let rest = Stack(cell: cell, entries: Array(stack.entries.prefix(index)))
                    found += finish(rest, variant.notice)
                }
            case .to(let target): found += instead(target, route, variant.notice, cell)
            }
        }
        return found
    }

    private mutating func instead(
        _ target: TableSource.Target, _ route: Int, _ notice: Located<[String]>?, _ cell: DeviceCell
    ) -> [PossibleResult] {
        if case .external(let template) = target.destination { return external(template, notice, cell) }
        var found: [PossibleResult] = []
        for stack in stacks(target, route, cell) {
            let (supported, lacking) = split(stack)
            for cell in supported { found += finish(Stack(cell: cell, entries: stack.entries), notice) }
            for (cell, _) in lacking { found += failures([.unsupported], in: cell) }
        }
        return found
    }

    /// Returns the results of a stack that the device has: with missing data, with a guard, or shown.
    private mutating func finish(_ stack: Stack, _ notice: Located<[String]>?) -> [PossibleResult] {
        if isFull { return [] }
        steps += 1 + stack.entries.count
        var found: [PossibleResult] = []
        var kept: [(entry: Entry, isSure: Bool)] = []
        var reasons: [ReasonCode] = []
        for entry in stack.entries {
            switch filling(of: entry) {
            case .sure: kept.append((entry, true))
            case .maybe:
                kept.append((entry, !entry.isParent))
                if !entry.isParent { reasons.append(.paramMissing) }
            case .never:
                if !entry.isParent { return failures([.paramMissing], in: stack.cell) }
            }
        }
        let isUneven = kept.count < stack.entries.count || kept.contains { !$0.isSure }
        // Without one of its parents, a stack can break a rule of presentation.
        if isUneven, stack.entries.contains(where: { $0.present != .push }) { reasons.append(.presentation) }
        found += failures(reasons, in: stack.cell)
        var cells = [stack.cell]
        var screens: [PossibleResult.Screen] = []
        for (entry, isSure) in kept {
            var own = self.screens(entry, .stack)
            if let (guarding, claim) = guarding(entry.coordinator) {
                for cell in without(claim, cells) { found += deferred(guarding, cell) }
                if isSure { cells = meet(cells, claim) }
                for index in own.indices where !isSure { own[index].cell = claim }
            }
            for index in own.indices { own[index].isSure = isSure }
            screens += own
        }
        for cell in cells {
            found += adding(notice, to: PossibleResult(cell: cell, outcome: .navigate, screens: screens))
        }
        return found
    }

    /// Returns the maximum number of different stacks that a route and its parents have on all devices, of which the
    /// load check sees only the first ones.
    private mutating func parentStackCount(of route: Int) -> Int {
        if let known = parentStackCounts[route] { return known }
        // A cycle of parents is an error when the table is loaded.
        parentStackCounts[route] = 1
        var count = 0
        for variant in source.routes[route].variants {
            if case .route(let id) = variant.to.parents, let parent = table.names.routes[id.value] {
                count += parentStackCount(of: parent)
            } else {
                count += 1
            }
        }
        count = min(count, TableChecks.maxParentStacks + 1)
        parentStackCounts[route] = count
        return count
    }

    // MARK: Failures

    /// Returns the results of the fallback for some reasons.
    mutating func failures(_ reasons: [ReasonCode], in cell: DeviceCell) -> [PossibleResult] {
        var seen: [ReasonCode] = []
        var found: [PossibleResult] = []
        for reason in reasons where !seen.contains(reason) {
            seen.append(reason)
            for var result in fallback(reason) {
                if isFull { return found }
                guard let common = meet(result.cell, cell) else { continue }
                result.cell = common
                found.append(result)
            }
        }
        return found
    }

    private mutating func fallback(_ reason: ReasonCode) -> [PossibleResult] {
        if let known = byReason[reason] { return known }
        let rule = source.fallback.first { $0.on?.contains { $0.value == reason } ?? true }
        var found: [PossibleResult] = []
        switch (rule?.outcome, rule?.to) {
        case (.navigate?, let target?):
            for stack in stacks(target, nil, [:]) {
                let (supported, lacking) = split(stack)
                let screens = stack.entries.flatMap { self.screens($0, .stack) }
                found += supported.map { PossibleResult(cell: $0, outcome: .navigate, screens: screens) }
                found += lacking.map { PossibleResult(cell: $0.cell, outcome: .reject) }
            }
        case (.external?, let target?):
            if case .external(let template) = target.destination {
                found = [opened(template, [:])]
                if mayHaveDots(template) { found.append(PossibleResult(cell: [:], outcome: .reject)) }
            }
        case (.none?, _): found = [PossibleResult(cell: [:], outcome: .none)]
        default: found = [PossibleResult(cell: [:], outcome: .reject)]
        }
        byReason[reason] = found
        return found
    }

    private mutating func deferred(_ guarding: TableSource.Guard, _ cell: DeviceCell) -> [PossibleResult] {
        var found: [PossibleResult] = []
        for stack in stacks(guarding.otherwise, nil, cell) {
            let (supported, lacking) = split(stack)
            let screens = stack.entries.flatMap { self.screens($0, .deferred) }
            found += supported.map { PossibleResult(cell: $0, outcome: .deferred, screens: screens) }
            for (cell, _) in lacking { found += failures([.unsupported], in: cell) }
        }
        return found
    }

    // MARK: Stacks

    private mutating func stacks(
        _ target: TableSource.Target, _ route: Int?, _ cell: DeviceCell, visited: [Int] = []
    ) -> [Stack] {
        guard case .path(let segments) = target.destination else { return [Stack(cell: cell, entries: [])] }
        var own = table.stack(segments).map {
            Entry(
                coordinator: $0.coordinator, screen: $0.screen, present: $0.present, isParent: !visited.isEmpty,
                route: visited.last ?? route, isOfParentRoute: !visited.isEmpty)
        }
        if let present = target.present?.value, let last = own.indices.last { own[last].present = present }
        guard let first = own.first else { return [Stack(cell: cell, entries: [])] }
        return parents(target, first, route, cell, visited).map { under in
            Stack(cell: under.cell, entries: withSingleSlots(under.entries + own))
        }
    }

    private mutating func parents(
        _ target: TableSource.Target, _ first: Entry, _ route: Int?, _ cell: DeviceCell, _ visited: [Int]
    ) -> [Stack] {
        let entries: [StaticStack.Entry]
        switch target.parents {
        case .none: entries = []
        case .initial:
            let entry = StaticStack.Entry(coordinator: first.coordinator, screen: first.screen, present: first.present)
            entries = StaticStack.initialParents(of: entry, in: source, names: table.names).entries
        case .paths(let paths): entries = paths.flatMap { table.stack($0.value) }
        case .route(let id):
            guard let number = table.names.routes[id.value], !visited.contains(number),
                visited.count <= StaticStack.maxEntries
            else { return [Stack(cell: cell, entries: [])] }
            if parentStackCount(of: number) > TableChecks.maxParentStacks { hasUncheckedStacks = true }
            let parts = divided[number] ?? divide(source.routes[number].variants)
            divided[number] = parts
            var found: [Stack] = []
            for (variant, cells) in parts {
                for own in cells {
                    if isFull { return found }
                    guard let common = meet(own, cell) else { continue }
                    found += stacks(variant.to, route, common, visited: visited + [number])
                }
            }
            return found
        }
        let under = entries.map {
            Entry(
                coordinator: $0.coordinator, screen: $0.screen, present: $0.present, isParent: true,
                route: visited.last ?? route, isOfParentRoute: !visited.isEmpty)
        }
        return [Stack(cell: cell, entries: under)]
    }

    private func withSingleSlots(_ entries: [Entry]) -> [Entry] {
        var seen = Set<Int>()
        let kept = entries.reversed().filter {
            !source.coordinators[$0.coordinator].singleSlot || seen.insert($0.coordinator).inserted
        }
        return kept.reversed()
    }

    /// Returns the devices that have all screens of a stack, and the others with the first entry that they lack.
    private mutating func split(_ stack: Stack) -> (supported: [DeviceCell], lacking: [(cell: DeviceCell, index: Int)])
    {
        var cells = [stack.cell]
        var lacking: [(cell: DeviceCell, index: Int)] = []
        for (index, entry) in stack.entries.enumerated() {
            guard let own = supporting(entry.coordinator, entry.screen) else { continue }
            lacking += without(own, cells).map { ($0, index) }
            cells = meet(cells, own)
        }
        return (cells, lacking)
    }

    /// Returns the devices that have a screen, or nil if all have it.
    private mutating func supporting(_ coordinator: Int, _ number: Int) -> DeviceCell? {
        if let known = support[[coordinator, number]] { return known }
        let screen = source.coordinators[coordinator].screens[number]
        var condition = TableSource.Condition(offset: 0)
        condition.app =
            (screen.since.map { [.init(relation: .atLeast, version: $0)] } ?? [])
            + (screen.until.map { [.init(relation: .below, version: $0)] } ?? [])
        condition.capabilities = screen.requires
        let cell = condition.isEmpty ? nil : space.cell(of: condition)
        support[[coordinator, number]] = .some(cell)
        return cell
    }

    private func screens(_ entry: Entry, _ place: ResultTest.Place) -> [PossibleResult.Screen] {
        let coordinator = source.coordinators[entry.coordinator]
        let screen = coordinator.screens[entry.screen]
        let shown = names.shown(
            place, coordinator.name.value, screen.name.value, view: screen.view?.value, entry.present)
        return shown.map { PossibleResult.Screen(shown: $0, cell: nil, isSure: true) }
    }

    /// Returns the guard of a coordinator, and the devices with its claim.
    private func guarding(_ coordinator: Int) -> (TableSource.Guard, DeviceCell)? {
        guard let name = source.coordinators[coordinator].guarding, let number = table.names.guards[name.value] else {
            return nil
        }
        var condition = TableSource.Condition(offset: 0)
        condition.claims = [Located(source.guards[number].claim, at: 0)]
        return (source.guards[number], space.cell(of: condition))
    }
}

// The results of coordinator paths, which a link or a request contains.
extension PossibleResults {
    /// Returns the results of coordinator paths that are requested directly.
    mutating func resultsOfPaths() -> [PossibleResult] {
        anyPath(nil, [], nil, [:]) + failures([.unknownScreen, .unsupported], in: [:])
    }

    private mutating func captured(
        _ variant: TableSource.Variant, _ number: Int, _ cell: DeviceCell
    ) -> [PossibleResult] {
        let route = source.routes[number]
        var found: [PossibleResult] = []
        var under: [Stack] = []
        for stack in capturedParents(variant.to, number, cell) { under.append(stack) }
        for stack in under { found += anyPath(number, stack.entries, variant.notice, stack.cell) }
        if route.unknownScreen == .reject { found += failures([.unknownScreen], in: cell) }
        if let lacking = allSupport() {
            let cells = without(lacking, [cell])
            if case .to(let target) = route.unsupported {
                for cell in cells { found += instead(target, number, variant.notice, cell) }
            }
            for cell in cells { found += failures([.unsupported], in: cell) }
        }
        return found
    }

    /// Returns the entries that can be below a captured path.
    private mutating func capturedParents(
        _ target: TableSource.Target, _ number: Int, _ cell: DeviceCell
    ) -> [Stack] {
        if case .initial = target.parents {
            let all = source.coordinators.indices.flatMap { coordinator -> [StaticStack.Entry] in
                let first = StaticStack.Entry(coordinator: coordinator, screen: -1, present: .push)
                return StaticStack.initialParents(of: first, in: source, names: table.names).entries
            }
            let entries = all.map {
                Entry(
                    coordinator: $0.coordinator, screen: $0.screen, present: $0.present, isParent: true, route: number)
            }
            return [Stack(cell: cell, entries: entries)]
        }
        return parents(target, Entry(coordinator: -1, screen: -1, present: .push), number, cell, [])
    }

    /// Returns the results of any coordinator path, above some parents and with a notice.
    ///
    /// Fallbacks have no notice.
    private mutating func anyPath(
        _ route: Int?, _ under: [Entry], _ notice: Located<[String]>?, _ cell: DeviceCell
    ) -> [PossibleResult] {
        var screens: [PossibleResult.Screen] = []
        var needsData = false
        var entries = under
        for (coordinator, one) in source.coordinators.enumerated() {
            entries += one.screens.indices.map {
                Entry(
                    coordinator: coordinator, screen: $0, present: one.screens[$0].defaultPresentation, route: route)
            }
        }
        if isFull { return [] }
        // The result has all screens.
        steps += 1 + entries.count
        for entry in entries {
            let filling = filling(of: entry)
            needsData = needsData || filling != .sure
            if filling == .never { continue }
            let claim = guarding(entry.coordinator)?.1
            let support = supporting(entry.coordinator, entry.screen)
            var own: DeviceCell?
            switch (claim, support) {
            case (let claim?, let support?):
                guard let both = claim.intersection(support) else { continue }
                own = both
            default: own = claim ?? support
            }
            screens += self.screens(entry, .stack).map {
                PossibleResult.Screen(shown: $0.shown, cell: own, isSure: false)
            }
        }
        var found = adding(notice, to: PossibleResult(cell: cell, outcome: .navigate, screens: screens))
        for coordinator in source.coordinators.indices {
            guard let (guarding, claim) = guarding(coordinator) else { continue }
            for cell in without(claim, [cell]) { found += deferred(guarding, cell) }
        }
        let isModal = entries.contains { $0.present != .push }
        let isLong = source.limits.maxSegments + under.count > StaticStack.maxEntries
        let reasons: [ReasonCode] = (needsData ? [.paramMissing] : []) + (isModal ? [.presentation] : [])
        return found + failures(reasons + (isLong ? [.budget] : []), in: cell)
    }

    /// Returns the devices that have every screen, or nil if no screen depends on the device.
    private mutating func allSupport() -> DeviceCell? {
        var all: DeviceCell?
        for (coordinator, one) in source.coordinators.enumerated() {
            for screen in one.screens.indices {
                guard let own = supporting(coordinator, screen) else { continue }
                // No device has every screen: then every device lacks one.
                guard let common = (all ?? [:]).intersection(own) else { return own.mapValues { _ in [] } }
                all = common
            }
        }
        return all
    }
}
