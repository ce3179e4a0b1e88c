internal import LinkCoordinator
internal import StrictJSON

/// Warnings about parts of a table that are valid but probably not intended.
///
/// They concern the syntax of other routers, parts that nothing refers to, and conditions that never hold. Only
/// `RouteTable.problems(in:)` and `linkd routes check` look for them. Loading a table does not.
struct TableAdvice {
    let source: TableSource
    let names: TableNames
    var problems: ProblemList
    let budget: WorkBudget

    /// For each screen that no device has, the indices of its coordinator and of the screen.
    var unavailableScreens: Set<[Int]> = []

    /// For each id of a route, the routes that redirect to it by this id.
    private var redirects: [String: [TableSource.Route]] = [:]
    /// The ids of routes that are parents, which requests of other routes fill.
    private var parents: Set<String> = []

    /// The number of device cells compared so far.
    var comparedCells = 0

    /// Adds warnings to the problems.
    ///
    /// If there are errors, it adds only warnings that cannot result from an error.
    ///
    /// - Parameters:
    ///   - source: The table.
    ///   - budget: The budget of the searches.
    ///   - problems: The list of problems.
    ///   - isOver: A function that returns true to end after the current kind of warnings.
    static func run(
        _ source: TableSource, _ budget: WorkBudget, into problems: inout ProblemList, until isOver: () -> Bool
    ) {
        if isOver() { return }
        var advice = TableAdvice(source: source, names: TableNames(source), problems: problems, budget: budget)
        advice.addSyntaxWarnings()
        if !problems.hasErrors { advice.addOtherWarnings(until: isOver) }
        problems = advice.problems
    }

    /// Adds the warnings that an error could cause.
    private mutating func addOtherWarnings(until isOver: () -> Bool) {
        for route in source.routes {
            if case .redirect(.route(let id)) = route.action { redirects[id.value, default: []].append(route) }
            var targets = route.variants.map(\.to)
            if case .to(let target) = route.unsupported { targets.append(target) }
            for target in targets {
                if case .route(let id) = target.parents { parents.insert(id.value) }
            }
        }
        let kinds: [(inout TableAdvice) -> Void] = [
            { $0.addUnusedWarnings() }, { $0.addConditionWarnings() }, { $0.addRejectionWarnings() },
            { $0.addRedirectWarnings() }, { $0.addRewriteWarnings() }, { $0.addFallbackWarnings() },
            { $0.addExampleWarnings() },
        ]
        for add in kinds where !isOver() { add(&self) }
    }

    /// Returns the cause that holds for a route, if one also holds for every route that redirects to it by its id.
    ///
    /// Such a redirect keeps the origin, the captures, and the query of the link, which the route's own patterns and
    /// constraints do not limit.
    func cause(of route: TableSource.Route, _ find: (TableSource.Route) -> String?) -> String? {
        var selected = [route]
        for _ in 0...TableChecks.maxRedirects {
            if selected.contains(where: { find($0) == nil }) { return nil }
            selected = selected.flatMap { redirects[$0.id.value, default: []] }
        }
        return find(route)
    }
}

// MARK: Syntax of other routers

extension TableAdvice {
    /// Adds warnings about text that other routers read as a capture, a wildcard, or a query.
    private mutating func addSyntaxWarnings() {
        for block in source.blocks {
            for rewrite in block.rewrites { warn(of: path(rewrite.text, .prefix), "the prefix", at: rewrite.offset) }
        }
        for model in source.models {
            for field in model.fields {
                if case .enumeration(let values) = field.type { warn(ofValues: values, at: field.offset, []) }
            }
        }
        for route in source.routes {
            let routes = [route.id.value]
            for pattern in route.patterns where !pattern.omitsOptionalPart {
                if case .anySegment(let text) = pattern.path.matchers.first {
                    warn(ofSegment: String(decoding: text, as: UTF8.self), at: pattern.offset, routes)
                } else {
                    for capture in pattern.path.captures {
                        warn(ofValues: capture.spellings, at: pattern.offset, routes)
                    }
                    warn(of: path(route.written(pattern), .pattern), "the pattern", at: pattern.offset, routes)
                }
            }
            if case .redirect(.template(let template)) = route.action {
                let path = path(template.value.text, .redirect(names: namesInTemplates(of: route)))
                warn(of: path, "the redirect", at: template.offset, routes)
            }
            warn(of: route.query, routes)
            for variant in route.variants {
                if let when = variant.when { warn(of: when, routes) }
                if case .external(let template) = variant.to.destination {
                    warn(ofURL: template.text, of: route, at: variant.to.destinationOffset)
                }
            }
        }
    }

