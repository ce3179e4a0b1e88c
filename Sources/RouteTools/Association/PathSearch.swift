internal import RouteAnalysis
internal import LinkCoordinator

/// The results of a search, for all origins of a platform.
struct HandingResult {
    /// The first link of each route that is handed over, with a Boolean value for an unusual spelling.
    var links: [Int: (link: String, isUnusual: Bool)] = [:]
    /// The routes for which a search found a path that could be handed over, but no link.
    var openRoutes = Set<Int>()
    /// The first link of each route that is not handed over, although others of the route are.
    var parts: [Int: String] = [:]
    /// The first link of each unit that is handed over and that no route knows.
    var unknown: [Int: String] = [:]
    /// The units for which a search found a path that no route might know, but no link.
    var openUnits = Set<Int>()
    /// The routes with links of the platform's origins.
    var routes = Set<Int>()
    /// The units that a search looked at.
    var units = Set<Int>()
    /// A Boolean value that indicates whether a search ended at its limit.
    var isExhausted = false
}

/// A search for links of one origin that a platform hands over: links of each route, and links that no route knows.
///
/// It walks over the paths that the patterns of the table and of the platform distinguish, the shortest first, and
/// verifies every link with the table and with the rules of the platform. The walk is complete: a route without a path
/// here has no link in the usual spelling that is handed over.
struct PathSearch<Platform: HandingPlatform> {
    private struct Product: Hashable {
        var table: [Int]
        var platform: Platform.State
        /// A Boolean value that indicates whether another slash would make the table reject the link.
        var isAfterSlash = false
    }

    private struct Node {
        var parent: Int
        var symbol: Int
    }

    private let table: RouteTable
    private let language: TableLanguage
    private let platform: Platform
    private let origin: HandingOrigin
    private let alphabet: PathAlphabet
    private var tries: [Int: Int] = [:]
    /// The routes for which the search wants a link that is not handed over, or nil in a search for links that are.
    private var partial: Set<Int>?

    /// The queries that routes require, by the index of the route.
    let queries: [Int: String]

    /// The maximum number of states of one search.
    static var maxStates: Int { 40_000 }
    /// The maximum number of links to try for one route or unit.
    private static var maxTries: Int { 24 }

    init(
        _ table: RouteTable, _ language: TableLanguage, _ platform: Platform, _ origin: HandingOrigin,
        queries: [Int: String]
    ) {
        self.table = table
        self.language = language
        self.platform = platform
        self.origin = origin
        self.queries = queries
        alphabet = PathAlphabet(named: language.automaton.named.union(platform.named))
    }

    /// Searches, and adds the links that it finds.
    mutating func run(_ budget: inout WorkBudget, into result: inout HandingResult) {
        if alphabet.isCut || language.automaton.isTooLarge { result.isExhausted = true }
        result.routes.formUnion(language.entries.map(\.route))
        budget.begin()
        do throws(WorkBudget.Exhausted) {
            try budget.spend(language.automaton.steps.count)
            try walk(&budget, &result)
        } catch {
            result.isExhausted = true
        }
    }

    /// Searches, for each route with a link that is handed over, for a link that is not.
    ///
    /// The search also goes on where no path is handed over, so it needs a budget of its own. If it ends at a limit, it
    /// only leaves routes out.
    mutating func findParts(_ budget: inout WorkBudget, into result: inout HandingResult) {
        let routes = Set(language.entries.map(\.route)).filter { result.links[$0] != nil && result.parts[$0] == nil }
        guard !routes.isEmpty else { return }
        partial = routes
        tries = [:]
        budget.begin()
        try? walk(&budget, &result)
        partial = nil
    }

    private mutating func walk(
        _ budget: inout WorkBudget, _ result: inout HandingResult
    ) throws(WorkBudget.Exhausted) {
        var nodes = [Node(parent: -1, symbol: -1)]
        var products = [Product(table: language.automaton.start(), platform: platform.start)]
        var seen = Set<Product>()
        let slash = alphabet.mask(.exact("/", folds: false))
        var at = 0
        while at < products.count, partial?.isEmpty != true {
            let product = products[at]
            // A link with a host that is not a segment has at least the path `/`.
            if at > 0 || language.isSegment { try visit(product, at, nodes, &budget, &result) }
            let cost = 1 + language.automaton.work(product.table) + platform.cost(product.platform)
            try budget.spend(cost)
            let masks = language.automaton.masks(product.table, alphabet)
                .union(platform.masks(product.platform, alphabet)).union([slash])
            for index in alphabet.representatives(masks) {
                let symbol = alphabet.symbols[index]
                let isSlash = symbol.scalar == "/"
                if at == 0 && !isSlash || product.isAfterSlash && isSlash { continue }
                try budget.spend(cost)
                let next = Product(
                    table: language.automaton.step(product.table, symbol.scalar),
                    platform: platform.step(product.platform, symbol),
                    isAfterSlash: isSlash && !language.collapses)
                if partial == nil ? platform.isDead(next.platform) : next.table.isEmpty { continue }
                guard seen.insert(next).inserted else { continue }
                if products.count >= Self.maxStates { throw WorkBudget.Exhausted() }
                products.append(next)
                nodes.append(Node(parent: at, symbol: index))
            }
            at += 1
        }
    }

