internal import LinkCoordinator
internal import StrictJSON

extension TableDraft {
    /// The coordinator of screens that the source does not name.
    static let coordinator = "app"

    /// Returns the text of the table.
    func text(_ examples: [JSONValue]) -> String {
        var members: [(String, JSONValue.Kind?)] = [
            ("schemaVersion", .number("1")),
            (
                "table",
                .members([
                    ("id", .string(id)), ("version", .string("1")),
                    ("applications", applications.isEmpty ? nil : .strings(applications)),
                ])
            ),
            ("link", .list(blocks.map(json))),
        ]
        let screens = self.screens
        let models = screens.compactMap { screen in
            screen.model.map { ($0, JSONValue.Kind.members(screen.fields.map { ($0.name, .string($0.type)) })) }
        }
        if !models.isEmpty { members.append(("models", .members(models))) }
        if !screens.isEmpty { members.append(("coordinators", coordinators(screens))) }
        members.append(
            (
                "routes",
                .array(routes.map { route in json(route, screens.first { $0.is(self.screen(of: route)) }) })
            ))
        if !examples.isEmpty { members.append(("examples", .array(examples))) }
        return JSONLayout.text(JSONValue(.members(members))) + "\n"
    }

    private func json(_ block: Block) -> JSONValue.Kind {
        var path: [(String, JSONValue.Kind?)] = foldsCase ? [("case", .string("insensitive"))] : []
        if rejectsEmptySegments { path.append(("emptySegments", .string("reject"))) }
        let readsQuery = routes.contains { !$0.query.isEmpty }
        // A name that occurs twice then equals no text.
        let query: [(String, JSONValue.Kind?)] = [
            ("names", foldsCase ? .string("insensitive") : nil), ("duplicates", .string("reject")),
        ]
        return .members([
            ("schemes", .strings(block.schemes)), ("schemeCase", block.isExact ? .string("exact") : nil),
            ("host", .string(block.hosts == nil ? "segment" : "authority")),
            ("hosts", block.hosts.map { .strings($0) }),
            ("path", path.isEmpty ? nil : .members(path)),
            ("query", readsQuery ? .members(query) : nil),
        ])
    }

    /// A screen with the model of its data.
    private struct Screen {
        var coordinator: String
        var name: String
        var model: String?
        var fields: [Field] = []

        func `is`(_ other: (coordinator: String, name: String)) -> Bool {
            coordinator == other.coordinator && name == other.name
        }
    }

    private func screen(of route: Route) -> (coordinator: String, name: String) {
        route.screen ?? (Self.coordinator, route.id)
    }

    /// The screens of all routes, each with the fields of all routes that lead to it.
    private var screens: [Screen] {
        var screens: [Screen] = []
        var names = Set<String>()
        for route in routes where !route.isExcluded {
            let (coordinator, name) = screen(of: route)
            let fields = fields(of: route)
            guard let index = screens.firstIndex(where: { $0.is((coordinator, name)) }) else {
                let isInitial = initials[coordinator] == name
                screens.append(
                    Screen(coordinator: coordinator, name: name, fields: isInitial ? fields.map(\.optional) : fields))
                continue
            }
            // What only one of the routes has can be missing.
            screens[index].fields = screens[index].fields.map { fields.contains($0) ? $0 : $0.optional }
            for field in fields where !screens[index].fields.contains(where: { $0.name == field.name }) {
                screens[index].fields.append(field.optional)
            }
        }
        for index in screens.indices where !screens[index].fields.isEmpty {
            screens[index].model = Self.unique(Self.modelName(screens[index].name), &names)
        }
        for other in otherScreens where !screens.contains(where: { $0.is(other) }) {
            screens.append(Screen(coordinator: other.coordinator, name: other.name))
        }
        return screens
    }

    private func coordinators(_ screens: [Screen]) -> JSONValue.Kind {
        var order: [String] = []
        for screen in screens where !order.contains(screen.coordinator) { order.append(screen.coordinator) }
        return .members(
            order.map { name in
                let own = screens.filter { $0.coordinator == name }.map { screen in
                    (screen.name, JSONValue.Kind.members([("needs", screen.model.map { .strings([$0]) })]))
                }
                return (
                    name, .members([("initial", initials[name].map { .string($0) }), ("screens", .members(own))])
                )
            })
    }

