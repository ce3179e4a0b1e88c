internal import DecisionIndex
internal import HTTPServer
internal import KafkaClient
internal import StrictJSON
internal import SystemThreads

/// The decisions and dead letters of a cluster, which one thread reads for all clients of a console.
final class DecisionFeed: Sendable {
    /// The source and the limits.
    let options: FeedOptions
    /// The replacement of what identifies people.
    let mask: RecordMask
    /// The index, the reader's state, and the live clients.
    let state: Monitor<FeedState>
    /// The records of single offsets.
    let records: RecordFetcher
    /// The rows that were read lately.
    let cache = Monitor(RowCache())
    private let thread = StoppableThread(name: "console reader")

    /// Creates a feed, which does not read before `start()`.
    init(_ options: FeedOptions) {
        self.options = options
        let index = DecisionIndex(capacity: options.capacity)
        mask = RecordMask(hash: index.hash, isOn: options.masks)
        let decisions = options.settings.text("output") ?? "link-decisions"
        state = Monitor(FeedState(index, FeedTopics(decisions: decisions, deadLetters: [])))
        records = RecordFetcher(options.connection)
    }

    /// Starts the reader.
    func start() {
        let (options, mask, state, thread) = (options, mask, state, thread)
        let isRunning = thread.start {
            var reader = FeedReader(options, mask, state, thread)
            reader.run()
        }
        if isRunning { return }
        state.signal { state in
            state.status.enter(
                .broken(message: "the system cannot create a thread", next: "raise its limit of threads"),
                now: Platform.nowMilliseconds)
        }
    }

    /// Stops the reader, and ends the streams of the live clients.
    func stop() {
        thread.stop()
        state.signal { $0.live.endAll() }
        thread.join(milliseconds: 5000)
    }

    /// Calls a function with the rows in order and the reader's state.
    func read<Result>(_ body: (inout FeedState) -> Result) -> Result {
        state.withLock { state in
            state.index.settle()
            return body(&state)
        }
    }
}

extension DecisionFeed {
    /// Returns the rows of a page, each read at its offset unless it was read lately.
    ///
    /// A record that no longer exists becomes a row with what the index has. So does every record that was not read
    /// lately while the broker does not answer.
    func rows(_ rows: [DecisionIndex.Row], _ site: (topics: FeedTopics, epoch: Int)) -> [FeedRow] {
        var found: [RowCache.Place: FeedRow] = [:]
        var keys: [RowCache.Place: RowKey] = [:]
        var missing: [TopicPartition: [Int64]] = [:]
        let topics = site.topics
        cache.withLock { cache in
            cache.enter(epoch: site.epoch)
            for row in rows {
                if let known = cache.row(row.key) {
                    found[RowCache.Place(row.key)] = known
                } else if let partition = topics.partition(row.key.source) {
                    missing[partition, default: []].append(row.key.offset)
                    keys[RowCache.Place(row.key)] = row.key
                }
            }
        }
        if !missing.isEmpty, !state.withLock({ $0.status.isBroken }) {
            var tape = DecisionTape()
            // The reader of the topics reports what is wrong with the broker.
            try? records.read(missing) { record in
                let partition = TopicPartition(topic: record.topic, partition: record.partition)
                guard let source = topics.source(partition) else { return }
                tape.begin(record.value)
                var facts = RowFacts(record, &tape, source, now: Platform.nowMilliseconds)
                let place = RowCache.Place(facts.key)
                guard let key = keys[place] else { return }
                // The index can have another time for a record whose own time is in the future.
                facts.key = key
                let row = FeedRow(record, &tape, facts, mask)
                found[place] = row
                cache.withLock { $0.insert(row) }
            }
        }
        return rows.map { row in
            found[RowCache.Place(row.key)] ?? FeedRow(row, topic: topics.partition(row.key.source)?.topic ?? "")
        }
    }

    /// The decisions of each route since the oldest one in the index.
    var routeTraffic: RouteTraffic {
        RouteTraffic { [self] table in
            read { state in
                guard let oldest = state.index.oldest else { return nil }
                var filter = RowFilter()
                filter.tableID = table
                filter.kind = .decision
                var counts: [String: Int64] = [:]
                for (group, rows) in state.index.values(filter, of: .route, top: 65_536) {
                    if case .value(let route) = group, !route.isEmpty { counts[route] = Int64(rows) }
                }
                return (counts, oldest.time)
            }
        }
    }
}

/// The limits and the source of a feed.
struct FeedOptions: Sendable {
    /// The connection to the cluster.
    var connection: Connection
    /// The settings, which determine the topics.
    var settings: Settings
    /// The first time to read, in milliseconds since 1970.
    var since: Int64
    /// A Boolean value that indicates whether rows contain no values that identify people.
    var masks = false
    /// The limit of rows.
    var capacity = DecisionIndex.defaultCapacity
}

/// The state that the reader and the endpoints share, under one lock.
struct FeedState {
    var index: DecisionIndex
    /// The state of the reader.
    var status = FeedStatus()
    /// The topics, which are known when a broker has answered.
    var topics: FeedTopics
    /// The number of partitions of the topic of decisions, or 0 if it is unknown.
    var partitions: Int32 = 0
    /// The offset after the last one that was read, for each partition.
    var next: [RowSource: Int64] = [:]
    /// The number of times that the reader has begun with other records.
    var epoch = 0
    /// The clients that see records as they arrive.
    var live = LiveClients()

    /// Creates the state before the first contact with a broker.
    init(_ index: DecisionIndex, _ topics: FeedTopics) {
        self.index = index
        self.topics = topics
    }
}

