import TestSupport

/// The faults of a run and their times.
///
/// A seed determines them, so that a failing run can be repeated.
struct FaultPlan {
    /// A fault of a call.
    enum Fault: CaseIterable, Equatable {
        /// The process dies before or after the broker receives the request.
        case crashBefore, crashAfter
        /// A retriable error, before or after the broker handles the request.
        case retryBefore, retryAfter
        /// An abortable error, before the broker handles the request.
        case abort
        /// A fatal error, before or after the broker handles the request.
        case fatalBefore, fatalAfter
        /// The request takes effect and is received once more later. The coordinator's connection is lost in between.
        case late
        /// An error without flags, before or after the broker handles the request.
        case failBefore, failAfter
        /// The call lasts until its timeout and fails, or succeeds late.
        case hang, slow
        /// A part of the request takes effect, and the rest fails.
        case half
    }

    private var generator: SeededGenerator
    /// One of this number of calls fails.
    ///
    /// 0 means none.
    var oneIn: Int
    /// The faults that may happen, or nil for all.
    var only: [Fault]?
    /// A call that fails with this fault, counted from 1.
    var fixed: (call: Int, fault: Fault)?
    private(set) var calls = 0

    init(seed: UInt64, oneIn: Int) {
        generator = SeededGenerator(seed: seed)
        self.oneIn = oneIn
    }

    /// Returns the fault of the next call, one of those that are possible, or nil.
    mutating func next(_ possible: [Fault]) -> Fault? {
        calls += 1
        if let fixed {
            return fixed.call == calls && possible.contains(fixed.fault) && isWanted(fixed.fault) ? fixed.fault : nil
        }
        guard oneIn > 0, Int.random(in: 0..<oneIn, using: &generator) == 0 else { return nil }
        return possible.filter(isWanted).randomElement(using: &generator)
    }

    private func isWanted(_ fault: Fault) -> Bool { only?.contains(fault) ?? true }

    /// Returns a number from the plan's own random generator.
    mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

    /// Returns a Boolean value that is true with a chance of one in `bound`, and false once faults are turned off.
    mutating func happens(oneIn bound: Int) -> Bool { oneIn > 0 && number(below: bound) == 0 }
}
