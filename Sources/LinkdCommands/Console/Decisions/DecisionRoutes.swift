internal import ByteStorage
internal import DecisionIndex
internal import HTTPServer
internal import KafkaClient
internal import LinkDecider
internal import RouteAnalysis
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

/// The endpoint `/api/decision`: one decision, its event, its explanation, and what the device did before and after.
enum DecisionRoute {
    /// The greatest number of decisions of the device in each direction.
    private static let neighborLimit = 20
    /// The greatest number of records that are searched for a decision if only its id is known.
    private static let searchLimit: Int64 = 500_000

    /// Adds the endpoint.
    ///
    /// - Parameter feed: The reader, or nil without a broker.
    static func add(to router: inout ConsoleRouter, _ site: ConsoleSite, _ feed: DecisionFeed?) {
        let tables: Result<WhyTables, CommandFailure>
        do throws(CommandFailure) {
            tables = .success(try WhyTables(site.settings, site.shipped))
        } catch {
            tables = .failure(error)
        }
        let (settings, vendors) = (site.settings, site.vendors)
        router.get("/api/decision") { request throws(ConsoleProblem) in
            let feed = try DecisionFeed.present(feed)
            let query = try RequestQuery(request, names: ["id", "topic", "partition", "offset", "around"])
            let around = try query.number("around", 0...neighborLimit, unit: "decisions") ?? 10
            switch tables {
            case .success(let tables):
                var search = WhySearch(settings, tables, vendors)
                // The topics are unknown before the first answer of a broker.
                search.inputs = feed.read { $0.topics.inputs.isEmpty ? nil : $0.topics.inputs }
                let reference = try reference(query, settings.outputs.names)
                return try answer(reference, around, search, feed, settings.text("tables.topic"))
            case .failure(let failure):
                throw ConsoleProblem(
                    status: 503, code: "tables", message: failure.reason, next: failure.advice)
            }
        }
    }

    /// Returns the decision that a request asks for.
    ///
    /// A position without a topic is one of the first topic.
    private static func reference(
        _ query: RequestQuery, _ outputs: [String]
    ) throws(ConsoleProblem) -> DecisionReference {
        let partition: Int32? = try query.number("partition", 0...Int32.max, unit: "partitions")
        let offset: Int64? = try query.number("offset", 0...Int64.max, unit: "records")
        let topic = try query.text("topic", maxBytes: 249) ?? outputs[0]
        guard outputs.contains(topic) else {
            throw RequestQuery.problem("topic", "is not a topic of decisions", "pass the `topic` of a row")
        }
        // The position is exact, and it needs no search.
        if let partition, let offset {
            return .position(TopicPartition(topic: topic, partition: partition), offset: offset)
        }
        guard let text = try query.text("id", maxBytes: 300) else {
            throw RequestQuery.problem("id", "is missing", "pass the id of a decision, or `partition` and `offset`")
        }
        guard let id = DecisionID(text) else {
            throw RequestQuery.problem(
                "id", "is not the id of a decision",
                "pass TOPIC-PARTITION-OFFSET-INDEX, with .ITEM after the offset in a list, and ~N for a correction: "
                    + "the member `decision` of one")
        }
        return .id(id)
    }

    private static func answer(
        _ reference: DecisionReference, _ around: Int, _ search: WhySearch, _ feed: DecisionFeed, _ archive: String?
    ) throws(ConsoleProblem) -> HTTPResponse {
        let topics = feed.read { ($0.topics, $0.epoch) }
        let outputs = topics.0.outputs.names
        let deadline = RecordFetcher.deadline
        let report = try feed.records.withArchive(archive, until: deadline) { (scan, archive) throws(CommandFailure) in
            guard case .position(let place, let offset) = reference else {
                return try search.report(reference, &scan, &archive, outputs: outputs) {
                    (_, read) throws(CommandFailure) in try check(read, deadline)
                }
            }
            guard let record = try search.record(at: offset, of: place, &scan) else {
                throw CommandFailure(
                    .finding, "`\(place.topic)-\(place.partition)-\(offset)` does not exist, or no longer exists",
                    advice: "choose another decision")
            }
            return try search.report(record, &scan, &archive)
        }
        let timeline = try DeviceTimeline(report.decision, around, topics, feed, until: deadline)
        return .json(
            JSONText.object { json in
                json.object("why") { json in report.write(to: &json, mask: feed.mask) }
                DecisionSentence(report, feed.mask).write("sentence", to: &json)
                let device = report.decision.json?["device"]?.string
                json.text("device", device.map { feed.mask.id($0) })
                timeline.write(&json)
            })
    }

    /// Ends a search that takes too long with exit code 69.
    private static func check(_ read: Int64, _ deadline: Double) throws(CommandFailure) {
        guard read > searchLimit || Platform.monotonicSeconds > deadline else { return }
        throw CommandFailure(
            .unavailable, "the decision is not among the first \(read) records that were searched for its id",
            advice: "pass its partition and offset, or run `linkd inspect --why` with its id")
    }
}

