internal import LinkCoordinator
internal import RouteAnalysis
internal import StrictJSON

/// A remark about an imported table, with its place in the source.
package struct ImportNote: Sendable, Hashable {
    /// The kind of a remark.
    package enum Kind: String, Sendable, CaseIterable {
        /// The source does not say it, so the author of the table has to.
        case unknown
        /// The table leaves out links that the source opens.
        case leavesOut = "leaves out"
        /// The table opens links that the source does not.
        case opensMore = "opens more"
    }

    package var kind: Kind
    /// The remark, without a period at its end.
    package var message: String
    /// The line in the source, starting at 1, or 0 for a remark about the whole source.
    package var line = 0
    /// The column in the source in Unicode scalars, starting at 1, or 0.
    package var column = 0
    /// The JSON pointer in the source, or nil for none.
    package var pointer: String?

    init(_ kind: Kind, _ message: String, at place: AssociationProblem.Place = .init()) {
        self.kind = kind
        self.message = message
        (line, column, pointer) = (place.line, place.column, place.pointer)
    }
}

/// A table that is made from the description of links of another system.
struct TableDraft {
    /// A pattern, with the scheme and host if the table has several.
    struct Pattern: Hashable {
        var pieces: [PatternPiece]
        var scheme: String?
        var host: String?
    }

    /// A condition on the query: a text, `*`, or nil for an absent name.
    struct Condition: Hashable {
        var name: String
        var value: String?
    }

    /// A query item, or a capture of a given name, that a screen receives.
    struct Field: Hashable {
        var name: String
        var type: String
        var source: String
    }

    /// A route.
    struct Route {
        /// The wanted id.
        var name: String
        var patterns: [Pattern] = []
        var query: [Condition] = []
        var fields: [Field] = []
        /// A Boolean value that indicates whether links of the route stay outside the app.
        var isExcluded = false
        /// The coordinator and the screen, or nil for a screen of the route's own.
        var screen: (coordinator: String, name: String)?
        /// The screens below, as coordinator paths.
        var parents: [String] = []
        var place = AssociationProblem.Place()
        /// A Boolean value that indicates whether the route excludes links that its part of the source does not.
        var isWider = false
        /// The priority among routes that are equally specific, or nil for none.
        var priority: Int?
        /// The id, which is set at the end.
        var id = ""
        /// The ids of routes that match some of the same links.
        var overlaps: Set<String> = []
    }

    /// A link block.
    struct Block {
        var schemes: [String]
        /// The hosts, or nil if the host of a link is its first segment.
        var hosts: [String]?
        /// A Boolean value that indicates whether the source compares schemes exactly.
        var isExact = false
    }

    /// The maximum number of routes.
    static let maxRoutes = 500
    /// The maximum number of patterns of all routes.
    static let maxPatterns = 2000
    private static let maxRounds = 16
    /// The limit on the work of the proof that a link selects each route.
    private static let maxWork = 20_000_000

    var id: String
    var applications: [String] = []
    var blocks: [Block] = []
    var foldsCase = false
    /// A Boolean value that indicates whether the source does not open links with empty segments.
    var rejectsEmptySegments = true
    /// The outcome of links that stay outside the app.
    var excludedOutcome = "external"
    var routes: [Route] = []
    /// The initial screens of coordinators, by the name of the coordinator.
    var initials: [String: String] = [:]
    /// Screens without a route of their own, by the name of the coordinator.
    var otherScreens: [(coordinator: String, name: String)] = []
    private(set) var notes: [ImportNote] = []
    private var known = Set<ImportNote>()

    init(id: String) { self.id = id }

    mutating func note(_ kind: ImportNote.Kind, _ message: String, at place: AssociationProblem.Place = .init()) {
        let note = ImportNote(kind, message, at: place)
        if known.insert(note).inserted { notes.append(note) }
    }

