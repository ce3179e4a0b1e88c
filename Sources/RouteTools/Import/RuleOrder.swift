internal import ByteStorage
internal import LinkCoordinator

/// A pattern of a draft's route with what a comparison with other patterns needs.
struct DraftPattern {
    /// The links that two patterns match.
    struct Overlap {
        /// The paths, as a pattern that does not match more than the second one.
        var pieces: [PatternPiece] = []
        /// A Boolean value that indicates whether the pieces match these paths only, and not others of the second
        /// pattern.
        var isExact = true
        /// Boolean values that indicate whether the other pattern matches all paths of the first and of the second one.
        var isFirst = true
        var isSecond = true
    }

    /// The index of the route.
    let route: Int
    let pattern: TableDraft.Pattern
    /// The conditions of the route on the query, by their names.
    let query: [String: String?]
    /// A Boolean value that indicates whether links of the route stay outside the app.
    let isExcluded: Bool
    private let matchers: [Matcher]
    private let host: HostRule?
    private let foldsCase: Bool

    /// Creates a pattern of a route, or returns nil if a table cannot have it.
    init?(_ pattern: TableDraft.Pattern, of route: TableDraft.Route, at index: Int, foldsCase: Bool) {
        guard let text = pattern.pieces.pattern,
            let parsed = (try? PatternParser.parse(text, foldsCase: foldsCase))?.first
        else { return nil }
        self.init(
            pattern, at: index, route.conditions(foldsCase: foldsCase), route.isExcluded, parsed.matchers, foldsCase)
    }

    private init(
        _ pattern: TableDraft.Pattern, at index: Int, _ query: [String: String?], _ isExcluded: Bool,
        _ matchers: [Matcher], _ foldsCase: Bool
    ) {
        self.pattern = pattern
        route = index
        self.query = query
        self.isExcluded = isExcluded
        self.matchers = matchers
        host = pattern.host.flatMap { try? HostRule.parse($0) }
        self.foldsCase = foldsCase
    }

    private var tail: Matcher? { matchers.last == .end ? nil : matchers.last }
    private var count: Int { matchers.count - 1 }

    // MARK: Queries and origins

    /// Returns the conditions of two patterns together, or nil if no query meets them.
    func query(with other: DraftPattern) -> [String: String?]? {
        var all = query
        for (name, value) in other.query {
            guard let own = all[name] else {
                all[name] = value
                continue
            }
            if own == value || value == "*" && own != nil { continue }
            guard own == "*", value != nil else { return nil }
            all[name] = value
        }
        return all
    }

    /// Returns a Boolean value that indicates whether every query that meets the conditions of another pattern meets
    /// the conditions of this one.
    func isImplied(by other: DraftPattern) -> Bool { query(with: other).map { $0 == other.query } ?? false }

    private func sharesOrigins(with other: DraftPattern) -> Bool {
        if let scheme = pattern.scheme, let second = other.pattern.scheme, scheme != second { return false }
        return (host ?? .any).overlaps(other.host ?? .any)
    }

    private func hasOrigins(of other: DraftPattern) -> Bool {
        if let scheme = pattern.scheme, scheme != other.pattern.scheme { return false }
        return HostRule.compare(other.host ?? .any, host ?? .any) <= 0
    }

    /// Returns a Boolean value that indicates whether this pattern matches all links of another one with which it has
    /// common links.
    func contains(_ other: DraftPattern) -> Bool { hasOrigins(of: other) && isImplied(by: other) }

    // MARK: Precedence

    /// Compares the precedence of two patterns of the same origins, without the priority of their routes.
    func precedence(to other: DraftPattern) -> Int {
        for (one, two) in zip(matchers, other.matchers) {
            let order = Matcher.compare(one, two)
            if order != 0 { return order }
        }
        if matchers.count != other.matchers.count { return matchers.count - other.matchers.count }
        if query.count != other.query.count { return other.query.count - query.count }
        return other.valued - valued
    }

    private var valued: Int { query.values.count { $0 != nil && $0 != "*" } }

    /// Returns a Boolean value that indicates whether only the priority orders this pattern and another one.
    func isTied(with other: DraftPattern) -> Bool {
        pattern.scheme == other.pattern.scheme && host == other.host && precedence(to: other) == 0
    }

