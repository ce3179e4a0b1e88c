package import LinkCoordinator

/// The answer to whether a table has a property.
package enum PropertyVerdict: Sendable {
    /// No request and no device that the property covers breaks it.
    ///
    /// If the property covers no request, the note says why.
    case proved(note: String? = nil)
    /// A request and a device break it.
    case refuted(PropertyWitness)
    /// No request that breaks it was found, but the proof has a gap, which the text describes.
    case unproved(String)
}

/// A proof of the properties of a table, or a search for requests that break them.
///
/// A property is decided in two steps. The possible results of each route, which do not depend on the link, either all
/// have the property, or some of them break it for some devices. For these, a link is searched that leads to the route,
/// and the resolver judges it. A property without possible results that break it is proved, and so is one whose routes
/// have no links for them.
package struct PropertySearch {
    private let table: RouteTable
    private let proof: ProofTable
    private let properties: [RouteProperty]
    private let names: ScreenNames
    private let space: DeviceSpace
    private var results: PossibleResults
    private var comparison: Comparison
    /// The attempts to break the current property.
    private var trial: PropertyTrial? { comparison.trial as? PropertyTrial }
    private let paths: CoordinatorPaths
    private let readings: [PropertyReading]
    private var spaces: [Int: PropertySpace] = [:]
    private let budget: WorkBudget
    private let isOver: @Sendable () -> Bool
    /// The number of requests that were resolved.
    package private(set) var requestCount = 0

    /// The units of work of all searches for links.
    package var workUnits: Int { spaces.values.reduce(0) { $0 + $1.workUnits } }

    /// The units of work for one property, in the links of each combination of rewrites.
    private static let maxUnits = 20_000_000
    /// The maximum number of sets of links, without a link that breaks a property, that are searched for it.
    private static let maxSearches = 256
    /// The maximum number of devices to try with the links of a set.
    private static let maxDevices = 64

    private static let endedText = "the proof was ended because it took too long"

    /// Prepares the proof of some properties.
    package init(
        _ table: RouteTable, _ properties: [RouteProperty], until isOver: @escaping @Sendable () -> Bool = { false }
    ) {
        self.table = table
        self.properties = properties
        self.isOver = isOver
        let source = table.source
        proof = ProofTable(0, source)
        names = ScreenNames(source, proof.names)
        var questions = DeviceQuestions([source])
        for property in properties {
            if let when = property.when { questions.add(when, of: source) }
            for claim in property.withoutClaims { questions.add(claim: claim) }
        }
        for route in source.routes {
            var condition = TableSource.Condition(offset: 0)
            condition.query = route.query.filter { questions.texts[.query($0.name.value)] != nil }
            questions.add(condition, of: source)
        }
        space = DeviceSpace(questions, capabilities: source.capabilities)
        results = PossibleResults(proof, space, names, until: isOver)
        comparison = Comparison([table, table])
        paths = CoordinatorPaths(breakingPresentationOf: proof)
        readings = PropertyReading.all(of: source, properties)
        budget = WorkBudget(total: Self.maxUnits, isOver: isOver)
    }

    /// Returns the answers, in the order of the properties.
    package mutating func run() -> [PropertyVerdict] {
        properties.indices.map { isOver() ? .unproved(Self.endedText) : verdict(of: $0) }
    }

    /// The work on one property.
    private struct Task {
        var number: Int
        var property: RouteProperty
        /// The devices and queries that the property covers, or nil if there are none.
        var cell: DeviceCell?
        var linkAllows: (some: Bool, notAll: Bool)
        /// The devices of each route for which a result may break the property.
        var byRoute: [Int: [Arrival: [DeviceCell]]] = [:]
        /// The devices for which a result of any route may break the property, or nil if they are not known yet.
        var ofAnyRoute: [DeviceCell]?
        /// The first gap in the proof.
        var gap: String?
        var searches = 0
    }

    private mutating func verdict(of number: Int) -> PropertyVerdict {
        let property = properties[number]
        var task = Task(
            number: number, property: property, cell: cell(of: property), linkAllows: linkAllows(property.result))
        guard task.cell != nil else {
            return .proved(note: "it covers nothing: no device and no query can meet its `when`")
        }
        comparison.trial = PropertyTrial(property, table, names)
        defer { requestCount += trial?.count ?? 0 }
        let budget = budget
        for shift in spaces.keys { spaces[shift]?.renew(budget) }
        if !property.needsLink { searchOthers(&task) }
        if let found = trial?.witness { return .refuted(shorter(found, property)) }
        if hasLinks(property.forms) { searchLinks(&task) }
        if trial?.witness == nil, !property.needsLink { searchRoutes(&task) }
        if let found = trial?.witness { return .refuted(shorter(found, property)) }
        if isOver() { task.gap = task.gap ?? Self.endedText }
        if !space.isWhole { task.gap = task.gap ?? "a condition has a version of almost \(Version.maxBytes) bytes" }
        if results.isCut { task.gap = task.gap ?? "the routes distinguish too many kinds of devices" }
        if results.hasUncheckedStacks { task.gap = task.gap ?? "the parents of routes have too many different stacks" }
        if let gap = task.gap { return .unproved(gap) }
        return .proved(note: coversLinks(task) ? nil : "it covers nothing: no link matches its `links` and its `when`")
    }

    /// Returns a Boolean value that indicates whether the property covers all links, or at least one.
    private mutating func coversLinks(_ task: Task) -> Bool {
        guard task.property.needsLink, readings.allSatisfy(\.isWhole) else { return true }
        guard hasLinks(task.property.forms) else { return false }
        for reading in readings {
            var own = space(reading.frame.shift)
            defer { spaces[reading.frame.shift] = own }
            let outside = reading.outside(&own.search.space, proof)
            for link in own.links(task.number) {
                let inside = reading.inside(&own.search.space, proof) + [own.search.space.patterns[link]]
                do throws(WorkBudget.Exhausted) {
                    let found = try own.search.find(inside: inside, outside: outside, among: reading.origins)
                    if found != nil { return true }
                } catch {
                    return true
                }
            }
        }
        return false
    }

    /// Returns a witness with a shorter link, if one breaks the property too.
    private func shorter(_ witness: PropertyWitness, _ property: RouteProperty) -> PropertyWitness {
        for link in comparison.shorterLinks.candidates(witness.request) {
            var trial = PropertyTrial(property, table, names)
            _ = trial.decide(.link(link), witness.device)
            if let found = trial.witness { return found }
        }
        return witness
    }

    // MARK: Devices

    private func cell(of property: RouteProperty) -> DeviceCell? {
        var cell = property.when.map { space.cell(of: $0) } ?? [:]
        for claim in property.withoutClaims {
            guard let common = cell.intersection([.claim(claim): [0]]) else { return nil }
            cell = common
        }
        return cell.values.contains(where: \.isEmpty) ? nil : cell
    }

    /// Returns the devices for which some possible results may break a property.
    private func violations(_ results: [PossibleResult], _ task: Task) -> [DeviceCell] {
        guard let own = task.cell else { return [] }
        return results.flatMap { result in
            result.violations(of: task.property.rule, task.property.result, linkAllows: task.linkAllows).compactMap {
                $0.intersection(own)
            }
        }
    }

    private mutating func violations(ofRoute number: Int, _ arrival: Arrival, _ task: inout Task) -> [DeviceCell] {
        if let known = task.byRoute[number]?[arrival] { return known }
        let found = violations(results.results(ofRoute: number, arrival), task)
        task.byRoute[number, default: [:]][arrival] = found
        return found
    }

    private func contexts(_ cells: [DeviceCell]) -> [EvaluationContext] {
        var seen = Set<EvaluationContext>()
        var found: [EvaluationContext] = []
        for cell in cells where found.count < Self.maxDevices {
            var context = EvaluationContext(device: space.device(of: cell))
            for case (.query(let name), let numbers) in cell {
                guard let number = numbers.min(), let values = space.values[.query(name)] else { continue }
                context.query[name] = .some(values[number])
            }
            if seen.insert(context).inserted { found.append(context) }
        }
        return found
    }

    /// Restricts the following attempts to some devices.
    private mutating func tryOnly(_ cells: [DeviceCell]) {
        let contexts = contexts(cells)
        comparison.trial?.contexts = contexts
    }

    /// Returns whether a URL that is the received link can pass the test of URLs, and whether it can fail it.
    private func linkAllows(_ test: ResultTest) -> (some: Bool, notAll: Bool) {
        guard test.external != nil || test.otherExternal != nil else { return (true, true) }
        let answers = Set(
            readings.flatMap { reading in
                reading.space.origins.flatMap { origin -> [Bool] in
                    let scheme = origin.scheme.lowercased()
                    let block = table.source.blocks[origin.block]
                    if block.hostRole == .segment, table.source.externals.schemes.contains(scheme) {
                        // The host is a segment of the path, which the proof does not follow into the URL.
                        return table.source.externals.hosts.isEmpty ? [] : [true, false]
                    }
                    guard table.source.externals.allow(scheme: scheme, host: origin.host, port: origin.port) else {
                        return []
                    }
                    return [test.allows(scheme, origin.host, origin.port)]
                }
            })
        return (answers.contains(true), answers.contains(false))
    }
}

