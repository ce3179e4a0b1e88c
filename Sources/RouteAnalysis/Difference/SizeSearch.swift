internal import LinkCoordinator

/// A search for links of a set that exceed a limit of only one table.
struct SizeSearch {
    /// The tables, the old one first.
    let tables: [ProofTable]
    /// The block of each table that reads the links, or nil if there is none.
    let reading: [Int?]
    /// The schemes and hosts of the links.
    let origins: Set<Int>
    /// Coordinator paths to try in links that can contain one.
    let paths: CoordinatorPaths

    /// Returns ranges of segment counts for which the tables' limits treat links of a set differently.
    func segmentRanges(_ set: LinkSet, _ witness: LinkWitness) -> [ClosedRange<Int>] {
        let bounds = zip(tables, reading).compactMap { table, block -> SegmentBounds? in
            guard let block else { return nil }
            let limit = table.source.limits.maxSegments
            let isHost = witness.origin.isAuthoritySegment && table.source.blocks[block].hostRole == .authority
            let written = limit + (isHost ? 1 : 0)
            var bounds = SegmentBounds(written: written, redirected: written)
            for (own, result) in set.ends where own.number == table.number {
                if let growth = result.growth { bounds.redirected = min(written, limit - growth) }
            }
            return bounds
        }
        // A table that does not read the links has no limit on their segments.
        return bounds.count == 2 ? SegmentBounds.ranges(bounds[0], bounds[1]) : []
    }

    /// Compares links of a set that exceed a limit of one table.
    ///
    /// Returns false if there can be such links that it could not make.
    func compareLinks(
        _ set: LinkSet, _ probeSet: ProbeSet, _ fitting: [ProofPattern], _ distinct: [EvaluationContext],
        _ search: inout LinkSearch, _ comparison: inout Comparison
    ) throws(WorkBudget.Exhausted) -> Bool {
        for range in segmentRanges(set, probeSet.witness) {
            var found = try search.find(
                inside: set.inside + fitting, outside: set.outside, among: origins, lengths: range)
            if found == nil && !fitting.isEmpty {
                found = try search.find(inside: set.inside, outside: set.outside, among: origins, lengths: range)
            }
            guard let found else { continue }
            var next = probeSet
            next.witness = found
            for one in distinct {
                if let request = next.request(next.probes.fitting, one) { comparison.decide(request, one.device) }
            }
        }
        var isWhole = true
        for alternatives in paddings {
            for one in distinct {
                isWhole = comparison.compare(probeSet, paddedByOneOf: alternatives, one) && isWhole
            }
        }
        return isWhole
    }

    /// Lists of paddings that make links too long for only one table, with one padding of each list being enough.
    private var paddings: [[LinkPadding]] {
        var all: [[LinkPadding]] = []
        let limits = tables.map(\.source.limits)
        if limits[0].maxBytes != limits[1].maxBytes {
            let bytes = min(limits[0].maxBytes, limits[1].maxBytes) + 1
            all.append([.fragment(bytes: bytes), .query(bytes: bytes)])
        }
        let bounds = zip(tables, reading).compactMap { table, block in
            block.map {
                LinkPadding.Bound(
                    separators: table.source.blocks[$0].query.pairSeparators, limit: table.source.limits.maxQueryItems)
            }
        }
        guard bounds.count == 2 else { return all }
        let separators = Set(bounds.flatMap(\.separators)).sorted()
        // Prefer a separator that both tables count. Others only help if the tables count different ones.
        let shared = separators.filter { byte in bounds.allSatisfy { $0.separators.contains(byte) } }
        if let first = shared.first { all.append([.items(separator: first, bounds: bounds)]) }
        for byte in separators where !shared.contains(byte) { all.append([.items(separator: byte, bounds: bounds)]) }
        return all
    }

    /// Returns coordinator paths that make links too long for one table, starting at a depth of the links.
    func longPaths(_ ranges: [ClosedRange<Int>], from depth: Int) -> [[String]] {
        ranges.flatMap { range in
            Self.longPaths(paths.paths, segments: range.lowerBound - depth)
        }
    }

