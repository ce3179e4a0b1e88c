internal import LinkCoordinator

/// A link of a set with the values to try with it.
struct ProbeSet {
    /// The link without values.
    var witness: LinkWitness
    /// A Boolean value that indicates whether to try the link without its leading slash too, for coordinator paths.
    var triesRelative = false
    /// The inputs on which the link's decision can depend.
    let dependencies: Dependencies
    /// The values to try.
    let probes: ValueProbes

    private let source: TableSource
    private let blocks: [TableSource.LinkBlock?]
    private let linkPointers: [JSONPath]

    /// Creates the values for a link.
    ///
    /// - Parameters:
    ///   - reading: The block of each table that reads the link.
    ///   - source: The table in whose dialect the query is written.
    init(
        _ witness: LinkWitness, _ dependencies: Dependencies, _ tables: [ProofTable], _ reading: [Int?],
        _ source: TableSource
    ) {
        self.witness = witness
        self.dependencies = dependencies
        self.source = source
        probes = ValueProbes(dependencies, beside: witness.query)
        blocks = zip(tables, reading).map { table, block in block.map { table.source.blocks[$0] } }
        let pointers = tables.map { $0.source.payload.link.map(\.value) }
        let common = pointers[0].first { pointers[1].contains($0) }
        linkPointers = common.map { [$0] } ?? pointers.compactMap(\.first)
    }

    /// Returns the request with some values in a context, or nil if they are incompatible.
    func request(_ values: RequestValues, _ context: EvaluationContext, head: String? = nil) -> LinkRequest? {
        frame(head).request(merged(values, context))
    }

    /// Returns the request with fitting values and a longer link, or nil if it cannot be made that long, or already is.
    func request(paddedBy padding: LinkPadding, _ context: EvaluationContext) -> LinkRequest? {
        let frame = frame(nil)
        return padding.pad(merged(probes.fitting, context), in: frame).flatMap { frame.request($0) }
    }

    private func frame(_ head: String?) -> RequestFrame {
        RequestFrame(
            head: head ?? witness.head, dialect: source.blocks[witness.origin.block].query, linkPointers: linkPointers)
    }

    /// Returns the values with the query parameters of a context.
    private func merged(_ values: RequestValues, _ context: EvaluationContext) -> RequestValues {
        var values = values
        for (name, value) in context.query.sorted(by: { $0.key < $1.key })
        where values.isSame(as: probes.fitting, name) {
            values.set(name, value.map { [$0] } ?? [])
        }
        return values
    }

    /// All lists of values except the fitting one.
    var others: [RequestValues] {
        Set(dependencies.order).count > 1 ? probes.others + probes.pairs : probes.others
    }

    /// Returns the fitting values and the values of a context, in other queries that the tables can read differently.
    func spellings(_ context: EvaluationContext) -> [RequestValues] {
        guard let old = blocks[0], let new = blocks[1] else { return [] }
        let values = merged(probes.fitting, context)
        let absentNames = Set(context.query.keys).union(dependencies.ownNames).filter { !values.has($0) }.sorted()
        return DialectProbes.queries(values, absentNames, old, new).map { query in
            var written = values
            written.writtenQuery = query
            return written
        }
    }

    /// Returns values that cannot be decoded, and segments of a path that a URL must not have, in every part of the
    /// query.
    func damaged(_ context: EvaluationContext) -> [RequestValues] {
        let separator = blocks[0]?.query.pairSeparators.first.map { String(UnicodeScalar($0)) } ?? "&"
        let constraints = QueryConstraints(source.blocks[witness.origin.block].query)
        let fitting = merged(probes.fitting, context)
        return dependencies.inputs.flatMap { input -> [RequestValues] in
            var values = fitting
            switch input.source {
            case .path, .rewrite, .payload: return []
            case .fragment:
                values.fragment = nil
                values.writtenQuery = String(constraints.text(of: values.items).dropFirst()) + "#%zz"
                return [values]
            case .query(let name):
                values.set(name, [])
                let rest = String(constraints.text(of: values.items).dropFirst())
                return ["%zz", ".."].map { text in
                    var next = values
                    let own = LinkEncoding.encode(Array(name.utf8)) + "=" + text
                    next.writtenQuery = rest.isEmpty ? own : rest + separator + own
                    return next
                }
            }
        }
    }

