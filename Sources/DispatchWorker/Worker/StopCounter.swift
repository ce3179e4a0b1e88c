internal import Synchronization

/// `stop.after`: the one counter of the process from which lanes take leave to handle records.
package final class StopCounter: Sendable {
    private let target: Int64
    private let free: Atomic<Int64>
    private let done: Atomic<Int64>

    /// Makes a counter of `target` records; 0 is no limit.
    package init(target: Int64) {
        self.target = target
        free = Atomic(target)
        done = Atomic(0)
    }

    /// Whether there is a limit at all.
    package var isLimited: Bool { target > 0 }

    /// Whether no record may be taken now; records that were handled in vain may come back.
    package var isExhausted: Bool { isLimited && free.load(ordering: .relaxed) <= 0 }

    /// Takes leave for up to `most` records; returns how many it got.
    package func reserve(_ most: Int) -> Int {
        guard isLimited else { return most }
        while true {
            let left = free.load(ordering: .relaxed)
            let taken = min(Int64(most), left)
            if taken <= 0 { return 0 }
            if free.compareExchange(expected: left, desired: left - taken, ordering: .relaxed).exchanged {
                return Int(taken)
            }
        }
    }

    /// Gives back what was not handled, or was handled in vain.
    package func giveBack(_ count: Int) {
        if isLimited && count > 0 { free.wrappingAdd(Int64(count), ordering: .relaxed) }
    }

    /// Counts committed records; returns whether the last one is committed.
    package func commit(_ count: Int) -> Bool {
        let (_, total) = done.wrappingAdd(Int64(count), ordering: .relaxed)
        return isLimited && total >= target
    }

    /// Whether all records are committed.
    package var isReached: Bool { isLimited && done.load(ordering: .relaxed) >= target }
}
