internal import LinkCoordinator

/// The enumeration of a table's links: a case for each route, and a function that writes the link with the table.
///
/// Routes that redirect or are excluded are omitted, because no new links to them should be created.
struct SwiftLinks {
    /// A case of the enumeration.
    private struct Case {
        var name: String
        var route: String
        var pattern: String
        var parameters: [SwiftParameter] = []
        /// The values of fields that the route's query constraints determine.
        var constants: [Constant] = []
        /// Texts of the parameters of sample links.
        var samples: [[[String]?]] = []
    }

    /// A value of a field that a query constraint determines.
    private struct Constant {
        var model: String
        var field: String
        var type: FieldType
        var text: String
        /// A Boolean value that indicates whether the field is written only if the model has other values.
        var followsOthers: Bool
    }

    private let table: RouteTable
    private let names: SwiftTypeNames
    private var cases: [Case] = []
    /// Notes about the routes that the enumeration omits.
    private(set) var notes = ExportNotes()
    /// Expressions for sample values of all cases.
    private(set) var samples: [String] = []
    /// The routes for which no link with sample values could be written, with the error of the first attempt.
    private(set) var failures: [(route: String, error: LinkError)] = []

    /// Creates the enumeration.
    init(_ table: RouteTable, names: SwiftTypeNames, enumerations: SwiftEnumerations) {
        self.table = table
        self.names = names
        for route in table.source.routes { add(route, enumerations) }
        var caseNames = SwiftNames.names(
            reserving: SwiftNames.ofEnumerations.union(["link", "route", "table", "values", "json"]))
        let named = caseNames.assign(cases.map(\.route))
        for index in cases.indices {
            cases[index].name = named[cases[index].route] ?? cases[index].route
            samples += cases[index].samples.map { expression(cases[index], $0) }
        }
    }

    private mutating func add(_ route: TableSource.Route, _ enumerations: SwiftEnumerations) {
        let id = route.id.value
        if case .redirect = route.action { return notes.add("route \(id) redirects: it has no case") }
        if case .exclude = route.action { return notes.add("route \(id) is excluded: it has no case") }
        guard let pattern = route.casePattern else {
            return notes.add("route \(id) has no pattern: it has no case")
        }
        let builder = SwiftParameters(route, pattern, in: table.source, enumerations)
        var one = Case(name: "", route: id, pattern: pattern.path.text, parameters: builder.parameters)
        one.constants = builder.constants.map { field, text in
            Constant(
                model: field.model, field: field.name, type: field.type, text: text,
                followsOthers: builder.modelsCanBeOmitted)
        }
        switch sample(one) {
        case .success(let samples):
            one.samples = samples
            cases.append(one)
        case .failure(let error):
            if builder.needsPayload {
                notes.add("route \(id) takes required values from push payloads: it has no case")
            } else {
                failures.append((id, error))
            }
        }
    }

    /// Writes links with sample values until one comes back with the required values, and one with all values.
    private func sample(_ one: Case) -> Result<[[[String]?]], LinkError> {
        var samples: [[[String]?]] = []
        var failure: LinkError?
        for isFull in [false, true] {
            for attempt in 0..<SwiftParameters.attempts {
                let sample = one.parameters.map { $0.sample(attempt, isFull: isFull) }
                if samples.contains(sample) { break }
                do throws(LinkError) {
                    _ = try link(one, sample)
                    samples.append(sample)
                    break
                } catch {
                    failure = failure ?? error
                }
            }
        }
        if samples.isEmpty, let failure { return .failure(failure) }
        return .success(samples)
    }

    private func link(_ one: Case, _ sample: [[String]?]) throws(LinkError) -> String {
        var arguments = SwiftParameter.Arguments()
        for (parameter, texts) in zip(one.parameters, sample) { parameter.add(texts, to: &arguments) }
        for constant in one.constants where !constant.followsOthers || arguments.models[constant.model] != nil {
            let value = constant.type.modelValue(constant.text)
            arguments.models[constant.model, default: [:]][constant.field] = value
        }
        return try table.link(route: one.route, models: Models(arguments.models), captures: arguments.captures)
    }

    private func expression(_ one: Case, _ sample: [[String]?]) -> String {
        let values = zip(one.parameters, sample).compactMap { $0.expression($1) }
        return "\(names.link).\(SwiftNames.code(one.name))"
            + (one.parameters.isEmpty ? "" : "(" + values.joined(separator: ", ") + ")")
    }
}

// MARK: - The declarations