    /// Other spellings of the path that the tables can read differently.
    var heads: [String] {
        var heads: [String] = []
        if let old = blocks[0], let new = blocks[1], old.emptySegments != new.emptySegments {
            heads += [witness.authority + "/" + witness.path, witness.head + "/"]
        }
        if triesRelative && !witness.origin.isAuthoritySegment && witness.origin.host.isEmpty
            && witness.origin.port == nil
        {
            heads.append(witness.origin.scheme + ":" + witness.path.dropFirst())
        }
        return heads
    }
}

extension RequestValues {
    /// Returns a Boolean value that indicates whether a name has the same values in both.
    fileprivate func isSame(as other: RequestValues, _ name: String) -> Bool {
        query.first { $0.name == name }?.values == other.query.first { $0.name == name }?.values
    }
}

/// Queries that two dialects read differently, written with given names and values.
enum DialectProbes {
    /// Returns queries in the form of a link, with at most one additional name.
    static func queries(
        _ values: RequestValues, _ absentNames: [String], _ old: TableSource.LinkBlock, _ new: TableSource.LinkBlock
    ) -> [String] {
        var queries: [String] = []
        if old.query != new.query { queries += dialects(values, absentNames, [old.query, new.query]) }
        if old.repair != new.repair { queries += repairs(values) }
        return queries
    }

    private static func dialects(
        _ values: RequestValues, _ absentNames: [String], _ dialects: [TableSource.QueryDialect]
    ) -> [String] {
        let separators = Set(dialects.flatMap(\.pairSeparators)).sorted().map { String(UnicodeScalar($0)) }
        var queries: [String] = []
        // One dialect can need other escapes than the other.
        for dialect in dialects[0].decode == dialects[1].decode ? dialects.prefix(1) : dialects[...] {
            let constraints = QueryConstraints(dialect)
            let items = values.items.map { text(of: [$0], constraints) }
            queries += separators.map { items.joined(separator: $0) }
            for (name, value) in values.items + absentNames.map({ ($0, nil) }) {
                let rest = values.items.filter { $0.name != name }.map { text(of: [$0], constraints) }
                // An empty text has no other spellings.
                for value in value?.isEmpty == true ? ["", "a"] : [value ?? "a"] {
                    let item = (encode(name), text(of: [(value, nil)], constraints))
                    for separator in separators {
                        queries += spellings(of: name, value, as: item, separator, dialects).map {
                            ([$0] + rest).joined(separator: separator)
                        }
                    }
                }
            }
        }
        return queries
    }

