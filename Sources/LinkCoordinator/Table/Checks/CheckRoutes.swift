extension TableChecks {
    /// Checks one route: names, variants, targets, templates, bindings, and captures.
    mutating func checkRoute(_ index: Int) {
        let route = source.routes[index]
        problems.routes = [route.id.value]
        defer { problems.routes = [] }
        if !damage.routeIDs {
            for other in route.overlaps where names.routes[other.value] == nil {
                unknown(.unknownRoute, other, "route", among: names.routes.keys)
            }
        }
        if let notice = route.notice { checkNotice(notice) }
        checkVariantOrder(route)
        for variant in route.variants { check(variant, of: index) }
        if case .to(let target) = route.unsupported { checkStatic(target) }
        guard isWhole(route) else { return }
        if case .redirect(.template(let template)) = route.action {
            checkTemplate(template.value.segments.flatMap { $0 }, of: index)
            checkTails(template.value, of: index)
        }
        checkBindings(index)
        checkUnusedCaptures(index)
    }

    private mutating func checkVariantOrder(_ route: TableSource.Route) {
        guard isWhole(route), case .variants(let variants) = route.action else { return }
        for (index, variant) in variants.enumerated() {
            let isLast = index == variants.count - 1
            let isOpen = variant.when?.isEmpty ?? true
            if isLast, !isOpen {
                problems.error(
                    .variantOrder, at: variant.offset,
                    "the last variant of the route `\(route.id.value)` has a condition",
                    suggestion: "add a last variant without `when`")
            } else if !isLast, isOpen {
                problems.error(
                    .variantOrder, at: variant.offset,
                    "variant \(index) of the route `\(route.id.value)` has no condition, "
                        + "so the variants after it are never used",
                    suggestion: "add a `when`, or move the variant to the end")
            }
        }
    }

    private mutating func check(_ variant: TableSource.Variant, of index: Int) {
        let route = source.routes[index]
        if let when = variant.when, !damage.capabilities {
            for capability in when.capabilities where names.capabilities[capability.value] == nil {
                unknown(.unknownCapability, capability, "capability", among: names.capabilities.keys)
            }
        }
        if let notice = variant.notice, notice.offset != route.notice?.offset { checkNotice(notice) }
        switch variant.to.destination {
        case .path, .root: checkStack(variant.to)
        case .captured(let name):
            checkStack(variant.to)
            if isWhole(route) { checkCapturedPath(name, of: index) }
        case .external(let template):
            checkAllowed(template, at: variant.to.destinationOffset)
            if isWhole(route) { checkTemplate(template.parts, of: index) }
        }
    }

    private mutating func checkStatic(_ target: TableSource.Target) {
        switch target.destination {
        case .path, .root: checkStack(target)
        case .captured:
            problems.error(
                .targetNotPlain, at: target.destinationOffset,
                "the target of `unsupported` must be a static path, the root, or an external URL")
        case .external(let template):
            if template.parts.contains(where: { if case .text = $0 { false } else { true } }) {
                problems.error(
                    .targetNotPlain, at: target.destinationOffset, "the target of `unsupported` must not use captures")
            }
            checkAllowed(template, at: target.destinationOffset)
        }
    }

    /// Checks that the capture of the target `{p}` is a `coordinatorPath` in every pattern of the route, and of the
    /// routes that redirect to it by id.
    private mutating func checkCapturedPath(_ name: Located<String>, of index: Int) {
        let concerned = [index] + redirectors[index]
        guard concerned.allSatisfy({ isWhole(source.routes[$0]) }) else { return }
        var hasPattern = false
        for other in concerned {
            for pattern in source.routes[other].patterns {
                hasPattern = true
                if pattern.path.capture(named: name.value)?.matcher == .coordinatorPath { continue }
                problems.error(
                    .notCoordinatorPath, at: name.offset,
                    "`{\(name.value)}` is not a coordinatorPath in the pattern `\(pattern.path.text)`",
                    suggestion: "end the pattern with `{\(name.value):coordinatorPath}`",
                    routes: other == index ? [] : [source.routes[index].id.value, source.routes[other].id.value])
                return
            }
        }
        if !hasPattern {
            problems.error(
                .notCoordinatorPath, at: name.offset, "no pattern captures `{\(name.value)}`",
                suggestion: "add a pattern that ends with `{\(name.value):coordinatorPath}`")
        }
    }

    /// Returns the patterns whose captures a route has: its own, or if it has none, the patterns of the routes that
    /// redirect to it by id.
    func patterns(capturingFor index: Int) -> [TableSource.RoutePattern] {
        let own = source.routes[index].patterns
        return own.isEmpty ? redirectors[index].flatMap { source.routes[$0].patterns } : own
    }

    /// Checks that each `{name}` of a redirect or an external target belongs to a rewrite or is captured by every
    /// pattern of the route.
    private mutating func checkTemplate(_ parts: [TableSource.TemplatePart], of index: Int) {
        let patterns = patterns(capturingFor: index).filter { !$0.omitsOptionalPart }
        let rewrites = source.blocks.flatMap { $0.rewrites.compactMap(\.name) }
        for part in parts {
            guard case .name(let name) = part, !rewrites.contains(name.value), !damage.link else { continue }
            let lacking = patterns.first { $0.path.capture(named: name.value) == nil }
            guard patterns.isEmpty || lacking != nil else { continue }
            let captures = patterns.flatMap { $0.path.captures.map(\.name) } + rewrites
            problems.error(
                .uncapturedName, at: name.offset,
                lacking.map { "the pattern `\($0.path.text)` does not capture `{\(name.value)}`" }
                    ?? "no pattern captures `{\(name.value)}`",
                hints: [.word(name.value, known: captures, before: "{", after: "}")])
        }
    }

    /// Checks that a tail in the template of a redirect is the only part of its segment.
    private mutating func checkTails(_ template: TableSource.PathTemplate, of index: Int) {
        let patterns = ([index] + redirectors[index]).flatMap { source.routes[$0].patterns }
        for segment in template.segments where segment.count > 1 {
            for case .name(let name) in segment {
                guard patterns.contains(where: { $0.path.capture(named: name.value)?.isTail == true }) else {
                    continue
                }
                problems.error(
                    .badTemplate, at: name.offset, "the tail `{\(name.value)}` must be a whole segment")
            }
        }
    }

    /// Checks the bindings of one route: names, sources, and types.
    mutating func checkBindings(_ index: Int) {
        if damage.models { return }
        let route = source.routes[index]
        for binding in route.bindings {
            guard let model = names.models[binding.model.value] else {
                unknown(
                    .unknownModel, binding.model, "model", among: names.models.keys)
                continue
            }
            guard let field = names.fields[model][binding.field.value] else {
                unknown(
                    .unknownField, binding.field,
                    message: "the model `\(binding.model.value)` has no field `\(binding.field.value)`",
                    among: source.models[model].fields.map(\.name.value))
                continue
            }
            check(binding, source.models[model].fields[field], of: index)
        }
        warnOfUnboundFields(route)
    }

    private mutating func check(_ binding: TableSource.Binding, _ field: TableSource.Field, of index: Int) {
        let offset = binding.source.offset
        switch binding.source.value {
        case .path(let name): checkPath(name, at: offset, field, of: index)
        case .rewrite(let name): checkRewrite(name, at: offset, field)
        case .fragment where field.type.isList:
            problems.error(
                .incompatibleTypes, at: offset,
                "the fragment is a single text, but the field `\(field.name.value)` is a list")
        case .constant(let text):
            if field.type.isList || field.type.canonicalText(text) == nil {
                problems.error(
                    .incompatibleTypes, at: offset,
                    "the constant `\(text)` is not a value of the type `\(field.type.text)`")
            }
        case .fragment, .query, .payload: break
        }
    }

    private mutating func checkPath(_ name: String, at offset: Int, _ field: TableSource.Field, of index: Int) {
        let id = source.routes[index].id.value
        let patterns = patterns(capturingFor: index)
        let captures = patterns.compactMap { $0.path.capture(named: name) }
        if captures.isEmpty {
            let known = patterns.flatMap { $0.path.captures.map(\.name) }
            problems.error(
                .uncapturedSource, at: offset, "no pattern of the route `\(id)` captures `\(name)`",
                suggestion: "add the capture `{\(name)}` to the pattern",
                hints: [.word(name, known: known, before: "path.")])
            return
        }
        if field.absence == .required, let lacking = patterns.first(where: { $0.path.capture(named: name) == nil }) {
            problems.error(
                .uncapturedSource, at: offset,
                "the pattern `\(lacking.path.text)` does not capture `{\(name)}`, to which the required field "
                    + "`\(field.name.value)` is bound",
                suggestion: "add the capture to the pattern, make the field optional, or give it a default")
        }
        if let unfit = captures.first(where: { !field.type.fits($0.matcher) }) {
            problems.error(
                .incompatibleTypes, at: offset,
                "the capture `{\(name)}` is \(unfit.matcher.typeText), but the field `\(field.name.value)` "
                    + "has the type `\(field.type.text)`")
        }
    }

    private mutating func checkRewrite(_ name: String, at offset: Int, _ field: TableSource.Field) {
        if damage.link { return }
        let rewrites = source.blocks.flatMap(\.rewrites).filter { $0.name == name }
        if rewrites.isEmpty {
            let known = source.blocks.flatMap { $0.rewrites.compactMap(\.name) }
            unknown(.unknownRewrite, Located(name, at: offset), "rewrite", among: known)
        }
        for capture in rewrites.compactMap(\.pattern.captures.first) where !field.type.fits(capture.matcher) {
            problems.error(
                .incompatibleTypes, at: offset,
                "the rewrite `\(name)` captures \(capture.matcher.typeText), but the field "
                    + "`\(field.name.value)` has the type `\(field.type.text)`")
            return
        }
    }

    /// Warns about required fields that a static target needs and the route never binds.
    ///
    /// Such a target is never shown.
    private mutating func warnOfUnboundFields(_ route: TableSource.Route) {
        if damage.coordinators { return }
        let bound = Set(route.bindings.map { "\($0.model.value).\($0.field.value)" })
        var warned = Set<String>()
        for variant in route.variants {
            guard case .path(let segments) = variant.to.destination,
                let stack = try? StaticStack.compose(segments, in: source, names: names)
            else { continue }
            for entry in stack.entries {
                let screen = source.coordinators[entry.coordinator].screens[entry.screen]
                for model in screen.needs.compactMap({ names.models[$0.value] }).map({ source.models[$0] }) {
                    for field in model.fields where field.absence == .required {
                        let name = "\(model.name.value).\(field.name.value)"
                        guard !bound.contains(name), warned.insert(name).inserted else { continue }
                        problems.warning(
                            .unboundField, at: variant.to.destinationOffset,
                            "the screen `\(screen.name.value)` needs `\(name)`, which the route "
                                + "`\(route.id.value)` does not bind",
                            suggestion: "bind the field, make it optional, or give it a default")
                    }
                }
            }
        }
    }

    /// Warns about captures that no binding, template, or redirect uses.
    ///
    /// Tails are exempt, and so are captures named `any`, optionally with a number, which accept any segment.
    mutating func checkUnusedCaptures(_ index: Int) {
        let route = source.routes[index]
        var warned = Set<String>()
        for pattern in route.patterns where !pattern.omitsOptionalPart {
            for capture in pattern.path.captures where !capture.isTail && warned.insert(capture.name).inserted {
                if Self.isAnything(capture.name) || source.uses(capture.name, index, names) { continue }
                problems.warning(
                    .unusedCapture, at: pattern.offset, "the capture `{\(capture.name)}` is not used",
                    suggestion: "bind it with `path.\(capture.name)`, or name it `any` if every segment is accepted")
            }
        }
    }

    private static func isAnything(_ name: String) -> Bool {
        name.hasPrefix("any") && name.utf8.dropFirst(3).allSatisfy { $0 &- UInt8(ascii: "0") < 10 }
    }
}

