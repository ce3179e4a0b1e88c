internal import ByteStorage
internal import LinkCoordinator
internal import StrictJSON

/// The parts of a table as texts in the table's notation, which are equal for equal parts at any location.
enum Pieces {
    /// Returns a named part as one text.
    static func line(_ name: String, _ pieces: [String]) -> String { name + " " + pieces.joined(separator: ", ") }

    /// Returns a text in quotes.
    fileprivate static func quoted(_ text: String) -> String { JSONValue(.string(text)).text }

    /// Returns a member with one text or several.
    fileprivate static func member(_ name: String, _ texts: [String]) -> String? {
        texts.isEmpty ? nil : name + " " + texts.joined(separator: ", ")
    }
}

extension HostRule {
    var piece: String { text.isEmpty ? "\"\"" : text }
}

extension TableSource.Binding.Source {
    var piece: String { if case .constant(let text) = self { "const \(text)" } else { text } }
}

extension TableSource.Binding {
    var piece: String { "bind \(model.value).\(field.value) \(source.value.piece)" }
}

extension TableSource.Target {
    var piece: String {
        var words: [String] = []
        switch destination {
        case .path(let segments): words.append("/" + segments.joined(separator: "/"))
        case .captured(let name): words.append("{\(name.value)}")
        case .root: words.append("the root")
        case .external(let template): words.append(template.text)
        }
        switch parents {
        case .none: break
        case .initial: words.append("parents initial")
        case .route(let id): words.append("parents route:\(id.value)")
        case .paths(let paths): words += paths.map { "parents /" + $0.value.joined(separator: "/") }
        }
        if let mode { words.append("mode \(mode.rawValue)") }
        if let present { words.append("present \(present.value.rawValue)") }
        if dismissModals { words.append("dismissModals") }
        return words.joined(separator: ", ")
    }
}

extension TableSource.Condition.VersionTest {
    var piece: String { "\(relation.rawValue)\(version.text)" }
}

extension TableSource.QueryConstraint {
    var piece: String { text(holding: true) }
}

extension TableSource.Condition {
    var piece: String {
        let members = [
            Pieces.member("app", [app.map(\.piece).joined(separator: " ")].filter { !$0.isEmpty }),
            Pieces.member("os", [os.map(\.piece).joined(separator: " ")].filter { !$0.isEmpty }),
            Pieces.member("capability", capabilities.map(\.value)), Pieces.member("claim", claims.map(\.value)),
            Pieces.member("platform", platforms ?? []), Pieces.member("region", regions ?? []),
            Pieces.member("locale", locales ?? []),
        ]
        let own = attributes.map { Pieces.line("attributes." + $0.name.value, $0.values) } + query.map(\.piece)
        let all = members.compactMap { $0 } + own
        return all.isEmpty ? "{}" : all.joined(separator: " and ")
    }
}

extension TableSource.IdentityTemplate {
    var piece: String {
        let texts = parts.map { part in
            switch part {
            case .text(let text): text
            case .field(let model, let field): "{\(model).\(field)}"
            }
        }
        return Pieces.quoted(texts.joined())
    }
}

extension TableSource.Guard {
    /// The parts of the guard except its name.
    var pieces: [String] {
        var pieces = ["claim " + claim, "else to " + otherwise.piece]
        if let resume {
            pieces += [
                "resume ttl " + Pieces.quoted(Durations.text(resume.ttlSeconds * 1000)), "resume once \(resume.once)",
            ]
        }
        return pieces
    }
}

extension TableSource.Capability {
    /// The parts of the capability except its name.
    var pieces: [String] {
        let members = [
            minApp.map { "minApp " + $0.text }, minOS.map { "minOS " + $0.text },
            platforms.map { "platforms " + $0.joined(separator: ", ") },
        ]
        return members.compactMap { $0 } + ["listed \(listed)"]
    }
}

