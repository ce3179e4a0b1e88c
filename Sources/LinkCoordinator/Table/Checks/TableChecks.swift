internal import ByteStorage

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

    /// The stacks of routes whose targets are parents.
    var parentStacks: [Int: [StaticStack]] = [:]
    /// The number of entries of all stacks that were composed above the stacks of other routes.
    var stackEntries = 0

    /// Checks the table and returns all problems, including the problems that the reader found.
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

    /// Reports an unknown name.
    mutating func unknown(
        _ code: TableProblem.Code, _ name: Located<String>, _ what: String, among known: some Sequence<String>
    ) {
        unknown(code, name, message: "there is no \(what) `\(name.value)`", among: known)
    }

    /// Reports an unknown name with the given message.
    ///
    /// - Parameter addition: The suggestion if no name is known.
    mutating func unknown(
        _ code: TableProblem.Code, _ name: Located<String>, message: String, among known: some Sequence<String>,
        addition: String = "declare it, or remove the reference to it"
    ) {
        // Comparing names for every one of many problems would take quadratic time.
        let compared = problems.count < ProblemList.maxCount ? Array(known) : []
        problems.error(
            code, at: name.offset, message,
            suggestion: compared.isEmpty ? addition : compared.count > 8 ? nil : TableHint.use(compared.sorted()),
            hints: [.reference(name.value, declared: compared)])
    }

    /// Returns a Boolean value that indicates whether a route was read completely.
    func isWhole(_ route: TableSource.Route) -> Bool { !damage.routes.contains(route.offset) }
}

/// An index that finds the patterns that may match a path without testing all of them: a trie of literals.
///
/// Scheme, host, and query are ignored.
struct PathIndex {
    /// The position of a pattern in the table.
    struct PatternPosition: Hashable {
        /// The index of the route.
        var route: Int
        /// The index of the pattern in the route.
        var pattern: Int
    }

    private struct Node {
        var literals: [[UInt8]: Int] = [:]
        var others: [Matcher: Int] = [:]
        /// The patterns that end here, and the patterns whose tail begins here.
        var ended: [PatternPosition] = []
        var tailed: [PatternPosition] = []
    }

    private var nodes = [Node()]
    private let source: TableSource

    /// Creates an index of all patterns of a table.
    init(_ source: TableSource) {
        self.source = source
        for (route, one) in source.routes.enumerated() {
            for (index, pattern) in one.patterns.enumerated() {
                add(pattern.path, PatternPosition(route: route, pattern: index))
            }
        }
    }

    private mutating func add(_ pattern: Pattern, _ position: PatternPosition) {
        var at = 0
        for matcher in pattern.matchers.dropLast() { at = child(of: at, matcher) }
        if pattern.matchers.last == .end { nodes[at].ended.append(position) } else { nodes[at].tailed.append(position) }
    }

    private mutating func child(of node: Int, _ matcher: Matcher) -> Int {
        if case .literal(let text) = matcher {
            if let known = nodes[node].literals[text] { return known }
            nodes[node].literals[text] = nodes.count
        } else {
            if let known = nodes[node].others[matcher] { return known }
            nodes[node].others[matcher] = nodes.count
        }
        nodes.append(Node())
        return nodes.count - 1
    }

    /// Returns the patterns that match a path, in the order of the table.
    func patterns(matching segments: [[UInt8]], isCoordinator: ([UInt8]) -> Bool) -> [PatternPosition] {
        var found: [PatternPosition] = []
        let folded = source.foldsPathCase ? segments.map { $0.map(lowerASCII) } : segments
        collect(0, 0, segments, folded, &found)
        return found.filter { position in
            source.routes[position.route].patterns[position.pattern].path.matches(
                segments, foldsCase: source.foldsPathCase, isCoordinator: isCoordinator)
        }.sorted { ($0.route, $0.pattern) < ($1.route, $1.pattern) }
    }

    private func collect(
        _ at: Int, _ depth: Int, _ segments: [[UInt8]], _ folded: [[UInt8]], _ found: inout [PatternPosition]
    ) {
        found += nodes[at].tailed
        guard depth < segments.count else {
            found += nodes[at].ended
            return
        }
        if let child = nodes[at].literals[folded[depth]] { collect(child, depth + 1, segments, folded, &found) }
        for (matcher, child) in nodes[at].others {
            let isMatch = segments[depth].withUnsafeBufferPointer {
                matcher.matches(ByteView($0), foldsCase: source.foldsPathCase)
            }
            if isMatch { collect(child, depth + 1, segments, folded, &found) }
        }
    }
}
