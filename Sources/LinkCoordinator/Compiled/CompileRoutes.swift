internal import ByteStorage
internal import StrictJSON

// Compiles routes, their variants and bindings, guards, and the fallback.
extension TableCompiler {
    mutating func image(_ route: TableSource.Route, number: Int, tableHead: String) -> CompiledRoute {
        let none = UnsafeBufferPointer<CompiledTemplatePart>(start: nil, count: 0)
        let id = ProgramBuilder.quoted(route.id.value)
        var image = CompiledRoute(
            id: slab.view(route.id.value), head: slab.view(tableHead + ",\"route\":" + id), action: .variants,
            redirect: -1, template: none, variants: UnsafeBufferPointer(start: nil, count: 0),
            bindings: UnsafeBufferPointer(start: nil, count: 0), bindsPayload: false,
            drops: route.onInvalid == .drop, requireAll: route.requireAll, unknownScreen: route.unknownScreen,
            unsupported: .fallback, unsupportedTarget: nil, firstPattern: firstPatterns[number])
        switch route.action {
        case .variants(let variants):
            var images: [CompiledVariant] = []
            for (index, variant) in variants.enumerated() {
                images.append(self.image(variant, index: route.listsVariants ? index : nil, of: route))
            }
            image.variants = slab.store(images)
        case .redirect(.route(let id)):
            image.action = .redirectRoute
            image.redirect = Int32(routeNumbers[id.value] ?? number)
        case .redirect(.template(let template)):
            image.action = .redirectTemplate
            image.template = slab.store(segments(template.value))
        case .exclude(.external): image.action = .excludeExternal
        case .exclude(.none): image.action = .excludeNone
        case .exclude(.reject): image.action = .excludeReject
        }
        var bindings: [CompiledBinding] = []
        for binding in route.bindings { if let one = self.image(binding, of: route) { bindings.append(one) } }
        numberReadings(of: &bindings, route)
        image.bindings = slab.store(bindings)
        image.bindsPayload = bindsPayload(route)
        switch route.unsupported {
        case .fallback: break
        case .truncate: image.unsupported = .truncate
        case .to(let target):
            image.unsupported = .target
            image.unsupportedTarget = slab.store([self.image(target)]).at(0)
        }
        return image
    }

    /// Compiles the template of a redirect.
    ///
    /// A marker follows each segment, because a tail adds several segments.
    private mutating func segments(_ template: TableSource.PathTemplate) -> [CompiledTemplatePart] {
        var images: [CompiledTemplatePart] = []
        for segment in template.segments {
            images += parts(segment)
            images.append(CompiledTemplatePart(kind: .segmentEnd, bytes: .empty, name: -1, query: query("")))
        }
        return images
    }

    private mutating func image(
        _ variant: TableSource.Variant, index: Int?, of route: TableSource.Route
    ) -> CompiledVariant {
        CompiledVariant(
            condition: image(variant.when ?? TableSource.Condition(offset: 0)),
            isConditional: variant.when.map { !$0.isEmpty } ?? false, target: image(variant.to),
            notice: notice(variant.notice ?? route.notice),
            json: index.map { slab.view(",\"variant\":\($0)") } ?? .empty)
    }

    /// Compiles a condition.
    package func image(_ condition: TableSource.Condition) -> CompiledCondition {
        CompiledCondition(
            app: slab.store(condition.app.compactMap(image)), os: slab.store(condition.os.compactMap(image)),
            capabilities: slab.store(condition.capabilities.compactMap { capabilityNumbers[$0.value] }),
            claims: slab.store(condition.claims.map { slab.view($0.value) }),
            platforms: slab.store((condition.platforms ?? []).map(slab.view)),
            asksPlatform: condition.platforms != nil,
            regions: slab.store((condition.regions ?? []).map(slab.view)), asksRegion: condition.regions != nil,
            locales: slab.store((condition.locales ?? []).map(slab.view)), asksLocale: condition.locales != nil,
            attributes: slab.store(
                condition.attributes.map {
                    CompiledAttribute(name: slab.view($0.name.value), values: slab.store($0.values.map(slab.view)))
                }), query: slab.store(condition.query.map { image($0) }),
            asksMore: !condition.capabilities.isEmpty || !condition.claims.isEmpty || condition.platforms != nil
                || condition.regions != nil || condition.locales != nil || !condition.attributes.isEmpty
                || !condition.query.isEmpty)
    }

