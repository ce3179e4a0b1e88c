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
    private let enumerations: SwiftEnumerations
    /// The parameters, in the order of the path and of the bindings.
    private(set) var parameters: [SwiftParameter] = []
    /// The sources of the parameters, such as `query.count`.
    private var positions: [String] = []
    /// The fields whose values the route's query constraints determine.
    private(set) var constants: [(field: Field, text: String)] = []

    /// Creates the parameters for the links of one pattern of a route.
    init(
        _ route: TableSource.Route, _ pattern: TableSource.RoutePattern, in source: TableSource,
        _ enumerations: SwiftEnumerations
    ) {
        self.route = route
        self.pattern = pattern
        self.source = source
        self.enumerations = enumerations
        for capture in pattern.path.captures { add(capture) }
        addOtherParameters()
        nameParameters()
    }

    /// Gives the parameters their labels: first the captures, then the other sources.
    private mutating func nameParameters() {
        var labels = SwiftNames.names(reserving: ["models", "captures"])
        let captured = parameters.indices.prefix(pattern.path.captures.count)
        for part in [captured, parameters.indices.dropFirst(captured.count)] {
            let texts = part.map { (positions[$0], parameters[$0].label) }
            let named = labels.assign(Dictionary(texts) { first, _ in first })
            for index in part { parameters[index].label = named[positions[index]] ?? parameters[index].label }
        }
    }

    /// A Boolean value that indicates whether the stack depends on the link, and may not need the route's models.
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

    private mutating func add(_ capture: Capture) {
        let bound = fields { if case .path(capture.name) = $0 { true } else { false } }
        positions.append("path." + capture.name)
        if capture.isTail { return addTail(capture, bound) }
        let isOptional =
            capture.segment == pattern.path.segmentCount - 1
            && route.patterns.contains { $0.form == pattern.form && $0.omitsOptionalPart }
        let value = SwiftValue.capture(capture, bound: bound.map(\.type), enumerations)
        var parameter = SwiftParameter(
            label: capture.name, value: value, form: isOptional ? .optional : .single,
            uses: bound.isEmpty ? [.capture(capture.name)] : bound.map(\.use))
        let texts = (0..<SampleValue.attempts).compactMap {
            SampleValue.segment(capture.matcher, name: capture.name, attempt: $0)
        }
        parameter.candidates = candidates(bound, value, texts, name: capture.name).map { [$0] }
        parameters.append(parameter)
    }

    private mutating func addTail(_ capture: Capture, _ bound: [Field]) {
        let value =
            SwiftValue.shared(bound.map(\.type), enumerations)
            ?? SwiftValue.capture(capture, bound: [], enumerations)
        var parameter = SwiftParameter(
            label: capture.name, value: value, form: .list(canBeOmitted: capture.matcher == .restStar),
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
    private mutating func addOtherParameters() {
        var seen: Set<String> = []
        for binding in route.bindings {
            switch binding.source.value {
            case .query(let name) where seen.insert("query." + name).inserted:
                let bound = fields { if case .query(name) = $0 { true } else { false } }
                switch route.query.first(where: { $0.name.value == name })?.test {
                case .equals(let text): constants += bound.map { ($0, text) }
                case .absent: continue
                case .present, nil: add(bound, from: "query." + name)
                }
            case .fragment where seen.insert("fragment").inserted:
                add(fields { if case .fragment = $0 { true } else { false } }, from: "fragment")
            case .rewrite(let name) where seen.insert("rewrite." + name).inserted:
                add(fields { if case .rewrite(name) = $0 { true } else { false } }, from: "rewrite." + name)
            default: continue
            }
        }
    }

    /// Adds a parameter for fields that share a source.
    private mutating func add(_ bound: [Field], from source: String) {
        guard let name = bound.map(\.name).min(), let value = SwiftValue.shared(bound.map(\.type), enumerations)
        else { return }
        positions.append(source)
        let isRequired = bound.contains { $0.absence == .required } && !modelsCanBeOmitted
        let lists = bound.compactMap { field -> ClosedRange<Int>? in
            if case .list(_, let min, let max) = field.type { min...max } else { nil }
        }
        var parameter = SwiftParameter(
            label: name, value: value, form: isRequired ? .single : .optional,
            uses: bound.map(\.use))
        let texts = candidates(bound, value, [], name: name)
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

/// A parameter of a case of the link enumeration: a value that is written into links.
struct SwiftParameter {
    /// An argument of `RouteTable.link` that gets the value.
    enum Use {
        /// A field of a model.
        case field(model: String, field: String, type: FieldType)
        /// A capture that no field is bound to.
        case capture(String)
        /// A tail that no field is bound to.
        case tail(String)
    }

    /// The number of values in a parameter.
    enum Form {
        /// One value.
        case single
        /// At most one value.
        case optional
        /// A list. It is empty if it is omitted and `canBeOmitted` is true.
        case list(canBeOmitted: Bool)
    }

    /// The values of a link by the parameters of `RouteTable.link`.
    struct Arguments {
        /// The fields of the models.
        var models: [String: [String: ModelValue]] = [:]
        /// The texts of captures.
        var captures: [String: String] = [:]
    }

    var label: String
    /// The type of the value, or of an item of a list.
    var value: SwiftValue
    /// The number of values.
    var form: Form
    /// The arguments that get the value.
    var uses: [Use]
    /// Lists of texts that links can probably have as the value.
    var candidates: [[String]] = []

    /// A description of the parameter, for the comment.
    var documentation: String {
        let fields = uses.compactMap { use in
            if case .field(let model, let field, _) = use { "`\(model).\(field)`" } else { nil }
        }
        return fields.isEmpty ? "captured" : fields.joined(separator: ", ")
    }

    /// The declaration of the parameter.
    var declaration: String {
        let name = SwiftNames.code(label)
        return switch form {
        case .single: "\(name): \(value.type)"
        case .optional: "\(name): \(value.type)? = nil"
        case .list(let canBeOmitted): "\(name): [\(value.type)]" + (canBeOmitted ? " = []" : "")
        }
    }

    /// The statements that add the value to `models` and `captures`.
    var statements: [String] {
        let name = SwiftNames.code(label)
        let lines = uses.flatMap { SwiftLines.assignment(statement($0, name), indent: 16) }
        switch form {
        case .single, .list(canBeOmitted: false): return lines
        case .optional: return ["if let \(name) {"] + lines.map { "    " + $0 } + ["}"]
        case .list(canBeOmitted: true):
            if case .tail? = uses.first { return lines }
            return ["if !\(name).isEmpty {"] + lines.map { "    " + $0 } + ["}"]
        }
    }

    /// Returns the expression for the field of a model in `models`.
    static func fieldExpression(_ model: String, _ field: String) -> String {
        "models[\(SwiftNames.literal(model)), \(SwiftNames.literal(field))]"
    }

    private func statement(_ use: Use, _ name: String) -> String {
        switch use {
        case .field(let model, let field, let type):
            let target = Self.fieldExpression(model, field)
            if case .list = form {
                let item = SwiftValue.put("$0", into: value.modelValue(as: type))
                return "\(target) = .list(\(name).map { \(item) })"
            }
            let item = SwiftValue.put(name, into: value.modelValue(as: type))
            // A field that shares its source with a field that is not a list has one item.
            if case .list = type { return "\(target) = .list([\(item)])" }
            return "\(target) = \(item)"
        case .capture(let capture):
            return "captures[\(SwiftNames.literal(capture))] = " + SwiftValue.put(name, into: value.text)
        case .tail(let capture):
            let literal = SwiftNames.literal(capture)
            return "captures[\(literal)] = try RouteTable.tail(\(name), of: \(literal))"
        }
    }

    /// Returns the texts of a sample, or nil to omit the parameter.
    ///
    /// - Parameters:
    ///   - attempt: The number of the sample.
    ///   - isFull: A Boolean value that indicates whether parameters that can be omitted have values.
    func sample(_ attempt: Int, isFull: Bool) -> [String]? {
        switch form {
        case .optional where !isFull, .list(canBeOmitted: true) where !isFull: nil
        default: candidates.isEmpty ? nil : candidates[attempt % candidates.count]
        }
    }

    /// Adds the texts of a sample to the arguments of a link, as the statements do.
    func add(_ texts: [String]?, to arguments: inout Arguments) {
        for use in uses {
            switch use {
            case .field(let model, let field, let type):
                guard let texts else { continue }
                if case .list = type {
                    arguments.models[model, default: [:]][field] = .list(texts.map(type.modelValue))
                } else if let text = texts.first {
                    arguments.models[model, default: [:]][field] = type.modelValue(text)
                }
            case .capture(let name): arguments.captures[name] = texts?.first
            case .tail(let name): arguments.captures[name] = (texts ?? []).joined(separator: "/")
            }
        }
    }

    /// Returns the argument for a sample in source code, or nil if it is omitted.
    func expression(_ texts: [String]?) -> String? {
        guard let texts else { return nil }
        let items = texts.map(value.expression)
        let argument = if case .list = form { "[" + items.joined(separator: ", ") + "]" } else { items.first ?? "" }
        return "\(SwiftNames.label(label)): \(argument)"
    }
}