extension TableSource {
    /// Returns a Boolean value that indicates whether a route, or one that it redirects to by name, uses a capture.
    package func uses(_ name: String, _ index: Int, _ names: TableNames) -> Bool {
        uses(name, index, names, visited: [])
    }

    private func uses(_ name: String, _ index: Int, _ names: TableNames, visited: [Int]) -> Bool {
        let route = routes[index]
        let isBound = route.bindings.contains {
            if case .path(let own) = $0.source.value { own == name } else { false }
        }
        if isBound || visited.contains(index) { return isBound }
        switch route.action {
        // An excluded route uses captures only as wildcards.
        case .exclude: return true
        case .redirect(.template(let template)):
            return template.value.segments.contains { Self.names(name, $0) }
        case .redirect(.route(let id)):
            // Captures are carried over within the limit of redirects. An unknown destination is reported elsewhere.
            if visited.count >= TableChecks.maxRedirects { return true }
            return names.routes[id.value].map { uses(name, $0, names, visited: visited + [index]) } ?? true
        case .variants(let variants):
            return variants.contains { variant in
                switch variant.to.destination {
                case .captured(let own): own.value == name
                case .external(let template): Self.names(name, template.parts)
                case .path, .root: false
                }
            }
        }
    }

    private static func names(_ name: String, _ parts: [TableSource.TemplatePart]) -> Bool {
        parts.contains { if case .name(let own) = $0 { own.value == name } else { false } }
    }
}