    private func path(_ text: String, _ role: PathText.Role) -> PathText {
        PathText(text: text, role: role, foldsCase: source.foldsPathCase)
    }

    /// Returns the names with a value in each template of a route.
    ///
    /// These are the names of rewrites, and the names that every pattern captures. A pattern in the syntax of another
    /// router counts with the captures of its suggested form.
    private func namesInTemplates(of route: TableSource.Route) -> Set<String> {
        let patterns = route.patterns.filter { !$0.omitsOptionalPart }.map { pattern -> Set<String> in
            var paths = [pattern.path]
            let own = path(pattern.path.text, .pattern)
            if let form = PathDraft(own).form, form != own.text {
                paths += (try? PatternParser.parse(form, foldsCase: source.foldsPathCase)) ?? []
            }
            return Set(paths.flatMap { $0.captures.map(\.name) })
        }
        let shared = patterns.dropFirst().reduce(patterns.first ?? []) { $0.intersection($1) }
        return shared.union(source.blocks.flatMap { $0.rewrites.compactMap(\.name) })
    }

    private mutating func warn(of path: PathText, _ subject: String, at offset: Int, _ routes: [String] = []) {
        guard let found = ForeignSyntax.find(in: path) else { return }
        problems.warning(
            .foreignSyntax, at: offset, "\(subject) `\(path.text)` treats `\(found.piece)` as plain text",
            suggestion: found.advice, routes: routes)
    }

    private mutating func warn(ofSegment text: String, at offset: Int, _ routes: [String]) {
        if text.contains("/") {
            problems.warning(
                .foreignSyntax, at: offset,
                "anySegment matches one segment, which contains a `/` only if the link has `%2F`",
                suggestion: "write a pattern in `match` or `path`", routes: routes)
        } else if text.contains("{") || ForeignSyntax.find(in: path("/" + text, .pattern)) != nil {
            problems.warning(
                .foreignSyntax, at: offset, "anySegment treats `\(text)` as plain text",
                suggestion: "write a pattern with a capture in `match` or `path`", routes: routes)
        }
    }

    private mutating func warn(ofURL text: String, of route: TableSource.Route, at offset: Int) {
        guard let found = ForeignSyntax.find(inURL: text, names: namesInTemplates(of: route)) else { return }
        problems.warning(
            .foreignSyntax, at: offset, "the URL `\(text)` contains `\(found.piece)` as plain text",
            suggestion: found.advice, routes: [route.id.value])
    }

    /// Adds warnings about enum values in quotes, with commas, or with spaces around them.
    private mutating func warn(ofValues values: [[UInt8]], at offset: Int, _ routes: [String]) {
        for value in values {
            let text = String(decoding: value, as: UTF8.self)
            let parts = text.split(separator: ",").map { ForeignSyntax.bare($0) }
            guard parts != [text], !text.isEmpty else { continue }
            let distinctValues = Self.distinct(parts)
            problems.warning(
                .foreignSyntax, at: offset, "the enum contains the literal value `\(text)`",
                suggestion: "write values without quotes and spaces, separated by `|`"
                    + (distinctValues.isEmpty ? "" : ": `\(distinctValues.joined(separator: "|"))`"),
                routes: routes)
        }
    }

    /// Returns the texts that are not empty, without duplicates.
    private static func distinct(_ texts: [String]) -> [String] {
        var seen: Set<String> = []
        return texts.filter { !$0.isEmpty && seen.insert($0).inserted }
    }

