package import KafkaClient
internal import SystemThreads

/// A monitor that checks whether the whole cluster is reachable, while monitoring is on.
///
/// It has its own clients and thread. The lanes' clients cannot be used while one of their calls waits, and an open
/// port does not prove that a broker is running.
package final class Reachability: Sendable {
    /// The maximum age of a valid answer, in nanoseconds.
    private static let freshness: UInt64 = 4_000_000_000
    /// The interval between two probes, in milliseconds.
    private static let pause = 500

    private struct State {
        var isMonitoring = false
        var isRunning = false
        var answeredAt: UInt64?
    }

    private let state = Monitor(State())
    private let connection: ClientConfiguration
    private let member: ClientConfiguration
    private let topic: String

    /// Creates a monitor that is off.
    ///
    /// - Parameters:
    ///   - connection: The settings of the connection.
    ///   - member: The settings of a consumer with the group's name, which never joins the group.
    ///   - topic: Any topic that the worker may describe.
    package init(_ connection: ClientConfiguration, member: ClientConfiguration, topic: String) {
        self.connection = connection
        self.member = member
        self.topic = topic
    }

    /// Returns a Boolean value that indicates whether everything answered in the last seconds.
    ///
    /// The value is false until a probe has succeeded.
    package func isReachable(now: UInt64) -> Bool {
        state.withLock { $0.answeredAt.map { now.saturatingSubtract($0) <= Self.freshness } ?? false }
    }

    /// Turns monitoring on or off.
    package func setMonitoring(_ isMonitoring: Bool) {
        let starts = state.signal { state in
            let starts = isMonitoring && !state.isRunning
            state.isMonitoring = isMonitoring
            if starts { state.isRunning = true }
            if !isMonitoring { state.answeredAt = nil }
            return starts
        }
        guard starts else { return }
        if !SystemThread.start("reachability", { [self] in run() }) { state.withLock { $0.isRunning = false } }
    }

    /// Probes the cluster while monitoring is on.
    ///
    /// Creates new clients after each failed probe, because the old ones may have lost the brokers.
    private func run() {
        while state.withLock({ $0.isMonitoring }) {
            do {
                let probe = try ClusterProbe(connection, member: member, topic: topic)
                while state.withLock({ $0.isMonitoring }) && runProbe(probe) {}
            } catch {
                // The lanes' clients have the same settings and could be created. Without an answer, no call counts as
                // a hang.
                _ = state.wait(milliseconds: Self.pause) { $0.isMonitoring ? nil : true }
            }
        }
        let isRestarting = state.signal { state in
            state.isRunning = state.isMonitoring
            return state.isMonitoring
        }
        if isRestarting { run() }
    }

    /// Probes once and waits for the interval.
    ///
    /// Returns a Boolean value that indicates whether everything answered.
    private func runProbe(_ probe: ClusterProbe) -> Bool {
        let isReachable = probe.isFullyReachable()
        if isReachable {
            let now = SystemClock.monotonicNanoseconds()
            state.withLock { if $0.isMonitoring { $0.answeredAt = now } }
        }
        _ = state.wait(milliseconds: Self.pause) { $0.isMonitoring ? nil : true }
        return isReachable
    }
}