    private func json(_ route: Route, _ screen: Screen?) -> JSONValue {
        let screen = route.isExcluded ? nil : screen
        let fields = route.isExcluded ? [] : fields(of: route)
        let patterns = route.patterns.map { pattern -> JSONValue.Kind in
            let path = JSONValue.Kind.string(pattern.pieces.pattern ?? "")
            if pattern.scheme == nil, pattern.host == nil { return path }
            return .members([
                ("path", path), ("scheme", pattern.scheme.map { .string($0) }),
                ("host", pattern.host.map { .string($0) }),
            ])
        }
        let query = route.query.map { ($0.name, $0.value.map { JSONValue.Kind.string($0) } ?? .null) }
        let target = screen.map {
            JSONValue.Kind.members([
                ("path", .string("/\($0.coordinator)/\($0.name)")),
                ("parents", route.parents.isEmpty ? nil : .strings(route.parents)),
            ])
        }
        let sources = JSONValue.Kind.members(fields.map { ($0.name, .string($0.source)) })
        return .members([
            ("id", .string(route.id)), ("match", patterns.first),
            ("alias", patterns.count > 1 ? .list(Array(patterns.dropFirst())) : nil),
            ("query", query.isEmpty ? nil : .members(query)),
            ("priority", route.priority.map { .number(String($0)) }),
            ("overlaps", route.overlaps.isEmpty ? nil : .strings(route.overlaps.sorted())),
            ("to", target),
            ("exclude", route.isExcluded ? .members([("outcome", .string(excludedOutcome))]) : nil),
            ("bind", fields.isEmpty ? nil : screen?.model.map { .members([($0, sources)]) }),
        ])
    }

    /// Returns the fields for everything that the patterns of a route capture, and for items of its query.
    private func fields(of route: Route) -> [Field] {
        var fields: [Field] = []
        let captures = route.patterns.map { pattern in
            (try? PatternParser.parse(pattern.pieces.pattern ?? "", foldsCase: foldsCase))?.first?.captures ?? []
        }
        for capture in captures.joined() where !fields.contains(where: { $0.name == capture.name }) {
            let isEverywhere = captures.allSatisfy { $0.contains { $0.name == capture.name } }
            fields.append(
                Field(
                    name: capture.name, type: capture.isTail ? "list<string>" : isEverywhere ? "string" : "string?",
                    source: "path.\(capture.name)"))
        }
        return fields + route.fields
    }

    private static func modelName(_ name: String) -> String {
        let words = name.split { !$0.isLetter && !$0.isNumber }.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return Self.name(words.joined(), .identifier, or: "Data")
    }
}

extension TableDraft.Field {
    /// The field of a screen to which some routes lead without it.
    fileprivate var optional: TableDraft.Field {
        var field = self
        if !type.hasSuffix("?"), !type.hasPrefix("list") { field.type += "?" }
        return field
    }
}

extension RouteTable {
    /// Reads an imported table, without repeating its proofs.
    ///
    /// A refused table is an error of the import, not of its source.
    static func imported(_ json: String) throws(AssociationProblem) -> RouteTable {
        do throws(RouteTableError) {
            return try RouteTable(json: json.utf8)
        } catch {
            throw AssociationProblem(
                .error, .value, "the table would be refused: \(error.problems.first?.message ?? "")")
        }
    }
}

extension JSONValue {
    /// Creates an object without the members that are nil.
    static func members(_ members: [(String, Kind?)]) -> JSONValue { JSONValue(.members(members)) }
}

extension JSONValue.Kind {
    /// Creates an object without the members that are nil.
    static func members(_ members: [(String, JSONValue.Kind?)]) -> JSONValue.Kind {
        .object(members.compactMap { name, kind in kind.map { JSONMember(name: name, value: JSONValue($0)) } })
    }

    /// Creates an array.
    static func list(_ kinds: [JSONValue.Kind]) -> JSONValue.Kind { .array(kinds.map { JSONValue($0) }) }

    /// Creates an array of strings.
    static func strings(_ texts: [String]) -> JSONValue.Kind { .list(texts.map { .string($0) }) }
}

/// The layout of JSON for people: an object or array takes one line if it fits.
enum JSONLayout {
    private static let width = 118

    /// Returns a value as text.
    static func text(_ value: JSONValue) -> String { text(value, indent: 0, start: 0) }

    private static func text(_ value: JSONValue, indent: Int, start: Int) -> String {
        let short = line(value)
        let isSmall = indent > 0 && start + short.utf8.count <= width
        if isSmall { return short }
        let space = String(repeating: " ", count: indent + 2)
        let end = "\n" + String(repeating: " ", count: indent)
        switch value.kind {
        case .object(let members) where !members.isEmpty:
            let lines = members.map { member in
                let name = space + JSONValue(.string(member.name)).text + ": "
                return name + text(member.value, indent: indent + 2, start: name.utf8.count + 1)
            }
            return "{\n" + lines.joined(separator: ",\n") + end + "}"
        case .array(let elements) where !elements.isEmpty:
            let lines = elements.map { space + text($0, indent: indent + 2, start: indent + 3) }
            return "[\n" + lines.joined(separator: ",\n") + end + "]"
        default: return short
        }
    }

    private static func line(_ value: JSONValue) -> String {
        switch value.kind {
        case .object(let members) where !members.isEmpty:
            let texts = members.map { JSONValue(.string($0.name)).text + ": " + line($0.value) }
            return "{ " + texts.joined(separator: ", ") + " }"
        case .array(let elements): return "[" + elements.map(line).joined(separator: ", ") + "]"
        default: return value.text
        }
    }
}