    /// Returns coordinator paths with a number of segments, which show the same screens repeatedly.
    static func longPaths(_ paths: [[String]], segments count: Int) -> [[String]] {
        guard count > 0 else { return [] }
        return paths.filter { $0.count == 2 }.map { step in
            Array((step + Array(repeating: step[1], count: count)).prefix(count))
        }
    }
}

extension Comparison {
    /// Compares a link of a set that one of several paddings makes too long for one table.
    ///
    /// - Returns: False if none of the links selects the set's pattern in the other table.
    mutating func compare(
        _ probeSet: ProbeSet, paddedByOneOf paddings: [LinkPadding], _ context: EvaluationContext
    ) -> Bool {
        var isTried = false
        for padding in paddings {
            guard let request = probeSet.request(paddedBy: padding, context),
                let pair = decide(request, context.device)
            else { continue }
            isTried = true
            let isRejected = [pair.old, pair.new].map { Decision($0).reason == .budget }
            if isRejected[0] && isRejected[1] { return true }
            if isRejected[0] != isRejected[1], chooses(request, context.device, in: isRejected[0] ? 1 : 0) {
                return true
            }
        }
        return !isTried
    }
}

/// A way to make a link longer without a change of its meaning: a fragment or a query that no route reads.
enum LinkPadding {
    /// A fragment that extends the link to a number of bytes.
    case fragment(bytes: Int)
    /// A value of an unused name that extends the link to a number of bytes.
    case query(bytes: Int)
    /// Empty query parts with this separator, as many as exceed the limit of one table.
    case items(separator: UInt8, bounds: [Bound])

    /// The maximum number of query parts in one table.
    struct Bound {
        /// The bytes that separate parts.
        var separators: [UInt8]
        /// The maximum number of parts.
        var limit: Int

        /// Returns the number of parts that the table counts, including empty ones.
        fileprivate func count(_ query: String) -> Int { 1 + query.utf8.count { separators.contains($0) } }
    }

    /// Returns the values of a longer link, or nil if it cannot be made that long, or already is.
    func pad(_ values: RequestValues, in frame: RequestFrame) -> RequestValues? {
        var padded = values
        switch self {
        case .fragment(let bytes):
            let missing = bytes - frame.link(values).utf8.count - 1
            guard values.fragment == nil, missing >= 0 else { return nil }
            padded.fragment = String(repeating: "a", count: missing)
        case .query(let bytes):
            func query(_ count: Int) -> String {
                frame.query(values, after: Self.unusedName(values) + "=" + String(repeating: "a", count: count))
            }
            padded.writtenQuery = query(0)
            let missing = bytes - frame.link(padded).utf8.count
            guard missing >= 0 else { return nil }
            padded.writtenQuery = query(missing)
        case .items(let separator, let bounds):
            guard let query = Self.query(values, frame, separator, bounds) else { return nil }
            padded.writtenQuery = query
        }
        return padded
    }

    /// Returns the query with enough separators before it that only one table has too many parts, or nil if there is
    /// none.
    private static func query(
        _ values: RequestValues, _ frame: RequestFrame, _ separator: UInt8, _ bounds: [Bound]
    ) -> String? {
        let counting = bounds.filter { $0.separators.contains(separator) }
        // If only one table treats the byte as a separator, the other one reads it as part of a name.
        let own =
            counting.count == bounds.count
            ? frame.query(values, after: "") : frame.query(values, after: unusedName(values) + "=x")
        guard let missing = counting.map({ $0.limit + 1 - $0.count(own) }).min(), missing > 0 else { return nil }
        let query = String(repeating: Character(UnicodeScalar(separator)), count: missing) + own
        let passes = Set(bounds.map { $0.count(query) > $0.limit })
        return passes.count == 2 ? query : nil
    }

    private static func unusedName(_ values: RequestValues) -> String {
        let used = Set(values.query.map { $0.name.lowercased() })
        return UnusedText.first("zz") { !used.contains($0) }
    }
}

