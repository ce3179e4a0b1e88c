package import KafkaClient
package import LinkIngest
package import ByteStorage

/// One encoded decision: the output record for one device.
package struct ProducedDecision {
    /// The device's id, which is the key of the output record.
    ///
    /// It is valid as long as the consumed batch or the arena.
    package var key: ByteView
    /// The decision's JSON, valid until the arena is reset.
    package var value: ByteView
    /// The outcome, for counters.
    package var outcome: DecisionOutcome

    /// Creates a decision's record.
    package init(key: ByteView, value: ByteView, outcome: DecisionOutcome) {
        self.key = key
        self.value = value
        self.outcome = outcome
    }
}

/// The five outcomes of a decision, for counters.
package enum DecisionOutcome: UInt8, Sendable, CaseIterable {
    case navigate, external, deferred, none, reject
}

/// The cause of a dead letter: the reason why a record has no decisions.
///
/// This is a class so that nil, the result of nearly every record, is a single word without reference counting.
package final class DeadLetterCause: Sendable, Equatable {
    /// The stable code.
    package let reason: DeadLetterReason
    /// A description of what was expected.
    ///
    /// It has at most 512 bytes and never contains the payload.
    package let detail: String
    /// The JSON pointer (RFC 6901) of the invalid member, or nil.
    package let pointer: String?
    /// The event's own id, or nil if it could not be read.
    package let event: [UInt8]?

    /// Creates a cause.
    package init(reason: DeadLetterReason, detail: String, pointer: String? = nil, event: [UInt8]? = nil) {
        self.reason = reason
        self.detail = detail
        self.pointer = pointer
        self.event = event
    }

    /// Returns a Boolean value that indicates whether two causes are equal.
    package static func == (a: DeadLetterCause, b: DeadLetterCause) -> Bool {
        a.reason == b.reason && a.detail == b.detail && a.pointer == b.pointer && a.event == b.event
    }
}

extension DeadLetterCause {
    /// The cause for a record without a value.
    static var nullValue: DeadLetterCause {
        DeadLetterCause(reason: .nullValue, detail: "expected an event, found a record without a value (a tombstone)")
    }

    /// The cause for a record with an empty value.
    static var emptyValue: DeadLetterCause {
        DeadLetterCause(reason: .emptyValue, detail: "expected an event, found an empty value")
    }

    /// The cause for a record whose decisions a broker refuses.
    static var refusedOutput: DeadLetterCause {
        DeadLetterCause(
            reason: .refusedOutput,
            detail: "a broker refuses this record's decisions even when they are alone in a transaction")
    }
}

/// The stable reason codes of dead letters, in the order of the stages that detect them.
package enum DeadLetterReason: String, Sendable, CaseIterable {
    case nullValue = "null_value"
    case emptyValue = "empty_value"
    case oversizeInput = "oversize_input"
    case notUTF8 = "not_utf8"
    case badJSON = "bad_json"
    case schemaUnsupported = "schema_unsupported"
    case encodingUnsupported = "encoding_unsupported"
    case ambiguousEvent = "ambiguous_event"
    case missingLink = "missing_link"
    case missingDevice = "missing_device"
    case badDevice = "bad_device"
    case tooManyDevices = "too_many_devices"
    case applicationUnknown = "application_unknown"
    case batchUnsupported = "batch_unsupported"
    case untargetable
    case crashLoop = "crash_loop"
    case oversizeOutput = "oversize_output"
    case refusedOutput = "refused_output"
    case `internal`

    /// The stage of this reason in the dead letter's headers.
    ///
    /// `internal` may come from any stage and is listed as `resolve`.
    package var stage: String {
        switch self {
        case .nullValue, .emptyValue, .oversizeInput, .notUTF8, .badJSON, .schemaUnsupported, .encodingUnsupported:
            "decode"
        case .ambiguousEvent, .missingLink, .missingDevice, .badDevice, .tooManyDevices, .applicationUnknown,
            .batchUnsupported, .untargetable:
            "validate"
        case .crashLoop, .internal: "resolve"
        case .oversizeOutput: "encode"
        case .refusedOutput: "publish"
        }
    }
}

/// A processor that turns one record's bytes into decisions, without I/O.
///
/// The same bytes and tables yield the same decisions.
package protocol RecordProcessing: ~Copyable {
    /// Resolves one record for each of its devices.
    ///
    /// Appends the decisions to `decisions` in the order of the event's devices and writes their bytes to `arena`.
    /// Returns nil on success. Otherwise returns the cause of a dead letter and appends nothing.
    mutating func process(
        _ record: ConsumedRecord, topicName: ByteView, into arena: inout OutputArena,
        decisions: inout [ProducedDecision]
    ) -> DeadLetterCause?

    /// Resolves one record with headers that determine how its value is read.
    mutating func process(
        _ record: ConsumedRecord, headers: EnvelopeHeaders, topicName: ByteView, into arena: inout OutputArena,
        decisions: inout [ProducedDecision]
    ) -> DeadLetterCause?

    /// Takes the newest tables, and returns the number of their version.
    ///
    /// A lane calls it between two batches.
    mutating func refresh() -> Int

    /// Withdraws the counts of the last record, which was processed and whose decisions are not produced.
    mutating func withdraw()

    /// Counts what was processed since the last end of a transaction, or drops it.
    ///
    /// Returns the canary's totals of all committed transactions, or nil without a canary.
    mutating func ended(isCommitted: Bool) -> CanaryTotals?
}

extension RecordProcessing where Self: ~Copyable {
    /// Returns 0, the number of tables that never change.
    package mutating func refresh() -> Int { 0 }

    /// Does nothing, for a processor without counts.
    package mutating func withdraw() {}

    /// Returns nil, for a processor without a canary.
    package mutating func ended(isCommitted: Bool) -> CanaryTotals? { nil }

    /// Resolves one record regardless of its headers.
    package mutating func process(
        _ record: ConsumedRecord, headers: EnvelopeHeaders, topicName: ByteView, into arena: inout OutputArena,
        decisions: inout [ProducedDecision]
    ) -> DeadLetterCause? {
        process(record, topicName: topicName, into: &arena, decisions: &decisions)
    }
}
