internal import Synchronization

/// Which call of the library a lane is in, and since when: a watchdog reads it from another thread.
package final class LaneHeartbeat: Sendable {
    /// The calls that are watched: they were seen to wait for ever.
    package enum Call: UInt8, Sendable {
        case none, initTransactions, sendOffsets, commit, abort, flush, committed, rebalance, close

        /// The name for the log.
        package var name: String {
            switch self {
            case .none: "none"
            case .initTransactions: "init_transactions"
            case .sendOffsets: "send_offsets_to_transaction"
            case .commit: "commit_transaction"
            case .abort: "abort_transaction"
            case .flush: "flush"
            case .committed: "committed"
            case .rebalance: "rebalance callback"
            case .close: "consumer close"
            }
        }
    }

    private let call = Atomic<UInt8>(0)
    private let since = Atomic<UInt64>(0)

    /// Makes a heartbeat in no call.
    package init() {}

    /// A call begins.
    package func enter(_ entered: Call, now: UInt64) {
        since.store(now, ordering: .relaxed)
        call.store(entered.rawValue, ordering: .releasing)
    }

    /// The call is over.
    package func leave() { call.store(0, ordering: .releasing) }

    /// The call that lasts, and for how many nanoseconds; nil outside of one.
    package func lasting(now: UInt64) -> (call: Call, nanoseconds: UInt64)? {
        guard let entered = Call(rawValue: call.load(ordering: .acquiring)), entered != .none else { return nil }
        return (entered, now.saturatingSubtract(since.load(ordering: .relaxed)))
    }
}