    /// Adds warnings about lists that are written as one text.
    private mutating func warn(of when: TableSource.Condition, _ routes: [String]) {
        warn(of: when.query, routes)
        let lists = [("platform", when.platforms), ("region", when.regions), ("locale", when.locales)]
        for (key, texts) in lists {
            for text in texts ?? [] {
                let parts = Self.distinct(text.split { ",|; ".contains($0) }.map(String.init))
                if parts.count < 2 { continue }
                problems.warning(
                    .foreignSyntax, at: when.offset, "`\(key)` requires the single text `\(text)`",
                    suggestion: "write [\(parts.map { "\"\($0)\"" }.joined(separator: ", "))]", routes: routes)
            }
        }
    }

    private mutating func warn(of constraints: [TableSource.QueryConstraint], _ routes: [String]) {
        for constraint in constraints {
            guard case .equals(let value) = constraint.test, ForeignName.isPlaceholder(value) else { continue }
            problems.warning(
                .foreignSyntax, at: constraint.name.offset,
                "the constraint on `\(constraint.name.value)` requires the plain text `\(value)`",
                suggestion: "write \"*\" for any value, and bind it with `query.\(constraint.name.value)`",
                routes: routes)
        }
    }
}

/// The versions and platforms that a device must have to meet several conditions at once.
struct DeviceNeeds {
    /// The comparisons with the app's version, which must all hold.
    private(set) var app: [TableSource.Condition.VersionTest] = []

    /// The comparisons with the system's version, which must all hold.
    private(set) var os: [TableSource.Condition.VersionTest] = []

    /// Lists of platforms that must all contain the device's platform.
    private var platforms: [[String]] = []

    /// Collects the requirements of a condition and its capabilities.
    init(_ condition: TableSource.Condition, in source: TableSource, names: TableNames) {
        app = condition.app
        os = condition.os
        if let own = condition.platforms { platforms.append(own) }
        add(condition.capabilities, in: source, names: names)
    }

    /// Collects the requirements of a screen and its capabilities.
    init(_ screen: TableSource.Screen, in source: TableSource, names: TableNames) {
        if let since = screen.since { app.append(.init(relation: .atLeast, version: since)) }
        if let until = screen.until { app.append(.init(relation: .below, version: until)) }
        add(screen.requires, in: source, names: names)
    }

    private mutating func add(_ capabilities: [Located<String>], in source: TableSource, names: TableNames) {
        for name in capabilities {
            guard let index = names.capabilities[name.value] else { continue }
            let capability = source.capabilities[index]
            if let least = capability.minApp { app.append(.init(relation: .atLeast, version: least)) }
            if let least = capability.minOS { os.append(.init(relation: .atLeast, version: least)) }
            if let own = capability.platforms { platforms.append(own) }
        }
    }

    /// The reason why no device meets all requirements, or nil if a device can.
    var conflict: String? {
        for (name, tests) in [("app", app), ("system", os)] where Self.isEmpty(tests) {
            return "no version of the \(name) satisfies `\(Self.text(tests))`"
        }
        let folded = platforms.map { Set($0.map(\.lowercasedASCII)) }
        for (index, list) in folded.enumerated() {
            guard let other = folded[..<index].firstIndex(where: { $0.isDisjoint(with: list) }) else { continue }
            return "no platform is on both lists: \(Self.choice(platforms[other])); \(Self.choice(platforms[index]))"
        }
        let shared = folded.dropFirst().reduce(folded.first ?? [[]]) { $0.intersection($1) }
        return shared.isEmpty
            ? "no platform is on all lists: \(platforms.map(Self.choice).joined(separator: "; "))" : nil
    }

    private static func choice(_ texts: [String]) -> String { texts.map { "`\($0)`" }.joined(separator: " or ") }

    /// Returns comparisons in the table's notation.
    static func text(_ tests: [TableSource.Condition.VersionTest]) -> String {
        tests.map { $0.relation.rawValue + $0.version.text }.joined(separator: " ")
    }

