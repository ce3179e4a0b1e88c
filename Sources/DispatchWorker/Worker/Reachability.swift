internal import KafkaClient

/// Asks whether a broker answers, while somebody wants to know.
///
/// With a client and a thread of its own: the lanes' clients cannot be asked while a call of theirs waits, and an open
/// port says nothing of a broker that is stopped.
final class Reachability: Sendable {
    /// The age up to which an answer counts, in nanoseconds.
    private static let freshness: UInt64 = 4_000_000_000
    /// How long one question may take, in milliseconds.
    private static let patience: Int32 = 2_000

    private struct State {
        var isWanted = false
        var isRunning = false
        var answeredAt: UInt64?
    }

    private let state = Monitor(State())
    private let configuration: ClientConfiguration
    private let topic: String

    /// Makes a probe that has not asked; it will ask for `topic`, and any answer is one.
    init(_ configuration: ClientConfiguration, topic: String) {
        self.configuration = configuration
        self.topic = topic
    }

    /// Returns a Boolean value that indicates whether a broker answered in the last seconds; false until somebody has
    /// wanted to know for a moment.
    func isReachable(now: UInt64) -> Bool {
        state.withLock { $0.answeredAt.map { now.saturatingSubtract($0) <= Self.freshness } ?? false }
    }

    /// Begins to ask, or stops.
    func want(_ isWanted: Bool) {
        let starts = state.signal { state in
            let starts = isWanted && !state.isRunning
            state.isWanted = isWanted
            if starts { state.isRunning = true }
            if !isWanted { state.answeredAt = nil }
            return starts
        }
        guard starts else { return }
        guard let thread = SystemThread.start({ [self] in run() }) else {
            state.withLock { $0.isRunning = false }
            return
        }
        thread.detach()
    }

    /// Asks until nobody wants to know any more, with a new client after each question that was not answered: an old
    /// one may have lost its way to the brokers.
    private func run() {
        while state.withLock({ $0.isWanted }) {
            do {
                let admin = try KafkaAdmin(configuration)
                while state.withLock({ $0.isWanted }) && ask(admin) {}
                admin.close()
            } catch {
                // The lanes' clients have the same settings and were made; without an answer nothing is a hang.
                _ = state.wait(milliseconds: 500) { $0.isWanted ? nil : true }
            }
        }
        let isWantedAgain = state.signal { state in
            state.isRunning = state.isWanted
            return state.isWanted
        }
        if isWantedAgain { run() }
    }

    /// Asks once and waits a moment; returns a Boolean value that indicates whether there was an answer.
    private func ask(_ admin: KafkaAdmin) -> Bool {
        var isAnswered = false
        do {
            _ = try admin.describe(topics: [topic], timeoutMilliseconds: Self.patience)
            isAnswered = true
            let now = SystemClock.monotonicNanoseconds()
            state.withLock { if $0.isWanted { $0.answeredAt = now } }
        } catch {
            // No answer: what was answered before grows old.
        }
        _ = admin.takeEvents()
        _ = state.wait(milliseconds: 500) { $0.isWanted ? nil : true }
        return isAnswered
    }
}
