internal import LinkCoordinator
internal import ByteStorage

extension Tracer {
    /// Runs the phases in order, like `Resolver.run`, up to the first failure.
    ///
    /// - Returns: The failure, or nil if all phases succeed.
    mutating func trace(into explanation: inout Explanation) -> Rejection? {
        resolver.start(request, facts, table: table.compiled.handle)
        var phase = Explanation.Phase.normalize
        do throws(Rejection) {
            guard try read(into: &explanation, &phase) else { return nil }
            if request.pointee.form == .path {
                resolver.noteFacts()
                phase = .compose
                try traceStack(of: nil, nil, into: &explanation, &phase)
            } else {
                try traceRoute(into: &explanation, &phase)
            }
            mark(&explanation)
            return nil
        } catch {
            mark(&explanation)
            explanation.failure = failure(error, in: phase, explanation)
            return error
        }
    }

    /// Normalizes a request and selects a route, or returns false if there is nothing to route.
    private mutating func read(
        into explanation: inout Explanation, _ phase: inout Explanation.Phase
    ) throws(Rejection) -> Bool {
        switch request.pointee.form {
        case .path:
            _ = try resolver.readPath(request.pointee.text)
            return true
        // The link is one of a link platform, without a destination.
        case .link where request.pointee.found.kind != .unknown: return false
        case .link: try readLink(request.pointee.text, into: &explanation)
        case .payload where request.pointee.tapped.kind != .unknown:
            guard request.pointee.tapped.kind == .link else { return false }
            try readLink(request.pointee.tapped.link, into: &explanation)
        case .payload:
            var link = try resolver.findPayloadLink()
            if link.isEmpty {
                phase = .select
                let payload = table.source.payload
                explanation.listed = payload.link.map(\.value.text) + [payload.route].compactMap { $0?.value.text }
                let selection = try resolver.readPayloadRoute()
                guard selection != nil || request.pointee.found.kind == .link else { return false }
                explanation.listed = []
                if selection != nil { return true }
                phase = .normalize
                link = request.pointee.found.link
            }
            try readLink(link, into: &explanation)
        case .route:
            phase = .select
            _ = try resolver.readRoute(request.pointee.text, params: request.pointee.params)
            return true
        }
        phase = .select
        try traceSelect(into: &explanation)
        return true
    }

    private mutating func readLink(_ link: ByteView, into explanation: inout Explanation) throws(Rejection) {
        explanation.input = link.string
        let bytes = link.array
        let number = bytes.withUnsafeBufferPointer { Resolver.schemeLength(ByteView($0)) }
        blockNumber = table.source.block(listing: String(decoding: bytes[..<number], as: UTF8.self)) ?? 0
        let block = table.source.blocks[blockNumber]
        // A link beyond the limit would have many more parts than any link that is resolved.
        linkParts = bytes.count <= table.source.limits.maxBytes ? LinkParts(bytes, block) : nil
        explanation.parts = linkParts?.parts ?? []
        resolver.selection.path = try resolver.normalize(link)
        resolver.splitQuery()
        var query: [(name: String, value: String?)] = []
        for index in 0..<resolver.query.items.count {
            let item = resolver.query.items[index]
            rawValues.append(item.value.string)
            query.append((item.name.string, item.hasValue ? resolver.text(ofItem: index)?.string : nil))
        }
        explanation.link = Explanation.Link(
            scheme: resolver.link.scheme.string, host: resolver.link.host?.string,
            segments: resolver.path.map(\.text.string), query: query, rewrites: rewrites(),
            dialect: block.dialectText)
    }

    /// Returns the text that rewrites removed, from the decision's notes.
    private mutating func rewrites() -> [String] {
        var removed: [String] = []
        for index in 0..<resolver.notes.count where resolver.notes[index].head.hasPrefix(ByteView("rewrite:")) {
            let note = resolver.notes[index]
            removed.append(note.name.string + note.middle.string + note.value.string)
        }
        return removed
    }

    /// Returns a Boolean value that indicates whether fallback rules do not apply to a reason.
    private static func isPastFallback(_ reason: ReasonCode) -> Bool { reason == .excluded || reason == .internalError }

    private mutating func failure(
        _ rejection: Rejection, in phase: Explanation.Phase, _ explanation: Explanation
    ) -> Explanation.Failure {
        let rule = table.source.fallback.firstIndex { rule in
            rule.on?.contains { $0.value == rejection.reason } ?? true
        }
        return Explanation.Failure(
            phase: phase, reason: Decision.Reason(rejection.reason),
            detail: ByteView.cut(rejection.detail), rule: Self.isPastFallback(rejection.reason) ? nil : rule,
            text: failureText(rejection, explanation))
    }
}