// The search for links.
extension PropertySearch {
    /// Searches the links of every pattern, as every combination of rewrites reads them.
    private mutating func searchLinks(_ task: inout Task) {
        for reading in readings {
            var own = space(reading.frame.shift)
            let pairs = own.pairs(task.property.needsLink ? task.number : nil)
            if pairs == nil { task.gap = task.gap ?? "the patterns overlap too much" }
            for (pattern, link) in pairs ?? [] {
                search(pattern, link, reading, &own, &task)
                if comparison.trial?.isOver != false || isOver() { break }
            }
            spaces[reading.frame.shift] = own
            if trial?.witness != nil { return }
            if trial?.isExhausted == true { task.gap = task.gap ?? "too many requests were tried" }
            if isOver() { task.gap = task.gap ?? Self.endedText }
        }
        if passesOnRewrites, task.gap == nil,
            !(violationsOfAnyRoute(&task) + violations(results.failures(Self.anyRedirect, in: [:]), task)).isEmpty
        {
            task.gap = "a link block has too many rewrites"
        }
        if task.property.needsLink { searchUnmatched(&task) }
    }

    /// A Boolean value that indicates whether redirects can pass on captures of rewrites that are not all searched
    /// together, so that they may end at any route.
    private var passesOnRewrites: Bool {
        let blocks = Set(readings.filter { !$0.isWhole }.map(\.block)).map { table.source.blocks[$0] }
        let names = Set(blocks.flatMap { $0.rewrites.compactMap(\.name) })
        return table.source.routes.contains { route in
            guard !names.isEmpty, case .redirect(let redirect) = route.action else { return false }
            guard case .template(let template) = redirect else { return true }
            return template.value.segments.joined().contains { part in
                if case .name(let name) = part { names.contains(name.value) } else { false }
            }
        }
    }

