internal import DecisionIndex
internal import KafkaClient
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
        state = Monitor(FeedState(index: index, topics: FeedTopics(options.settings.outputs, deadLetters: [])))
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
                tape.begin(record.message)
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

    /// Returns the reader, or throws the problem of a console without a broker.
    static func present(_ feed: DecisionFeed?) throws(ConsoleProblem) -> DecisionFeed {
        if let feed { return feed }
        throw ConsoleProblem(
            status: 404, code: "no_broker", message: "the console has no broker, so it knows no decisions",
            next: "start it with --bootstrap")
    }
}
