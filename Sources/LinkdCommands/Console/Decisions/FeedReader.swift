internal import DecisionIndex
internal import KafkaClient
internal import LinkDecider
internal import SystemThreads

/// The thread that reads decisions and dead letters into the index, and then follows the topics.
struct FeedReader: ~Copyable {
    /// The time without records after which the reader asks whether the broker still answers, in seconds.
    private static let patience = 2.0
    /// The time limit of a question to a broker, in milliseconds.
    private static let timeout: Int32 = 3000
    /// The time between two messages to live clients, in seconds.
    private static let interval = 0.1

    private let options: FeedOptions
    private let mask: RecordMask
    private let state: Monitor<FeedState>
    private let thread: StoppableThread
    private var tape = DecisionTape()
    private var topics: FeedTopics
    /// The indices of the topics in `topics.names`.
    private var sources: [String: Int] = [:]
    private var heard = 0.0
    private var told = 0.0

    /// Creates a reader.
    init(
        _ options: FeedOptions, _ mask: RecordMask, _ state: Monitor<FeedState>, _ thread: StoppableThread
    ) {
        self.options = options
        self.mask = mask
        self.state = state
        self.thread = thread
        topics = state.withLock { $0.topics }
    }

    /// Reads until the thread is stopped.
    ///
    /// After an error, the reader connects again and continues where it was.
    mutating func run() {
        var wait = 500
        while !thread.isStopped {
            do throws(CommandFailure) {
                try session(&wait)
            } catch {
                enterBroken(error)
                tell()
                guard thread.sleep(milliseconds: wait) else { return }
                wait = min(2 * wait, 5000)
            }
        }
    }

    private func enterBroken(_ error: CommandFailure) {
        let phase = FeedStatus.Phase.broken(message: error.reason, next: error.advice)
        state.signal { $0.status.enter(phase, now: Platform.nowMilliseconds) }
    }

    private mutating func session(_ wait: inout Int) throws(CommandFailure) {
        var scan = try TopicScan(options.connection, prefetch: .steady)
        var start = FeedStart(options, state.withLock { ($0.topics, $0.next) })
        try start.determine(scan, timeout: Self.timeout)
        try scan.start(start.plan)
        topics = start.topics
        sources = Dictionary(uniqueKeysWithValues: topics.names.enumerated().map { ($1, $0) })
        state.signal { start.apply(to: &$0, now: Platform.nowMilliseconds) }
        wait = 500
        heard = Platform.monotonicSeconds
        while !thread.isStopped {
            let before = scan.read
            _ = try scan.next { record in
                add(record)
                return true
            }
            let now = Platform.monotonicSeconds
            if scan.read > before { heard = now }
            if now - heard > Self.patience {
                ask(scan)
                heard = Platform.monotonicSeconds
            }
            update(scan, hasNew: scan.read > before)
            if now - told >= Self.interval { tell() }
        }
    }

    /// Adds a record to the index, and to the rows of the live clients if there are any.
    private mutating func add(_ record: ScannedRecord) {
        guard let topic = sources[record.topic],
            let source = topics.source(of: topic, record.partition)
        else { return }
        let now = Platform.nowMilliseconds
        tape.begin(record.message)
        var facts = RowFacts(record, &tape, source, now: now)
        if mask.isOn { facts.query = nil }
        let since = options.since
        let isWanted = state.withLock { state in
            state.next[source] = record.offset + 1
            state.status.progress.done += 1
            state.status.read += 1
            // Dead letters are read from the start of their topics, because they have the timestamps of their sources.
            guard source.kind == .decision || facts.key.time >= since else { return false }
            state.index.add(facts)
            return state.live.isWanted(facts, state.index.hash)
        }
        guard isWanted else { return }
        let row = FeedRow(record, &tape, facts, mask)
        state.withLock { $0.live.add(row, facts, $0.index.hash) }
    }

    /// Asks whether the broker still answers.
    ///
    /// If it does, records arrive again without a new connection.
    private func ask(_ scan: TopicScan) {
        let topic = topics.outputs.main
        do throws(CommandFailure) {
            _ = try scan.description(of: topic, timeout: Self.timeout)
            state.signal { state in
                guard case .broken = state.status.phase else { return }
                state.status.enter(.live, now: Platform.nowMilliseconds)
            }
        } catch {
            enterBroken(error)
        }
    }

    private func update(_ scan: TopicScan, hasNew: Bool) {
        let isAtEnd = scan.isAtEnd
        state.signal { state in
            switch state.status.phase {
            case .loading where isAtEnd, .connecting where isAtEnd, .broken where hasNew:
                state.status.enter(isAtEnd ? .live : .loading, now: Platform.nowMilliseconds)
            default: break
            }
        }
    }

    /// Sends the new rows and the rate to the live clients.
    private mutating func tell() {
        told = Platform.monotonicSeconds
        let now = Platform.nowMilliseconds
        state.withLock { state in
            if case .live = state.status.phase { state.index.settle() }
            let (status, next) = (state.status, state.next)
            state.live.send(status, next, total: state.index.count, now: now)
        }
    }
}

/// The offsets at which the reader starts or continues.
struct FeedStart {
    /// The greatest number of offsets of all topics of dead letters that are read.
    private static let letterLimit: Int64 = 200_000