extension ByteView {
    /// Returns a detail in the form of a decision: at most 64 bytes, cut between characters.
    fileprivate static func cut(_ text: String) -> String {
        Array(text.utf8).withUnsafeBufferPointer { ByteView($0).prefix(bytes: maxDetailBytes).string }
    }
}

/// A trace of a request, phase by phase, in addition to its decision.
///
/// It runs the resolver's own phases again, one after another, and reads their results in between, so that the trace
/// agrees with the decision. All other information comes from the table itself.
struct Tracer: ~Copyable {
    let table: RouteTable
    let request: UnsafePointer<RequestView>
    let facts: UnsafePointer<DeviceView>
    var resolver = Resolver()
    var compiler: TableCompiler
    var coordinators: Set<[UInt8]>
    /// The parts of the link, or nil before a link was found.
    var linkParts: LinkParts?
    /// The index of the block that reads the link, or that would read it if its scheme were listed.
    var blockNumber = 0
    /// The original values of the link's query, by the index of their part.
    var rawValues: [String] = []
    /// The number of segments before the coordinator path of the request.
    var coordinatorPathStart = 0
    /// The patterns of `Explanation.rejected`, in its order.
    var rejectedPatterns: [RejectedPattern] = []

    init(_ table: RouteTable, _ request: UnsafePointer<RequestView>, _ facts: UnsafePointer<DeviceView>) {
        self.table = table
        self.request = request
        self.facts = facts
        compiler = TableCompiler(table.source, storage: TableStorage())
        compiler.number()
        coordinators = Set(table.source.coordinators.map { [UInt8]($0.name.value.utf8) })
    }

    /// The index of the selected route in the table, or nil if none is selected.
    var routeNumber: Int? {
        mutating get { resolver.selection.route.map { resolver.tableData.number(of: $0) } }
    }
}

// The trace of the phases `select` and `variant`.
extension Tracer {
    /// Adds the patterns that match the link in order of precedence, the mismatches of the others, and the redirects.
    mutating func traceSelect(into explanation: inout Explanation) throws(Rejection) {
        traceCandidates(into: &explanation)
        while true {
            try resolver.searchPattern()
            if let routeNumber { arrive(at: routeNumber, in: &explanation) }
            if explanation.redirects.isEmpty { markSegments(&explanation) }
            let before = resolver.via.count
            let ends: Bool
            do throws(Rejection) {
                ends = try resolver.follow()
            } catch {
                addRedirects(from: before, into: &explanation)
                throw error
            }
            addRedirects(from: before, into: &explanation)
            if ends { break }
        }
        addCaptures(into: &explanation)
    }

    /// Records the route that the last redirect led to.
    private mutating func arrive(at route: Int, in explanation: inout Explanation) {
        guard let last = explanation.redirects.indices.last else { return }
        explanation.redirects[last].leadsTo = table.source.routes[route].id.value
    }

    private mutating func addRedirects(from first: Int, into explanation: inout Explanation) {
        for index in first..<resolver.via.count {
            let route = table.source.routes[Int(resolver.via[index])]
            arrive(at: Int(resolver.via[index]), in: &explanation)
            guard case .redirect(let redirect) = route.action else { continue }
            explanation.redirects.append(
                Explanation.Redirect(route: route.id.value, to: redirect.text, segments: nil, leadsTo: nil))
            if case .template = redirect, index == resolver.via.count - 1 {
                explanation.redirects[explanation.redirects.count - 1].segments = resolver.path.map(\.text.string)
            }
        }
        if resolver.via.count > first, let routeNumber {
            let last = table.source.routes[Int(resolver.via[resolver.via.count - 1])]
            if case .redirect(.route) = last.action { arrive(at: routeNumber, in: &explanation) }
        }
    }

    private mutating func addCaptures(into explanation: inout Explanation) {
        for number in 0..<resolver.tableData.names.count {
            let name = resolver.tableData.names[number].string
            guard let texts = resolver.capturedTexts(name) else { continue }
            explanation.captures.append(Explanation.Capture(name: name, value: texts.joined(separator: "/")))
        }
    }