    private mutating func visit(
        _ product: Product, _ at: Int, _ nodes: [Node], _ budget: inout WorkBudget, _ result: inout HandingResult
    ) throws(WorkBudget.Exhausted) {
        let units = platform.units(product.platform)
        if let partial {
            for route in language.selectable(language.automaton.numbers(product.table)) where partial.contains(route) {
                try budget.spend(platform.total)
                tryPart(route, path(at, nodes), isSure: units.isEmpty, &result)
            }
            return
        }
        guard !units.isEmpty else { return }
        result.units.formUnion(units)
        let numbers = language.automaton.numbers(product.table)
        let wanted = language.selectable(numbers).filter { result.links[$0].map(\.isUnusual) ?? true }
        let strangers =
            language.surelyTakes(numbers) && !language.hasRewrites ? [] : units.filter { result.unknown[$0] == nil }
        guard !wanted.isEmpty || !strangers.isEmpty else { return }
        let path = path(at, nodes)
        for route in wanted {
            try budget.spend(platform.total)
            tryRoute(route, path, units, &result)
        }
        for unit in strangers {
            try budget.spend(platform.total)
            tryUnit(unit, path, &result)
        }
    }

    private func path(_ at: Int, _ nodes: [Node]) -> String {
        var written: [String] = []
        var node = nodes[at]
        while node.parent >= 0 {
            written.append(alphabet.symbols[node.symbol].written)
            node = nodes[node.parent]
        }
        return written.reversed().joined()
    }

    // MARK: Links

    private mutating func tryRoute(_ route: Int, _ path: String, _ units: [Int], _ result: inout HandingResult) {
        let isUnusual = path.contains("//") || path.count > 1 && path.hasSuffix("/")
        if isUnusual, result.links[route] != nil { return }
        let key = route * 2 + 1
        guard tries[key, default: 0] < Self.maxTries else {
            result.openRoutes.insert(route)
            return
        }
        let id = table.source.routes[route].id.value
        let required = (queries[route] ?? "").split(separator: "&")
        for rest in [LinkRest()] + units.prefix(Self.maxTries).flatMap(platform.rests) {
            let items = rest.query.split(separator: "&")
            // If the file and the route have an item with the same name, the value of either one can fit both.
            let queries = [Self.merged(items, into: required), Self.merged(required, into: items)]
            for query in items.isEmpty ? queries.prefix(1) : queries[...] {
                let link = link(path, LinkRest(query: query, fragment: rest.fragment))
                guard let pieces = LinkPieces(link), !platform.handing(pieces).isEmpty else { continue }
                let decision = table.resolve(link)
                guard decision.via.first ?? decision.route == id else { continue }
                result.links[route] = (link, isUnusual)
                return
            }
        }
        tries[key, default: 0] += 1
        result.openRoutes.insert(route)
    }

    /// Returns the items of a query without those whose names others have, and the others.
    private static func merged(_ others: [Substring], into items: [Substring]) -> String {
        func name(_ item: Substring) -> Substring { item.prefix { $0 != "=" } }
        let names = Set(others.map(name))
        return (items.filter { !names.contains(name($0)) } + others).joined(separator: "&")
    }

    /// Tries a link of a route that should not be handed over.
    ///
    /// - Parameter isSure: A Boolean value that indicates whether no link with the path is handed over. Otherwise the
    ///   number of links to try is limited.
    private mutating func tryPart(_ route: Int, _ path: String, isSure: Bool, _ result: inout HandingResult) {
        if path.contains("//") || path.count > 1 && path.hasSuffix("/") { return }
        if !isSure {
            guard tries[route, default: 0] < Self.maxTries else { return }
            tries[route, default: 0] += 1
        }
        let link = link(path, LinkRest(query: queries[route] ?? ""))
        guard let pieces = LinkPieces(link), platform.handing(pieces).isEmpty else { return }
        let decision = table.resolve(link)
        guard decision.via.first ?? decision.route == table.source.routes[route].id.value else { return }
        result.parts[route] = link
        partial?.remove(route)
    }

    private mutating func tryUnit(_ unit: Int, _ path: String, _ result: inout HandingResult) {
        let key = unit * 2
        guard tries[key, default: 0] < Self.maxTries else {
            result.openUnits.insert(unit)
            return
        }
        for rest in [LinkRest()] + platform.rests(unit) {
            let link = link(path, rest)
            guard let pieces = LinkPieces(link), platform.handing(pieces).contains(unit) else { continue }
            guard Self.isUnknown(table.resolve(link)) else { continue }
            result.unknown[unit] = link
            return
        }
        tries[key, default: 0] += 1
        result.openUnits.insert(unit)
    }

    /// Returns a Boolean value that indicates whether no route of the table knows a link.
    private static func isUnknown(_ decision: Decision) -> Bool {
        guard let reason = decision.reason else { return false }
        return [.noRoute, .host, .scheme].contains(reason)
    }

    private func link(_ path: String, _ rest: LinkRest) -> String {
        origin.text + path + (rest.query.isEmpty ? "" : "?" + rest.query)
            + (rest.fragment.isEmpty ? "" : "#" + rest.fragment)
    }
}