extension FieldType {
    /// Returns a Boolean value that indicates whether a capture can be bound to a field of this type.
    ///
    /// Both have the same kind, or one of them is text. Tails can be bound to lists only, and nothing else can be bound
    /// to a list.
    func fits(_ capture: Matcher) -> Bool {
        switch (self, capture) {
        case (.list, _): capture.isTerminal
        case (_, _) where capture.isTerminal: false
        case (.string, _), (_, .any), (_, .characters): true
        case (.uuid, .uuid), (.int, .int), (.bool, .bool), (.date, .date), (.enumeration, .enumeration): true
        default: false
        }
    }
}

extension Matcher {
    /// The kind of the captured text, for messages.
    var typeText: String {
        switch self {
        case .enumeration: "an enum"
        case .int: "an int"
        case .bool: "a bool"
        case .date: "a date"
        case .uuid: "a uuid"
        case .coordinatorPath, .restPlus, .restStar: "a tail of segments"
        default: "text"
        }
    }
}

extension TableChecks {
    /// The maximum number of redirects of a request.
    package static let maxRedirects = 5

    /// The destination of a redirect, regardless of scheme, host, and query.
    private enum Step {
        /// One of the routes in a list, by the number of the list.
        case routes(Int)
        /// No route.
        case nowhere
        /// A destination that depends on captures, or a route that does not redirect.
        case open
    }