    /// Returns spellings of a name and a value that the options in which the dialects differ can affect.
    ///
    /// - Parameter item: The name and the value as they are encoded.
    private static func spellings(
        of name: String, _ value: String, as item: (String, String), _ separator: String,
        _ dialects: [TableSource.QueryDialect]
    ) -> [String] {
        let (n, v) = item
        func differ(_ option: KeyPath<TableSource.QueryDialect, some Equatable>) -> Bool {
            dialects[0][keyPath: option] != dialects[1][keyPath: option]
        }
        let split = differ(\.pairSeparators) || differ(\.flatten)
        var all: [String] = []
        if split || differ(\.duplicates) || differ(\.nulls) {
            all += [
                "\(n)=\(v)\(separator)\(n)=zz", "\(n)=zz\(separator)\(n)=\(v)", "\(n)=\(v)\(separator)\(n)",
                "\(n)\(separator)\(n)=\(v)",
            ]
        }
        if split { all += ["zz=\(n)\(separator)\(v)", "\(n)=\(v)\(separator)zz", "zz\(separator)\(n)=\(v)"] }
        // An encoded name has only ASCII letters, which are the ones that a dialect folds.
        for other in differ(\.names) ? [n.uppercased(), n.lowercased()].filter({ $0 != n }) : [] {
            all += ["\(other)=\(v)", "\(n)=\(v)\(separator)\(other)=zz", "\(other)=zz\(separator)\(n)=\(v)"]
        }
        if split || differ(\.decode) {
            all += [
                "\(n)=\(escaped(value))", "\(n)=\(encode(escaped(value)))", "\(escaped(name))=\(v)",
                "\(encode(escaped(name)))=\(v)", "\(n)=\(v)%20\(v)", "\(n)%3D\(v)",
                "zz=1\(escaped(separator))\(n)=\(v)",
            ]
        }
        if split || differ(\.decode) || differ(\.plus) {
            all += ["\(n)=\(v)+\(v)", "\(n)=\(value)", "\(n)=\(v)".replacing("%20", with: "+")]
        }
        return all
    }

    private static func text(of items: [QueryConstraints.Item], _ constraints: QueryConstraints) -> String {
        String(constraints.text(of: items).dropFirst())
    }

    private static func repairs(_ values: RequestValues) -> [String] {
        values.items.flatMap { name, value -> [String] in
            guard let value else { return [] }
            let rest = written(values.items.filter { $0.name != name })
            let damaged = [
                "\(encode(name))=%20\(encode(value))", "zz&amp;\(encode(name))=\(encode(value))",
                "\(encode(name))=\(encode(value.replacing("-", with: "\u{2013}")))",
            ]
            return damaged.map { ([$0] + rest).joined(separator: "&") }
        }
    }

    /// Returns each item as it is written in a query.
    private static func written(_ items: [QueryConstraints.Item]) -> [String] {
        items.map { encode($0.name) + ($0.value.map { "=" + encode($0) } ?? "") }
    }

    private static func encode(_ text: String) -> String { LinkEncoding.encode(Array(text.utf8)) }

    private static func escaped(_ text: String) -> String { LinkEncoding.escape(Array(text.utf8)) }
}

/// The result of following redirects for links that select one pattern, with the conditions for those links.
struct RedirectResult {
    /// Additional patterns that the links match.
    var inside: [ProofPattern] = []
    /// Patterns that the links do not match.
    var outside: [ProofPattern] = []
    /// The routes of the redirect chain, in order.
    ///
    /// The last one makes the decision, unless it redirects to a path that no route matches.
    var routes: [Int]
    /// The pattern that was selected last, or nil if a redirect matches none.
    var pattern: TableSource.RoutePattern?
    /// The locations of captures in the link.
    ///
    /// A name without one has the same text in all the links.
    var locations: [String: CaptureLocation] = [:]
    /// The captures without a location that have a text nevertheless.
    var hidden: [String: TemplatePath.HiddenText] = [:]
    /// The maximum number of segments that the redirects add to a link, or nil if no redirect keeps its remaining
    /// segments.
    var growth: Int?
    /// A Boolean value that indicates whether the patterns describe the links exactly.
    var isExact = true
    /// A Boolean value that indicates whether the last redirect can lead to any route.
    var isUnknown = false
}

/// A search that follows the redirects of a table.
///
/// It divides the links of every template by the patterns that its paths can select.
struct RedirectSearch {
    /// The limits of the steps of one search, and of all in a space.
    ///
    /// A step compares a path with a pattern, or stores a pattern of a result, so the steps bound the time and the
    /// memory. The results of a table grow exponentially with its redirects.
    private static let (maxOfSearch, maxOfSpace) = (1 << 18, 1 << 19)

    private let table: ProofTable
    private var steps = 0
    /// The captures of rewrites.
    private let rewrites: [String: CaptureLocation]
    private let own: [ProofPattern]