    private mutating func space(_ shift: Int) -> PropertySpace {
        // Without the copy in the dictionary, the search changes its tables in place.
        var own =
            spaces.removeValue(forKey: shift)
            ?? PropertySpace(
                table.source, properties, shift, PropertyReading.distinction(table.source, properties), budget)
        // The last space that was used has the steps of all.
        for other in spaces.values {
            own.search.space.redirectSteps = max(own.search.space.redirectSteps, other.search.space.redirectSteps)
        }
        return own
    }

    /// Searches the links that select one pattern, and match one of the property's if it has any.
    private mutating func search(
        _ pattern: Int, _ link: Int?, _ reading: PropertyReading, _ own: inout PropertySpace, _ task: inout Task
    ) {
        for result in own.ends(of: pattern, reading, proof) {
            var cells = violations(ofEnd: result, &task)
            if cells.isEmpty { continue }
            let chosen = own.search.space.patterns[pattern]
            let constraints = chosen.constraints + result.inside.flatMap(\.constraints)
            if let cell = queryCell(constraints) { cells = cells.compactMap { $0.intersection(cell) } }
            if cells.isEmpty { continue }
            let route = table.source.routes[result.routes.last ?? chosen.route].id.value
            guard task.searches < Self.maxSearches else {
                task.gap = task.gap ?? "the work for one property was used up, at the route `\(route)`"
                return
            }
            tryOnly(cells)
            var set = LinkSet(
                inside: reading.inside(&own.search.space, proof) + [chosen] + result.inside, outside: result.outside,
                ends: [(proof, result)], dependencies: Dependencies())
            if let link { set.inside.append(own.search.space.patterns[link]) }
            set.outside += reading.outside(&own.search.space, proof)
            set.outside += own.preceding(pattern).map { own.search.space.patterns[$0] }
            for number in result.routes { set.dependencies.add(route: number, of: proof) }
            let some = origins(breaking: task.property, result, reading)
            if !some.isEmpty { _ = isEmpty(set, reading, some, result, &own) }
            if !isEmpty(set, reading, reading.origins, result, &own) {
                task.searches += 1
                if trial?.witness != nil { return }
                task.gap = task.gap ?? "no link of the route `\(route)` was found that shows a result which it may have"
            } else if !reading.isWhole {
                task.gap = task.gap ?? "the link block of the route `\(route)` has too many rewrites"
            }
        }
    }

