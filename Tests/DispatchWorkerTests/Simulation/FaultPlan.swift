import TestSupport

/// The faults of a run and their times, which a seed determines.
///
/// A run that fails can be repeated with its seed.
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
    /// The number of calls of which one fails on average, or 0 if none fails.
    var oneIn: Int
    /// The faults that may happen, or nil for all.
    var only: [Fault]?
    /// The only call that fails, counted from 1, and its fault.
    var fixed: (call: Int, fault: Fault)?
    private(set) var calls = 0

    init(seed: UInt64, oneIn: Int) {
        generator = SeededGenerator(seed: seed)
        self.oneIn = oneIn
    }

    /// Returns the fault of the next call, which is one of the possible faults, or nil if the call succeeds.
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

    /// Returns true with a probability of one in `bound`, and always false once faults are turned off.
    mutating func happens(oneIn bound: Int) -> Bool { oneIn > 0 && number(below: bound) == 0 }
}