    /// Reports redirects, by id or by a template without captures, that lead into a cycle or to no route.
    mutating func checkRedirectEnds() {
        if !damage.routes.isEmpty || damage.routeIDs || damage.coordinators { return }
        var steps: [Int: Step] = [:]
        var ends = RedirectEnds()
        for (index, route) in source.routes.enumerated() {
            guard case .redirect(let redirect) = route.action else { continue }
            let step = step(redirect, &ends)
            steps[index] = step
            guard case .nowhere = step else { continue }
            problems.routes = [route.id.value]
            defer { problems.routes = [] }
            switch redirect {
            case .route(let id):
                unknown(.unknownRoute, id, "route", among: names.routes.keys)
            case .template(let template):
                problems.error(
                    .redirectNowhere, at: template.offset, "no route matches the path `\(template.value.text)`")
            }
        }
        let ending = ending(steps, ends.lists)
        var reported = Set<Int>()
        for index in steps.keys.sorted() where !reported.contains(index) && !ending.contains(index) {
            reported.formUnion(reportCycle(index, steps, ends.lists))
        }
    }

    /// Returns the routes from which some chain of redirects ends within the limit of redirects.
    private func ending(_ steps: [Int: Step], _ lists: [[Int]]) -> Set<Int> {
        var ending = Set(source.routes.indices)
        for case (let index, .routes) in steps { ending.remove(index) }
        for _ in 0..<Self.maxRedirects {
            let open = lists.map { $0.contains { ending.contains($0) } }
            var more: [Int] = []
            for case (let index, .routes(let list)) in steps where open[list] && !ending.contains(index) {
                more.append(index)
            }
            if more.isEmpty { break }
            ending.formUnion(more)
        }
        return ending
    }

    /// The destinations of redirects.
    ///
    /// Equal texts have the same destination.
    private struct RedirectEnds {
        /// The lists of routes that steps refer to by number.
        var lists: [[Int]] = []
        private var known: [String: Step] = [:]
        private var paths: PathIndex?

        mutating func step(_ text: String, _ routes: () -> [Int]) -> Step {
            if let step = known[text] { return step }
            let found = routes()
            let step = found.isEmpty ? Step.nowhere : .routes(lists.count)
            if !found.isEmpty { lists.append(found) }
            known[text] = step
            return step
        }

        /// Returns the index of all patterns, created for the first template that needs it.
        mutating func index(of source: TableSource) -> PathIndex {
            let index = paths ?? PathIndex(source)
            paths = index
            return index
        }
    }

    private func step(_ redirect: TableSource.Redirect, _ ends: inout RedirectEnds) -> Step {
        switch redirect {
        case .route(let id): return ends.step(id.value) { names.routes[id.value].map { [$0] } ?? [] }
        case .template(let template):
            var segments: [[UInt8]] = []
            for parts in template.value.segments {
                var bytes: [UInt8] = []
                for part in parts {
                    guard case .text(let text) = part else { return .open }
                    bytes += Array(text.utf8)
                }
                segments.append(bytes)
            }
            let index = ends.index(of: source)
            return ends.step(template.value.text) { routes(matching: segments, index) }
        }
    }

