package import KafkaClient
package import ByteStorage

/// One decision, encoded: what goes to the output topic for one device.
package struct ProducedDecision {
    /// The device's id, the key of the output record: lives as long as the consumed batch or the arena.
    package var key: ByteView
    /// The decision's JSON: lives in the arena until its reset.
    package var value: ByteView
    /// What was decided, for counters.
    package var outcome: DecisionOutcome

    /// Makes a decision's record.
    package init(key: ByteView, value: ByteView, outcome: DecisionOutcome) {
        self.key = key
        self.value = value
        self.outcome = outcome
    }
}

/// The five outcomes of a decision, for counters (`route-table`, 3.6).
package enum DecisionOutcome: UInt8, Sendable, CaseIterable {
    case navigate, external, deferred, none, reject
}

/// Why a record yields no decision: what its dead letter says.
///
/// A class, so that the nil of nearly every record is one word that nothing has to be done about.
package final class DeadLetterCause: Sendable, Equatable {
    /// Stable code.
    package let reason: DeadLetterReason
    /// What was expected and where; at most 512 bytes, never content of the payload.
    package let detail: String
    /// JSON pointer (RFC 6901) of the member at fault, when there is one.
    package let pointer: String?
    /// The event's own id, when it could be read.
    package let event: [UInt8]?

    /// Makes a cause.
    package init(reason: DeadLetterReason, detail: String, pointer: String? = nil, event: [UInt8]? = nil) {
        self.reason = reason
        self.detail = detail
        self.pointer = pointer
        self.event = event
    }

    /// Whether both say the same.
    package static func == (a: DeadLetterCause, b: DeadLetterCause) -> Bool {
        a.reason == b.reason && a.detail == b.detail && a.pointer == b.pointer && a.event == b.event
    }
}

/// The stable codes of dead letters, in the order of the stages that find them.
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

    /// The stage that a dead letter with this reason names; `internal` may come from any and says `resolve`.
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

/// From one record's bytes to its decisions, without I/O: the same bytes and tables give the same decisions.
package protocol RecordProcessing: ~Copyable {
    /// Resolves one record for each of its devices.
    ///
    /// Appends the decisions to `decisions` in the order of the event's devices; their bytes go into `arena`.
    /// Returns nil, or the cause of a dead letter; then nothing was appended.
    mutating func process(
        _ record: ConsumedRecord, topicName: ByteView, into arena: inout OutputArena,
        decisions: inout [ProducedDecision]
    ) -> DeadLetterCause?
}