extension TableSource.Screen {
    var piece: String {
        var words = ["screen \(name.value)"]
        if !needs.isEmpty { words.append("needs " + needs.map(\.value).joined(separator: ", ")) }
        if !present.isEmpty { words.append("present " + present.map(\.value.rawValue).joined(separator: ", ")) }
        if nav { words.append("nav") }
        if let identity { words.append("identity " + identity.piece) }
        if let view { words.append("view \(view.value)") }
        if let since { words.append("since \(since.text)") }
        if let until { words.append("until \(until.text)") }
        if !requires.isEmpty { words.append("requires " + requires.map(\.value).joined(separator: ", ")) }
        return words.joined(separator: " ")
    }
}

extension TableSource.Route {
    /// The parts of the route except its id and the members that only tools read.
    var pieces: [String] {
        var pieces = patterns.filter { !$0.omitsOptionalPart }.map { "match \($0.text)" }
        pieces += query.map { "query \($0.piece.dropFirst("query.".count))" }
        if priority != 0 { pieces.append("priority \(priority)") }
        switch action {
        case .variants(let variants):
            for variant in variants {
                var words = variant.when.map { "when " + $0.piece + " " } ?? ""
                words += "to " + variant.to.piece
                if let notice = variant.notice { words += ", notice /" + notice.value.joined(separator: "/") }
                pieces.append(words)
            }
        case .redirect(let redirect): pieces.append("redirect \(redirect.text)")
        case .exclude(let outcome): pieces.append("exclude \(outcome.rawValue)")
        }
        pieces += bindings.map(\.piece)
        if onInvalid != .reject { pieces.append("onInvalid \(onInvalid.rawValue)") }
        if requireAll { pieces.append("requireAll") }
        if unknownScreen != .reject { pieces.append("unknownScreen \(unknownScreen.rawValue)") }
        switch unsupported {
        case .fallback: break
        case .truncate: pieces.append("unsupported truncate")
        case .to(let target): pieces.append("unsupported to \(target.piece)")
        }
        return pieces
    }
}

extension TableSource.LinkBlock {
    var schemeTexts: [String] {
        schemes.map(\.value) + (acceptsOtherSchemes ? ["*"] : []) + (schemeCase == .exact ? ["case-sensitive"] : [])
    }

    var hostTexts: [String] {
        hostRole == .segment ? ["the host is the first segment"] : hosts.map(\.value.piece)
    }

    var rewriteTexts: [String] {
        rewrites.map { rule in
            let own = rule.pattern.captures.first?.name
            return rule.text + (rule.name == own ? "" : " as \(rule.name ?? "")")
        }
    }

    var description: String { (schemeTexts + hostTexts + rewriteTexts).joined(separator: ", ") + ", " + dialectText }
}

extension TableSource.QueryDialect {
    var pieces: [String] {
        [
            "pairSeparators \(String(decoding: pairSeparators, as: UTF8.self))", "names \(names.rawValue)",
            "duplicates \(duplicates.rawValue)", "decode \(decode.rawValue)", "plus \(plus.rawValue)",
            "nulls \(nulls.rawValue)", "flatten \(flatten)",
        ]
    }
}

extension TableSource.PayloadPointers {
    var pieces: [String] {
        [
            "link " + link.map(\.value.text).joined(separator: ", "), "route " + (route?.value.text ?? "(none)"),
            "params " + (params?.value.text ?? "(none)"),
        ]
    }
}

extension TableSource.LinkLimits {
    var pieces: [String] {
        ["maxBytes \(maxBytes)", "maxSegments \(maxSegments)", "maxQueryItems \(maxQueryItems)"]
    }
}

extension TableSource.Externals {
    var pieces: [String] { schemes + hosts.map(\.piece) }
}

extension TableSource.FallbackRule {
    var piece: String {
        let reasons = on.map { $0.map(\.value.rawValue).joined(separator: ", ") } ?? "any reason"
        return "\(reasons): \(outcome.rawValue)" + (to.map { " " + $0.piece } ?? "")
    }
}

