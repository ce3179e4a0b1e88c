package import ByteStorage
package import StrictJSON

/// Why a record yields no event: what its dead letter will say.
package struct IngestFailure: Error, Sendable {
    /// The stable codes of the stages decode and validate that a reader can find.
    package enum Reason: String, Sendable, CaseIterable {
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
        case untargetable
        /// What was read strictly before does not read again: a defect of this program.
        case internalError = "internal"
    }

    /// The code.
    package var reason: Reason
    /// What was expected, at most 512 bytes; holds no byte of the record.
    package var detail: String
    /// Where in the value, in bytes from its start; nil when no member is at fault.
    package var offset: Int?
    /// Where in the value its JSON text begins.
    package var textOffset = 0
    /// The event's own id, when it was read before the fault.
    package var event: [UInt8]?

    /// Bytes of the longest pointer that is told.
    static let pointerBytes = 512

    /// Makes a failure.
    package init(_ reason: Reason, _ detail: String, offset: Int? = nil) {
        self.reason = reason
        self.detail = detail
        self.offset = offset
    }

    /// The place of the member at fault in the value that was read, counted only when asked.
    package func place(in value: ByteView) -> JSONPlace? {
        guard let offset, textOffset <= value.count else { return nil }
        return JSONPlace.locate(offset: offset - textOffset, in: value.dropFirst(textOffset))
    }

    /// JSON pointer (RFC 6901) of the member at fault, or nil; cut to whole steps where it is over 512 bytes.
    package func pointer(in value: ByteView) -> String? {
        guard let pointer = place(in: value)?.pointer else { return nil }
        if pointer.utf8.count <= Self.pointerBytes { return pointer }
        let head = pointer.utf8.prefix(Self.pointerBytes + 1)
        return head.lastIndex(of: UInt8(ascii: "/")).map { String(pointer[..<$0]) } ?? ""
    }
}
