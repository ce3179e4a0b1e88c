package import ByteStorage
package import StrictJSON

/// The reason why a record is not an event, as in its dead letter.
package struct IngestFailure: Error, Sendable {
    /// The code of the failure.
    package var reason: DeadLetterReason
    /// A description of at most 512 bytes.
    ///
    /// It contains no bytes of the record.
    package var detail: String
    /// The offset of the member at fault in the value, or nil if no member is at fault.
    package var offset: Int?
    /// The offset of the JSON text in the value.
    package var textOffset = 0
    /// The id of the event, if it was read before the fault.
    package var event: [UInt8]?

    /// The size limit of a pointer, in bytes.
    static let pointerBytes = 512

    /// Creates a failure.
    package init(_ reason: DeadLetterReason, _ detail: String, offset: Int? = nil) {
        self.reason = reason
        self.detail = detail
        self.offset = offset
    }

    /// Returns the location of the member at fault by reading the value again, or nil if no member is at fault.
    package func location(in value: ByteView) -> JSONLocation? {
        guard let offset, textOffset <= value.count else { return nil }
        return JSONLocation.locate(offset: offset - textOffset, in: value.dropFirst(textOffset))
    }

    /// Returns the JSON pointer (RFC 6901) of the member at fault, or nil.
    ///
    /// A pointer of more than 512 bytes is shortened.
    package func pointer(in value: ByteView) -> String? {
        guard let pointer = location(in: value)?.pointer else { return nil }
        if pointer.utf8.count <= Self.pointerBytes { return pointer }
        let head = pointer.utf8.prefix(Self.pointerBytes + 1)
        return head.lastIndex(of: UInt8(ascii: "/")).map { String(pointer[..<$0]) } ?? ""
    }
}

/// A fault in a record.
///
/// It holds a literal and an offset, so that recording one does not allocate.
struct Fault {
    var reason: DeadLetterReason
    /// A description of the fault.
    var detail: StaticString
    /// The offset in the JSON text, or nil for none.
    var offset: Int?

    init(_ reason: DeadLetterReason, _ detail: StaticString, at offset: Int? = nil) {
        self.reason = reason
        self.detail = detail
        self.offset = offset
    }

    /// Returns the fault of a member with the wrong type, or over its limit.
    static func type(_ expected: StaticString, at offset: Int? = nil) -> Fault {
        Fault(.badJSON, expected, at: offset)
    }

    /// Returns the failure for a record whose JSON text begins at `textOffset`.
    func failure(textOffset: Int) -> IngestFailure {
        var failure = IngestFailure(reason, "\(detail)", offset: offset.map { $0 + textOffset })
        failure.textOffset = textOffset
        return failure
    }
}

extension IngestFailure {
    /// Creates the failure for an error of the JSON reader.
    init(_ error: JSONError, textOffset: Int) {
        self.init(error.code == .badUTF8 ? .notUTF8 : .badJSON, error.text, offset: error.offset + textOffset)
        self.textOffset = textOffset
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
    /// Values of the payload were not read, because it reaches a limit.
    case tooManyValues = "too_many_values"
    case applicationUnknown = "application_unknown"
    case batchUnsupported = "batch_unsupported"
    case untargetable
    case crashLoop = "crash_loop"
    case oversizeOutput = "oversize_output"
    case refusedOutput = "refused_output"
    /// A valid part of the record cannot be read a second time, which is a defect of this program.
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