extension TableSource.Model {
    var pieces: [String] {
        fields.map { field in
            switch field.absence {
            case .required, .emptyList: "\(field.name.value) \(field.type.text)"
            case .null: "\(field.name.value) \(field.type.text)?"
            case .value(let text): "\(field.name.value) \(field.type.text)=\(text)"
            }
        }
    }
}

extension TableSource.Coordinator {
    var pieces: [String] {
        var own: [String] = []
        if let initial { own.append("initial \(initial.value)") }
        if let parent { own.append("parent \(parent.value)") }
        if let guarding { own.append("guard \(guarding.value)") }
        if singleSlot { own.append("slot single") }
        return own + screens.map(\.piece)
    }
}

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
    var questions: DeviceQuestions {
        var all = asked
        for (constraint, table) in constraints where asked.texts[.query(constraint.name.value)] != nil {
            var condition = TableSource.Condition(offset: 0)
            condition.query = [constraint]
            all.add(condition, of: table)
        }
        return all
    }

    /// The facts and query parameters in conditions.
    private var asked = DeviceQuestions()
    /// The query constraints of routes, whose values the links of a set can need.
    private var constraints: [(TableSource.QueryConstraint, TableSource)] = []

    /// A Boolean value that indicates whether a target is a path that the link contains.
    private(set) var hasCapturedPath = false

    /// The fields of each table in the order of their evaluation.
    ///
    /// If the orders differ, decisions can differ for pairs of invalid values.
    private(set) var order: [[String]] = []

    /// A Boolean value that indicates whether routes of both tables bind fields from other sources, or treat invalid
    /// values differently.
    var hasOtherBindings: Bool { bindings.count == 2 && bindings[0] != bindings[1] }

    /// The names in the query constraints of routes.
    private(set) var ownNames = Set<String>()

    /// The bindings of each table's routes.
    private var bindings: [Int: Set<String>] = [:]

    private var visited = Set<[Int]>()

    /// Creates dependencies without inputs.
    init() {}

    /// Adds a route of a table and everything that it refers to by name.
    mutating func add(route number: Int, of table: ProofTable) {
        guard visited.insert([table.number, number]).inserted else { return }
        let route = table.source.routes[number]
        while order.count <= table.number { order.append([]) }
        ownNames.formUnion(route.query.map(\.name.value))
        constraints += route.query.map { ($0, table.source) }
        bindings[table.number, default: []].formUnion(route.bindings.map { "\($0.piece) \(route.onInvalid.rawValue)" })
        for binding in route.bindings {
            order[table.number].append("\(binding.model.value).\(binding.field.value)")
            add(binding, of: route, table.source)
        }
        switch route.action {
        case .variants(let variants):
            for variant in variants {
                if let when = variant.when { asked.add(when, of: table.source) }
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
    mutating func add(_ others: DeviceQuestions) { asked.add(others) }

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
        asked.add(screen, of: table.source)
        while order.count <= table.number { order.append([]) }
        order[table.number] += screen.needs.map(\.value)
        guard let name = coordinator.guarding, let number = table.names.guards[name.value] else { return }
        let guarding = table.source.guards[number]
        asked.add(claim: guarding.claim)
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

extension TableSource {
    /// Returns a Boolean value that indicates whether a name is always whole segments of the path in links that some
    /// patterns match, if it has a text.
    func isWholeSegment(_ name: String, in patterns: [RoutePattern]) -> Bool {
        let captures = patterns.map { $0.path.captures.first { $0.name == name } }
        // Without a capture, the name belongs to a rewrite, which can have other text in its segment.
        let isOther = captures.contains { $0 == nil } && blocks.contains { $0.rewrites.contains { $0.name == name } }
        let own = captures.compactMap(\.self)
        return !isOther && !own.isEmpty && own.allSatisfy { $0.isTail || $0.isWholeSegment }
    }
}

extension Capture {
    /// A Boolean value that indicates whether the capture has no text beside it in its segment.
    var isWholeSegment: Bool { extent == .segment(prefix: 0, suffix: 0) }
}