    /// Tries the links of a set, and returns a Boolean value that indicates whether there are none.
    private mutating func isEmpty(
        _ set: LinkSet, _ reading: PropertyReading, _ origins: Set<Int>, _ result: RedirectResult,
        _ own: inout PropertySpace
    ) -> Bool {
        let search = SetSearch(
            tables: [proof, ProofTable(1, table.source)], reading: [reading.block, reading.block],
            frames: [reading.frame, reading.frame], origins: origins, inside: [], outside: [],
            fallback: DeviceQuestions(), paths: paths)
        do throws(WorkBudget.Exhausted) {
            let found = try search.compareLinks(set, &own.search, &comparison)
            if trial?.witness != nil { return false }
            if let growth = result.growth, growth > 0 {
                // A redirect makes the longest links too long.
                let most = table.source.limits.maxSegments
                let long = try own.search.find(
                    inside: set.inside, outside: set.outside, among: origins,
                    lengths: max(0, most - growth + 1)...most)
                if let long {
                    comparison.compare(
                        ProbeSet(
                            long, set.dependencies, [proof, proof], [reading.block, reading.block], table.source),
                        comparison.trial?.contexts ?? [])
                }
            }
            // The patterns of a result that is not exact match more links than lead to it, never fewer.
            return !found.isFound
        } catch {
            return false
        }
    }

    /// Returns the origins of links that break a property because an excluded route opens them as they are, or because
    /// it does not.
    private func origins(
        breaking property: RouteProperty, _ result: RedirectResult, _ reading: PropertyReading
    ) -> Set<Int> {
        let test = property.result
        guard test.dependsOnURL, let last = result.routes.last,
            case .exclude(.external) = table.source.routes[last].action
        else { return [] }
        return reading.origins.filter { number in
            let origin = reading.space.origins[number]
            let scheme = origin.scheme.lowercased()
            let holds =
                table.source.externals.allow(scheme: scheme, host: origin.host, port: origin.port)
                && test.outcomes?.contains(.external) != false && test.allows(scheme, origin.host, origin.port)
            return holds == (property.rule == .never)
        }
    }

    /// Returns the devices that may break the property, including by a failure before the end of the redirects.
    private mutating func violations(ofEnd result: RedirectResult, _ task: inout Task) -> [DeviceCell] {
        guard let last = result.routes.last else { return [] }
        var reasons: [ReasonCode] = []
        // A redirect that leads back has made its path before. A sixth one is not followed.
        let isFollowed =
            if case .redirect = table.source.routes[last].action { result.routes.count <= 5 } else { false }
        let redirecting =
            result.pattern == nil || isFollowed ? result.routes.indices : result.routes.indices.dropLast()
        if result.growth ?? 0 > 0 || redirecting.contains(where: { isLong(result.routes[$0]) }) {
            reasons.append(.budget)
        }
        if redirecting.contains(where: { mayHaveDots(result.routes[...$0]) }) { reasons.append(.dotSegment) }
        if result.isUnknown {
            // The redirect can lead to any route.
            return violationsOfAnyRoute(&task) + violations(results.failures(reasons + Self.anyRedirect, in: [:]), task)
        }
        if case .redirect = table.source.routes[last].action {
            if result.pattern == nil { reasons.append(.noRoute) }
            if result.pattern != nil || result.routes.count > 5 { reasons.append(.redirectLimit) }
            return violations(results.failures(reasons, in: [:]), task)
        }
        let own = violations(ofRoute: last, proof.arrival(of: result.routes), &task)
        return reasons.isEmpty ? own : own + violations(results.failures(reasons, in: [:]), task)
    }

