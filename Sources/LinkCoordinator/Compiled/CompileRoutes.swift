internal import ByteStorage
internal import StrictJSON

// Compiles routes, their variants and bindings, guards, and the fallback.
extension TableCompiler {
    mutating func compile(_ route: TableSource.Route, number: Int, tableHead: String) -> CompiledRoute {
        let none = UnsafeBufferPointer<CompiledTemplatePart>(start: nil, count: 0)
        let id = ProgramBuilder.quoted(route.id.value)
        var compiled = CompiledRoute(
            id: storage.view(route.id.value), head: storage.view(tableHead + ",\"route\":" + id), action: .variants,
            redirect: -1, template: none, variants: UnsafeBufferPointer(start: nil, count: 0),
            bindings: UnsafeBufferPointer(start: nil, count: 0), bindsPayload: false,
            drops: route.onInvalid == .drop, requireAll: route.requireAll, unknownScreen: route.unknownScreen,
            unsupported: .fallback, unsupportedTarget: nil, firstPattern: firstPatterns[number])
        switch route.action {
        case .variants(let variants):
            var compiledVariants: [CompiledVariant] = []
            for (index, variant) in variants.enumerated() {
                compiledVariants.append(self.compile(variant, index: route.listsVariants ? index : nil, of: route))
            }
            compiled.variants = storage.store(compiledVariants)
        case .redirect(.route(let id)):
            compiled.action = .redirectRoute
            compiled.redirect = Int32(routeNumbers[id.value] ?? number)
        case .redirect(.template(let template)):
            compiled.action = .redirectTemplate
            compiled.template = storage.store(segments(template.value))
        case .exclude(.external): compiled.action = .excludeExternal
        case .exclude(.none): compiled.action = .excludeNone
        case .exclude(.reject): compiled.action = .excludeReject
        }
        var bindings: [CompiledBinding] = []
        for binding in route.bindings { if let one = self.compile(binding, of: route) { bindings.append(one) } }
        numberReadings(of: &bindings, route)
        compiled.bindings = storage.store(bindings)
        compiled.bindsPayload = bindsPayload(route)
        switch route.unsupported {
        case .fallback: break
        case .truncate: compiled.unsupported = .truncate
        case .to(let target):
            compiled.unsupported = .target
            compiled.unsupportedTarget = storage.store([self.compile(target)]).at(0)
        }
        return compiled
    }

    /// Compiles the template of a redirect.
    ///
    /// A marker follows each segment, because a tail adds several segments.
    private mutating func segments(_ template: TableSource.PathTemplate) -> [CompiledTemplatePart] {
        var compiledParts: [CompiledTemplatePart] = []
        for segment in template.segments {
            compiledParts += parts(segment)
            compiledParts.append(CompiledTemplatePart(kind: .segmentEnd, bytes: .empty, name: -1, query: query("")))
        }
        return compiledParts
    }

    private mutating func compile(
        _ variant: TableSource.Variant, index: Int?, of route: TableSource.Route
    ) -> CompiledVariant {
        CompiledVariant(
            condition: compile(variant.when ?? TableSource.Condition(offset: 0)),
            isConditional: variant.when.map { !$0.isEmpty } ?? false, target: compile(variant.to),
            notice: notice(variant.notice ?? route.notice),
            json: index.map { storage.view(",\"variant\":\($0)") } ?? .empty)
    }

    /// Compiles a condition.
    package func compile(_ condition: TableSource.Condition) -> CompiledCondition {
        CompiledCondition(
            app: storage.store(condition.app.compactMap(compile)), os: storage.store(condition.os.compactMap(compile)),
            capabilities: storage.store(condition.capabilities.compactMap { capabilityNumbers[$0.value] }),
            claims: storage.store(condition.claims.map { storage.view($0.value) }),
            platforms: storage.store((condition.platforms ?? []).map(storage.view)),
            testsPlatform: condition.platforms != nil,
            regions: storage.store((condition.regions ?? []).map(storage.view)), testsRegion: condition.regions != nil,
            locales: storage.store((condition.locales ?? []).map(storage.view)), testsLocale: condition.locales != nil,
            attributes: storage.store(
                condition.attributes.map {
                    CompiledAttribute(
                        name: storage.view($0.name.value), values: storage.store($0.values.map(storage.view)))
                }), query: storage.store(condition.query.map { compile($0) }),
            testsMoreThanVersions: !condition.capabilities.isEmpty || !condition.claims.isEmpty
                || condition.platforms != nil
                || condition.regions != nil || condition.locales != nil || !condition.attributes.isEmpty
                || !condition.query.isEmpty)
    }

    private func compile(_ test: TableSource.Condition.VersionTest) -> CompiledVersionTest? {
        Version(storage.view(test.version.bytes)).map { CompiledVersionTest(test.relation, $0) }
    }

    private mutating func compile(_ binding: TableSource.Binding, of route: TableSource.Route) -> CompiledBinding? {
        guard let field = fieldNumbers["\(binding.model.value).\(binding.field.value)"] else { return nil }
        var compiled = CompiledBinding(
            field: Int32(field), source: .constant, name: -1, query: query(""),
            pointerIndex: -1, constant: .empty, trusted: false, reading: -1)
        switch binding.source.value {
        case .path(let name):
            compiled.source = .path
            compiled.name = nameNumber(name)
            compiled.trusted = captureTypes[name].isWithin(fields[field])
        case .query(let name):
            compiled.source = .query
            compiled.query = query(name)
        case .rewrite(let name):
            compiled.source = .rewrite
            compiled.name = nameNumber(name)
        case .payload(let path):
            compiled.source = .payload
            compiled.pointerIndex = pointers.number(of: path)
        case .fragment: compiled.source = .fragment
        case .constant(let text): compiled.constant = storage.view(text)
        }
        return compiled
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

    mutating func compile(_ one: TableSource.Guard) -> CompiledGuard {
        CompiledGuard(
            name: storage.view(one.name.value), claim: storage.view(one.claim), target: compile(one.otherwise),
            resumes: one.resume != nil, ttlSeconds: one.resume?.ttlSeconds ?? 0, once: one.resume?.once ?? true)
    }

    /// Compiles the rule for each reason: the first that lists the reason or lists no reasons.
    ///
    /// There is none for `internal`.
    mutating func fallbacks() -> UnsafeBufferPointer<CompiledFallback> {
        var compiledFallbacks: [CompiledFallback] = []
        for reason in ReasonCode.allCases {
            // A table cannot assign an outcome to `internal`, which reports a defect.
            let rule = source.fallback.first { rule in
                reason != .internalError && rule.on.map { $0.contains { $0.value == reason } } ?? true
            }
            let target = rule?.to.map { compile($0) }
            compiledFallbacks.append(
                CompiledFallback(
                    outcome: rule?.outcome ?? .reject,
                    target: target.map { storage.store([$0]).at(0) }))
        }
        return storage.store(compiledFallbacks)
    }
}
