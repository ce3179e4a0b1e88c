package import KafkaClient

/// Finds calls into the library that do not return, from looks at a `CallWatch` every moment.
///
/// A call is charged with the time while it is the innermost one, so that a callback's calls are not charged to the
/// poll that brought it, and only while everything is reachable that it may need: in an outage every call waits, and
/// none of them hangs. Time that the process itself was stopped for passes between two looks, and counts as one moment.
package struct HangDetector: Sendable {
    /// A call that does not return, or one that returns in vain again and again.
    package struct Hang: Sendable, Equatable {
        /// The call.
        package var call: LibraryCall
        /// The calls that it runs in, the outermost first.
        package var outer: [LibraryCall]
        /// Milliseconds that it was charged with.
        package var milliseconds: Int64
        /// What is asked for in vain; nil for a call that does not return.
        package var need: ClientNeed?

        /// Makes a hang.
        package init(call: LibraryCall, outer: [LibraryCall], milliseconds: Int64, need: ClientNeed? = nil) {
            self.need = need
            self.call = call
            self.outer = outer
            self.milliseconds = milliseconds
        }
    }

    /// The longest time between two looks that counts, in nanoseconds.
    package static let longestMoment: UInt64 = 1_000_000_000

    private let limit: UInt64
    private let callbackLimit: UInt64
    private var spent: [UInt64: UInt64] = [:]

    /// Makes a detector.
    ///
    /// - Parameters:
    ///   - limit: Nanoseconds after which a call hangs: nothing can come of a transaction any more by then.
    ///   - callbackLimit: The same for a rebalance's handler, which asks again and again until it is answered: the time
    ///     after which its group has gone on without it.
    package init(limit: UInt64, callbackLimit: UInt64) {
        self.limit = limit
        self.callbackLimit = max(limit, callbackLimit)
    }

    /// Takes a look; returns the call that hangs, or nil.
    ///
    /// - Parameters:
    ///   - entries: The calls that have not returned, the outermost first.
    ///   - lacks: What is asked for in vain.
    ///   - passed: Nanoseconds since the look before.
    ///   - isReachable: A Boolean value that indicates whether all brokers and the coordinators answer.
    package mutating func look(
        at entries: [CallWatch.Entry], lacks: [CallWatch.Lack] = [], passed: UInt64, isReachable: Bool
    ) -> Hang? {
        if entries.isEmpty && lacks.isEmpty {
            if !spent.isEmpty { spent.removeAll(keepingCapacity: true) }
            return nil
        }
        spent = spent.filter { known in
            entries.contains { $0.number == known.key } || lacks.contains { $0.number == known.key }
        }
        guard isReachable else { return nil }
        let moment = min(passed, Self.longestMoment)
        if let inner = entries.last {
            let total = charge(inner.number, moment)
            if total > (inner.call == .rebalanceCallback ? callbackLimit : limit) {
                return Hang(
                    call: inner.call, outer: entries.dropLast().map(\.call), milliseconds: Int64(total / 1_000_000))
            }
        }
        for lack in lacks {
            let total = charge(lack.number, moment)
            if total > bound(of: lack.need) {
                return Hang(
                    call: Self.call(of: lack.need), outer: [], milliseconds: Int64(total / 1_000_000), need: lack.need)
            }
        }
        return nil
    }

    /// The call that asks for it.
    private static func call(of need: ClientNeed) -> LibraryCall {
        switch need {
        case .committedOffsets: .committed
        case .committing: .commit
        case .membership: .consumerPoll
        }
    }

    private mutating func charge(_ number: UInt64, _ moment: UInt64) -> UInt64 {
        let total = (spent[number] ?? 0) + moment
        spent[number] = total
        return total
    }

    /// Committed offsets may wait for another member's transaction, which ends within its own time; a group waits for
    /// its slowest member.
    private func bound(of need: ClientNeed) -> UInt64 {
        switch need {
        case .committedOffsets, .committing: 2 * limit
        case .membership: callbackLimit
        }
    }
}