/// The decisions of a device before and after one of them.
///
/// They come from the index. What is older than the index is read from the device's own partition, up to a limit.
struct DeviceTimeline {
    /// The number of offsets before the decision that are read if the index does not have them.
    private static let scanLimit: Int64 = 20_000

    private var before: [FeedRow] = []
    private var after: [FeedRow] = []
    /// A Boolean value that indicates whether there can be decisions of the device that were not searched.
    private var isCut = false

    /// Finds the decisions around a record.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - count: The greatest number of decisions in each direction.
    ///   - site: The topics, and the number of times that the reader has begun with other records.
    ///   - feed: The reader.
    ///   - deadline: The time on the monotonic clock after which nothing more is read.
    init(
        _ record: InspectedRecord, _ count: Int, _ site: (topics: FeedTopics, epoch: Int), _ feed: DecisionFeed,
        until deadline: Double
    ) throws(ConsoleProblem) {
        guard count > 0, let device = record.json?["device"]?.string,
            let source = site.topics.source(TopicPartition(topic: record.topic, partition: record.partition))
        else { return }
        let hash = feed.mask.hash(device)
        let key = RowKey(time: record.timestamp, source: source, offset: record.offset)
        let found = feed.read { $0.index.neighbors(of: key, device: hash, count: count) }
        // The index can have another time for the record itself.
        let own = RowCache.Place(key)
        guard Platform.monotonicSeconds < deadline else {
            isCut = true
            return
        }
        let sides = [found.before, found.after].map { keys in keys.filter { RowCache.Place($0) != own } }
        let rows = feed.rows(sides.joined().map { DecisionIndex.Row(key: $0) }, site)
        before = Array(rows.prefix(sides[0].count))
        after = Array(rows.dropFirst(sides[0].count))
        guard before.count < count else { return }
        let known = Set(before.map { RowCache.Place($0.key) })
        let older = try feed.records.withScan(until: deadline) { (scan) throws(CommandFailure) in
            try Self.search(record, device, count - before.count, known, (site.topics, feed.mask), &scan)
        }
        before += older.rows
        isCut = older.isCut && before.count < count
    }

    /// Searches the offsets before a record for decisions of its device, from newest to oldest.
    private static func search(
        _ record: InspectedRecord, _ device: String, _ count: Int, _ known: Set<RowCache.Place>,
        _ site: (topics: FeedTopics, mask: RecordMask), _ scan: inout TopicScan
    ) throws(CommandFailure) -> (rows: [FeedRow], isCut: Bool) {
        let partition = TopicPartition(topic: record.topic, partition: record.partition)
        guard let ends = try scan.description(of: record.topic)[record.partition], record.offset > ends.low else {
            return ([], false)
        }
        var plan = ScanPlan()
        let from = max(ends.low, record.offset - scanLimit)
        plan.partitions[partition] = ScanPlan.Span(from: from, to: record.offset)
        var rows: [FeedRow] = []
        var tape = DecisionTape()
        try RecordFetcher.run(&scan, plan) { record in
            guard let source = site.topics.source(partition), isKey(record.key, device) else { return true }
            tape.begin(record.value)
            let facts = RowFacts(record, &tape, source, now: Platform.nowMilliseconds)
            guard !known.contains(RowCache.Place(facts.key)) else { return true }
            rows.append(FeedRow(record, &tape, facts, site.mask))
            if rows.count > 2 * count + 64 { rows.removeFirst(rows.count - count) }
            return true
        }
        return (Array(rows.suffix(count).reversed()), from > ends.low)
    }

    private static func isKey(_ key: ByteView?, _ device: String) -> Bool {
        guard let key else { return false }
        return key.buffer.elementsEqual(device.utf8)
    }

    /// Writes the member `timeline`.
    func write(_ json: inout JSONText) {
        json.beginObject("timeline")
        json.values("before", before.map(\.json))
        json.values("after", after.map(\.json))
        json.boolean("cut", isCut)
        json.endObject()
    }
}

extension DecisionSentence {
    /// Creates the sentence of a report's decision, with the value at fault if the same tables explain it.
    init(_ report: WhyReport, _ mask: RecordMask) {
        let decision = report.decision.json ?? JSONValue(.null)
        guard !mask.isOn else {
            self.init(mask.decision(decision), explanation: nil, table: nil)
            return
        }
        let trace = report.isSame == true ? report.explanation?.decision?.json : nil
        let explanation = trace.flatMap { try? JSONValue.parse($0, maxDepth: DecisionTape.depth) }
        self.init(decision, explanation: explanation, table: report.isSame == true ? report.table?.table : nil)
    }
}
