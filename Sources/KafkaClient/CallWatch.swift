internal import CPlatform
internal import Synchronization

/// A call into librdkafka that may wait: for a broker, for a thread of the library, or, by a fault of it, for ever.
///
/// The raw value is the C function's name without `rd_kafka_`, as logs name it.
package enum LibraryCall: String, Sendable, CaseIterable {
    case new
    case destroy = "destroy_flags"
    case consumerClose = "consumer_close"
    case subscribe
    case assign
    case incrementalAssign = "incremental_assign"
    case incrementalUnassign = "incremental_unassign"
    case assignment
    case rebalanceProtocol = "rebalance_protocol"
    case groupMetadata = "consumer_group_metadata"
    case committed
    case commit = "commit_queue"
    case seek = "seek_partitions"
    case pause = "pause_partitions"
    case resume = "resume_partitions"
    case offsetsForTimes = "offsets_for_times"
    case metadata
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
    /// Calls of librdkafka's cluster inside the process.
    case mock
    /// Not a call but what a call runs: the handler of a rebalance, with the calls that it makes inside.
    case rebalanceCallback = "rebalance callback"
}

/// Something that the owner of a client asks for again and again until it gets it, each call returning in time.
///
/// Only the owner knows: a question that is not repeated, since nobody wants to know any more, is no need.
/// A library that has lost its way to a coordinator returns from every call and gets nowhere: librdkafka from 2.10 on,
/// when brokers that are back told it for a moment that there are none (issue 5511).
package enum ClientNeed: String, Sendable, CaseIterable {
    /// The group's committed offsets.
    case committedOffsets = "committed offsets"
    /// The answer to a commit of offsets without a transaction.
    case committing = "a commit of offsets"
    /// Partitions again, after those it had were lost.
    case membership = "membership of the group"
}

/// How often a call was made and how long it took.
package struct CallTimes: Sendable, Equatable {
    /// Calls that have returned.
    package var count = 0
    /// Nanoseconds of all of them, calls inside counted.
    package var nanoseconds: UInt64 = 0
    /// Nanoseconds of the longest one.
    package var longest: UInt64 = 0

    /// Makes the times of a call that was never made.
    package init() {}
}

/// The calls into librdkafka that a thread is in, the outermost first, and what the finished ones took.
///
/// The thread's clients write it; a watchdog reads it from another thread. A call that runs inside another one (a
/// commit in the revocation that a close brings) stands on top of it, and the outer one is seen again when the inner
/// one returns.
package final class CallWatch: Sendable {
    /// A call that has not returned.
    package struct Entry: Sendable, Equatable {
        /// Which call it is.
        package let call: LibraryCall
        /// A number that no other entry of this watch has.
        package let number: UInt64
        /// When it began, in nanoseconds of the watch's clock.
        package let began: UInt64

        /// Makes an entry.
        package init(call: LibraryCall, number: UInt64, began: UInt64) {
            self.call = call
            self.number = number
            self.began = began
        }
    }

    /// A need that is not met.
    package struct Lack: Sendable, Equatable {
        /// What it is.
        package let need: ClientNeed
        /// A number that no entry and no other lack of this watch has.
        package let number: UInt64
        /// When it was asked for in vain first, in nanoseconds of the watch's clock.
        package let began: UInt64

        /// Makes a lack.
        package init(need: ClientNeed, number: UInt64, began: UInt64) {
            self.need = need
            self.number = number
            self.began = began
        }
    }

    private struct State {
        var entries: [Entry] = []
        var lacks: [Lack] = []
        var entered: UInt64 = 0
        var times: [LibraryCall: CallTimes] = [:]
    }

    private let state: Mutex<State>
    private let clock: @Sendable () -> UInt64

    /// Makes a watch in no call; `clock` tells nanoseconds of a monotonic clock.
    package init(clock: @escaping @Sendable () -> UInt64 = { linkd_monotonic_nanoseconds() }) {
        self.clock = clock
        var state = State()
        state.entries.reserveCapacity(8)
        self.state = Mutex(state)
    }

    /// Runs `body`, which stands in the watch as `call` meanwhile.
    package func during<Result>(_ call: LibraryCall, _ body: () -> Result) -> Result {
        let began = clock()
        state.withLock { state in
            state.entered += 1
            state.entries.append(Entry(call: call, number: state.entered, began: began))
        }
        defer {
            let took = clock() &- began
            state.withLock { state in
                state.entries.removeLast()
                state.times[call, default: CallTimes()].add(took)
            }
        }
        return body()
    }

    /// The calls that have not returned, the outermost first.
    package var entries: [Entry] { state.withLock { $0.entries } }

    /// What is asked for in vain, the oldest first.
    package var lacks: [Lack] { state.withLock { $0.lacks } }

    /// The owner of the clients asks for `needs` in vain, and for nothing else; a need that lasts keeps its beginning.
    package func lack(_ needs: [ClientNeed]) {
        let now = clock()
        state.withLock { state in
            state.lacks.removeAll { !needs.contains($0.need) }
            for need in needs where !state.lacks.contains(where: { $0.need == need }) {
                state.entered += 1
                state.lacks.append(Lack(need: need, number: state.entered, began: now))
            }
        }
    }

    /// What the finished calls of this kind took.
    package func times(of call: LibraryCall) -> CallTimes { state.withLock { $0.times[call] } ?? CallTimes() }
}

extension CallTimes {
    fileprivate mutating func add(_ took: UInt64) {
        count += 1
        nanoseconds += took
        longest = max(longest, took)
    }
}
