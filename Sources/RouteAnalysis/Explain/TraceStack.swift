internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

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

    /// Adds the guards of the stack; the first one that does not hold ends the evaluation.
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