    // MARK: Paths

    /// Returns the links that this pattern and another one match, or nil if there are none.
    func overlap(with other: DraftPattern) -> Overlap? {
        guard sharesOrigins(with: other) else { return nil }
        var found = Overlap()
        let shared = min(count, other.count)
        if count > shared && other.tail == nil || other.count > shared && tail == nil { return nil }
        for index in 0..<max(count, other.count) {
            if index >= shared {
                found.pieces.append(count > shared ? pattern.pieces[index] : other.pattern.pieces[index])
                if count > shared { found.isSecond = false } else { found.isFirst = false }
                continue
            }
            guard compare(other, index, &found) else { return nil }
        }
        let isRequired = tail == .restPlus && count >= other.count || other.tail == .restPlus && other.count >= count
        switch (tail, other.tail) {
        case (nil, nil): break
        case (nil, _), (_, nil):
            if isRequired { return nil }
            if tail == nil { found.isSecond = false } else { found.isFirst = false }
        default:
            found.pieces.append(.tail(isRequired: isRequired))
            if isRequired, count == found.pieces.count - 1, tail != .restPlus { found.isFirst = false }
            if isRequired, other.count == found.pieces.count - 1, other.tail != .restPlus { found.isSecond = false }
        }
        return found
    }

    /// Adds what the segments of two patterns at a place have in common, or returns false if that is nothing.
    private func compare(_ other: DraftPattern, _ index: Int, _ found: inout Overlap) -> Bool {
        let (one, two) = (matchers[index], other.matchers[index])
        let (own, second) = (pattern.pieces[index], other.pattern.pieces[index])
        if one == two {
            found.pieces.append(own)
        } else if two == .any {
            found.isSecond = false
            found.pieces.append(own)
        } else if one == .any {
            found.isFirst = false
            found.pieces.append(second)
        } else if let texts = one.texts {
            let known = texts.filter { two.accepts($0, foldsCase) }
            if known.isEmpty { return false }
            found.isSecond = found.isSecond && two.texts.map { $0.count == known.count } ?? false
            if known.count == texts.count {
                found.pieces.append(own)
            } else {
                found.isFirst = false
                append(own, with: known, or: second, &found)
            }
        } else if let texts = two.texts {
            let known = texts.filter { one.accepts($0, foldsCase) }
            if known.isEmpty { return false }
            found.isFirst = false
            if known.count == texts.count {
                found.pieces.append(second)
            } else {
                found.isSecond = false
                append(second, with: known, or: second, &found)
            }
        } else {
            return compareOpen(one, two, own, second, &found)
        }
        return true
    }

    /// Adds a list of some of the values of a capture.
    private func append(_ piece: PatternPiece, with texts: [[UInt8]], or second: PatternPiece, _ found: inout Overlap) {
        guard case .capture("", _, "", _) = piece else {
            found.isExact = false
            return found.pieces.append(second)
        }
        let values = texts.map { String(decoding: $0, as: UTF8.self) }
        found.pieces.append(.capture(type: "enum(\(values.joined(separator: "|")))"))
    }

    private func compareOpen(
        _ one: Matcher, _ two: Matcher, _ own: PatternPiece, _ second: PatternPiece, _ found: inout Overlap
    ) -> Bool {
        let (a, b) = (one.parts, two.parts)
        let starts = a.prefix.starts(with: b.prefix)
        let ends = a.suffix.reversed().starts(with: b.suffix.reversed())
        guard starts || b.prefix.starts(with: a.prefix),
            ends || b.suffix.reversed().starts(with: a.suffix.reversed())
        else { return false }
        if starts, ends, b.inner == .any {
            found.isSecond = false
            found.pieces.append(own)
            return true
        }
        if a.inner == .any, b.prefix.starts(with: a.prefix), b.suffix.reversed().starts(with: a.suffix.reversed()) {
            found.isFirst = false
            found.pieces.append(second)
            return true
        }
        (found.isFirst, found.isSecond) = (false, false)
        if a.prefix == b.prefix, a.suffix == b.suffix, case .characters(let set, let least, let most) = a.inner,
            case .characters(let other, let low, let high) = b.inner
        {
            let common = set.characters.filter(other.contains)
            if common.isEmpty || max(least, low) > min(most, high) { return false }
            if case .capture(let prefix, _, let suffix, _) = own {
                let ranges = WildPath.ranges(common.map { Character(Unicode.Scalar($0)) })
                let type = "[\(ranges)]{\(max(least, low)),\(min(most, high))}"
                found.pieces.append(.capture(prefix: prefix, type: type, suffix: suffix))
                return true
            }
        }
        found.isExact = false
        found.pieces.append(second)
        return true
    }
}

