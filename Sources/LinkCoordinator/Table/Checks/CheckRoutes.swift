extension TableChecks {
    /// Checks one route: names, variants, targets, templates, bindings, and captures.
    mutating func checkRoute(_ index: Int) {
        let route = source.routes[index]
        let id = route.id.value
        if !damage.routeIDs {
            for other in route.overlaps where names.routes[other.value] == nil {
                unknown(.unknownRoute, other, "route", among: names.routes.keys, routes: [id])
            }
        }
        if let notice = route.notice { checkNotice(notice, routes: [id]) }
        checkVariantOrder(route)
        for variant in route.variants { check(variant, of: index) }
        if case .to(let target) = route.unsupported { checkStatic(target, of: route) }
        guard isWhole(route) else { return }
        if case .redirect(.template(let template)) = route.action {
            checkTemplate(template.value.segments.flatMap { $0 }, of: index)
            checkTails(template.value, of: route)
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
                    suggestion: "add a last variant without `when`", routes: [route.id.value])
            } else if !isLast, isOpen {
                problems.error(
                    .variantOrder, at: variant.offset,
                    "variant \(index) of the route `\(route.id.value)` has no condition, "
                        + "so the variants after it are never used",
                    suggestion: "add a `when`, or move the variant to the end", routes: [route.id.value])
            }
        }
    }

    private mutating func check(_ variant: TableSource.Variant, of index: Int) {
        let route = source.routes[index]
        let id = route.id.value
        if let when = variant.when, !damage.capabilities {
            for capability in when.capabilities where names.capabilities[capability.value] == nil {
                unknown(.unknownCapability, capability, "capability", among: names.capabilities.keys, routes: [id])
            }
        }
        if let notice = variant.notice, notice.offset != route.notice?.offset { checkNotice(notice, routes: [id]) }
        switch variant.to.destination {
        case .path, .root: checkStack(variant.to, routes: [id])
        case .captured(let name):
            checkStack(variant.to, routes: [id])
            if isWhole(route) { checkCapturedPath(name, of: index) }
        case .external(let template):
            checkAllowed(template, at: variant.to.destinationOffset, routes: [id])
            if isWhole(route) { checkTemplate(template.parts, of: index) }
        }
    }

    private mutating func checkStatic(_ target: TableSource.Target, of route: TableSource.Route) {
        switch target.destination {
        case .path, .root: checkStack(target, routes: [route.id.value])
        case .captured:
            problems.error(
                .targetNotPlain, at: target.destinationOffset,
                "the target of `unsupported` must be a static path, the root, or an external URL",
                routes: [route.id.value])
        case .external(let template):
            if template.parts.contains(where: { if case .text = $0 { false } else { true } }) {
                problems.error(
                    .targetNotPlain, at: target.destinationOffset, "the target of `unsupported` must not use captures",
                    routes: [route.id.value])
            }
            checkAllowed(template, at: target.destinationOffset, routes: [route.id.value])
        }
    }

    /// Checks that the capture of the target `{p}` is a `coordinatorPath` in every pattern of the route and of those
    /// that redirect to it by id.
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
                    routes: other == index
                        ? [source.routes[index].id.value]
                        : [source.routes[index].id.value, source.routes[other].id.value])
                return
            }
        }
        if !hasPattern {
            problems.error(
                .notCoordinatorPath, at: name.offset, "no pattern captures `{\(name.value)}`",
                suggestion: "add a pattern that ends with `{\(name.value):coordinatorPath}`",
                routes: [source.routes[index].id.value])
        }
    }

    /// Returns the patterns whose captures a route has: its own, or if it has none, those of the routes that redirect
    /// to it by id.
    func patterns(capturingFor index: Int) -> [TableSource.RoutePattern] {
        let own = source.routes[index].patterns
        return own.isEmpty ? redirectors[index].flatMap { source.routes[$0].patterns } : own
    }

    /// Checks that each `{name}` of a redirect or an external target belongs to a rewrite or is captured by every
    /// pattern of the route.
    private mutating func checkTemplate(_ parts: [TableSource.TemplatePart], of index: Int) {
        let route = source.routes[index]
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
                suggestion: NearestName.of(name.value, among: captures).flatMap {
                    $0 == name.value ? nil : "did you mean `{\($0)}`?"
                }, routes: [route.id.value])
        }
    }

    /// Checks that a tail in the template of a redirect is the only part of its segment.
    private mutating func checkTails(_ template: TableSource.PathTemplate, of route: TableSource.Route) {
        for segment in template.segments where segment.count > 1 {
            for case .name(let name) in segment {
                guard route.patterns.contains(where: { $0.path.capture(named: name.value)?.isTail == true }) else {
                    continue
                }
                problems.error(
                    .badTemplate, at: name.offset, "the tail `{\(name.value)}` must be a whole segment",
                    routes: [route.id.value])
            }
        }
    }
}