/// The state of the reader of decisions and dead letters.
struct FeedStatus: Sendable, Equatable {
    /// A phase of the reader.
    enum Phase: Sendable, Equatable {
        /// No broker has answered so far.
        case connecting
        /// The records since the look-back are read.
        case loading
        /// New records are read as they arrive.
        case live
        /// The broker does not answer, or refuses. What was read before can still be searched.
        case broken(message: String, next: String)
    }

    var phase = Phase.connecting
    /// The time since when the reader is in the phase, in milliseconds since 1970.
    var since: Int64 = 0
    /// The number of offsets that were read since the last start, and the number to read until its end.
    var progress: (done: Int64, total: Int64) = (0, 0)
    /// The time from which records are read, in milliseconds since 1970.
    var from: Int64 = 0
    /// A Boolean value that indicates whether there are more records since the look-back than the index can hold.
    var isShortened = false
    /// The number of records read.
    var read: Int64 = 0

    static func == (a: FeedStatus, b: FeedStatus) -> Bool {
        a.phase == b.phase && a.since == b.since && a.progress == b.progress && a.from == b.from
            && a.isShortened == b.isShortened && a.read == b.read
    }

    /// A Boolean value that indicates whether the broker does not answer, or refuses.
    var isBroken: Bool {
        if case .broken = phase { true } else { false }
    }

    /// Changes the phase, and its time if it is another one.
    mutating func enter(_ phase: Phase, now: Int64) {
        guard phase != self.phase else { return }
        self.phase = phase
        since = now
    }

    /// Writes the members of the state's JSON object.
    func write(_ json: inout JSONText) {
        switch phase {
        case .connecting: json.text("phase", "connecting")
        case .loading: json.text("phase", "loading")
        case .live: json.text("phase", "live")
        case .broken(let message, let next):
            json.text("phase", "broken")
            json.text("message", message)
            json.text("next", next)
        }
        json.number("since", since)
        json.number("done", min(progress.done, progress.total))
        json.number("total", progress.total)
        json.number("from", from)
        json.boolean("shortened", isShortened)
        json.number("read", read)
    }
}

/// The state of the index that every list begins with.
struct FeedSummary {
    private let status: FeedStatus
    private let count: Int
    private let dropped: Int64
    private let oldest: RowKey?
    /// The newest row.
    let newest: RowKey?

    /// Creates the summary of a state.
    init(_ state: FeedState) {
        status = state.status
        count = state.index.count
        dropped = state.index.dropped
        oldest = state.index.oldest
        newest = state.index.newest
    }

    /// Writes its members.
    func write(_ json: inout JSONText) {
        json.beginObject("state")
        status.write(&json)
        json.endObject()
        json.number("indexed", Int64(count))
        json.boolean("truncated", dropped > 0 || status.isShortened)
        let from = max(status.from, dropped > 0 ? oldest?.time ?? 0 : 0)
        json.number("from", from)
    }
}

/// The topics that a console reads: the topic of the decisions, then the topics of the dead letters.
struct FeedTopics: Equatable, Sendable {
    /// The names, by the number of the topic in the index.
    let names: [String]
    /// The input topics, from which events are read.
    let inputs: Set<String>

    /// Creates a list of topics.
    init(decisions: String, deadLetters: [String], inputs: [String] = []) {
        self.inputs = Set(inputs)
        var names = [decisions]
        for name in deadLetters where !names.contains(name) { names.append(name) }
        self.names = Array(names.prefix(RowSource.topicLimit))
    }

    /// The topic of the decisions.
    var decisions: String { names[0] }

    /// Returns the place of a partition in the index, or nil if the topic is not read.
    func source(_ partition: TopicPartition) -> RowSource? {
        names.firstIndex(of: partition.topic).flatMap { RowSource(topic: $0, partition: partition.partition) }
    }

    /// Returns the partition of a place in the index, or nil if the topic is not read.
    func partition(_ source: RowSource) -> TopicPartition? {
        names.indices.contains(source.topic)
            ? TopicPartition(topic: names[source.topic], partition: source.partition) : nil
    }
}

/// Rows that were read lately, up to a limit of bytes.
///
/// Rows that are not used while half of the limit is filled again are forgotten.
struct RowCache {
    /// The identity of a record.
    struct Place: Hashable {
        /// The topic and the partition.
        var source: RowSource
        var offset: Int64

        /// Creates the identity of the record of a row.
        init(_ key: RowKey) {
            source = key.source
            offset = key.offset
        }
    }

    /// The bytes that a row needs in addition to its text.
    private static let overhead = 160

    private let limit: Int
    private var recent: [Place: FeedRow] = [:]
    private var older: [Place: FeedRow] = [:]
    private var recentBytes = 0
    private var epoch = 0

    /// Creates an empty cache.
    ///
    /// - Parameter limit: The limit of all rows, in bytes.
    init(limit: Int = 16 << 20) { self.limit = limit }

    /// Forgets all rows if the topics have changed.
    ///
    /// - Parameter epoch: The number of times that the reader has begun with other records.
    mutating func enter(epoch: Int) {
        guard epoch != self.epoch else { return }
        self = RowCache(limit: limit)
        self.epoch = epoch
    }

    /// The number of rows.
    var count: Int { recent.count + older.count }

    /// Returns the row of a record, if it is known.
    mutating func row(_ key: RowKey) -> FeedRow? {
        let place = Place(key)
        if let row = recent[place] { return row }
        guard let row = older[place] else { return nil }
        insert(row)
        return row
    }

    /// Adds a row.
    mutating func insert(_ row: FeedRow) {
        let bytes = row.json.count + Self.overhead
        if recentBytes + bytes > limit / 2 {
            older = recent
            recent = [:]
            recentBytes = 0
        }
        if recent.updateValue(row, forKey: Place(row.key)) == nil { recentBytes += bytes }
    }
}
