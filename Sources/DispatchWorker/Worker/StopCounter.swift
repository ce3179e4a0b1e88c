internal import Synchronization

/// The counter of `stop.after`, from which all lanes of the process reserve a quota of records.
package final class StopCounter: Sendable {
    private let target: Int64
    private let free: Atomic<Int64>
    private let done: Atomic<Int64>

    /// Creates a counter with a limit of `target` records, or without a limit if it is 0.
    package init(target: Int64) {
        self.target = target
        free = Atomic(target)
        done = Atomic(0)
    }

    /// A Boolean value that indicates whether there is a limit.
    package var isLimited: Bool { target > 0 }

    /// A Boolean value that indicates whether no record can be reserved now.
    ///
    /// Records that were processed without a commit may be released later.
    package var isExhausted: Bool { isLimited && free.load(ordering: .relaxed) <= 0 }

    /// Reserves up to `count` records.
    ///
    /// Returns the number reserved.
    package func reserve(upTo count: Int) -> Int {
        guard isLimited else { return count }
        while true {
            let left = free.load(ordering: .relaxed)
            let reserved = min(Int64(count), left)
            if reserved <= 0 { return 0 }
            if free.compareExchange(expected: left, desired: left - reserved, ordering: .relaxed).exchanged {
                return Int(reserved)
            }
        }
    }

    /// Releases records that were not processed or not committed.
    package func release(_ count: Int) {
        if isLimited && count > 0 { free.wrappingAdd(Int64(count), ordering: .relaxed) }
    }

    /// Counts committed records.
    ///
    /// Returns a Boolean value that indicates whether the limit is reached.
    package func commit(_ count: Int) -> Bool {
        let (_, total) = done.wrappingAdd(Int64(count), ordering: .relaxed)
        return isLimited && total >= target
    }

    /// A Boolean value that indicates whether the limit is reached.
    package var isReached: Bool { isLimited && done.load(ordering: .relaxed) >= target }
}