    private let options: FeedOptions
    private let next: [RowSource: Int64]
    /// The topics.
    private(set) var topics: FeedTopics
    /// The ranges, which have no end.
    private(set) var plan = ScanPlan()
    private var total: Int64 = 0
    private var from: Int64
    private var isShortened = false
    /// A Boolean value that indicates whether the rows so far belong to other records.
    private var isNew = true

    /// Creates the start of a reader that has read up to the given offsets.
    init(_ options: FeedOptions, _ known: (topics: FeedTopics, next: [RowSource: Int64])) {
        self.options = options
        topics = known.topics
        next = known.next
        from = options.since
    }

    /// Determines the topics and the offsets.
    mutating func determine(_ scan: TopicScan, timeout: Int32) throws(CommandFailure) {
        var ends: [TopicPartition: Watermarks] = [:]
        for name in topics.outputs.names {
            for (number, end) in try scan.description(of: name, timeout: timeout) {
                ends[TopicPartition(topic: name, partition: number)] = end
            }
        }
        let names = try ClusterTopics(options.settings, options.connection.makeAdmin())
        let found = FeedTopics(names.outputs, deadLetters: names.deadLetters, inputs: names.inputs)
        // Numbers of topics are part of the rows, so that other topics need other rows.
        isNew = next.isEmpty || found != topics
        topics = found
        if !isNew, !continues(ends) { isNew = true }
        try addDecisions(ends, scan)
        for name in topics.names.dropFirst(topics.outputs.names.count) {
            do throws(CommandFailure) {
                addLetters(name, try scan.description(of: name, timeout: timeout))
            } catch  where error.code == .configuration {
                // A topic of dead letters is often created with the first of them.
                continue
            }
        }
    }

    /// Returns a Boolean value that indicates whether the known offsets are in their partitions, and few are missing.
    private func continues(_ ends: [TopicPartition: Watermarks]) -> Bool {
        var missing: Int64 = 0
        for (partition, end) in ends {
            guard let source = topics.source(partition) else { continue }
            let offset = next[source] ?? end.low
            if offset > end.high { return false }
            missing += end.high - max(offset, end.low)
        }
        return missing <= Int64(options.capacity)
    }

    private mutating func addDecisions(
        _ ends: [TopicPartition: Watermarks], _ scan: TopicScan
    ) throws(CommandFailure) {
        let starts = isNew ? try firstOffsets(ends, scan) : [:]
        for (partition, end) in ends {
            let known = topics.source(partition).flatMap { next[$0] }
            add(partition, isNew ? starts[partition] ?? end.high : known ?? end.low, end)
        }
    }

    private mutating func add(_ partition: TopicPartition, _ offset: Int64, _ end: Watermarks) {
        let first = min(max(offset, end.low), end.high)
        plan.partitions[partition] = ScanPlan.Span(from: first, to: nil)
        total += end.high - first
    }

    /// Returns the offsets of the look-back, or of a later time whose records fill the index.
    private mutating func firstOffsets(
        _ ends: [TopicPartition: Watermarks], _ scan: TopicScan
    ) throws(CommandFailure) -> [TopicPartition: Int64] {
        func offsets(_ time: Int64) throws(CommandFailure) -> (count: Int64, starts: [TopicPartition: Int64]) {
            var starts: [TopicPartition: Int64] = [:]
            for name in topics.outputs.names {
                let numbers = ends.keys.filter { $0.topic == name }.map(\.partition)
                starts.merge(try scan.offsets(of: name, numbers, atOrAfter: time)) { $1 }
            }
            let count = starts.reduce(Int64(0)) { $0 + max(0, (ends[$1.key]?.high ?? 0) - $1.value) }
            return (count, starts)
        }
        let limit = Int64(options.capacity)
        var best = try offsets(from)
        guard best.count > limit else { return best.starts }
        isShortened = true
        var high = Platform.nowMilliseconds
        // The latest time with too many records. Those beyond the limit fall out of the index.
        for _ in 0..<40 where high - from > 1 && best.count > limit + limit / 16 {
            let middle = from + (high - from) / 2
            let found = try offsets(middle)
            if found.count < limit {
                high = middle
            } else {
                (from, best) = (middle, found)
            }
        }
        return best.starts
    }

    private mutating func addLetters(_ name: String, _ ends: [Int32: Watermarks]) {
        let letters = topics.names.count - topics.outputs.names.count
        let share = Self.letterLimit / Int64(max(1, letters)) / Int64(max(1, ends.count))
        for (number, end) in ends {
            let partition = TopicPartition(topic: name, partition: number)
            let known = isNew ? nil : topics.source(partition).flatMap { next[$0] }
            add(partition, known ?? end.high - max(1, share), end)
        }
    }

    /// Applies the start to the shared state.
    func apply(to state: inout FeedState, now: Int64) {
        if isNew {
            state.index.removeAll()
            state.next = [:]
            state.epoch += 1
            state.status.isShortened = isShortened
            state.status.from = from
        }
        state.topics = topics
        for (partition, span) in plan.partitions {
            if let source = topics.source(partition) { state.next[source] = span.from }
        }
        state.status.progress = (0, total)
        state.status.enter(.loading, now: now)
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
        /// The offset.
        var offset: Int64

        /// Creates the identity of the record of a row.
        init(_ key: RowKey) {
            source = key.source
            offset = key.offset
        }
    }

    /// The bytes of a row beside its text.
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

    /// Forgets all rows if the topics are others than before.
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
