import TestSupport

/// What goes wrong, and when; a seed decides, so a failing run can be run again.
struct FaultPlan {
    /// What may happen to a call.
    enum Fault: CaseIterable, Equatable {
        /// The process dies before the broker hears of the call, or after.
        case crashBefore, crashAfter
        /// "Try again", before or after the broker did it.
        case retryBefore, retryAfter
        /// "Abort", before the broker did it.
        case abort
        /// "This client can do no more", before or after the broker did it.
        case fatalBefore, fatalAfter
        /// The request takes effect, and once more much later: the coordinator's connection was lost meanwhile.
        case late
        /// An error without flags, before or after the broker did it.
        case failBefore, failAfter
        /// The call lasts until its time is over and fails, or succeeds at last.
        case hang, slow
        /// Part of what was asked for is done, the rest fails.
        case half
    }

    private var generator: SeededGenerator
    /// Calls of which one fails, or 0 for none.
    var oneIn: Int
    /// The only faults that happen, or nil for all.
    var only: [Fault]?
    /// A call that fails for sure, counted from 1, and how.
    var fixed: (call: Int, fault: Fault)?
    private(set) var calls = 0

    init(seed: UInt64, oneIn: Int) {
        generator = SeededGenerator(seed: seed)
        self.oneIn = oneIn
    }

    /// What happens to the next call, of the faults that are possible there.
    mutating func next(_ possible: [Fault]) -> Fault? {
        calls += 1
        if let fixed {
            return fixed.call == calls && possible.contains(fixed.fault) && isWanted(fixed.fault) ? fixed.fault : nil
        }
        guard oneIn > 0, Int.random(in: 0..<oneIn, using: &generator) == 0 else { return nil }
        return possible.filter(isWanted).randomElement(using: &generator)
    }

    private func isWanted(_ fault: Fault) -> Bool { only?.contains(fault) ?? true }

    /// A number of the plan's own randomness.
    mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

    /// Whether something happens that has a chance of one in `bound`; never once the faults are over.
    mutating func happens(oneIn bound: Int) -> Bool { oneIn > 0 && number(below: bound) == 0 }
}
