/// Checks the structure of a table that was read.
///
/// What needs a proof over languages is found by `RouteAnalysis`.
///
/// Where reading was incomplete, what would only follow from that is not complained of. Once the list is full of
/// errors, no more are looked for.
package struct TableChecks {
    let source: TableSource
    let names: TableNames
    let damage: TableDamage
    var problems: ProblemList

    /// For each route the routes that redirect to it by id, directly or through as many others as a request may take.
    let redirectors: [[Int]]

    /// Names of the screens of all coordinators.
    let screenNames: Set<String>

    /// Checks the table and gives all problems, those of reading included.
    package static func run(_ reading: TableReading) -> ProblemList {
        guard let source = reading.source else { return reading.problems }
        var checks = TableChecks(source, problems: reading.problems, damage: reading.damage)
        checks.checkCoordinators()
        checks.checkGuards()
        for index in source.routes.indices where !checks.problems.isFull { checks.checkRoute(index) }
        checks.checkWhole()
        return checks.problems
    }

    /// What concerns all routes together.
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

    /// Complains of a name that nothing has, with the nearest that there is.
    mutating func unknown(
        _ code: TableProblem.Code, _ name: Placed<String>, _ what: String, among known: some Sequence<String>,
        routes: [String] = []
    ) {
        problems.error(
            code, at: name.offset, "there is no \(what) '\(name.value)'",
            suggestion: Self.advice(name.value, problems.count < ProblemList.maxCount ? Array(known) : []),
            routes: routes)
    }

    /// What to do about an unknown name: the nearest that there is, or what it may have been meant for.
    private static func advice(_ name: String, _ known: [String]) -> String? {
        if name.hasPrefix(":") { return "data does not stand in a path: bind it" }
        let parts = name.split { ",|; ".contains($0) }
        if parts.count > 1, parts.allSatisfy({ known.contains(String($0)) }) {
            return "write [\(parts.map { "\"\($0)\"" }.joined(separator: ", "))]"
        }
        if let nearest = NearestName.of(name, among: known) { return "did you mean '\(nearest)'?" }
        let dotted = name.split(separator: ".")
        if dotted.count == 2, known.contains(String(dotted[0])) { return "write '/\(dotted[0])/\(dotted[1])'" }
        return known.isEmpty || known.count > 8
            ? nil : "there are \(known.sorted().map { "'\($0)'" }.joined(separator: ", "))"
    }

    /// Whether a route read whole.
    func isWhole(_ route: TableSource.Route) -> Bool { !damage.routes.contains(route.offset) }
}
