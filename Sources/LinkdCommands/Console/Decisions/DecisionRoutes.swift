internal import DecisionIndex
internal import HTTPServer
internal import StrictJSON

/// The endpoints of decisions and dead letters: lists, the live tail, CSV, and the chart.
enum DecisionRoutes {
    /// The greatest number of rows of a page.
    private static let pageLimit = 200

    /// Adds the endpoints.
    ///
    /// - Parameter feed: The reader, or nil without a broker.
    static func add(to router: inout ConsoleRouter, _ feed: DecisionFeed?) {
        let downloads = DownloadCount()
        for path in ["", "/live", ".csv"].map({ "/api/decisions" + $0 }) + ["/api/deadletters", "/api/chart"] {
            router.get(path) { request throws(ConsoleProblem) in
                try respond(request, try DecisionFeed.present(feed), downloads)
            }
        }
    }

    /// Returns the answer of one of the endpoints.
    static func respond(
        _ request: HTTPRequest, _ feed: DecisionFeed, _ downloads: DownloadCount = DownloadCount()
    ) throws(ConsoleProblem) -> HTTPResponse {
        switch request.path {
        case "/api/decisions/live": try LiveRoute.answer(request, feed)
        case "/api/decisions.csv": try FeedDownload.answer(request, feed, downloads)
        case "/api/chart": try ChartRoute.answer(request, feed)
        case "/api/deadletters": try page(request, feed, kind: "dead_letter")
        default: try page(request, feed, kind: "decision")
        }
    }

    private static func page(
        _ request: HTTPRequest, _ feed: DecisionFeed, kind: String
    ) throws(ConsoleProblem) -> HTTPResponse {
        let names = FeedQuery.names + ["limit", "position", "before", "top", "histogram"]
        let query = try RequestQuery(request, names: names, repeated: FeedQuery.repeatedNames)
        let filter = try FeedQuery.filter(query, kind: kind, feed.mask)
        let count = try query.number("limit", 0...pageLimit, unit: "rows") ?? 50
        let position = try query.number("position", 0...(1 << 24), unit: "rows") ?? 0
        let before = try FeedQuery.cursor(query, "before")
        let top = try FeedQuery.cursor(query, "top")
        if before != nil, top != nil {
            throw RequestQuery.problem("before", "cannot be combined with `top`", "pass one of them")
        }
        let spans = try query.number("histogram", 0...200, unit: "spans") ?? 0
        let limit = before.map { DecisionIndex.Limit.before($0) } ?? top.map { .through($0) }
        let found = feed.read { state in
            let page = state.index.page(filter, limit: limit, position: position, count: count)
            return Found(state, page, Histogram(state.index, filter, spans: spans, total: page.total))
        }
        return .json(try answer(found, top: top, feed))
    }

    /// The parts of the shared state that a page needs.
    private struct Found {
        let site: (topics: FeedTopics, epoch: Int)
        let summary: FeedSummary
        let page: DecisionIndex.Page
        let histogram: Histogram?
        /// The offsets of the next records.
        let after: String

        init(_ state: FeedState, _ page: DecisionIndex.Page, _ histogram: Histogram?) {
            site = (state.topics, state.epoch)
            summary = FeedSummary(state)
            after = LiveEvents.id(state.next)
            self.page = page
            self.histogram = histogram
        }
    }

    private static func answer(
        _ found: Found, top: RowKey?, _ feed: DecisionFeed
    ) throws(ConsoleProblem) -> String {
        let rows = feed.rows(found.page.rows, found.site)
        return JSONText.object { json in
            found.summary.write(&json)
            json.number("total", Int64(found.page.total))
            json.number("position", Int64(found.page.position))
            json.text("after", found.after.isEmpty ? nil : found.after)
            json.text("top", (top ?? found.summary.newest)?.text)
            let isLast = found.page.position + rows.count >= found.page.total
            json.text("next", isLast ? nil : rows.last?.key.text)
            json.values("rows", rows.map(\.json))
            if let histogram = found.histogram { histogram.write(&json) }
        }
    }
}
