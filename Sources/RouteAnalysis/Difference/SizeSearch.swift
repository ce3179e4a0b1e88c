internal import LinkCoordinator

// Links of a set that are too large for one table and not for the other.
extension SetSearch {
    /// Numbers of segments for which the tables' limits treat links of a set in different ways.
    func segmentRanges(_ set: LinkSet, _ witness: Witness) -> [ClosedRange<Int>] {
        let bounds = zip(tables, reading).compactMap { table, block -> SegmentBounds? in
            guard let block else { return nil }
            let limit = table.source.limits.maxSegments
            let isHost = witness.origin.leads && table.source.blocks[block].hostRole == .authority
            let written = limit + (isHost ? 1 : 0)
            var bounds = SegmentBounds(written: written, redirected: written)
            for (own, landing) in set.ends where own.number == table.number {
                if let growth = landing.growth { bounds.redirected = min(written, limit - growth) }
            }
            return bounds
        }
        // A table that does not read the links looks at no segment.
        return bounds.count == 2 ? SegmentBounds.ranges(bounds[0], bounds[1]) : []
    }

    /// Compares links of a set that one table finds too large; false where there may be such that could not be made.
    func trySizes(
        _ set: LinkSet, _ trial: Trial, _ fitting: [ProofPattern], _ standing: [Circumstance],
        _ search: inout LinkSearch, _ comparison: inout Comparison
    ) throws(WorkBudget.Exhausted) -> Bool {
        for range in segmentRanges(set, trial.witness) {
            var found = try search.find(
                inside: set.inside + fitting, outside: set.outside, among: origins, lengths: range)
            if found == nil && !fitting.isEmpty {
                found = try search.find(inside: set.inside, outside: set.outside, among: origins, lengths: range)
            }
            guard let found else { continue }
            var next = trial
            next.witness = found
            for one in standing {
                if let request = next.request(next.probes.fitting, one) { comparison.decide(request, one.device) }
            }
        }
        var isWhole = true
        for paddings in paddings {
            for one in standing {
                isWhole = comparison.compare(trial, padded: paddings, one) && isWhole
            }
        }
        return isWhole
    }

    /// Ways to make links too large for one table and not for the other: in each list one does.
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
        // One that both tables count is the plainest; others only tell where the tables count different ones.
        let shared = separators.filter { byte in bounds.allSatisfy { $0.separators.contains(byte) } }
        if let first = shared.first { all.append([.items(separator: first, bounds: bounds)]) }
        for byte in separators where !shared.contains(byte) { all.append([.items(separator: byte, bounds: bounds)]) }
        return all
    }

    /// Coordinator paths that make links too long for one table, from the depth at which they stand in the links.
    func longPaths(_ ranges: [ClosedRange<Int>], from depth: Int) -> [[String]] {
        ranges.flatMap { range in
            Self.longPaths(paths, segments: range.lowerBound - depth)
        }
    }

    /// Coordinator paths of so many segments: screens shown again and again.
    static func longPaths(_ paths: [[String]], segments count: Int) -> [[String]] {
        guard count > 0 else { return [] }
        return paths.filter { $0.count == 2 }.prefix(maxLongPaths).map { step in
            Array((step + Array(repeating: step[1], count: count)).prefix(count))
        }
    }

    /// Most screens that long paths are made of.
    private static let maxLongPaths = 16
}

extension Comparison {
    /// Compares a link of a set that one of some ways makes too large for one table.
    ///
    /// - Returns: False where no way made a link that chooses in the other table what the set does.
    mutating func compare(_ trial: Trial, padded ways: [LinkPadding], _ circumstance: Circumstance) -> Bool {
        var isMade = false
        for way in ways {
            guard let request = trial.request(padded: way, circumstance),
                let pair = decide(request, circumstance.device)
            else { continue }
            isMade = true
            let isRejected = [pair.old, pair.new].map { Decision($0).reason == "budget" }
            if isRejected[0] && isRejected[1] { return true }
            if isRejected[0] != isRejected[1], chooses(request, circumstance.device, in: isRejected[0] ? 1 : 0) {
                return true
            }
        }
        return !isMade
    }
}
