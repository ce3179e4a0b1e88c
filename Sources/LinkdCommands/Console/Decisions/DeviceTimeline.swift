internal import ByteStorage
internal import DecisionIndex
internal import KafkaClient
internal import StrictJSON

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
            let source = RowSource(topic: 0, partition: record.partition)
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
        json.beginArray("before")
        for row in before { json.raw(nil, row.json) }
        json.endArray()
        json.beginArray("after")
        for row in after { json.raw(nil, row.json) }
        json.endArray()
        json.boolean("cut", isCut)
        json.endObject()
    }
}