    /// Returns a Boolean value that indicates whether no version passes all tests.
    ///
    /// It assumes that there is another version between any two versions.
    static func isEmpty(_ tests: [TableSource.Condition.VersionTest]) -> Bool {
        for low in tests where [.atLeast, .above, .equal].contains(low.relation) {
            for high in tests where [.atMost, .below, .equal].contains(high.relation) {
                let order = low.version.order(high.version)
                if order > 0 || order == 0 && (low.relation == .above || high.relation == .below) { return true }
            }
        }
        return false
    }
}

extension TableAdvice {
    /// The maximum number of conditional variants of a route to compare, and of cells that can remain of one variant.
    private static let (maxVariants, maxCells) = (64, 64)

    /// The maximum number of cell subtractions for one table, after which variants get no warning.
    private static let maxSteps = 50_000

    /// Adds warnings about screens and variants that match no device, and about variants that are never selected.
    mutating func addConditionWarnings() {
        for (index, coordinator) in source.coordinators.enumerated() {
            for (number, screen) in coordinator.screens.enumerated() {
                addScreenWarnings(screen, "\(coordinator.name.value).\(screen.name.value)", [index, number])
            }
        }
        for route in source.routes { addVariantWarnings(of: route) }
    }

    private mutating func addScreenWarnings(_ screen: TableSource.Screen, _ name: String, _ indices: [Int]) {
        if let since = screen.since, let until = screen.until, since.order(until) >= 0 {
            unavailableScreens.insert(indices)
            problems.warning(
                .neverHolds, at: screen.name.offset,
                "no version of the app has the screen `\(name)`: `since` is \(since.text), `until` is \(until.text)",
                suggestion: "set `since` to a version below `until`")
        } else if let conflict = DeviceNeeds(screen, in: source, names: names).conflict {
            unavailableScreens.insert(indices)
            problems.warning(
                .neverHolds, at: screen.name.offset, "no device has the screen `\(name)`: \(conflict)",
                suggestion: "require capabilities that one device can have, or correct them in \"capabilities\"")
        }
    }

    private mutating func addVariantWarnings(of route: TableSource.Route) {
        var seen: [String: Int] = [:]
        let cells = cells(of: route)
        for (index, variant) in route.variants.enumerated() {
            guard let when = variant.when, !when.isEmpty else { continue }
            let subject = "the condition of variant \(index) of `\(route.id.value)`"
            if let tests = [("app", when.app), ("os", when.os)].first(where: { DeviceNeeds.isEmpty($0.1) }) {
                problems.warning(
                    .neverHolds, at: when.offset,
                    "\(subject) never holds: no version satisfies `\(DeviceNeeds.text(tests.1))`",
                    suggestion: "correct `\(tests.0)`: a version must satisfy all of its comparisons",
                    routes: [route.id.value])
            } else if !parents.contains(route.id.value),
                let name = cause(of: route, { contradiction(when.query, $0.query) })
            {
                problems.warning(
                    .neverHolds, at: when.offset,
                    "\(subject) holds for no link: its `query` contradicts the route's `query` for `\(name)`",
                    suggestion: "correct `query`, or remove the variant if no request names the route by its id",
                    routes: [route.id.value])
            } else if let conflict = DeviceNeeds(when, in: source, names: names).conflict {
                problems.warning(
                    .neverHolds, at: when.offset, "\(subject) never holds: \(conflict)",
                    suggestion: "require what one device can have, or correct \"capabilities\"",
                    routes: [route.id.value])
            } else if let earlier = seen.updateValue(index, forKey: key(when)) {
                problems.warning(
                    .neverHolds, at: when.offset, "\(subject) has no effect: variant \(earlier) has the same condition",
                    suggestion: "remove one of the two variants", routes: [route.id.value])
            } else if let space = cells?.space, let own = cells?.cells, let cover = cover(of: index, own, space) {
                let coverText = cover.map { "variant \($0) matches" } ?? "the variants before it match"
                problems.warning(
                    .neverHolds, at: when.offset, "\(subject) has no effect: \(coverText) all its requests",
                    suggestion: "move it before \(cover.map { "variant \($0)" } ?? "them"), or remove it",
                    routes: [route.id.value])
            }
        }
    }

