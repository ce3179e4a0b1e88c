internal import ByteStorage
internal import DecisionIndex
internal import HTTPServer
internal import KafkaClient
internal import SystemThreads

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
            tape.begin(record.message)
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
        let fields: [RowField?] = [.outcome, .route, .reason, nil, .table, nil, nil, .campaign, .application, nil]
        for field in fields {
            lines.append(",")
            var text = field.flatMap { row.values[$0] } ?? ""
            text.withUTF8 { CSVText.append(ByteView($0), to: &lines) }
        }
        lines.append("\n")
    }
}
