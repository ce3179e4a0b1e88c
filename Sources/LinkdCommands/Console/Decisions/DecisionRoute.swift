internal import ByteStorage
internal import DecisionIndex
internal import HTTPServer
internal import KafkaClient
internal import StrictJSON

/// The endpoint `/api/decision`: one decision, its event, its explanation, and what the device did before and after.
enum DecisionRoute {
    /// The greatest number of decisions of the device in each direction.
    private static let neighborLimit = 20
    /// The greatest number of records that are searched for a decision of which only the id is known.
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
            let feed = try DecisionRoutes.present(feed)
            let query = try RequestQuery(request, names: ["id", "partition", "offset", "around"])
            let around = try query.number("around", 0...neighborLimit, unit: "decisions") ?? 10
            switch tables {
            case .success(let tables):
                var search = WhySearch(settings, tables, vendors)
                // The topics are unknown before the first answer of a broker.
                search.inputs = feed.read { $0.topics.inputs.isEmpty ? nil : $0.topics.inputs }
                return try answer(try reference(query), around, search, feed)
            case .failure(let failure):
                throw ConsoleProblem(
                    status: 503, code: "tables", message: failure.reason, next: failure.advice)
            }
        }
    }

    /// Returns the decision that a request asks for.
    private static func reference(_ query: RequestQuery) throws(ConsoleProblem) -> DecisionReference {
        let partition: Int32? = try query.number("partition", 0...Int32.max, unit: "partitions")
        let offset: Int64? = try query.number("offset", 0...Int64.max, unit: "records")
        // The position is exact, and it needs no search.
        if let partition, let offset { return .position(partition: partition, offset: offset) }
        guard let text = try query.text("id", maxBytes: 300) else {
            throw RequestQuery.problem("id", "is missing", "pass the id of a decision, or `partition` and `offset`")
        }
        guard let id = DecisionID(text) else {
            throw RequestQuery.problem(
                "id", "is not the id of a decision", "pass TOPIC-PARTITION-OFFSET-INDEX, the member `decision` of one")
        }
        return .id(id)
    }

    private static func answer(
        _ reference: DecisionReference, _ around: Int, _ search: WhySearch, _ feed: DecisionFeed
    ) throws(ConsoleProblem) -> HTTPResponse {
        let topics = feed.read { ($0.topics, $0.epoch) }
        let output = topics.0.decisions
        let deadline = RecordFetcher.deadline
        let report = try feed.records.withScan(until: deadline) { (scan) throws(CommandFailure) in
            guard case .position(let partition, let offset) = reference else {
                return try search.report(reference, &scan, output: output) { read throws(CommandFailure) in
                    try check(read, deadline)
                }
            }
            let place = TopicPartition(topic: output, partition: partition)
            guard let record = try search.record(at: offset, of: place, &scan) else {
                throw CommandFailure(
                    .finding, "`\(output)-\(partition)-\(offset)` does not exist, or no longer exists",
                    advice: "choose another decision")
            }
            return try search.report(record, &scan)
        }
        let timeline = try DeviceTimeline(report.decision, around, topics, feed, until: deadline)
        var json = JSONText()
        json.beginObject()
        json.beginObject("why")
        report.write(to: &json, mask: feed.mask)
        json.endObject()
        DecisionSentence(report, feed.mask).write("sentence", to: &json)
        let device = report.decision.json?["device"]?.string
        json.text("device", device.map { feed.mask.id($0) })
        timeline.write(&json)
        json.endObject()
        return .json(json)
    }

    /// Ends a search that takes too long with exit code 69.
    private static func check(_ read: Int64, _ deadline: Double) throws(CommandFailure) {
        guard read > searchLimit || Platform.monotonicSeconds > deadline else { return }
        throw CommandFailure(
            .unavailable, "the decision is not among the first \(read) records that were searched for its id",
            advice: "pass its partition and offset, or run `linkd inspect --why` with its id")
    }
}
