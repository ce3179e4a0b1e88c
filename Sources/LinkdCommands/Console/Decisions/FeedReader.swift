internal import DecisionIndex
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