    /// Returns the different devices for which a result of any route may break the property.
    private mutating func violationsOfAnyRoute(_ task: inout Task) -> [DeviceCell] {
        if let known = task.ofAnyRoute { return known }
        var seen = Set<DeviceCell>()
        var found: [DeviceCell] = []
        for first in table.source.routes.indices {
            guard let end = proof.end(ofRedirectsFrom: first) else { continue }
            let arrival = Arrival(route: first, maxBytes: ArrivalTexts.maxBytes)
            for cell in violations(ofRoute: end, arrival, &task) where seen.insert(cell).inserted {
                found.append(cell)
            }
        }
        task.ofAnyRoute = found
        return found
    }

    /// The reasons for which redirects can fail.
    private static let anyRedirect: [ReasonCode] = [.noRoute, .budget, .dotSegment, .redirectLimit]

    /// Returns a Boolean value that indicates whether a route redirects to a template with too many segments.
    private func isLong(_ route: Int) -> Bool {
        guard case .redirect(.template(let template)) = table.source.routes[route].action else { return false }
        return template.value.segments.count > table.source.limits.maxSegments
    }

    /// Returns a Boolean value that indicates whether the last redirect of a chain can make a segment `.` or `..`.
    private func mayHaveDots(_ chain: ArraySlice<Int>) -> Bool {
        guard let route = chain.last, case .redirect(.template(let template)) = table.source.routes[route].action else {
            return false
        }
        let patterns = table.source.routes[proof.arrival(of: Array(chain)).route].patterns
        return template.value.segments.contains { parts in
            let names = parts.compactMap { part in if case .name(let name) = part { name.value } else { nil } }
            guard let name = names.first else { return false }
            return parts.count > 1 || !table.source.isWholeSegment(name, in: patterns)
        }
    }

    /// Returns the queries that meet some constraints, as far as conditions name them, or nil for all.
    private func queryCell(_ constraints: [TableSource.QueryConstraint]) -> DeviceCell? {
        var condition = TableSource.Condition(offset: 0)
        condition.query = constraints.filter { space.values[.query($0.name.value)] != nil }
        return condition.query.isEmpty ? nil : space.cell(of: condition)
    }

    /// Searches the links that match a pattern of the property and no route.
    private mutating func searchUnmatched(_ task: inout Task) {
        let cells = violations(results.failures([.noRoute], in: [:]), task)
        if cells.isEmpty { return }
        tryOnly(cells)
        if !readings.allSatisfy(\.isWhole) { task.gap = task.gap ?? "a link block has too many rewrites" }
        for reading in readings {
            var own = space(reading.frame.shift)
            for link in own.links(task.number) {
                let overlapping = own.candidates(link)
                let inside = reading.inside(&own.search.space, proof) + [own.search.space.patterns[link]]
                let outside =
                    reading.outside(&own.search.space, proof)
                    + (overlapping ?? Array(own.tablePatterns)).map { own.search.space.patterns[$0] }
                do throws(WorkBudget.Exhausted) {
                    guard
                        let found = try own.search.find(inside: inside, outside: outside, among: reading.origins)
                    else { continue }
                    tryLink(found)
                    if trial?.witness == nil {
                        task.gap = task.gap ?? "no link without a route was found that shows what happens to it"
                    }
                } catch {
                    task.gap = task.gap ?? "the search for links without a route exceeded its budget"
                }
                if comparison.trial?.isOver != false { break }
            }
            spaces[reading.frame.shift] = own
            if comparison.trial?.isOver != false { return }
        }
    }

    private mutating func tryLink(_ link: LinkWitness) {
        let text = link.text(in: table.source)
        for context in comparison.trial?.contexts ?? [] { comparison.decide(.link(text), context.device) }
    }
}