    /// Adds the variants of a route, up to the selected one.
    mutating func traceVariants(of route: TableSource.Route, into explanation: inout Explanation) {
        guard route.listsVariants else { return }
        for (index, variant) in route.variants.enumerated() {
            guard let condition = variant.when, !condition.isEmpty else {
                explanation.variants.append(Explanation.VariantResult(index: index, holds: true, because: "always"))
                return
            }
            let tests = condition.tests
            if let failing = tests.first(where: { !holds($0) }) {
                explanation.variants.append(
                    Explanation.VariantResult(index: index, holds: false, because: text(of: failing, holding: false)))
                continue
            }
            let because = tests.map { text(of: $0, holding: true) }.joined(separator: " and ")
            explanation.variants.append(Explanation.VariantResult(index: index, holds: true, because: because))
            return
        }
    }

    private mutating func holds(_ test: TableSource.Condition) -> Bool {
        let storedConditions = compiler.storage.store([compiler.compile(test)])
        return resolver.holds(storedConditions.at(0))
    }

    private func text(of test: TableSource.Condition, holding: Bool) -> String {
        func known(_ fact: DeviceFacts.Fact, _ view: ByteView) -> String {
            facts.pointee.has(fact) ? view.string : "unknown"
        }
        let word = holding ? "" : "no "
        if let app = test.app.first { return "app \(known(.app, facts.pointee.app)) \(app.text(holding: holding))" }
        if let os = test.os.first { return "os \(known(.os, facts.pointee.os)) \(os.text(holding: holding))" }
        if let capability = test.capabilities.first { return "\(word)capability \(capability.value)" }
        if let claim = test.claims.first { return "\(word)claim \(claim.value)" }
        let isOne = holding ? "is one of" : "is none of"
        if let platforms = test.platforms {
            return "platform \(known(.platform, facts.pointee.platform)) \(isOne) \(platforms.joined(separator: ", "))"
        }
        if let regions = test.regions {
            return "region \(known(.region, facts.pointee.region)) \(isOne) \(regions.joined(separator: ", "))"
        }
        if let locales = test.locales {
            return "locale \(known(.locale, facts.pointee.locale)) \(isOne) \(locales.joined(separator: ", "))"
        }
        if let attribute = test.attributes.first {
            return "attribute \(attribute.name.value) \(isOne) \(attribute.values.joined(separator: ", "))"
        }
        return test.query.first?.text(holding: holding) ?? "always"
    }
}

// The trace of the phases `compose` and `bind`, and of the guards.
extension Tracer {
    /// A route of the table in both forms.
    typealias TracedRoute = (source: TableSource.Route, compiled: Ref<CompiledRoute>)

    /// Traces the phases after the selection of a route.
    mutating func traceRoute(
        into explanation: inout Explanation, _ phase: inout Explanation.Phase
    ) throws(Rejection) {
        guard let chosen = resolver.selection.route, let routeNumber else { return }
        let route = table.source.routes[routeNumber]
        if chosen.action != .variants {
            if explanation.decision.reason == .externalRefused { throw Rejection(.externalRefused) }
            return
        }
        resolver.noteFacts()
        phase = .variant
        traceVariants(of: route, into: &explanation)
        let target = resolver.chooseVariant(of: chosen).ref(\.target)
        phase = .compose
        try traceStack(of: target, (route, chosen), into: &explanation, &phase)
    }

    /// Composes the stack, checks screens, binds values, checks required data, and evaluates guards.
    ///
    /// - Parameter route: The selected route, or nil for a request for a coordinator path.
    mutating func traceStack(
        of target: Ref<CompiledTarget>?, _ route: TracedRoute?, into explanation: inout Explanation,
        _ phase: inout Explanation.Phase
    ) throws(Rejection) {
        if let target, target.kind == .external {
            return try traceExternal(target, of: route, into: &explanation, &phase)
        }
        var composition: Composition
        if let target, let route {
            if target.kind == .captured { coordinatorPathStart = resolver.pathStart(of: target) }
            composition = try resolver.compose(target, policy: route.compiled.unknownScreen)
        } else {
            composition = try resolver.composePlain()
        }
        resolver.makeStack(of: composition)
        recordStack(&explanation)
        composition = try resolver.checkSupport(composition, route: route?.compiled)
        if !explanation.composed.allSatisfy(\.isSupported) {
            resolver.makeStack(of: composition)
            recordStack(&explanation)
        }
        if composition.target.kind == .external {
            return try traceExternal(composition.target, of: route, into: &explanation, &phase)
        }
        phase = .bind
        if let route { try traceBindings(route.source, route.compiled, into: &explanation) }
        try resolver.bindParents()
        composition = try resolver.requireData(of: composition)
        try resolver.checkPresentation(composition)
        traceGuards(into: &explanation)
    }

