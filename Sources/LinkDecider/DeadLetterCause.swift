internal import ByteStorage
internal import LinkIngest

/// The cause of a dead letter: the reason why a record, or one of its items, has no decisions.
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
    /// The index of the item that becomes a dead letter by itself, or nil for the whole record.
    package let item: Int?
    /// The cause of the record's next item without decisions, or nil.
    package let next: DeadLetterCause?

    /// Creates a cause.
    package init(
        reason: DeadLetterReason, detail: String, pointer: String? = nil, event: [UInt8]? = nil, item: Int? = nil,
        next: DeadLetterCause? = nil
    ) {
        self.reason = reason
        self.detail = detail
        self.pointer = pointer
        self.event = event
        self.item = item
        self.next = next
    }

    /// The causes of all items without decisions, or this one for the whole record.
    package var all: [DeadLetterCause] { Array(sequence(first: self) { $0.next }) }

    /// Returns a Boolean value that indicates whether two causes are equal.
    package static func == (a: DeadLetterCause, b: DeadLetterCause) -> Bool {
        a.reason == b.reason && a.detail == b.detail && a.pointer == b.pointer && a.event == b.event
            && a.item == b.item && a.next == b.next
    }
}

extension DeadLetterCause {
    /// Creates the cause from a reader's failure, with the pointer to its location.
    convenience init(_ failure: IngestFailure, value: ByteView) {
        self.init(
            reason: DeadLetterReason(rawValue: failure.reason.rawValue) ?? .internal, detail: failure.detail,
            pointer: failure.pointer(in: value), event: failure.event)
    }

    /// Creates the cause of an item from the one that it would have as a record of its own.
    convenience init(_ own: DeadLetterCause, item: Int, next: DeadLetterCause?) {
        self.init(
            reason: own.reason, detail: own.detail, pointer: "/\(item)" + (own.pointer ?? ""), event: own.event,
            item: item, next: next)
    }

    /// The cause for a record without a value.
    static var nullValue: DeadLetterCause {
        DeadLetterCause(reason: .nullValue, detail: "expected an event, found a record without a value (a tombstone)")
    }

    /// The cause for a record with an empty value.
    static var emptyValue: DeadLetterCause {
        DeadLetterCause(reason: .emptyValue, detail: "expected an event, found an empty value")
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
    case tooManyValues = "too_many_values"
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
        case .ambiguousEvent, .missingLink, .missingDevice, .badDevice, .tooManyDevices, .tooManyValues,
            .applicationUnknown, .batchUnsupported, .untargetable:
            "validate"
        case .crashLoop, .internal: "resolve"
        case .oversizeOutput: "encode"
        case .refusedOutput: "publish"
        }
    }
}
