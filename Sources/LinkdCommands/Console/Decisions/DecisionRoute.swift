internal import ByteStorage
internal import DecisionIndex
internal import HTTPServer
internal import KafkaClient
internal import LinkDecider
internal import RouteAnalysis
internal import StrictJSON

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