    /// Returns the routes that a path can select: those with the best patterns, down to one that needs no scheme, host,
    /// or query.
    private func routes(matching segments: [[UInt8]], _ paths: PathIndex) -> [Int] {
        let matching = paths.patterns(matching: segments) {
            names.coordinators[String(decoding: $0, as: UTF8.self)] != nil
        }.enumerated().map { order, position in
            let route = source.routes[position.route]
            let pattern = route.patterns[position.pattern]
            return (
                order: order, route: position.route, path: pattern.path,
                isSure: pattern.scheme == nil && pattern.host == nil && route.query.isEmpty
            )
        }
        .sorted { one, other in
            let order = Pattern.compare(one.path, other.path)
            return order < 0 || order == 0 && one.order < other.order
        }
        var routes: [Int] = []
        var last: Pattern?
        for one in matching {
            if let known = last, Pattern.compare(known, one.path) != 0 { break }
            if routes.last != one.route { routes.append(one.route) }
            if one.isSure { last = one.path }
        }
        return routes
    }

    /// Reports a chain of redirects that never ends, and returns its routes.
    private mutating func reportCycle(_ index: Int, _ steps: [Int: Step], _ lists: [[Int]]) -> [Int] {
        var chain = [index]
        while case .routes(let list) = steps[chain[chain.count - 1]] ?? .open, let first = lists[list].first {
            chain.append(first)
            if chain.dropLast().contains(first) || chain.count > Self.maxRedirects + 2 { break }
        }
        let ids = chain.map { source.routes[$0].id.value }
        let route = source.routes[index]
        problems.error(
            .redirectCycle, at: route.offset,
            "the redirects of the route `\(route.id.value)` never end: \(ids.joined(separator: " -> "))",
            suggestion: "redirect each route at most once, and a request at most \(Self.maxRedirects) times",
            routes: Array(Set(ids)).sorted())
        return chain
    }

    /// The maximum number of parent routes above a target.
    private static let maxParentRoutes = 63

    /// Reports cycles of parent routes, each once, and chains with too many of them.
    mutating func checkParentRoutes() {
        let parents = source.routes.map { route in
            route.variants.compactMap { variant -> Int? in
                guard case .route(let id) = variant.to.parents else { return nil }
                return names.routes[id.value]
            }
        }
        var done = [Bool](repeating: false, count: parents.count)
        // The number of parent routes above each route.
        var depths = [Int](repeating: 0, count: parents.count)
        for start in source.routes.indices where !done[start] {
            var chain: [(route: Int, next: Int)] = [(start, 0)]
            var positions = [start: 0]
            while let last = chain.last {
                guard last.next < parents[last.route].count else {
                    done[last.route] = true
                    depths[last.route] = parents[last.route].map { depths[$0] + 1 }.max() ?? 0
                    positions[last.route] = nil
                    chain.removeLast()
                    continue
                }
                chain[chain.count - 1].next += 1
                let parent = parents[last.route][last.next]
                if let first = positions[parent] {
                    reportParentCycle(chain[first...].map(\.route))
                    for one in chain { done[one.route] = true }
                    break
                }
                if done[parent] { continue }
                positions[parent] = chain.count
                chain.append((parent, 0))
            }
        }
        let others = source.guards.map(\.otherwise) + source.fallback.compactMap(\.to)
        let targets = source.routes.flatMap { route -> [TableSource.Target] in
            let own = route.variants.map(\.to)
            return if case .to(let target) = route.unsupported { own + [target] } else { own }
        }
        for target in targets + others {
            guard case .route(let id) = target.parents, let parent = names.routes[id.value],
                depths[parent] + 1 > Self.maxParentRoutes
            else { continue }
            problems.error(
                .stackTooDeep, at: id.offset,
                "the chain of parent routes has \(depths[parent] + 1) routes, the limit is \(Self.maxParentRoutes)",
                suggestion: "list the paths of the parents")
            return
        }
    }

    private mutating func reportParentCycle(_ cycle: [Int]) {
        let ids = (cycle + cycle.prefix(1)).map { source.routes[$0].id.value }
        problems.error(
            .parentCycle, at: source.routes[cycle[0]].offset,
            "the parents of routes form a cycle: \(ids.joined(separator: " -> "))",
            suggestion: "use other `parents` in one of them", routes: Array(Set(ids)).sorted())
    }
}
