internal import ByteStorage

/// Compiles a table from its source.
///
/// The source has passed its checks, so every name can be resolved. A name that cannot be resolved is treated as
/// absent.
package struct TableCompiler {
    let source: TableSource
    /// The storage of the compiled values.
    package let storage: TableStorage
    /// The types of captures, read when the first binding needs them.
    lazy var captureTypes = CaptureTypes(source)
    var names: [String] = []
    var nameNumbers: [String: Int32] = [:]
    var fieldNumbers: [String: Int] = [:]
    /// The number of each field type.
    ///
    /// For a list, this is the type of its items.
    var typeNumbers: [FieldType: Int] = [:]
    /// The number of the type of each field.
    var fieldTypes: [Int] = []
    /// The numbers of values that several bindings read from the same position as the same type.
    var readingNumbers: [ReadingKey: Int32] = [:]
    var modelNumbers: [String: Int] = [:]
    var fields: [CompiledField] = []
    var coordinatorNumbers: [String: Int] = [:]
    var screenNumbers: [String: Int] = [:]
    var capabilityNumbers: [String: Int32] = [:]
    var guardNumbers: [String: Int32] = [:]
    var routeNumbers: [String: Int] = [:]
    /// A Boolean value for each route that indicates whether it or one of its parents binds fields from the payload.
    private var payloadBinders: [Bool] = []
    var screens: [CompiledScreen] = []
    var coordinators: [CompiledCoordinator] = []
    var literals: [LiteralTable.Entry] = []
    /// The number of each scheme, by its lowercase name.
    package var schemeNumbers: [String: Int32] = [:]
    var patterns: [CompiledPattern] = []
    var firstPatterns: [Int32] = []
    var pointers = PointerTrieBuilder()

    /// Creates a compiler for a checked table.
    package init(_ source: TableSource, storage: TableStorage) {
        self.source = source
        self.storage = storage
    }

    mutating func compile(serial: UInt64, hash: String) -> CompiledTableData {
        // The pointers are numbered in this order, which a table in a set uses to find its own.
        for path in source.payloadPointers { _ = pointers.number(of: path) }
        number()
        compileFields()
        let capabilities = source.capabilities.map { compile($0) }
        compileScreens()
        let trie = compilePatterns()
        let id = "\(source.id.value)@\(source.version.value)+\(hash)"
        let tableHead = "\"table\":" + ProgramBuilder.quoted(id)
        let routes = source.routes.enumerated().map { compile($0.element, number: $0.offset, tableHead: tableHead) }
        let guards = source.guards.map { compile($0) }
        let blocks = source.blocks.map { compile($0) }
        let rules = fallbacks()
        let compiledTrie = trie.store(in: storage, literals: &literals)
        let payload = source.payload
        let links = payload.link.map { pointers.number(of: $0.value) }
        let (routeID, params) = (payload.route, payload.params)
        return CompiledTableData(
            serial: serial, head: storage.view(tableHead), blocks: storage.store(blocks),
            schemes: storage.store(compiledSchemes()),
            otherSchemes: Int32(source.blocks.firstIndex { $0.acceptsOtherSchemes } ?? -1),
            foldsCase: source.foldsPathCase, maxBytes: source.limits.maxBytes,
            maxSegments: source.limits.maxSegments, maxQueryItems: source.limits.maxQueryItems,
            usesAppVersion: usesAppVersion,
            usesOSVersion: usesOSVersion, hasSingleSlots: source.coordinators.contains { $0.singleSlot },
            literals: LiteralTable(literals, storage: storage), trie: compiledTrie,
            patterns: storage.store(patterns.isEmpty ? [Self.noPattern] : patterns).baseAddress.unsafelyUnwrapped,
            routes: storage.store(routes), fields: storage.store(fields), screens: storage.store(screens),
            coordinators: storage.store(coordinators), guards: storage.store(guards),
            capabilities: storage.store(capabilities),
            externalSchemes: storage.store(source.externals.schemes.map(storage.view)),
            externalHosts: storage.store(source.externals.hosts.map { compile($0) }), fallbacks: rules,
            payloadLinks: storage.store(links), payloadRoute: routeID.map { pointers.number(of: $0.value) } ?? -1,
            payloadParams: params.map { pointers.number(of: $0.value) } ?? -1, plainTarget: plainTarget(),
            scopes: scopes(), readings: readingNumbers.count,
            names: storage.store(names.map(storage.view)))
    }

    private static var noPattern: CompiledPattern {
        CompiledPattern(
            route: -1, captures: UnsafeBufferPointer(start: nil, count: 0),
            segments: UnsafeBufferPointer(start: nil, count: 0), tail: .any, endsInOptional: false)
    }

    /// Numbers all named parts of the table.
    package mutating func number() {
        for (index, coordinator) in source.coordinators.enumerated() {
            coordinatorNumbers[coordinator.name.value] = index
        }
        for (index, capability) in source.capabilities.enumerated() {
            capabilityNumbers[capability.name.value] = Int32(index)
        }
        for (index, one) in source.guards.enumerated() { guardNumbers[one.name.value] = Int32(index) }
        for (index, route) in source.routes.enumerated() {
            routeNumbers[route.id.value] = index
            literals.append(
                LiteralTable.Entry(
                    node: LiteralTable.routes, text: [UInt8](route.id.value.utf8), child: UInt32(index)))
        }
        let named = source.routes.flatMap { $0.patterns.compactMap(\.scheme) }
        for scheme in named where schemeNumbers[scheme] == nil {
            schemeNumbers[scheme] = Int32(schemeNumbers.count)
        }
        payloadBinders = routesBindingPayload()
    }

    /// Returns the number of the name of a capture or rewrite.
    mutating func nameNumber(_ name: String) -> Int32 {
        if let known = nameNumbers[name] { return known }
        let number = Int32(names.count)
        nameNumbers[name] = number
        names.append(name)
        return number
    }

    /// Returns the schemes that blocks list, followed by the schemes that only patterns mention and that the `*` block
    /// reads.
    private func compiledSchemes() -> [CompiledScheme] {
        let listed = source.blocks.enumerated().flatMap { index, block in
            block.schemes.map {
                CompiledScheme(
                    text: storage.view($0.value), block: Int32(index), number: schemeNumbers[$0.value] ?? -1)
            }
        }
        guard let others = source.blocks.firstIndex(where: \.acceptsOtherSchemes) else { return listed }
        let isExact = source.blocks[others].schemeCase == .exact
        // If a block lists a scheme with its exact case, the `*` block reads all other spellings.
        let listing = source.blocks.filter { isExact || $0.schemeCase == .lower }
        let known = Set(listing.flatMap { $0.schemes.map(\.value) })
        let named = schemeNumbers.filter { scheme, _ in
            !known.contains(scheme) && (isExact || scheme == scheme.lowercased())
        }
        return listed
            + named.sorted { $0.value < $1.value }.map {
                CompiledScheme(text: storage.view($0.key), block: Int32(others), number: $0.value)
            }
    }

    // MARK: Facts that the table uses

    private var conditions: [TableSource.Condition] { source.routes.flatMap { $0.variants.compactMap(\.when) } }

    private var usesAppVersion: Bool {
        conditions.contains { !$0.app.isEmpty } || source.capabilities.contains { $0.minApp != nil }
            || source.coordinators.contains { $0.screens.contains { $0.since != nil || $0.until != nil } }
    }

    private var usesOSVersion: Bool {
        conditions.contains { !$0.os.isEmpty } || source.capabilities.contains { $0.minOS != nil }
    }

    /// Returns the length of the longest chain of parent routes of any target, plus 1, at most 64.
    private func scopes() -> Int {
        let longest = 64
        var depths = [Int](repeating: 0, count: source.routes.count)
        func depth(_ targets: [TableSource.Target]) -> Int {
            targets.reduce(0) { max($0, parent(of: $1).map { 1 + depths[$0] } ?? 0) }
        }
        for _ in 1..<longest {
            var isLonger = false
            for (number, route) in source.routes.enumerated() {
                let found = min(depth(route.variants.map(\.to)), longest)
                isLonger = isLonger || found > depths[number]
                depths[number] = found
            }
            if !isLonger { break }
        }
        let others = source.guards.map(\.otherwise) + source.fallback.compactMap(\.to)
        return min(1 + source.routes.reduce(depth(others)) { max($0, depth(targets(of: $1))) }, longest)
    }

    /// Returns the number of the route that supplies a target's parents, or nil.
    private func parent(of target: TableSource.Target) -> Int? {
        guard case .route(let id) = target.parents else { return nil }
        return routeNumbers[id.value]
    }

    /// Returns the targets of a route.
    private func targets(of route: TableSource.Route) -> [TableSource.Target] {
        guard case .to(let target) = route.unsupported else { return route.variants.map(\.to) }
        return route.variants.map(\.to) + [target]
    }

    // MARK: Patterns

    private mutating func compilePatterns() -> TrieBuilder {
        var trie = TrieBuilder()
        for (number, route) in source.routes.enumerated() {
            firstPatterns.append(route.patterns.isEmpty ? -1 : Int32(patterns.count))
            let constraints = route.query.map { compile($0) }
            for (index, pattern) in route.patterns.enumerated() {
                let next = route.patterns.dropFirst(index + 1).first
                trie.add(
                    pattern, scheme: pattern.scheme.flatMap { schemeNumbers[$0] } ?? -1, number: patterns.count,
                    precedence: route.precedence(of: pattern), constraints: constraints)
                patterns.append(
                    compile(pattern.path, route: number, endsInOptional: next?.omitsOptionalPart ?? false))
            }
        }
        return trie
    }

    private mutating func compile(_ pattern: Pattern, route: Int, endsInOptional: Bool) -> CompiledPattern {
        let captures = pattern.captures.map { capture in
            var (prefix, suffix) = (0, 0)
            if case .segment(let before, let after) = capture.extent { (prefix, suffix) = (before, after) }
            return CompiledCapture(
                name: nameNumber(capture.name), segment: Int32(capture.segment), prefix: Int32(prefix),
                suffix: Int32(suffix), isTail: capture.isTail,
                matcher: CompiledMatcher(capture.matcher, spellings: capture.spellings, storage: storage))
        }
        let segments = pattern.matchers.dropLast().map { CompiledMatcher($0, storage: storage) }
        let tail = pattern.matchers.last.map { CompiledMatcher($0, storage: storage).kind } ?? .any
        return CompiledPattern(
            route: Int32(route), captures: storage.store(captures), segments: storage.store(Array(segments)),
            tail: tail,
            endsInOptional: endsInOptional)
    }

    // MARK: Blocks

    private mutating func compile(_ block: TableSource.LinkBlock) -> CompiledLinkBlock {
        let query = block.query
        return CompiledLinkBlock(
            hostIsSegment: block.hostRole == .segment, hosts: storage.store(block.hosts.map { compile($0.value) }),
            schemesAreExact: block.schemeCase == .exact, emptySegments: block.emptySegments,
            separators: storage.store(query.pairSeparators), namesFold: query.names == .insensitive,
            duplicates: query.duplicates, decode: query.decode, plusIsSpace: query.plus == .space,
            nullsErase: query.nulls == .erase, flatten: query.flatten, repair: block.repair,
            rewrites: storage.store(block.rewrites.map { compile($0) }))
    }

    private mutating func compile(_ rewrite: TableSource.Rewrite) -> CompiledRewrite {
        let matchers = rewrite.pattern.matchers.prefix(rewrite.segmentCount)
        let capture = rewrite.pattern.captures.first
        let compiledSegments = matchers.enumerated().map { index, matcher in
            CompiledMatcher(
                matcher, spellings: capture?.segment == index ? capture?.spellings ?? [] : [], storage: storage)
        }
        let name = rewrite.name
        return CompiledRewrite(
            segments: storage.store(compiledSegments), captured: name == nil ? -1 : Int32(capture?.segment ?? -1),
            name: name.map { nameNumber($0) } ?? -1, nameText: storage.view(name ?? ""),
            prefixText: storage.view(rewrite.text))
    }

    func compile(_ rule: HostRule) -> CompiledHostRule {
        switch rule {
        case .any: CompiledHostRule(kind: .any, text: .empty, port: -1)
        case .empty: CompiledHostRule(kind: .empty, text: .empty, port: -1)
        case .exact(let host, let port):
            CompiledHostRule(kind: .exact, text: storage.view(host), port: port.map { Int32($0) } ?? -1)
        case .suffix(let suffix): CompiledHostRule(kind: .suffix, text: storage.view(suffix), port: -1)
        }
    }

    func query(_ name: String) -> CompiledQueryName {
        let text = storage.view(name)
        return CompiledQueryName(text: text, key: ByteScan.foldedKey(text))
    }

    /// Compiles a query constraint.
    package func compile(_ constraint: TableSource.QueryConstraint) -> CompiledConstraint {
        let name = query(constraint.name.value)
        return switch constraint.test {
        case .equals(let value): CompiledConstraint(name: name, test: .equals, value: storage.view(value))
        case .present: CompiledConstraint(name: name, test: .present, value: .empty)
        case .absent: CompiledConstraint(name: name, test: .absent, value: .empty)
        }
    }
}

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
        for binding in route.bindings { if let one = self.compile(binding) { bindings.append(one) } }
        numberReadings(of: &bindings)
        compiled.bindings = storage.store(bindings)
        compiled.bindsPayload = payloadBinders[number]
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

    private mutating func compile(_ binding: TableSource.Binding) -> CompiledBinding? {
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
    private mutating func numberReadings(of bindings: inout [CompiledBinding]) {
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

    /// Returns a Boolean value for each route that indicates whether it, or a route that supplies its parent entries,
    /// binds fields from the payload.
    private func routesBindingPayload() -> [Bool] {
        var binds = source.routes.map { route in
            route.bindings.contains { if case .payload = $0.source.value { true } else { false } }
        }
        var children = [[Int]](repeating: [], count: binds.count)
        for (number, route) in source.routes.enumerated() {
            for parent in targets(of: route).compactMap(parent) { children[parent].append(number) }
        }
        var pending = binds.indices.filter { binds[$0] }
        while let number = pending.popLast() {
            for child in children[number] where !binds[child] {
                binds[child] = true
                pending.append(child)
            }
        }
        return binds
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

/// The types of captures by name, combined over all patterns of a table.
///
/// They cover the whole table, not one route, because a redirect by id carries over captures of other routes. The
/// patterns are read once, because a table may have as many bindings as patterns.
struct CaptureTypes {
    /// The type that all captures of a name share.
    enum Common {
        /// Every capture is a UUID.
        case uuid
        /// Every capture is an integer in this range.
        case int(min: Int64, max: Int64)
        /// The captures have different types, or a type whose text is validated again for the field.
        case mixed

        /// Returns a Boolean value that indicates whether every captured text is a valid value of the field.
        ///
        /// The pattern has validated such a text already.
        func isWithin(_ field: CompiledField) -> Bool {
            switch (self, field.kind) {
            case (.uuid, .uuid): true
            case (.int(let min, let max), .int): min >= field.min && max <= field.max
            default: false
            }
        }
    }

    private var common: [String: Common] = [:]

    /// Reads the captures of all patterns of a table.
    init(_ source: TableSource) {
        for route in source.routes {
            for pattern in route.patterns {
                for capture in pattern.path.captures { add(capture) }
            }
        }
    }

    /// The type that the captures of a name share, or `mixed` if there is no such capture.
    subscript(name: String) -> Common { common[name] ?? .mixed }

    private mutating func add(_ capture: Capture) {
        switch (common[capture.name], capture.matcher) {
        case (nil, .uuid), (.uuid, .uuid): common[capture.name] = .uuid
        case (nil, .int(let min, let max)): common[capture.name] = .int(min: min, max: max)
        case (.int(let low, let high), .int(let min, let max)):
            common[capture.name] = .int(min: Swift.min(low, min), max: Swift.max(high, max))
        default: common[capture.name] = .mixed
        }
    }
}