// The search for requests that select no route by a pattern.
extension PropertySearch {
    /// Tries links that cannot be read, coordinator paths, and payloads without a link.
    private mutating func searchOthers(_ task: inout Task) {
        let forms = task.property.forms
        if forms.contains(.path) {
            searchOne(results.resultsOfPaths() + results.failures(Self.unreadable, in: [:]), "coordinator path", &task)
            {
                search in
                for path in search.paths.paths { search.comparison.compare(path: path, [search.proof]) }
                for request in search.comparison.badLinks([search.proof]) {
                    guard case .link(let text) = request else { continue }
                    search.tryAll(.path(text))
                }
            }
        }
        if hasLinks(forms) {
            let reasons: [ReasonCode] = Self.unreadable + [.scheme, .host, .noRoute]
            for reason in reasons where reason != .emptySegment || rejectsEmptySegments {
                searchOne(results.failures([reason], in: [:]), "link that fails with `\(reason.rawValue)`", &task) {
                    search in
                    for request in search.comparison.badLinks([search.proof]) { search.tryAll(request) }
                    search.tryUnmatched()
                }
            }
        }
        if forms.contains(.payload) {
            searchOne([PossibleResult(cell: [:], outcome: .none)], "payload", &task) { search in
                search.tryAll(.payload([:]))
            }
        }
    }

    /// The reasons for which a link or a path can fail before a route is selected.
    private static let unreadable: [ReasonCode] = [.budget, .badEncoding, .dotSegment, .emptySegment]

    private var rejectsEmptySegments: Bool { table.source.blocks.contains { $0.emptySegments == .reject } }

    private func hasLinks(_ forms: Set<RouteProperty.Form>) -> Bool {
        forms.contains(.link) || forms.contains(.payload) && !table.source.payload.link.isEmpty
    }

    /// Tries requests if one of the results may break the property.
    private mutating func searchOne(
        _ results: [PossibleResult], _ what: String, _ task: inout Task, _ run: (inout PropertySearch) -> Void
    ) {
        let cells = violations(results, task)
        guard !cells.isEmpty, comparison.trial?.isOver == false else { return }
        tryOnly(cells)
        run(&self)
        if trial?.witness == nil { task.gap = task.gap ?? "no \(what) was found that shows its result" }
    }

    private mutating func tryAll(_ request: LinkRequest) {
        for context in comparison.trial?.contexts ?? [] { comparison.decide(request, context.device) }
    }

    /// Tries a link of every kind of origin that no route matches.
    private mutating func tryUnmatched() {
        for reading in readings {
            if comparison.trial?.isOver != false { return }
            var own = space(reading.frame.shift)
            let inside = reading.inside(&own.search.space, proof) + [.everything]
            let outside =
                reading.outside(&own.search.space, proof) + own.tablePatterns.map { own.search.space.patterns[$0] }
            let found = try? own.search.find(inside: inside, outside: outside, among: reading.origins)
            if let found = found ?? nil { tryLink(found) }
            spaces[reading.frame.shift] = own
        }
    }

    /// Tries every route by its id.
    private mutating func searchRoutes(_ task: inout Task) {
        let forms = task.property.forms
        let isCovered = forms.contains(.route) || forms.contains(.payload) && table.source.payload.route != nil
        guard isCovered, comparison.trial?.isOver == false else { return }
        var reasons: [ReasonCode] = [.noRoute, .paramInvalid, .paramMissing, .budget, .badEncoding, .dotSegment]
        if rejectsEmptySegments, table.source.firstTail != nil { reasons.append(.emptySegment) }
        let failing = violations(results.failures(reasons, in: [:]), task)
        tryOnly(failing)
        if !failing.isEmpty { for request in table.source.failingRoutes { tryAll(request) } }
        var own = space(0)
        let shiftless = readings.first { $0.frame.shift == 0 }
        for (number, route) in table.source.routes.enumerated() where comparison.trial?.isOver == false {
            var cells = failing
            for result in own.ends(ofRoute: number, shiftless, proof) { cells += violations(ofEnd: result, &task) }
            if cells.isEmpty { continue }
            tryOnly(cells)
            comparison.compare(route: route.id.value, DeviceQuestions(), [proof])
            if cells.count > failing.count, trial?.witness == nil {
                task.gap =
                    task.gap
                    ?? "no request of the route `\(route.id.value)` was found that shows a result which it may have"
            }
        }
        spaces[0] = own
        if !failing.isEmpty, trial?.witness == nil {
            task.gap = task.gap ?? "no request by a route's id was found that shows how it fails"
        }
    }
}
