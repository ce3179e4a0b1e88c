internal import DecisionIndex
internal import HTTPServer
internal import SystemThreads

/// The endpoint `/api/decisions/live`: rows as they arrive, as server-sent events.
enum LiveRoute {
    /// The greatest number of rows that a client gets for the time without a connection.
    private static let resumedLimit = 200

    /// Returns the answer, which ends with the client's connection or with the console.
    static func answer(_ request: HTTPRequest, _ feed: DecisionFeed) throws(ConsoleProblem) -> HTTPResponse {
        let query = try RequestQuery(
            request, names: FeedQuery.names + ["after"], repeated: FeedQuery.repeatedNames)
        let filter = try FeedQuery.filter(query, kind: "decision", feed.mask)
        guard filter.from == nil, filter.to == nil else {
            throw RequestQuery.problem("from", "does not apply to new records", "leave `from` and `to` out")
        }
        let after = try query.text("after", maxBytes: LiveEvents.idLimit)
        let last = request.headers["Last-Event-ID"] ?? after
        let offsets = try last.map { text throws(ConsoleProblem) in
            guard let offsets = LiveEvents.offsets(text) else {
                throw RequestQuery.problem("after", "is not the id of an event", "pass the id of the last event")
            }
            return offsets
        }
        let stream = HTTPStream(maxBytes: LiveClients.queueBytes)
        let start = feed.read { state -> Start? in
            guard let number = state.live.add(stream, filter) else { return nil }
            let missed = offsets.map { state.index.rows(filter, from: $0, count: resumedLimit) }
            return Start(number: number, missed: missed, site: (state.topics, state.epoch), next: state.next)
        }
        guard let start else {
            throw ConsoleProblem(
                status: 503, code: "streams", message: "\(LiveClients.limit) pages already show new decisions",
                next: "close another page, or use /api/decisions")
        }
        stream.send(Array("retry: 2000\n\n".utf8))
        let missed = start.missed
        let id = LiveEvents.id(start.next)
        if let missed, missed.total > 0 {
            let rows = feed.rows(missed.rows, start.site)
            let text = LiveEvents.rows(rows.map(\.json), dropped: missed.total - rows.count)
            stream.send(LiveEvents.event("rows", id: id, text))
        } else {
            stream.send(LiveEvents.event("rows", id: id, LiveEvents.rows([], dropped: 0)))
        }
        feed.state.withLock { $0.live.begin(start.number) }
        return HTTPResponse(contentType: "text/event-stream", body: .stream(stream))
    }

    /// The state at the time when a client was added.
    private struct Start {
        let number: Int
        let missed: (rows: [DecisionIndex.Row], total: Int)?
        let site: (topics: FeedTopics, epoch: Int)
        let next: [RowSource: Int64]
    }
}
