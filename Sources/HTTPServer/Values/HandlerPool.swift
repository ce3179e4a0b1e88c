internal import CLibrary
internal import CMicroHTTPD
internal import Synchronization
internal import SystemThreads

/// The threads that run handlers, which may block.
///
/// The server's thread never runs a handler, so a blocked handler delays no time limit. The queue has at most two jobs
/// per connection.
final class HandlerPool: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State {
        var jobs: [Job] = []
        var running = 0
        var isStopped = false
    }

    private let state = Monitor(State())

    /// Starts the threads, or returns nil if the system cannot create them.
    init?(threads: Int) {
        for _ in 0..<threads {
            guard SystemThread.start("http handler", { [state] in Self.run(state) }) else {
                state.signal { $0.isStopped = true }
                return nil
            }
        }
    }

    /// Adds a job.
    func submit(_ job: @escaping Job) { state.signal { $0.jobs.append(job) } }

    /// Discards waiting jobs, and waits for running ones at most `milliseconds`.
    func stop(milliseconds: Int) {
        state.signal { state in
            state.isStopped = true
            state.jobs = []
        }
        _ = state.wait(milliseconds: milliseconds) { $0.running == 0 ? true : nil }
    }

    private static func run(_ state: Monitor<State>) {
        while let job = next(state) {
            job()
            state.signal { $0.running -= 1 }
        }
    }

    /// Waits for a job, and returns nil when the pool is stopped.
    private static func next(_ state: Monitor<State>) -> Job? {
        while true {
            let next = state.wait(milliseconds: 3_600_000) { state -> Job?? in
                if state.isStopped { return .some(nil) }
                guard !state.jobs.isEmpty else { return nil }
                state.running += 1
                return state.jobs.removeFirst()
            }
            if let next { return next }
        }
    }
}

/// The pool of each share of a server's threads, and of all other requests.
struct HandlerPools: Sendable {
    private let common: HandlerPool
    /// The pool that produces streams.
    let streams: HandlerPool
    private var shares: [(paths: Set<String>, pool: HandlerPool)] = []

    /// Starts the threads, or returns nil if the system cannot create them.
    init?(_ configuration: HTTPServerConfiguration) {
        guard let common = HandlerPool(threads: configuration.handlerThreads) else { return nil }
        let own = configuration.shares.isEmpty ? common : HandlerPool(threads: configuration.handlerThreads)
        guard let streams = own else {
            common.stop(milliseconds: 0)
            return nil
        }
        (self.common, self.streams) = (common, streams)
        for share in configuration.shares {
            guard let pool = HandlerPool(threads: share.threads) else {
                stop(milliseconds: 0)
                return nil
            }
            shares.append((share.paths, pool))
        }
    }

    /// Returns the pool for the requests of a path.
    func pool(of path: String) -> HandlerPool { shares.first { $0.paths.contains(path) }?.pool ?? common }

    /// Discards waiting jobs, and waits for the running ones of each pool at most `milliseconds`.
    func stop(milliseconds: Int) {
        for pool in [common, streams] + shares.map(\.pool) { pool.stop(milliseconds: milliseconds) }
    }
}

/// The messages of other threads to the server's thread, with a pipe that wakes it.
final class Mailbox: Sendable {
    /// The messages since the last time the server's thread read them.
    struct Messages {
        /// The responses of handlers, with the number of the connection and of its request.
        var responses: [(connection: UInt64, request: UInt64, response: HTTPResponse)] = []
        /// The numbers of connections whose streams have new bytes or an end.
        var streams: Set<UInt64> = []
        /// A Boolean value that indicates whether the server stops.
        var isStopping = false
        /// A Boolean value that indicates whether nobody reads messages any more.
        fileprivate var hasEnded = false
        /// A Boolean value that indicates whether a byte is in the pipe.
        fileprivate var isSignaled = false
    }

    private let messages = Mutex(Messages())
    /// The end of the pipe that the server's thread waits on.
    let readEnd: Int32
    private let writeEnd: Int32

    /// Creates a mailbox, or returns nil if the process has no free file descriptors.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (readEnd, writeEnd) = (ends[0], ends[1])
        linkd_http_configure(readEnd)
        linkd_http_configure(writeEnd)
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Adds the response of a handler, or discards it if the server has ended.
    func post(_ response: HTTPResponse, connection: UInt64, request: UInt64) {
        post { messages in
            if messages.hasEnded { return response.discard() }
            messages.responses.append((connection, request, response))
        }
    }

    /// Discards the responses of handlers from now on.
    func end() {
        messages.withLock { messages in
            messages.hasEnded = true
            for (_, _, response) in messages.responses { response.discard() }
            messages.responses = []
        }
    }

    /// Adds a message and wakes the server's thread.
    func post(_ change: (inout Messages) -> Void) {
        messages.withLock { messages in
            change(&messages)
            guard !messages.isSignaled else { return }
            messages.isSignaled = true
            var byte: UInt8 = 0
            _ = write(writeEnd, &byte, 1)
        }
    }

    /// Removes and returns all messages.
    func take() -> Messages {
        messages.withLock { messages in
            var byte: UInt8 = 0
            if messages.isSignaled { _ = read(readEnd, &byte, 1) }
            let taken = messages
            messages = Messages()
            messages.isStopping = taken.isStopping
            return taken
        }
    }
}
