internal import CPlatform
internal import Synchronization

/// A call into librdkafka that may wait for a broker or for a thread of the library, or that may hang because of a bug.
///
/// The raw value is the C function's name without `rd_kafka_`. Logs contain it.
package enum LibraryCall: String, Sendable, CaseIterable {
    case new
    case destroy = "destroy_flags"
    case consumerClose = "consumer_close"
    case subscribe
    case assign
    case incrementalAssign = "incremental_assign"
    case incrementalUnassign = "incremental_unassign"
    case assignment
    case groupMetadata = "consumer_group_metadata"
    case memberID = "memberid"
    case committed
    case commit = "commit_queue"
    case seek = "seek_partitions"
    case pause = "pause_partitions"
    case resume = "resume_partitions"
    case offsetsForTimes = "offsets_for_times"
    case metadata
    case clusterID = "clusterid"
    case listGroups = "list_groups"
    case consumerPoll = "consumer_poll"
    case consumeQueue = "consume_queue"
    case consumeBatch = "consume_batch_queue"
    case queuePoll = "queue_poll"
    case consumeStart = "consume_start_queue"
    case consumeStop = "consume_stop"
    case flush
    case purge
    case initTransactions = "init_transactions"
    case beginTransaction = "begin_transaction"
    case sendOffsets = "send_offsets_to_transaction"
    case commitTransaction = "commit_transaction"
    case abortTransaction = "abort_transaction"
    /// Calls of librdkafka's mock cluster.
    case mock
    /// The handler of a rebalance, which runs inside a call and makes further calls.
    case rebalanceCallback = "rebalance callback"
}

/// An answer that the owner of a client requests repeatedly until it arrives.
///
/// Each request returns in time, so it does not count as a hanging call.
///
/// Only the owner knows whether it still repeats a request. Since 2.10, librdkafka can lose its coordinator when
/// brokers return after an outage and briefly report an empty cluster (issue 5511). Every call then returns in time
/// without a result.
package enum ClientNeed: String, Sendable, CaseIterable {
    /// The group's committed offsets.
    case committedOffsets = "committed offsets"
    /// The answer to a commit of offsets without a transaction.
    case committing = "a commit of offsets"
    /// A new assignment after the partitions were lost.
    case membership = "membership of the group"
}

/// The calls into librdkafka that a thread is executing, outermost first.
///
/// The clients of the thread write it, and a watchdog reads it from another thread. A nested call is appended to the
/// list, for example a commit in the revocation that a close triggers. When it returns, its outer call is the innermost
/// one again.
package final class CallWatch: Sendable {
    /// A call that has not returned.
    package struct Entry: Sendable, Equatable {
        package let call: LibraryCall
        /// A number that is unique among the entries of this watch.
        package let number: UInt64
        /// The begin time, in nanoseconds of the watch's clock.
        package let began: UInt64
    }

    /// A need that is not met.
    package struct UnmetNeed: Sendable, Equatable {
        package let need: ClientNeed
        /// A number that is unique among the entries and unmet needs of this watch.
        package let number: UInt64
        /// The time of the first unsuccessful request, in nanoseconds of the watch's clock.
        package let began: UInt64
    }

    private struct State {
        var entries: [Entry] = []
        var unmetNeeds: [UnmetNeed] = []
        var entered: UInt64 = 0
    }

    private let state: Mutex<State>
    private let clock: @Sendable () -> UInt64

    /// Creates a watch without calls.
    ///
    /// `clock` returns nanoseconds of a monotonic clock.
    package init(clock: @escaping @Sendable () -> UInt64 = { linkd_monotonic_nanoseconds() }) {
        self.clock = clock
        var state = State()
        state.entries.reserveCapacity(8)
        self.state = Mutex(state)
    }

    /// Runs `body` and lists it as `call` until it returns.
    package func during<Result>(_ call: LibraryCall, _ body: () -> Result) -> Result {
        let began = clock()
        state.withLock { state in
            state.entered += 1
            state.entries.append(Entry(call: call, number: state.entered, began: began))
        }
        defer { _ = state.withLock { $0.entries.removeLast() } }
        return body()
    }

    /// The calls that have not returned, outermost first.
    package var entries: [Entry] { state.withLock { $0.entries } }

    /// The needs that are not met, oldest first.
    package var unmetNeeds: [UnmetNeed] { state.withLock { $0.unmetNeeds } }

    /// Replaces the set of unmet needs.
    ///
    /// A need that was unmet before keeps its begin time.
    package func setUnmetNeeds(_ needs: [ClientNeed]) {
        let now = clock()
        state.withLock { state in
            state.unmetNeeds.removeAll { !needs.contains($0.need) }
            for need in needs where !state.unmetNeeds.contains(where: { $0.need == need }) {
                state.entered += 1
                state.unmetNeeds.append(UnmetNeed(need: need, number: state.entered, began: now))
            }
        }
    }
}
