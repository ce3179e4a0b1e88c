@testable import KafkaClient
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
        case partial
    }

    private var generator: SeededGenerator
    /// A generator of its own, so that the faults of a seed do not depend on the number of errors.
    private var errorGenerator: SeededGenerator
    /// The number of calls of which one fails on average, or 0 if none fails.
    var callsPerFault: Int
    /// The faults that may happen, or nil for all.
    var only: [Fault]?
    /// The only call that fails, counted from 1, and its fault.
    var fixed: (call: Int, fault: Fault)?
    private(set) var calls = 0

    init(seed: UInt64, callsPerFault: Int) {
        generator = SeededGenerator(seed: seed)
        errorGenerator = SeededGenerator(seed: seed &* 41 &+ 13)
        self.callsPerFault = callsPerFault
    }

    /// Returns the fault of the next call, which is one of the possible faults, or nil if the call succeeds.
    mutating func next(_ possible: [Fault]) -> Fault? {
        calls += 1
        if let fixed {
            return fixed.call == calls && possible.contains(fixed.fault) && isAllowed(fixed.fault) ? fixed.fault : nil
        }
        guard callsPerFault > 0, Int.random(in: 0..<callsPerFault, using: &generator) == 0 else { return nil }
        return possible.filter(isAllowed).randomElement(using: &generator)
    }

    /// Returns an error of the library for one of these requests, or nil if they have none with this flag.
    mutating func error(of requests: [LibraryErrors.Request], _ flag: LibraryErrors.Flag) -> KafkaError? {
        LibraryErrors.errors(of: requests, flag).randomElement(using: &errorGenerator)
    }

    private func isAllowed(_ fault: Fault) -> Bool { only?.contains(fault) ?? true }

    /// Returns a number from the plan's own random generator.
    mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

    /// Returns true with a probability of one in `bound`, and always false once faults are turned off.
    mutating func happens(oneIn bound: Int) -> Bool { callsPerFault > 0 && number(below: bound) == 0 }
}
