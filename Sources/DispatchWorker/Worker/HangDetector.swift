package import KafkaClient

/// A detector of calls into librdkafka that do not return, which checks a `CallWatch` at short intervals.
///
/// Time is charged to the innermost call, so that a poll is not charged for the calls of its callback. It is charged
/// only while all parts of the cluster are reachable: in an outage, calls wait but do not hang. If the process itself
/// was suspended, the time counts as one interval.
package struct HangDetector: Sendable {
    /// A call that does not return, or whose repetitions never succeed.
    package struct Hang: Sendable, Equatable {
        /// The call.
        package var call: LibraryCall
        /// The calls that contain it, outermost first.
        package var outer: [LibraryCall]
        /// The time that it was charged with, in milliseconds.
        package var milliseconds: Int64
        /// The need that is not met, or nil for a call that does not return.
        package var need: ClientNeed?

        /// Creates a hang.
        package init(call: LibraryCall, outer: [LibraryCall], milliseconds: Int64, need: ClientNeed? = nil) {
            self.need = need
            self.call = call
            self.outer = outer
            self.milliseconds = milliseconds
        }
    }

    /// The longest interval between two checks that is charged, in nanoseconds.
    package static let longestInterval: UInt64 = 1_000_000_000

    private let limit: UInt64
    private let callbackLimit: UInt64
    private var spent: [UInt64: UInt64] = [:]

    /// Creates a detector.
    ///
    /// - Parameters:
    ///   - limit: The time in nanoseconds after which a call counts as hung. By then every transaction has timed out.
    ///   - callbackLimit: The same for the handler of a rebalance, which repeats requests until they are answered. By
    ///     then the group has continued without it.
    package init(limit: UInt64, callbackLimit: UInt64) {
        self.limit = limit
        self.callbackLimit = max(limit, callbackLimit)
    }

    /// Checks the current calls and needs.
    ///
    /// Returns the call that hangs, or nil.
    ///
    /// - Parameters:
    ///   - entries: The calls that have not returned, outermost first.
    ///   - unmetNeeds: The needs that are not met.
    ///   - passed: The time since the previous check, in nanoseconds.
    ///   - isReachable: A Boolean value that indicates whether all brokers and the coordinators answer.
    package mutating func check(
        _ entries: [CallWatch.Entry], unmetNeeds: [CallWatch.UnmetNeed] = [], passed: UInt64, isReachable: Bool
    ) -> Hang? {
        if entries.isEmpty && unmetNeeds.isEmpty {
            if !spent.isEmpty { spent.removeAll(keepingCapacity: true) }
            return nil
        }
        spent = spent.filter { known in
            entries.contains { $0.number == known.key } || unmetNeeds.contains { $0.number == known.key }
        }
        guard isReachable else { return nil }
        let interval = min(passed, Self.longestInterval)
        if let inner = entries.last {
            let total = charge(inner.number, interval)
            if total > (inner.call == .rebalanceCallback ? callbackLimit : limit) {
                return Hang(
                    call: inner.call, outer: entries.dropLast().map(\.call), milliseconds: Int64(total / 1_000_000))
            }
        }
        for unmet in unmetNeeds {
            let total = charge(unmet.number, interval)
            if total > bound(of: unmet.need) {
                return Hang(
                    call: Self.call(of: unmet.need), outer: [], milliseconds: Int64(total / 1_000_000), need: unmet.need
                )
            }
        }
        return nil
    }

    /// Returns the call that requests the answer.
    private static func call(of need: ClientNeed) -> LibraryCall {
        switch need {
        case .committedOffsets: .committed
        case .committing: .commit
        case .membership: .consumerPoll
        }
    }

    private mutating func charge(_ number: UInt64, _ interval: UInt64) -> UInt64 {
        let total = (spent[number] ?? 0) + interval
        spent[number] = total
        return total
    }

    /// Returns the time after which a need counts as a hang.
    ///
    /// Committed offsets may wait for another member's transaction, which ends within its own timeout. A group waits
    /// for its slowest member.
    private func bound(of need: ClientNeed) -> UInt64 {
        switch need {
        case .committedOffsets, .committing: 2 * limit
        case .membership: callbackLimit
        }
    }
}
