internal import LinkCoordinator

/// A source of a value in a request.
enum ValueSource: Hashable {
    /// A name of the query.
    case query(String)
    /// A capture of the pattern that was selected last.
    case path(String)
    /// A capture of a rewrite.
    case rewrite(String)
    /// The fragment.
    case fragment
    /// A JSON pointer of a payload.
    case payload(JSONPath)
}

/// The inputs on which the decision about some links can depend, in addition to the patterns that they select.
///
/// They come from the routes of one or two tables, with the routes that they redirect to, their parents, targets,
/// screens, and guards.
struct Dependencies {
    /// A source of a value with the types of the fields that are bound from it.
    ///
    /// There are no types if the value only becomes part of a text.
    struct Input {
        var source: ValueSource
        /// The types of the fields.
        var types: [FieldType] = []
        /// The types of the fields that reject the link if the value has another type.
        var strict: [FieldType] = []
    }

    /// The sources of values.
    private(set) var inputs: [Input] = []

    /// The facts of devices, and the query parameters in conditions, that the decision depends on.
    private(set) var questions = DeviceQuestions()

    /// A Boolean value that indicates whether a target is a path that the link contains.
    private(set) var hasCapturedPath = false

    /// The fields of each table in the order of their evaluation.
    ///
    /// If the orders differ, decisions can differ for pairs of invalid values.
    private(set) var order: [[String]] = []

    private var visited = Set<[Int]>()

    /// Creates dependencies without inputs.
    init() {}

    /// Adds a route of a table and everything that it refers to by name.
    mutating func add(route number: Int, of table: ProofTable) {
        guard visited.insert([table.number, number]).inserted else { return }
        let route = table.source.routes[number]
        while order.count <= table.number { order.append([]) }
        for binding in route.bindings {
            order[table.number].append("\(binding.model.value).\(binding.field.value)")
            add(binding, of: route, table.source)
        }
        switch route.action {
        case .variants(let variants):
            for variant in variants {
                if let when = variant.when { questions.add(when, of: table.source) }
                add(variant.to, of: table)
                add(notice: variant.notice, of: table)
            }
        case .redirect(.route(let id)):
            if let next = table.names.routes[id.value] { add(route: next, of: table) }
        case .redirect(.template(let template)): add(template.value.segments.flatMap { $0 })
        case .exclude: break
        }
        if case .to(let target) = route.unsupported { add(target, of: table) }
        add(notice: route.notice, of: table)
    }

    private mutating func add(
        _ binding: TableSource.Binding, of route: TableSource.Route, _ table: TableSource
    ) {
        let model = table.models.first { $0.name.value == binding.model.value }
        let field = model?.field(named: binding.field.value)
        let source: ValueSource
        switch binding.source.value {
        case .path(let name): source = .path(name)
        case .query(let name): source = .query(name)
        case .rewrite(let name): source = .rewrite(name)
        case .payload(let pointer): source = .payload(pointer)
        case .fragment: source = .fragment
        case .constant: return
        }
        let isDropped = route.onInvalid == .drop && field?.absence != .required
        let types = field.map { [$0.type] } ?? []
        add(source, types, strict: isDropped ? [] : types)
    }

    /// Adds the names of a template, each as a capture of a pattern and as one of a rewrite.
    private mutating func add(_ parts: [TableSource.TemplatePart]) {
        for part in parts {
            switch part {
            case .text: break
            case .query(let name): add(.query(name.value))
            case .name(let name):
                add(.path(name.value))
                add(.rewrite(name.value))
            }
        }
    }

    private mutating func add(_ source: ValueSource, _ types: [FieldType] = [], strict: [FieldType] = []) {
        if let index = inputs.firstIndex(where: { $0.source == source }) {
            inputs[index].types += types
            inputs[index].strict += strict
        } else {
            inputs.append(Input(source: source, types: types, strict: strict))
        }
    }

    /// Adds the facts and query parameters of other conditions.
    mutating func add(_ others: DeviceQuestions) { questions.add(others) }

    /// Adds a target with its parents.
    mutating func add(_ target: TableSource.Target, of table: ProofTable) {
        switch target.destination {
        case .path(let segments):
            add(path: segments, of: table)
            if target.parents.isInitial, let first = table.stack(segments).first { addParents(of: first, table) }
        case .captured: hasCapturedPath = true
        case .root: break
        case .external(let template): add(template.parts)
        }
        switch target.parents {
        case .none, .initial: break
        case .route(let id): if let parent = table.names.routes[id.value] { add(route: parent, of: table) }
        case .paths(let paths): for path in paths { add(path: path.value, of: table) }
        }
    }

    private mutating func add(notice: Located<[String]>?, of table: ProofTable) {
        if let notice { add(path: notice.value, of: table) }
    }

    /// Adds the screens of a coordinator path, and their guards.
    mutating func add(path segments: [String], of table: ProofTable) {
        for entry in table.stack(segments) { add(entry, table) }
    }

    /// Adds the screens that `parents: initial` puts before an entry.
    mutating func addParents(of first: StaticStack.Entry, _ table: ProofTable) {
        for entry in StaticStack.initialParents(of: first, in: table.source, names: table.names).entries {
            add(entry, table)
        }
    }

    private mutating func add(_ entry: StaticStack.Entry, _ table: ProofTable) {
        guard visited.insert([table.number, -1, entry.coordinator, entry.screen]).inserted else { return }
        let coordinator = table.source.coordinators[entry.coordinator]
        let screen = coordinator.screens[entry.screen]
        questions.add(screen, of: table.source)
        while order.count <= table.number { order.append([]) }
        order[table.number] += screen.needs.map(\.value)
        guard let name = coordinator.guarding, let number = table.names.guards[name.value] else { return }
        let guarding = table.source.guards[number]
        questions.add(claim: guarding.claim)
        add(guarding.otherwise, of: table)
    }
}

extension TableSource.Target.Parents {
    fileprivate var isInitial: Bool { if case .initial = self { true } else { false } }
}

/// A table with its number in a comparison of two tables.
struct ProofTable {
    /// The number of the table, 0 or 1.
    let number: Int
    /// The table.
    let source: TableSource
    /// The index of the table's names.
    let names: TableNames

    /// Creates a numbered table.
    init(_ number: Int, _ source: TableSource) {
        self.number = number
        self.source = source
        names = TableNames(source)
    }

    /// Returns the entries of a static path, or none if it is not a valid stack.
    func stack(_ segments: [String]) -> [StaticStack.Entry] {
        StaticStack.entries(of: segments, in: source, names: names)
    }
}