extension Matcher {
    /// The only texts of the matcher, or nil if they are not listed.
    fileprivate var texts: [[UInt8]]? {
        switch self {
        case .literal(let text): [text]
        case .enumeration(let texts): texts
        case .affix(let prefix, .enumeration(let texts), let suffix): texts.map { prefix + $0 + suffix }
        default: nil
        }
    }

    fileprivate var parts: (prefix: [UInt8], inner: Matcher, suffix: [UInt8]) {
        if case .affix(let prefix, let inner, let suffix) = self { return (prefix, inner, suffix) }
        return ([], self, [])
    }

    fileprivate func accepts(_ text: [UInt8], _ foldsCase: Bool) -> Bool {
        text.withUnsafeBufferPointer { matches(ByteView($0), foldsCase: foldsCase) }
    }
}

extension TableDraft.Route {
    /// Returns the conditions on the query by their names.
    fileprivate func conditions(foldsCase: Bool) -> [String: String?] {
        Dictionary(
            query.map { (foldsCase ? $0.name.lowercased() : $0.name, $0.value) },
            uniquingKeysWith: { first, _ in first })
    }
}

// The order of the parts of a source. See ImportedTables, "Apple".
extension TableDraft {
    /// Makes the first part of the source that matches a link decide between opening it and leaving it outside.
    ///
    /// A table selects the most specific pattern instead. So the parts are added from the last one to the first, each
    /// with patterns for the links that it has in common with the later ones of the other kind, unless its own patterns
    /// precede those. A pattern for common links precedes the later one, because it is narrower, or has the same path
    /// and more conditions. The table is therefore right after each step, whatever the later parts are. If a pattern
    /// for common links cannot be had, the route that opens links gives way: it never takes the links of an exclusion.
    mutating func decideInOrder() {
        guard routes.contains(where: \.isExcluded), !routes.allSatisfy(\.isExcluded) else { return }
        var later: [DraftPattern] = []
        var count = routes.reduce(0) { $0 + $1.patterns.count }
        var groups = Set<Group>()
        for (index, route) in routes.enumerated() {
            groups.insert(Group(route: index, query: route.conditions(foldsCase: foldsCase)))
        }
        for index in routes.indices.reversed() {
            let own = routes[index].patterns.compactMap {
                DraftPattern($0, of: routes[index], at: index, foldsCase: foldsCase)
            }
            var added: [DraftPattern] = []
            var known = Set(own.map { Key($0) })
            var hidden = Set<Int>()
            for (at, other) in later.enumerated() where other.isExcluded != routes[index].isExcluded {
                for mine in own {
                    let step = step(mine, other)
                    if step.isHidden {
                        hidden.insert(at)
                        break
                    }
                    guard let more = step.more, known.insert(Key(more)).inserted else { continue }
                    let group = Group(route: index, query: more.query)
                    guard count < Self.maxPatterns, groups.contains(group) || groups.count < Self.maxRoutes else {
                        let place = routes[index].isExcluded ? routes[other.route].place : routes[index].place
                        note(.leavesOut, "links of routes that overlap, which are too many for a table", at: place)
                        if routes[index].isExcluded { hidden.insert(at) }
                        break
                    }
                    groups.insert(group)
                    added.append(more)
                    count += 1
                }
            }
            if routes[index].isExcluded, own.count < routes[index].patterns.count {
                // A table cannot have the exclusion, so it cannot have what follows it either.
                routes[index].isWider = true
                hidden.formUnion(later.indices.filter { !later[$0].isExcluded })
            }
            for place in hidden.sorted() {
                noteHidden(later[place].pattern, of: routes[later[place].route], by: routes[index])
            }
            count -= hidden.count
            later = own + added + later.enumerated().filter { !hidden.contains($0.offset) }.map(\.element)
        }
        replacePatterns(later)
    }