    /// Returns the device space of a route's variants with the cells that match each condition.
    ///
    /// Returns nil if there are fewer than two conditions, or too many.
    private func cells(of route: TableSource.Route) -> (space: DeviceSpace, cells: [DeviceCell])? {
        let conditions = route.variants.compactMap(\.when)
        guard (2...Self.maxVariants).contains(conditions.count) else { return nil }
        var reduced = TableSource(schemaVersion: source.schemaVersion, id: source.id, version: source.version)
        let capabilities = Set(conditions.flatMap { $0.capabilities.compactMap { names.capabilities[$0.value] } })
        reduced.capabilities = capabilities.sorted().map { source.capabilities[$0] }
        var questions = DeviceQuestions()
        for condition in conditions { questions.add(condition, of: reduced) }
        let space = DeviceSpace(questions, capabilities: reduced.capabilities)
        return (space, route.variants.map { $0.when.map { space.cell(of: $0) } ?? [:] })
    }

    /// Returns the earlier variant that covers this one.
    ///
    /// The inner optional is nil if only several variants together cover it. The result is nil if a device is left for
    /// the variant, or if the search exceeds its limits.
    private mutating func cover(of index: Int, _ cells: [DeviceCell], _ space: DeviceSpace) -> Int?? {
        let own = cells[index]
        guard !own.values.contains(where: \.isEmpty) else { return nil }
        let single = cells[..<index].firstIndex { earlier in
            earlier.allSatisfy { fact, allowed in own[fact].map { $0.isSubset(of: allowed) } ?? false }
        }
        if let single { return .some(single) }
        guard index > 1 else { return nil }
        var remaining = [own]
        for earlier in cells[..<index] {
            comparedCells += remaining.count
            if remaining.count > Self.maxCells || comparedCells > Self.maxSteps { return nil }
            remaining = remaining.flatMap { space.subtract(earlier, from: $0) }
        }
        return remaining.isEmpty ? .some(nil) : nil
    }

    /// Returns a query name for which two lists of constraints contradict each other, or nil if there is none.
    private func contradiction(
        _ own: [TableSource.QueryConstraint], _ others: [TableSource.QueryConstraint]
    ) -> String? {
        for constraint in own {
            for other in others where other.name == constraint.name {
                switch (constraint.test, other.test) {
                case (.equals(let a), .equals(let b)) where a != b: return constraint.name.value
                case (.absent, .equals), (.absent, .present), (.equals, .absent), (.present, .absent):
                    return constraint.name.value
                default: continue
                }
            }
        }
        return nil
    }

    /// Returns a text of the condition that is equal for equal tests, regardless of their source locations.
    private func key(_ when: TableSource.Condition) -> String {
        func list(_ texts: [String]?) -> String { texts.map { $0.sorted().map(\.debugDescription).joined() } ?? "-" }
        let query = when.query.map { "\($0.name.value.debugDescription)\($0.test)" }
        let attributes = when.attributes.map { "\($0.name.value.debugDescription)\(list($0.values))" }
        return [
            list(when.app.map { $0.relation.rawValue + $0.version.text }),
            list(when.os.map { $0.relation.rawValue + $0.version.text }), list(when.capabilities.map(\.value)),
            list(when.claims.map(\.value)), list(when.platforms), list(when.regions), list(when.locales),
            list(attributes), list(query),
        ].joined(separator: "|")
    }

    /// Adds warnings about fallback rules that no reason reaches.
    mutating func addFallbackWarnings() {
        var all: Int?
        var named: [ReasonCode: Int] = [:]
        for (index, rule) in source.fallback.enumerated() {
            let own = rule.on?.map(\.value)
            if let all {
                warnOfRule(
                    index, rule, "rule \(all) applies to every reason", "move it before rule \(all), or remove it")
            } else if let own, !own.isEmpty, own.allSatisfy({ named[$0] != nil }) {
                let earlierRules = Set(own.compactMap { named[$0] }).sorted().map(String.init)
                warnOfRule(
                    index, rule,
                    earlierRules.count == 1
                        ? "rule \(earlierRules[0]) names all of its reasons"
                        : "rules \(earlierRules.joined(separator: ", ")) together name all of its reasons",
                    "name each reason once, or remove the rule")
            }
            guard let own else {
                all = all ?? index
                continue
            }
            for reason in own where named[reason] == nil { named[reason] = index }
        }
    }

