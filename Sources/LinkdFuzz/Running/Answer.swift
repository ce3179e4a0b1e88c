package import DispatchWorker
internal import ByteStorage

/// What became of a record, kept beyond its batch.
package struct Answer: Sendable, Equatable, CustomStringConvertible {
    /// A device's key and decision.
    package struct Decision: Sendable, Equatable {
        /// The key.
        package let key: [UInt8]
        /// The decision's JSON.
        package let value: [UInt8]
        /// What was decided.
        package let outcome: DecisionOutcome
    }

    /// The decisions, one a device.
    package let decisions: [Decision]
    /// Why there are none.
    package let cause: DeadLetterCause?

    init(_ cause: DeadLetterCause?, _ decisions: ArraySlice<ProducedDecision>) {
        self.cause = cause
        self.decisions = decisions.map {
            Decision(key: $0.key.array, value: $0.value.array, outcome: $0.outcome)
        }
    }

    /// The answer as a find is told: the dead letter and its cause, or the first decisions.
    package var description: String {
        if let cause {
            return "dead letter \(cause.reason.rawValue) at \(cause.pointer ?? "no place"): \(cause.detail)"
        }
        return decisions.prefix(20).map {
            String(decoding: $0.key, as: UTF8.self) + "\t" + String(decoding: $0.value.prefix(2_000), as: UTF8.self)
        }.joined(separator: "\n")
    }
}

/// A number that two answers share only if they are the same.
package struct Digest: Sendable {
    /// The number so far.
    package private(set) var value: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// Starts a digest.
    package init() {}

    /// Adds a number.
    package mutating func add(_ number: UInt64) {
        value = (value ^ number) &* 0xBF58_476D_1CE4_E5B9
        value ^= value >> 29
    }

    /// Adds bytes and their number.
    mutating func add(_ view: ByteView) {
        add(UInt64(truncatingIfNeeded: view.count))
        var index = 0
        while index + 8 <= view.count {
            add(UnsafeRawPointer(view.start + index).loadUnaligned(as: UInt64.self))
            index += 8
        }
        while index < view.count {
            add(UInt64(view.start[index]))
            index += 1
        }
    }

    /// Adds bytes and their number.
    package mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { add(ByteView($0)) } }

    /// Returns the digest of what became of a record.
    static func of(_ cause: DeadLetterCause?, _ decisions: ArraySlice<ProducedDecision>) -> UInt64 {
        var digest = Digest()
        if let cause {
            digest.add(Array((cause.reason.rawValue + "\n" + cause.detail + "\n" + (cause.pointer ?? "\n")).utf8))
            digest.add(cause.event ?? [0])
        }
        for decision in decisions {
            digest.add(decision.key)
            digest.add(decision.value)
            digest.add(UInt64(decision.outcome.rawValue))
        }
        return digest.value
    }
}