    /// Adds a remark, or adds an example to one of the same kind at the same place.
    mutating func note(
        _ kind: ImportNote.Kind, _ message: String, at place: AssociationProblem.Place, example: String?
    ) {
        let text = example.map { ", such as \($0)" } ?? ""
        let same = notes.firstIndex {
            $0.kind == kind && $0.line == place.line && $0.column == place.column && place.line > 0
        }
        if let same, !notes[same].message.contains(", such as ") {
            notes[same].message += text
        } else if same == nil {
            note(kind, message + text, at: place)
        }
    }

    // MARK: Names

    /// Returns a Boolean value that indicates whether a text has one of some characters, which a table would read as
    /// something else.
    static func has(_ text: String, anyOf characters: String) -> Bool {
        text.unicodeScalars.contains { characters.unicodeScalars.contains($0) }
    }

    /// Returns a text as a name: what is not allowed in a name becomes `-`.
    static func name(_ text: String, _ rule: NameRule = .path, or base: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8.drop(while: { !NameRule.path.matches(String(Unicode.Scalar($0))) })
            .prefix(NameRule.maxBytes - 8)
        {
            if rule.continues(byte) { bytes.append(byte) } else if bytes.last != UInt8(ascii: "-") { bytes.append(45) }
        }
        while bytes.last == UInt8(ascii: "-") { bytes.removeLast() }
        let name = String(decoding: bytes, as: UTF8.self)
        return rule.matches(name) && !NameRule.isReserved(name) ? name : base
    }

    /// Returns a name, with a number if it is taken.
    static func unique(_ name: String, _ taken: inout Set<String>) -> String {
        var number = 1
        var own = name
        while !taken.insert(own).inserted {
            number += 1
            own = "\(name)-\(number)"
        }
        return own
    }

    /// Returns the literal segments of patterns as a name.
    static func name(of patterns: [Pattern], or base: String) -> String {
        let texts = (patterns.first?.pieces ?? []).compactMap { piece in
            switch piece {
            case .literal(let text): text
            case .capture(let prefix, _, let suffix, _): prefix + suffix
            case .tail: nil
            }
        }
        return name(texts.filter { !$0.isEmpty }.joined(separator: "-"), or: base)
    }

    // MARK: Finishing

    /// Returns the table, which is valid, and its text, with an example for each route.
    ///
    /// Routes that overlap declare it. Routes that the table cannot have are left out, with a remark. If the first part
    /// of the source that matches a link decides, the table decides in the same way.
    mutating func finish() throws(AssociationProblem) -> (table: RouteTable, json: String) {
        try checkCount()
        removeRepeated()
        var ids: Set<String> = ["app"]
        for index in routes.indices { routes[index].id = Self.unique(routes[index].name, &ids) }
        decideInOrder()
        joinScreens()
        for _ in 0..<Self.maxRounds {
            declareOverlaps()
            var loader = TableLoader(Array(text([]).utf8))
            loader.prove(WorkBudget(perSearch: 200_000, total: Self.maxWork))
            let (table, problems, _) = loader.finish()
            if let table {
                for problem in problems where problem.code == .noOverlap { removeOverlap(problem.routes) }
                if problems.contains(where: { $0.code == .unproved }) {
                    note(.unknown, "whether a link selects each route, because the proof ended at its limit")
                }
                let json = text(table.source.routes.compactMap { route in example(of: route, in: table) })
                return (try RouteTable.imported(json), json)
            }
            guard leaveOut(problems) else { break }
        }
        return (try RouteTable.imported(text([])), text([]))
    }

    /// Throws if the routes and further patterns are too many for a table.
    ///
    /// The parts of a file multiply, so their number is checked before they are listed.
    func checkCount(adding count: Int = 0) throws(AssociationProblem) {
        guard routes.count <= Self.maxRoutes, routes.reduce(count, { $0 + $1.patterns.count }) <= Self.maxPatterns
        else {
            throw AssociationProblem(
                .error, .limit,
                "the table would have more than \(Self.maxRoutes) routes or \(Self.maxPatterns) patterns")
        }
    }