    /// Binds the values of the route and fills the URL of an external target.
    private mutating func traceExternal(
        _ target: Ref<CompiledTarget>, of route: TracedRoute?, into explanation: inout Explanation,
        _ phase: inout Explanation.Phase
    ) throws(Rejection) {
        phase = .bind
        if let route { try traceBindings(route.source, route.compiled, into: &explanation) }
        _ = try resolver.externalURL(target.template)
    }

    /// Records the current stack.
    private mutating func recordStack(_ explanation: inout Explanation) {
        explanation.composed = []
        for index in 0..<resolver.stack.count {
            let entry = resolver.stack[index]
            let (coordinator, screen) = resolver.names(of: entry)
            explanation.composed.append(
                Explanation.ComposedEntry(
                    coordinator: coordinator.string, screen: screen.string, present: entry.present,
                    isParent: entry.isParent, isSupported: resolver.supports(entry.screen)))
        }
    }

    /// Binds every field of the route, including those after an invalid one, and throws the first error.
    private mutating func traceBindings(
        _ route: TableSource.Route, _ compiledRoute: Ref<CompiledRoute>, into explanation: inout Explanation
    ) throws(Rejection) {
        for index in 0..<compiledRoute.bindings.count {
            let binding = compiledRoute.bindings.at(index)
            let field = resolver.tableData.fields.at(Int(binding.field))
            let notes = resolver.notes.count
            let raw = rawTexts(route.bindings[index].source.value, binding)
            let isValid = resolver.bind(binding, scope: 0)
            let value = resolver.boundValue(Int(binding.field))
            let result: Explanation.Binding.Result
            if !isValid {
                result = compiledRoute.drops && field.absence != .required ? .dropped : .invalid
            } else if resolver.notes.count > notes {
                result = .repaired
            } else if !resolver.isMissing(Int(binding.field), scope: 0) {
                result = .bound
            } else {
                result = field.absence == .required ? .missing : .absent
            }
            let hasValue = result != .missing && result != .invalid
            explanation.bindings.append(
                Explanation.Binding(
                    field: "\(field.modelName.string).\(field.name.string)",
                    source: route.bindings[index].source.value.text, type: type(of: route.bindings[index]), raw: raw,
                    result: result,
                    value: hasValue ? value : nil))
        }
        try resolver.bindRoute(compiledRoute)
    }

    private func type(of binding: TableSource.Binding) -> String {
        let model = table.source.models.first { $0.name.value == binding.model.value }
        return model?.field(named: binding.field.value)?.type.text ?? ""
    }

    /// Returns the texts of a source as received.
    private mutating func rawTexts(
        _ source: TableSource.Binding.Source, _ binding: Ref<CompiledBinding>
    ) -> [String] {
        switch source {
        case .path(let name):
            if let texts = resolver.capturedTexts(name) { return texts }
            return resolver.param(insteadOfCapture: binding.name).map { [$0.string] } ?? []
        case .constant(let text): return [text]
        case .fragment: return resolver.link.fragment.map { [$0.string] } ?? []
        case .query:
            if resolver.usesParams {
                if case .text(let text) = resolver.find(binding.ref(\.query)) { return [text.string] }
                return []
            }
            resolver.splitQuery()
            var texts: [String] = []
            var index = resolver.firstItem(binding.ref(\.query))
            while index >= 0 {
                if resolver.query.items[index].hasValue { texts.append(rawValues[index]) }
                index = resolver.nextItem(after: index, binding.ref(\.query))
            }
            return texts
        case .rewrite, .payload:
            if case .text(let text) = resolver.source(binding) { return [text.string] }
            return []
        }
    }

    /// Adds the guards of the stack up to the first one that does not hold.
    private mutating func traceGuards(into explanation: inout Explanation) {
        for index in 0..<resolver.stack.count {
            let screen = resolver.tableData.screens.at(Int(resolver.stack[index].screen))
            let coordinator = resolver.tableData.coordinators.at(Int(screen.coordinator))
            guard coordinator.guarding >= 0 else { continue }
            let guarding = resolver.tableData.guards.at(Int(coordinator.guarding))
            let holds = resolver.hasClaim(guarding.claim)
            let one = Explanation.Guard(
                coordinator: coordinator.name.string, name: guarding.name.string, claim: guarding.claim.string,
                holds: holds)
            if !explanation.guards.contains(one) { explanation.guards.append(one) }
            if !holds { return }
        }
    }
}
