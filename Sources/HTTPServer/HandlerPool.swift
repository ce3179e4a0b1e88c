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
