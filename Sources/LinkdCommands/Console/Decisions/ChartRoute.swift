internal import DecisionIndex
internal import HTTPServer
internal import StrictJSON

/// The numbers of rows in equal spans of time, for a scroll bar.
struct Histogram {
    private let from: Int64
    private let step: Int64
    private let counts: [Int]

    /// Counts rows, or returns nil if there are none or no spans.
    init?(_ index: DecisionIndex, _ filter: RowFilter, spans: Int, total: Int) {
        guard spans > 0, total > 0, let oldest = index.oldest, let newest = index.newest else { return nil }
        from = max(filter.from ?? .min, max(0, oldest.time))
        let end = max(from, min(filter.to ?? .max, newest.time))
        step = max(1, (end - from) / Int64(spans) + 1)
        counts = index.buckets(filter, by: nil, from: from, step: step, spans: spans, top: 0).counts.map { $0[0] }
    }

    /// Writes the histogram.
    func write(_ json: inout JSONText) {
        json.beginObject("histogram")
        json.number("from", from)
        json.number("step", step)
        json.numbers("counts", counts)
        json.endObject()
    }
}

/// The endpoint `/api/chart`: numbers of rows over time, by a property.
enum ChartRoute {
    /// The greatest number of spans of time.
    private static let spanLimit: Int64 = 1000
    /// The lengths of spans from which one is chosen, in milliseconds.
    private static let steps: [Int64] = [
        1000, 2000, 5000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 7_200_000,
        21_600_000, 43_200_000, 86_400_000,
    ]

    /// Returns the answer.
    static func answer(_ request: HTTPRequest, _ feed: DecisionFeed) throws(ConsoleProblem) -> HTTPResponse {
        let query = try RequestQuery(
            request, names: FeedQuery.names + ["by", "step", "top"], repeated: FeedQuery.repeatedNames)
        var filter = try FeedQuery.filter(query, kind: "problem", feed.mask)
        let by = try query.choice("by", RowField.allCases.map(\.rawValue)) ?? "reason"
        let field = RowField(rawValue: by) ?? .reason
        let top = try query.number("top", 1...50, unit: "values") ?? 8
        let step: Int64? = try query.number("step", 1...2_592_000_000, unit: "milliseconds")
        (filter.from, filter.to) = (nil, nil)
        let from = try query.time("from")
        let to = try query.time("to") ?? query.now
        let answer = try feed.read { state -> Result<String, ConsoleProblem> in
            let start = max(0, from ?? state.index.oldest?.time ?? to - 3_600_000)
            let range = min(start, to - 1)..<to
            let width = step ?? Self.step(range)
            let first = range.lowerBound - range.lowerBound % width
            let spans = (to - first + width - 1) / width
            guard spans <= Self.spanLimit else {
                return .failure(
                    RequestQuery.problem(
                        "step", "gives \(spans) spans of time, and the limit is \(Self.spanLimit)",
                        "pass a longer step"))
            }
            let buckets = state.index.buckets(
                filter, by: field, from: first, step: width, spans: Int(spans), top: top)
            return .success(text(FeedSummary(state), by, buckets, first, width))
        }.get()
        return .json(answer)
    }

    /// Returns the shortest of the lengths that gives at most 90 spans.
    static func step(_ range: Range<Int64>) -> Int64 {
        let length = range.upperBound - range.lowerBound
        if let step = steps.first(where: { length / $0 <= 90 }) { return step }
        return (length / 90 / 86_400_000 + 1) * 86_400_000
    }

    private static func text(
        _ summary: FeedSummary, _ by: String, _ buckets: DecisionIndex.Buckets, _ from: Int64, _ step: Int64
    ) -> String {
        return JSONText.object { json in
            summary.write(&json)
            json.text("by", by)
            json.number("start", from)
            json.number("step", step)
            json.objects("groups", of: zip(buckets.groups, buckets.totals)) { json, group in
                if case .value(let value) = group.0 { json.text("value", value) } else { json.boolean("others", true) }
                json.number("total", Int64(group.1))
            }
            json.number("total", Int64(buckets.totals.reduce(0, +)))
            json.matrix("counts", buckets.counts)
        }
    }
}