extension RequestFrame {
    /// Returns the query of some values in the form of a link, after another part that can be empty.
    fileprivate func query(_ values: RequestValues, after first: String) -> String {
        let own = values.writtenQuery ?? String(QueryConstraints(dialect).text(of: values.items).dropFirst())
        if first.isEmpty || own.isEmpty { return first + own }
        return first + (dialect.pairSeparators.first.map { String(UnicodeScalar($0)) } ?? "&") + own
    }
}

/// Links to show instead of a link that a search found.
///
/// A search composes links of everything that could matter. Its link can have a scheme and a host that nobody writes
/// together, and values that the change does not need. A candidate replaces the link if it shows the same change.
struct ShorterLinks {
    /// The maximum number of candidates for one link.
    private static let maxCandidates = 16
    /// The length of a link, in bytes, from which a candidate must be shorter.
    ///
    /// The length of such a link is often the reason for the change.
    private static let longLink = 256

    /// The schemes and hosts of web links, as `https://shop.example`.
    private let origins: [String]

    /// Prepares candidates for the links of some tables.
    init(_ tables: [RouteTable]) {
        var origins: [String] = []
        for block in tables.flatMap(\.source.blocks) where block.hostRole == .authority {
            for scheme in block.schemes.map(\.value) where WebURL.isWeb(scheme) {
                for case .exact(let host, nil) in block.hosts.map(\.value) {
                    origins.append(scheme + "://" + String(decoding: host, as: UTF8.self))
                }
            }
        }
        self.origins = origins
    }

    /// Returns the candidates for the link of a request, the best first, or nothing for another request.
    func candidates(_ request: LinkRequest) -> [String] {
        guard case .link(let link) = request, let slashes = link.firstRange(of: "://") else { return [] }
        let rest = link[slashes.upperBound...].drop { !"/?#".contains($0) }
        let written = link[..<rest.startIndex]
        let path = rest.prefix { $0 != "?" && $0 != "#" }
        let query = rest.dropFirst(path.count).prefix { $0 != "#" }
        let ends = [""] + (query.isEmpty ? [] : Self.shorter(query)) + [String(rest.dropFirst(path.count))]
        let known = origins.contains(String(written)) ? [] : origins.prefix(2).map { $0 }
        let all = (known + [String(written)]).flatMap { origin in ends.map { origin + path + $0 } }
        let length = link.utf8.count
        return Array(all.prefix(Self.maxCandidates)).filter {
            $0 != link && (length < Self.longLink || $0.utf8.count < length)
        }
    }

    /// Returns the query with each of its items alone, and without each of them.
    private static func shorter(_ query: Substring) -> [String] {
        let items = query.dropFirst().split(separator: "&")
        guard items.count > 1 else { return ["?" + items.joined()] }
        return items.prefix(3).map { "?" + $0 }
            + items.indices.prefix(3).map { index in
                "?" + items.indices.filter { $0 != index }.map { String(items[$0]) }.joined(separator: "&")
            }
    }
}

/// The limits of one table on the number of segments of a set's links, before and after redirects.
struct SegmentBounds {
    /// The maximum number of segments of a link.
    var written: Int
    /// The maximum number of segments of a link that no redirect makes too long.
    var redirected: Int

    /// Returns a code of the limit that a number of segments exceeds, or 0 for none.
    private func passed(by count: Int) -> Int { count > written ? 2 : count > redirected ? 1 : 0 }

    /// Returns ranges of segment counts that two tables treat differently.
    ///
    /// Each table treats the counts within a range alike.
    static func ranges(_ a: SegmentBounds, _ b: SegmentBounds) -> [ClosedRange<Int>] {
        let cuts = Set([a.written, a.redirected, b.written, b.redirected].map { max($0, 0) }).sorted()
        return zip(cuts, cuts.dropFirst()).compactMap { low, high in
            a.passed(by: high) != b.passed(by: high) ? low + 1...high : nil
        }
    }
}