    /// Removes patterns that an earlier part of the source has with the same or fewer conditions.
    private mutating func removeRepeated() {
        var seen: [Pattern: [(conditions: Set<Condition>, route: Int)]] = [:]
        for (index, route) in routes.enumerated() {
            let conditions = Set(route.query)
            routes[index].patterns = route.patterns.filter { own in
                var pattern = own
                pattern.pieces = pattern.pieces.map(\.withoutName)
                guard let same = seen[pattern]?.first(where: { $0.conditions.isSubset(of: conditions) }) else {
                    seen[pattern, default: []].append((conditions, index))
                    return true
                }
                noteHidden(own, of: route, by: routes[same.route])
                return false
            }
        }
        routes.removeAll(where: \.patterns.isEmpty)
    }

    /// Makes the paths of one screen patterns of one route.
    private mutating func joinScreens() {
        var joined: [Route] = []
        for route in routes {
            let same = joined.firstIndex { other in
                guard let screen = route.screen, let known = other.screen else { return false }
                return known == screen && other.query == route.query && other.parents == route.parents
            }
            if let same { joined[same].patterns += route.patterns } else { joined.append(route) }
        }
        routes = joined
    }

    private mutating func removeOverlap(_ names: [String]) {
        for index in routes.indices where names.contains(routes[index].id) { routes[index].overlaps.subtract(names) }
    }

    /// Removes the patterns and routes of problems, and returns whether there were any.
    ///
    /// A pattern that no link selects is removed alone. If the table refuses an exclusion, what follows it goes too.
    private mutating func leaveOut(_ problems: [TableProblem]) -> Bool {
        var hasChanged = false
        var patterns: [Int: Set<Int>] = [:]
        var refused = Set<Int>()
        for problem in problems where problem.severity == .error {
            let steps = problem.location.pointer.split(separator: "/")
            guard steps.count > 1, steps[0] == "routes", let index = Int(steps[1]), routes.indices.contains(index)
            else {
                continue
            }
            let number =
                steps.count < 3 ? nil : steps[2] == "match" ? 0 : steps.count > 3 ? Int(steps[3]).map { $0 + 1 } : nil
            if problem.code == .unreachable, let number {
                patterns[index, default: []].insert(number)
            } else {
                refused.insert(index)
            }
            hasChanged = true
        }
        if let first = refused.filter({ routes[$0].isExcluded }).min() {
            refused.formUnion(routes.indices.filter { $0 > first && !routes[$0].isExcluded })
        }
        for index in refused.sorted() where !routes[index].isExcluded {
            note(
                .leavesOut,
                "the route for `\(routes[index].patterns.first?.pieces.pattern ?? "")`, which the table cannot have "
                    + "beside the others", at: routes[index].place)
        }
        for (index, numbers) in patterns {
            routes[index].patterns = routes[index].patterns.enumerated().filter { !numbers.contains($0.offset) }
                .map(\.element)
        }
        for index in refused { routes[index].patterns = [] }
        routes.removeAll(where: \.patterns.isEmpty)
        return hasChanged
    }

    private func example(of route: TableSource.Route, in table: RouteTable) -> JSONValue? {
        guard var link = SampleLinks.first(of: route, in: table) else { return nil }
        // The sample of a query item is one digit, which is shorter than some fields allow.
        for field in routes.first(where: { $0.id == route.id.value })?.fields ?? [] {
            let least = Int(field.type.drop { $0 != "(" }.dropFirst().prefix { $0 != "." }) ?? 1
            link = link.replacing(
                "\(field.source.dropFirst("query.".count))=1",
                with: "\(field.source.dropFirst("query.".count))=" + String(repeating: "1", count: least))
        }
        let decision = table.resolve(link)
        return .members([
            ("link", .string(link)), ("outcome", .string(decision.outcome.rawValue)),
            ("route", .string(route.id.value)),
            ("path", decision.stack.isEmpty ? nil : decision.path.map { .string($0) }),
        ])
    }
}
