internal import DecisionIndex
internal import HTTPServer
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