extension SwiftLinks {
    /// The declaration of the enumeration.
    var lines: [String] {
        var lines = [
            "/// A link of the table `\(table.id)`, by its route.",
            "public nonisolated enum \(names.link): Sendable, Hashable {",
        ]
        for one in cases {
            lines.append("    /// `\(Escaping.visible(one.pattern))`")
            for parameter in one.parameters { lines.append("    /// - \(parameter.label): \(parameter.documentation)") }
            lines += Self.declaration(one)
        }
        lines += ["", "    /// The id of the route.", "    public var route: String {"]
        lines += switchLines { one in ([], ["return \(SwiftNames.literal(one.route))"]) }
        lines += ["    }", ""] + linkLines + [""] + valueLines + ["}"]
        return lines
    }

    private static func declaration(_ one: Case) -> [String] {
        SwiftLines.call("case \(SwiftNames.code(one.name))", one.parameters.map(\.declaration), indent: 4)
    }

    private var linkLines: [String] {
        [
            "    /// Returns the link.", "    ///",
            "    /// The table resolves the link before it is returned, so that values that another route matches, or",
            "    /// that the table does not accept, are an error.", "    ///",
            "    /// - Parameters:",
            "    ///   - scheme: The scheme of the link, or nil for the first one of the table that works.",
            "    ///   - host: The host of the link, or nil for the first one of the table that works.",
            "    /// - Returns: The link.", "    /// - Throws: A `LinkError` if there is no such link.",
            "    public func link(scheme: String? = nil, host: String? = nil) throws(LinkError) -> String {",
            "        let table: RouteTable", "        do {", "            table = try Self.table.get()",
            "        } catch {", "            throw LinkError(error)", "        }",
            "        let (models, captures) = try values()",
            "        return try table.link(",
            "            route: route, models: models, captures: captures, scheme: scheme, host: host)",
            "    }", "",
            "    /// The table from which this file was generated, or its problems for this version of the library.",
            "    ///", "    /// The table is loaded when it is first used.",
            "    public static let table = Result<RouteTable, RouteTableError> { () throws(RouteTableError) in",
            "        try RouteTable(json: json.utf8)", "    }",
        ]
    }

    private var valueLines: [String] {
        let head = [
            "    /// The values of the link.",
            "    private func values() throws(LinkError) -> (models: Models, captures: [String: String]) {",
        ]
        if cases.isEmpty { return head + switchLines { _ in ([], []) } + ["    }"] }
        let bodies = cases.map { one in one.parameters.flatMap(\.statements) + one.constants.flatMap(Self.statement) }
        let all = bodies.joined()
        let models = all.contains { $0.contains("models[") } ? "var" : "let"
        let captures = all.contains { $0.contains("captures[") } ? "var" : "let"
        var lines = [
            "        \(models) models = Models()",
            "        \(captures) captures: [String: String] = [:]",
        ]
        var next = bodies.makeIterator()
        lines += switchLines { one in
            let body = next.next() ?? []
            return (one.parameters.map { "let \(SwiftNames.code($0.label))" }, body.isEmpty ? ["break"] : body)
        }
        return head + lines + ["        return (models, captures)", "    }"]
    }

    private static func statement(_ constant: Constant) -> [String] {
        let value: String
        switch constant.type.modelValue(constant.text) {
        case .bool(let bool): value = ".bool(\(bool))"
        case .number(let text): value = ".number(\(SwiftNames.literal(text)))"
        default: value = ".text(\(SwiftNames.literal(constant.text)))"
        }
        let item = if case .list = constant.type { ".list([\(value)])" } else { value }
        let target = SwiftParameter.fieldExpression(constant.model, constant.field)
        let lines = SwiftLines.assignment("\(target) = \(item)", indent: 16)
        guard constant.followsOthers else { return lines }
        return ["if models[\(SwiftNames.literal(constant.model))] != nil {"] + lines.map { "    " + $0 } + ["}"]
    }

    private func switchLines(_ body: (Case) -> (values: [String], lines: [String])) -> [String] {
        // A table without routes still produces a file that compiles.
        guard !cases.isEmpty else { return ["        switch self {}"] }
        return ["        switch self {"]
            + cases.flatMap { one -> [String] in
                let (values, lines) = body(one)
                let pattern = SwiftLines.call("case .\(SwiftNames.code(one.name))", values, end: ":", indent: 8)
                return pattern + lines.map { "            " + $0 }
            } + ["        }"]
    }
}