    private mutating func warnOfRule(
        _ index: Int, _ rule: TableSource.FallbackRule, _ cause: String, _ advice: String
    ) {
        problems.warning(
            .neverHolds, at: rule.offset, "rule \(index) of the fallback has no effect: \(cause)", suggestion: advice)
    }

    /// Adds warnings about examples that pass with any result.
    ///
    /// An example that requests a `path` gets no warning: it documents that such requests occur.
    mutating func addExampleWarnings() {
        for example in source.examples where example.expectations.isEmpty {
            if case .request(let request) = example.request, request["path"] != nil { continue }
            problems.warning(
                .expectsNothing, at: example.offset,
                "the example passes with any result, because it has no expected member",
                suggestion: "add the expected \"outcome\", and the \"route\" or the \"path\"")
        }
    }
}

// MARK: Rewrites

extension TableAdvice {
    /// Adds warnings about patterns whose prefix a rewrite removes, so that only links that repeat it match them.
    ///
    /// It adds none if another scheme, a later rewrite, or a redirect can still lead to the pattern.
    mutating func addRewriteWarnings() {
        guard source.blocks.contains(where: { !$0.rewrites.isEmpty }) else { return }
        for route in source.routes {
            for pattern in route.patterns where !pattern.omitsOptionalPart {
                let blocks = source.blocks.filter { isRead($0, for: pattern) }
                let hiding = blocks.compactMap { block in
                    block.rewrites.last.flatMap { matches($0.pattern, theBeginningOf: pattern.path) ? $0 : nil }
                }
                guard let first = hiding.first, hiding.count == blocks.count, !isRedirectedTo(pattern.path) else {
                    continue
                }
                problems.warning(
                    .hiddenByRewrite, at: pattern.offset,
                    "links match the pattern `\(route.written(pattern))` only after another prefix: the rewrite "
                        + "`\(first.text)` removes the first one",
                    suggestion: "remove the prefix from the pattern, or remove the rewrite",
                    routes: [route.id.value])
            }
        }
    }

    /// Returns a Boolean value that indicates whether a block can read links of a pattern.
    private func isRead(_ block: TableSource.LinkBlock, for pattern: TableSource.RoutePattern) -> Bool {
        guard let scheme = pattern.scheme?.lowercased() else { return true }
        return block.acceptsOtherSchemes || block.schemes.contains { $0.value.lowercased() == scheme }
    }

    /// Returns a Boolean value that indicates whether a prefix matches the literals with which a pattern begins.
    ///
    /// A prefix segment that matches other than listed texts counts as no match.
    private func matches(_ prefix: Pattern, theBeginningOf pattern: Pattern) -> Bool {
        guard pattern.segmentCount >= prefix.segmentCount else { return false }
        return zip(prefix.matchers.dropLast(), pattern.matchers).allSatisfy { matcher, own in
            guard case .literal(let text) = own else { return false }
            return Self.matches(matcher, text)
        }
    }

    private static func matches(_ matcher: Matcher, _ text: [UInt8]) -> Bool {
        switch matcher {
        case .literal(let own): own == text
        case .enumeration(let values): values.contains(text)
        default: false
        }
    }

    /// Returns a Boolean value that indicates whether a redirect by a template can produce a path with the pattern's
    /// prefix.
    private func isRedirectedTo(_ pattern: Pattern) -> Bool {
        source.routes.contains { route in
            guard case .redirect(.template(let template)) = route.action else { return false }
            guard let parts = template.value.segments.first else { return false }
            guard parts.count == 1, case .text(let text) = parts[0], case .literal(let own) = pattern.matchers[0] else {
                return true
            }
            let bytes = source.foldsPathCase ? text.utf8.map(lowerASCII) : Array(text.utf8)
            return bytes == own
        }
    }
}
