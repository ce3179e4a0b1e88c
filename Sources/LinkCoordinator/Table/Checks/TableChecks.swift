/// The structural checks of a table that was read.
///
/// `RouteAnalysis` finds the problems that require a proof about all possible links.
///
/// If reading was incomplete, problems that are only a consequence of that are not reported. When the list is full of
/// errors, the checks stop.
package struct TableChecks {
    let source: TableSource
    let names: TableNames
    let damage: TableDamage
    var problems: ProblemList

    /// The routes that redirect to each route by id, directly or through other routes within the limit of redirects.
    let redirectors: [[Int]]

    /// The names of the screens of all coordinators.
    let screenNames: Set<String>

    /// Checks the table and returns all problems, including those of reading.
    package static func run(_ reading: TableReading) -> ProblemList {
        guard let source = reading.source else { return reading.problems }
        var checks = TableChecks(source, problems: reading.problems, damage: reading.damage)
        checks.checkCoordinators()
        checks.checkGuards()
        for index in source.routes.indices where !checks.problems.isFull { checks.checkRoute(index) }
        checks.checkWhole()
        return checks.problems
    }

    /// Checks all routes together.
    private mutating func checkWhole() {
        if problems.isFull { return }
        checkRedirectEnds()
        checkParentRoutes()
        checkFallback()
    }

    private init(_ source: TableSource, problems: ProblemList, damage: TableDamage) {
        self.source = source
        self.problems = problems
        self.damage = damage
        names = TableNames(source)
        redirectors = Self.redirectors(source, names)
        screenNames = Set(names.screens.flatMap(\.keys))
    }

    private static func redirectors(_ source: TableSource, _ names: TableNames) -> [[Int]] {
        var direct = [[Int]](repeating: [], count: source.routes.count)
        for (index, route) in source.routes.enumerated() {
            if case .redirect(.route(let id)) = route.action, let target = names.routes[id.value] {
                direct[target].append(index)
            }
        }
        return source.routes.indices.map { route in
            var found = Set<Int>()
            var reached = direct[route]
            for _ in 0..<maxRedirects where !reached.isEmpty {
                reached = reached.filter { found.insert($0).inserted }.flatMap { direct[$0] }
            }
            return found.sorted()
        }
    }

    /// Reports an unknown name, with the nearest known name as the suggestion.
    mutating func unknown(
        _ code: TableProblem.Code, _ name: Located<String>, _ what: String, among known: some Sequence<String>,
        routes: [String] = []
    ) {
        unknown(code, name, message: "there is no \(what) `\(name.value)`", among: known, routes: routes)
    }

    /// Reports an unknown name with the given message, and the nearest known name as the suggestion.
    ///
    /// - Parameter addition: The suggestion if no name is known.
    mutating func unknown(
        _ code: TableProblem.Code, _ name: Located<String>, message: String, among known: some Sequence<String>,
        addition: String = "declare it, or remove the reference to it", routes: [String] = []
    ) {
        // Comparing names for every one of many problems would take quadratic time.
        let compared = problems.count < ProblemList.maxCount ? Array(known) : []
        problems.error(
            code, at: name.offset, message, suggestion: Self.advice(name.value, compared, addition), routes: routes)
    }

    /// Returns a suggestion for an unknown name: the nearest known name, or the likely intention.
    private static func advice(_ name: String, _ known: [String], _ addition: String) -> String? {
        if name.hasPrefix(":") { return "remove it from the path, and bind the value in `bind`" }
        let parts = name.split { ",|; ".contains($0) }
        if parts.count > 1, parts.allSatisfy({ known.contains(String($0)) }) {
            return "write [\(parts.map { "\"\($0)\"" }.joined(separator: ", "))]"
        }
        if let nearest = NearestName.of(name, among: known) { return "did you mean `\(nearest)`?" }
        let dotted = name.split(separator: ".")
        if dotted.count == 2, known.contains(String(dotted[0])) { return "write `/\(dotted[0])/\(dotted[1])`" }
        if known.isEmpty { return addition }
        return known.count > 8 ? nil : "use \(known.sorted().map { "`\($0)`" }.joined(separator: ", "))"
    }

    /// Returns a Boolean value that indicates whether a route was read completely.
    func isWhole(_ route: TableSource.Route) -> Bool { !damage.routes.contains(route.offset) }
}
