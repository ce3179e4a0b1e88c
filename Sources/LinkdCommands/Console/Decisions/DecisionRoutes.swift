internal import ByteStorage
internal import DecisionIndex
internal import HTTPServer
internal import KafkaClient
internal import StrictJSON
internal import SystemThreads

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
                try respond(request, try present(feed), downloads)
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

    /// Returns the reader, or throws the problem of a console without a broker.
    static func present(_ feed: DecisionFeed?) throws(ConsoleProblem) -> DecisionFeed {
        if let feed { return feed }
        throw ConsoleProblem(
            status: 404, code: "no_broker", message: "the console has no broker, so it knows no decisions",
            next: "start it with --bootstrap")
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
        var json = JSONText()
        json.beginObject()
        found.summary.write(&json)
        json.number("total", Int64(found.page.total))
        json.number("position", Int64(found.page.position))
        json.text("after", found.after.isEmpty ? nil : found.after)
        json.text("top", (top ?? found.summary.newest)?.text)
        let isLast = found.page.position + rows.count >= found.page.total
        json.text("next", isLast ? nil : rows.last?.key.text)
        json.beginArray("rows")
        for row in rows { json.raw(nil, row.json) }
        json.endArray()
        if let histogram = found.histogram { histogram.write(&json) }
        json.endObject()
        return json.finish()
    }
}

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
        json.beginArray("counts")
        for count in counts { json.number(nil, Int64(count)) }
        json.endArray()
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
        var json = JSONText()
        json.beginObject()
        summary.write(&json)
        json.text("by", by)
        json.number("start", from)
        json.number("step", step)
        json.objects("groups", of: zip(buckets.groups, buckets.totals)) { json, group in
            if case .value(let value) = group.0 { json.text("value", value) } else { json.boolean("others", true) }
            json.number("total", Int64(group.1))
        }
        json.number("total", Int64(buckets.totals.reduce(0, +)))
        json.beginArray("counts")
        for counts in buckets.counts {
            json.beginArray()
            for count in counts { json.number(nil, Int64(count)) }
            json.endArray()
        }
        json.endArray()
        json.endObject()
        return json.finish()
    }
}

/// The number of downloads that run.
final class DownloadCount: Sendable {
    /// The limit of downloads at the same time.
    static let limit = 4

    private let streams = Monitor<[HTTPStream]>([])

    /// Adds a download, or returns false if there are too many.
    func add(_ stream: HTTPStream) -> Bool {
        streams.withLock { streams in
            streams.removeAll { $0.isClosed }
            guard streams.count < Self.limit else { return false }
            streams.append(stream)
            return true
        }
    }

    /// Removes a download that has ended.
    func remove(_ stream: HTTPStream) { streams.withLock { $0.removeAll { $0 === stream } } }
}

/// The endpoint `/api/decisions.csv`: the rows of a filter, from newest to oldest, as comma-separated values.
enum FeedDownload {
    /// The greatest number of rows.
    private static let rowLimit = 1_000_000
    /// The number of rows that are read at once.
    private static let batch = 400
    /// The size of the queue, in bytes, which holds two batches of long lines.
    private static let queueBytes = 4 << 20

    /// Returns the answer, which is made as fast as the client receives it.
    static func answer(
        _ request: HTTPRequest, _ feed: DecisionFeed, _ downloads: DownloadCount
    ) throws(ConsoleProblem) -> HTTPResponse {
        let query = try RequestQuery(
            request, names: FeedQuery.names + ["limit", "top"], repeated: FeedQuery.repeatedNames)
        let filter = try FeedQuery.filter(query, kind: "decision", feed.mask)
        let count = try query.number("limit", 1...rowLimit, unit: "rows") ?? rowLimit
        let top = try FeedQuery.cursor(query, "top")
        let place = Monitor(Place(limit: top.map { .through($0) }, left: count))
        let stream = HTTPStream(maxBytes: queueBytes) { stream in
            guard !place.withLock({ step(stream, &$0, filter, feed) }) else { return }
            stream.finish()
            downloads.remove(stream)
        }
        guard downloads.add(stream) else {
            throw ConsoleProblem(
                status: 503, code: "downloads", message: "\(DownloadCount.limit) downloads are running",
                next: "wait until one of them has ended")
        }
        return HTTPResponse(
            contentType: "text/csv; charset=utf-8",
            headers: ["Content-Disposition": "attachment; filename=\"decisions.csv\""], body: .stream(stream))
    }

    /// The position of a download.
    private struct Place {
        var limit: DecisionIndex.Limit?
        var left: Int
        var hasBegun = false
    }

    /// Adds the next lines, and returns false after the last one.
    private static func step(
        _ stream: HTTPStream, _ place: inout Place, _ filter: RowFilter, _ feed: DecisionFeed
    ) -> Bool {
        var lines = OutputArena(chunkBytes: 64 << 10)
        lines.begin()
        if !place.hasBegun { lines.append(text: CSVText.columns + "\n") }
        place.hasBegun = true
        let limit = place.limit
        let wanted = min(batch, place.left)
        let (rows, topics) = feed.read { state in
            (state.index.page(filter, limit: limit, count: wanted).rows, state.topics)
        }
        do throws(ConsoleProblem) {
            try append(rows, topics, feed, to: &lines)
        } catch {
            lines.append(text: "# incomplete: \(error.message)\n")
            place.left = 0
        }
        place.left -= rows.count
        if let last = rows.last { place.limit = .before(last.key) }
        let isQueued = stream.send(lines.finish().buffer)
        return rows.count == wanted && place.left > 0 && isQueued == .queued
    }

    private static func append(
        _ rows: [DecisionIndex.Row], _ topics: FeedTopics, _ feed: DecisionFeed, to lines: inout OutputArena
    ) throws(ConsoleProblem) {
        var offsets: [TopicPartition: [Int64]] = [:]
        for row in rows {
            if let partition = topics.partition(row.key.source) {
                offsets[partition, default: []].append(row.key.offset)
            }
        }
        var tape = DecisionTape()
        var found: [RowCache.Place: [UInt8]] = [:]
        try feed.records.read(offsets) { record in
            let partition = TopicPartition(topic: record.topic, partition: record.partition)
            guard let source = topics.source(partition) else { return }
            tape.begin(record.value)
            var line = OutputArena(chunkBytes: 4096)
            line.begin()
            CSVText.append(record, &tape, local: false, escaped: false, mask: feed.mask, to: &line)
            let key = RowKey(time: 0, source: source, offset: record.offset)
            found[RowCache.Place(key)] = line.finish().array
        }
        for row in rows {
            if let line = found[RowCache.Place(row.key)] {
                lines.append(line)
            } else {
                append(row, topics.partition(row.key.source)?.topic ?? "", to: &lines)
            }
        }
    }

    /// Appends the line of a record that no longer exists, with what the index has.
    private static func append(_ row: DecisionIndex.Row, _ topic: String, to lines: inout OutputArena) {
        if row.key.time >= 0 { Timestamps.append(row.key.time, to: &lines) }
        lines.append(text: ",\(topic),\(row.key.source.partition),\(row.key.offset),")
        let fields: [RowField?] = [.outcome, .route, .reason, nil, .table, nil, nil, .campaign, .application]
        for field in fields {
            lines.append(",")
            var text = field.flatMap { row.values[$0] } ?? ""
            text.withUTF8 { CSVText.append(ByteView($0), to: &lines) }
        }
        lines.append("\n")
    }
}