    /// Creates a search.
    ///
    /// - Parameters:
    ///   - rewrites: The locations of the rewrites' captures in the links.
    ///   - patterns: The table's patterns in order of precedence.
    init(_ table: ProofTable, rewrites: [String: CaptureLocation], patterns: [ProofPattern]) {
        self.table = table
        self.rewrites = rewrites
        own = patterns
    }

    /// Returns the results for the links that select a pattern, which begins at segment `shift` of the link.
    mutating func results(of pattern: ProofPattern, from shift: Int, _ space: inout PatternSpace) -> [RedirectResult] {
        let source = space.source(of: pattern)
        let start = RedirectResult(routes: [], pattern: source, locations: locations(of: source.path, from: shift))
        return begin(pattern.route, start, &space)
    }

    /// Returns the results for requests of a route without patterns.
    mutating func results(ofRoute number: Int, _ space: inout PatternSpace) -> [RedirectResult] {
        begin(number, RedirectResult(routes: [], locations: rewrites), &space)
    }

    private mutating func begin(
        _ route: Int, _ result: RedirectResult, _ space: inout PatternSpace
    ) -> [RedirectResult] {
        steps = 0
        let found = follow(route, result, &space)
        space.redirectSteps += steps
        return found
    }

    private func locations(of path: Pattern, from shift: Int) -> [String: CaptureLocation] {
        var locations = rewrites
        for capture in path.captures {
            locations[capture.name] = CaptureLocation(capture, in: path, depth: shift + capture.segment)
        }
        return locations
    }

    private mutating func follow(
        _ route: Int, _ result: RedirectResult, _ space: inout PatternSpace
    ) -> [RedirectResult] {
        var result = result
        // A route that redirects twice, or a sixth redirect, ends the chain.
        if result.routes.contains(route) || result.routes.count > 5 { return [result] }
        result.routes.append(route)
        guard case .redirect(let redirect) = table.source.routes[route].action else { return [result] }
        switch redirect {
        case .route(let id):
            return table.names.routes[id.value].map { follow($0, result, &space) } ?? [result]
        case .template(let template):
            guard let path = TemplatePath(template.value, result.locations, hidden: result.hidden) else {
                return [unknown(result)]
            }
            result.growth = [result.growth, path.growth].compactMap { $0 }.max()
            return choose(path, result, &space)
        }
    }

    /// Returns the result of links whose redirects are not followed further.
    private func unknown(_ result: RedirectResult) -> RedirectResult {
        var result = result
        result.isExact = false
        result.isUnknown = true
        result.pattern = nil
        return result
    }

    private mutating func choose(
        _ path: TemplatePath, _ result: RedirectResult, _ space: inout PatternSpace
    ) -> [RedirectResult] {
        var found: [RedirectResult] = []
        var rest = result
        for pattern in own {
            if steps > Self.maxOfSearch || space.redirectSteps + steps > Self.maxOfSpace {
                return found + [unknown(rest)]
            }
            steps += 1
            let source = space.source(of: pattern)
            guard let preimage = path.preimage(of: source.path, pattern, table, &space) else { continue }
            for alternative in preimage.alternatives {
                var next = rest
                next.inside += alternative
                next.isExact = next.isExact && preimage.isExact
                next.pattern = source
                next.locations = path.locations(of: source.path, rewrites)
                next.hidden = path.hidden(of: source.path)
                steps += next.inside.count + next.outside.count
                found += follow(pattern.route, next, &space)
            }
            if preimage.isExact && preimage.alternatives.allSatisfy({ $0.count == 1 }) {
                rest.outside += preimage.alternatives.flatMap { $0 }
                // If the pattern matches every remaining link, none is left for the others.
                if preimage.matchesAll { return found }
            } else {
                rest.isExact = false
            }
        }
        rest.pattern = nil
        return found + [rest]
    }
}