    private func image(_ test: TableSource.Condition.VersionTest) -> CompiledVersionTest? {
        Version(slab.view(test.version.bytes)).map { CompiledVersionTest(test.relation, $0) }
    }

    private mutating func image(_ binding: TableSource.Binding, of route: TableSource.Route) -> CompiledBinding? {
        guard let field = fieldNumbers["\(binding.model.value).\(binding.field.value)"] else { return nil }
        var image = CompiledBinding(
            field: Int32(field), source: .constant, name: -1, query: query(""),
            place: -1, constant: .empty, trusted: false, reading: -1)
        switch binding.source.value {
        case .path(let name):
            image.source = .path
            image.name = nameNumber(name)
            image.trusted = captureTypes[name].isWithin(fields[field])
        case .query(let name):
            image.source = .query
            image.query = query(name)
        case .rewrite(let name):
            image.source = .rewrite
            image.name = nameNumber(name)
        case .payload(let path):
            image.source = .payload
            image.place = pointers.number(of: path)
        case .fragment: image.source = .fragment
        case .constant(let text): image.constant = slab.view(text)
        }
        return image
    }

    /// Numbers the values that are read more than once: every list, and values that two fields of a route bind in the
    /// same way.
    private mutating func numberReadings(of bindings: inout [CompiledBinding], _ route: TableSource.Route) {
        let keys = bindings.map { binding -> ReadingKey? in
            let field = fields[Int(binding.field)]
            if binding.source == .constant { return nil }
            let isList = field.kind == .list
            return ReadingKey(
                binding, fieldTypes[Int(binding.field)], isList: isList,
                isRequired: !isList && field.absence == .required)
        }
        var counts: [ReadingKey: Int] = [:]
        for case let key? in keys { counts[key, default: 0] += 1 }
        for (index, key) in keys.enumerated() {
            guard let key, key.isList || counts[key, default: 0] > 1 else { continue }
            let number = readingNumbers[key] ?? Int32(readingNumbers.count)
            readingNumbers[key] = number
            bindings[index].reading = number
        }
    }

    /// Returns a Boolean value that indicates whether a route, or a route that supplies its parent entries, binds
    /// fields from the payload.
    private func bindsPayload(_ route: TableSource.Route, visited: Set<String> = []) -> Bool {
        let binds = route.bindings.contains { if case .payload = $0.source.value { true } else { false } }
        if binds || visited.contains(route.id.value) { return binds }
        var targets = route.variants.map(\.to)
        if case .to(let target) = route.unsupported { targets.append(target) }
        return targets.contains { target in
            guard case .route(let parent) = target.parents, let number = routeNumbers[parent.value] else {
                return false
            }
            return bindsPayload(source.routes[number], visited: visited.union([route.id.value]))
        }
    }

    mutating func image(_ one: TableSource.Guard) -> CompiledGuard {
        CompiledGuard(
            name: slab.view(one.name.value), claim: slab.view(one.claim), target: image(one.otherwise),
            resumes: one.resume != nil, ttlSeconds: one.resume?.ttlSeconds ?? 0, once: one.resume?.once ?? true)
    }

    /// Compiles the rule for each reason: the first that lists the reason or lists no reasons.
    ///
    /// There is none for `internal`.
    mutating func fallbacks() -> UnsafeBufferPointer<CompiledFallback> {
        var images: [CompiledFallback] = []
        for reason in ReasonCode.allCases {
            // A table cannot assign an outcome to `internal`, which reports a defect.
            let rule = source.fallback.first { rule in
                reason != .internalError && rule.on.map { $0.contains { $0.value == reason } } ?? true
            }
            let target = rule?.to.map { image($0) }
            images.append(
                CompiledFallback(
                    outcome: rule?.outcome ?? .reject,
                    target: target.map { slab.store([$0]).at(0) }))
        }
        return slab.store(images)
    }
}
