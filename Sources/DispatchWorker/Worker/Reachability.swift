package import KafkaClient

/// Asks whether the cluster is there, all of it that a call may need, while somebody wants to know.
///
/// With clients and a thread of its own: the lanes' clients cannot be asked while a call of theirs waits, and an open
/// port says nothing of a broker that is stopped.
package final class Reachability: Sendable {
    /// The age up to which an answer counts, in nanoseconds.
    private static let freshness: UInt64 = 4_000_000_000
    /// The wait between two questions, in milliseconds.
    private static let pause = 500

    private struct State {
        var isWanted = false
        var isRunning = false
        var answeredAt: UInt64?
    }

    private let state = Monitor(State())
    private let connection: ClientConfiguration
    private let member: ClientConfiguration
    private let topic: String

    /// Makes what has not asked yet.
    ///
    /// - Parameters:
    ///   - connection: Settings to connect with.
    ///   - member: Settings of a consumer with the group's name; it never joins.
    ///   - topic: Any topic that may be asked for.
    package init(_ connection: ClientConfiguration, member: ClientConfiguration, topic: String) {
        self.connection = connection
        self.member = member
        self.topic = topic
    }

    /// Returns a Boolean value that indicates whether everything answered in the last seconds; false until somebody has
    /// wanted to know for a moment.
    package func isReachable(now: UInt64) -> Bool {
        state.withLock { $0.answeredAt.map { now.saturatingSubtract($0) <= Self.freshness } ?? false }
    }

    /// Begins to ask, or stops.
    package func want(_ isWanted: Bool) {
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
                let probe = try ClusterProbe(connection, member: member, topic: topic)
                while state.withLock({ $0.isWanted }) && ask(probe) {}
            } catch {
                // The lanes' clients have the same settings and were made; without an answer nothing is a hang.
                _ = state.wait(milliseconds: Self.pause) { $0.isWanted ? nil : true }
            }
        }
        let isWantedAgain = state.signal { state in
            state.isRunning = state.isWanted
            return state.isWanted
        }
        if isWantedAgain { run() }
    }

    /// Asks once and waits a moment; returns a Boolean value that indicates whether everything answered.
    private func ask(_ probe: ClusterProbe) -> Bool {
        let isThere = probe.isAllThere()
        if isThere {
            let now = SystemClock.monotonicNanoseconds()
            state.withLock { if $0.isWanted { $0.answeredAt = now } }
        }
        _ = state.wait(milliseconds: Self.pause) { $0.isWanted ? nil : true }
        return isThere
    }
}