    /// The patterns of a route with the same conditions.
    private struct Group: Hashable {
        var route: Int
        var query: [String: String?]
    }

    private struct Key: Hashable {
        var pattern: Pattern
        var query: [String: String?]

        init(_ own: DraftPattern) { (pattern, query) = (own.pattern, own.query) }
    }

    /// Returns the pattern that gives the common links of a pattern and a later one to the first, if it needs one, and
    /// a Boolean value that indicates whether the later pattern has no other links.
    private func step(_ mine: DraftPattern, _ other: DraftPattern) -> (more: DraftPattern?, isHidden: Bool) {
        guard let query = mine.query(with: other), let common = mine.overlap(with: other) else { return (nil, false) }
        let isWhole = common.isSecond || common.pieces == other.pattern.pieces
        if isWhole, common.isExact || mine.isExcluded, query == other.query { return (nil, true) }
        if mine.precedence(to: other) <= 0 { return (nil, false) }
        guard common.isExact || mine.isExcluded else { return (nil, false) }
        var pattern = mine.pattern
        pattern.pieces = common.pieces
        let more = mine.with(pattern, isWhole ? query : mine.query)
        // A pattern that a table cannot have, or that would not precede, is not expected here.
        guard let more, more.precedence(to: other) <= 0 else { return (nil, mine.isExcluded) }
        return (more, false)
    }

    /// Adds a remark about a pattern whose links all belong to an earlier exclusion, if the source opens some of them.
    mutating func noteHidden(_ pattern: Pattern, of other: Route, by route: Route) {
        guard !other.isExcluded, route.isExcluded, route.isWider else { return }
        note(
            .leavesOut,
            "links of `\(pattern.pieces.pattern ?? "")`, for which an exclusion before it is wider in the table",
            at: other.place)
    }

    /// Replaces the patterns of all routes.
    ///
    /// Patterns with further conditions become routes to the same screens.
    private mutating func replacePatterns(_ all: [DraftPattern]) {
        var taken = Set(routes.map(\.id)).union(["app"])
        var result: [Route] = []
        for (index, route) in routes.enumerated() {
            let own = all.filter { $0.route == index }
            var queries = [route.conditions(foldsCase: foldsCase)]
            for pattern in own where !queries.contains(pattern.query) { queries.append(pattern.query) }
            for (number, query) in queries.enumerated() {
                var one = route
                one.patterns = own.filter { $0.query == query }.map(\.pattern)
                if number > 0 {
                    one.id = Self.unique(route.id, &taken)
                    if !route.isExcluded, route.screen == nil { one.screen = (Self.coordinator, route.id) }
                    one.query = query.sorted { $0.key < $1.key }.map { Condition(name: $0.key, value: $0.value) }
                }
                if !one.patterns.isEmpty { result.append(one) }
            }
        }
        routes = result
    }

    /// Declares the overlaps of all routes, and gives routes that nothing else orders the priority of their order.
    mutating func declareOverlaps() {
        var all: [DraftPattern] = []
        for index in routes.indices {
            var others = Set<Int>()
            let own = routes[index].patterns.compactMap {
                DraftPattern($0, of: routes[index], at: index, foldsCase: foldsCase)
            }
            routes[index].priority = nil
            for own in own {
                for other in all {
                    let isTied = other.isTied(with: own)
                    guard isTied || !others.contains(other.route), other.query(with: own) != nil,
                        let common = other.overlap(with: own)
                    else { continue }
                    if isTied {
                        for route in [index, other.route] { routes[route].priority = routes.count - route }
                    }
                    if common.isFirst && own.contains(other) || common.isSecond && other.contains(own) { continue }
                    others.insert(other.route)
                }
            }
            routes[index].overlaps = Set(others.map { routes[$0].id })
            all += own
        }
    }
}

extension DraftPattern {
    /// Returns another pattern of the same route.
    fileprivate func with(_ pattern: TableDraft.Pattern, _ query: [String: String?]) -> DraftPattern? {
        guard let text = pattern.pieces.pattern,
            let parsed = (try? PatternParser.parse(text, foldsCase: foldsCase))?.first
        else { return nil }
        return DraftPattern(pattern, at: route, query, isExcluded, parsed.matchers, foldsCase)
    }
}
