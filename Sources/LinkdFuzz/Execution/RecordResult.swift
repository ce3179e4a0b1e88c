package import LinkDecider
internal import ByteStorage
package import LinkCoordinator
internal import LinkIngest

/// The result of a record, copied so that it outlives the batch.
package struct RecordResult: Sendable, Equatable, CustomStringConvertible {
    /// The key and the decision of a device.
    package struct Decision: Sendable, Equatable {
        /// The key of the decision.
        package let key: [UInt8]
        /// The JSON text of the decision.
        package let value: [UInt8]
        /// The outcome of the decision.
        package let outcome: DecisionSummary.Outcome
    }

    /// The decisions, one per device.
    package let decisions: [Decision]
    /// The cause of the dead letter, or nil.
    package let cause: DeadLetterCause?

    init(_ cause: DeadLetterCause?, _ decisions: ArraySlice<ProducedDecision>) {
        self.cause = cause
        self.decisions = decisions.map {
            Decision(key: $0.key.array, value: $0.value.array, outcome: $0.outcome)
        }
    }

    /// The result in a report: the dead letter with its cause, or the first decisions.
    package var description: String {
        if let cause {
            return "dead letter \(cause.reason.rawValue) at \(cause.pointer ?? "no pointer"): \(cause.detail)"
        }
        return decisions.prefix(20).map {
            String(decoding: $0.key, as: UTF8.self) + "\t" + String(decoding: $0.value.prefix(2_000), as: UTF8.self)
        }.joined(separator: "\n")
    }
}

/// A 64-bit digest of a result.
package struct Digest: Sendable {
    /// The digest of the values added so far.
    package private(set) var value: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// Creates a digest.
    package init() {}

    /// Adds a number.
    package mutating func add(_ number: UInt64) {
        value = (value ^ number) &* 0xBF58_476D_1CE4_E5B9
        value ^= value >> 29
    }

    /// Adds the length and the bytes of a view.
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

    /// Adds the length and the bytes of an array.
    package mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { add(ByteView($0)) } }

    /// Returns the digest of the result of a record.
    static func of(_ cause: DeadLetterCause?, _ decisions: ArraySlice<ProducedDecision>) -> UInt64 {
        var digest = Digest()
        for cause in cause?.all ?? [] {
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
