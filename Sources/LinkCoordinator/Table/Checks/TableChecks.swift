/// Checks a table that was read: every rule of route-table.md, 2.3; what needs a proof over languages is in `Proof`.
///
/// Where reading was incomplete, what would only follow from that is not complained of.
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
        for index in source.routes.indices { checks.checkRoute(index) }
        checks.checkRedirectEnds()
        checks.checkParentRoutes()
        checks.checkFallback()
        TotalityProof.run(source, into: &checks.problems) { !reading.damage.routes.contains($0.offset) }
        if reading.damage.sparesPatterns { OverlapProof.run(source, into: &checks.problems) }
        return checks.problems
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
            suggestion: NearestName.of(name.value, among: known).map { "did you mean '\($0)'?" }, routes: routes)
    }

    /// Whether a route read whole.
    func isWhole(_ route: TableSource.Route) -> Bool { !damage.routes.contains(route.offset) }
}
