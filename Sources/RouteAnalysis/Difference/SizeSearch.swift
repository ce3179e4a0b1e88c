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
    func segmentRanges(_ set: LinkSet, _ witness: Witness) -> [ClosedRange<Int>] {
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

    /// Paddings that make links too long for only one table; one padding of each list is enough.
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
        // Prefer a separator that both tables count; others only help if the tables count different ones.
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
