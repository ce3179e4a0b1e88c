internal import LinkCoordinator

/// The parameters of a route's case: its captures, and the fields that it binds to a query, a fragment, or a rewrite.
struct SwiftParameters {
    /// A field of a model.
    struct Field {
        /// The name of the model.
        var model: String
        /// The name of the field.
        var name: String
        /// The type of the field.
        var type: FieldType
        /// The value of the field if nothing is bound.
        var absence: TableSource.Field.Absence

        /// The argument of a link that gets the value.
        var use: SwiftParameter.Use { .field(model: model, field: name, type: type) }
    }

    /// The number of samples to try for a route.
    static let attempts = 8

    private let route: TableSource.Route
    private let pattern: TableSource.RoutePattern
    private let source: TableSource
    private var labels = SwiftNames(reserving: ["fields", "captures"])
    /// The parameters, in the order of the path and of the bindings.
    private(set) var parameters: [SwiftParameter] = []
    /// The fields whose values the route's query constraints determine.
    private(set) var constants: [(field: Field, text: String)] = []

    /// Creates the parameters for the links of one pattern of a route.
    init(
        _ route: TableSource.Route, _ pattern: TableSource.RoutePattern, in source: TableSource,
        enumerations: inout SwiftEnumerations
    ) {
        self.route = route
        self.pattern = pattern
        self.source = source
        for capture in pattern.path.captures { add(capture, &enumerations) }
        addOtherParameters(&enumerations)
    }

    /// A Boolean value that indicates whether the stack depends on the link, so that it may not need the route's
    /// models.
    var modelsCanBeOmitted: Bool {
        route.variants.contains { if case .captured = $0.to.destination { true } else { false } }
    }

    /// A Boolean value that indicates whether a required field is bound to a push payload.
    var needsPayload: Bool {
        route.bindings.contains { binding in
            guard case .payload = binding.source.value else { return false }
            return field(binding)?.absence == .required
        }
    }

    private func field(_ binding: TableSource.Binding) -> Field? {
        source.models.first { $0.name.value == binding.model.value }?.field(named: binding.field.value).map {
            Field(model: binding.model.value, name: $0.name.value, type: $0.type, absence: $0.absence)
        }
    }

    /// Returns the fields that are bound to a source.
    private func fields(_ isSource: (TableSource.Binding.Source) -> Bool) -> [Field] {
        route.bindings.filter { isSource($0.source.value) }.compactMap(field)
    }

    private mutating func add(_ capture: Capture, _ enumerations: inout SwiftEnumerations) {
        let bound = fields { if case .path(capture.name) = $0 { true } else { false } }
        let label = labels.next(capture.name)
        if capture.isTail { return addTail(capture, bound, label, &enumerations) }
        let isOptional =
            capture.segment == pattern.path.segmentCount - 1
            && route.patterns.contains { $0.form == pattern.form && $0.omitsOptionalPart }
        let value = SwiftValue.capture(capture, bound: bound.map(\.type), enumerations: &enumerations)
        var parameter = SwiftParameter(
            label: label, value: value, form: isOptional ? .optional : .single,
            uses: bound.isEmpty ? [.capture(capture.name)] : bound.map(\.use))
        let texts = (0..<SampleValue.attempts).compactMap {
            SampleValue.segment(capture.matcher, name: capture.name, attempt: $0)
        }
        parameter.candidates = candidates(bound, value, texts, name: capture.name).map { [$0] }
        parameters.append(parameter)
    }

    private mutating func addTail(
        _ capture: Capture, _ bound: [Field], _ label: String, _ enumerations: inout SwiftEnumerations
    ) {
        let value =
            SwiftValue.shared(bound.map(\.type), enumerations: &enumerations, name: capture.name)
            ?? SwiftValue.capture(capture, bound: [], enumerations: &enumerations)
        var parameter = SwiftParameter(
            label: label, value: value, form: .list(canBeOmitted: capture.matcher == .restStar),
            uses: bound.isEmpty ? [.tail(capture.name)] : bound.map(\.use))
        if capture.matcher == .coordinatorPath {
            parameter.candidates = source.coordinators.flatMap { coordinator in
                let screens = coordinator.screens.filter(\.needs.isEmpty) + coordinator.screens
                return screens.prefix(2).map { [coordinator.name.value, $0.name.value] }
            }
        } else {
            let texts = bound.isEmpty ? ["part", "of", "it"] : candidates(bound, value, [], name: capture.name)
            parameter.candidates = (1...max(1, min(texts.count, 3))).map { Array(texts.prefix($0)) }
        }
        parameters.append(parameter)
    }

    /// Returns texts that all fields accept.
    private func candidates(_ fields: [Field], _ value: SwiftValue, _ texts: [String], name: String) -> [String] {
        var found: [String] = []
        let own = fields.flatMap { field in
            (0..<SampleValue.attempts).map { SampleValue.field(field.type, name: name, attempt: $0) }
        }
        for text in texts + own + (value.values ?? []) where !found.contains(text) {
            guard fields.allSatisfy({ $0.type.canonicalText(text) != nil }) else { continue }
            if value.type == "Bool", !["true", "false"].contains(text) { continue }
            if let values = value.values, !values.contains(text) { continue }
            found.append(text)
        }
        return found
    }

    /// Adds the parameters for the sources of fields outside of the path.
    private mutating func addOtherParameters(_ enumerations: inout SwiftEnumerations) {
        var seen: Set<String> = []
        for binding in route.bindings {
            switch binding.source.value {
            case .query(let name) where seen.insert("query." + name).inserted:
                let bound = fields { if case .query(name) = $0 { true } else { false } }
                switch route.query.first(where: { $0.name.value == name })?.test {
                case .equals(let text): constants += bound.map { ($0, text) }
                case .absent: continue
                case .present, nil: add(bound, &enumerations)
                }
            case .fragment where seen.insert("fragment").inserted:
                add(fields { if case .fragment = $0 { true } else { false } }, &enumerations)
            case .rewrite(let name) where seen.insert("rewrite." + name).inserted:
                add(fields { if case .rewrite(name) = $0 { true } else { false } }, &enumerations)
            default: continue
            }
        }
    }

    /// Adds a parameter for fields that share a source.
    private mutating func add(_ bound: [Field], _ enumerations: inout SwiftEnumerations) {
        guard let first = bound.first,
            let value = SwiftValue.shared(bound.map(\.type), enumerations: &enumerations, name: first.name)
        else { return }
        let isRequired = bound.contains { $0.absence == .required } && !modelsCanBeOmitted
        let lists = bound.compactMap { field -> ClosedRange<Int>? in
            if case .list(_, let min, let max) = field.type { min...max } else { nil }
        }
        var parameter = SwiftParameter(
            label: labels.next(first.name), value: value, form: isRequired ? .single : .optional,
            uses: bound.map(\.use))
        let texts = candidates(bound, value, [], name: first.name)
        parameter.candidates = texts.map { [$0] }
        if let counts = lists.first, lists.count == bound.count {
            parameter.form = .list(canBeOmitted: !isRequired)
            let least = max(counts.lowerBound, 1)
            let sizes = [min(max(least, 2), counts.upperBound), least]
            parameter.candidates = sizes.map { size in
                (0..<size).compactMap { texts.isEmpty ? nil : texts[$0 % texts.count] }
            }
        }
        parameters.append(parameter)
    }
}
