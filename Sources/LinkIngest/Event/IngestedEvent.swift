package import LinkCoordinator
package import ByteStorage
package import StrictJSON

/// An event.
///
/// All views are valid until the next record is read, and no longer than the record itself.
package struct IngestedEvent {
    /// The unescaped id of the event, or an empty view.
    package var id = ByteView.empty
    /// A Boolean value that indicates whether `id` needs no escape in JSON.
    package var idIsPlain = true
    /// The request, without the roots of a payload, which depend on the device (`EventDevice.roots`).
    package var request = RequestView(form: .link, text: .empty, isPlain: true)
    /// A Boolean value that indicates whether the event names its application.
    package var hasApplication = false
    /// The unescaped bundle identifier or package name.
    package var application = ByteView.empty
    /// The unescaped id of the tapped button, or an empty view.
    package var action = ByteView.empty
    /// The time of expiry in milliseconds since 1970, or nil.
    package var expires: Int64?
    /// The number of devices, at least 1.
    package var deviceCount = 0
    /// A Boolean value that indicates whether this is a usual event: a link for one device that is already read.
    package var isUsual = false
    /// The passthrough members as `"name":value,"name":value`, or an empty view.
    package var context = ByteView.empty

    init() {}

    /// Clears the id and the link of the last record, or with `all` all properties.
    @inline(__always)
    mutating func clear(all: Bool) {
        if all {
            self = IngestedEvent()
        } else {
            id = .empty
            request.text = .empty
        }
    }
}

/// A device of an event.
///
/// The views are valid until the next device is selected.
package struct EventDevice {
    /// The unescaped id of the device, 1 to 256 bytes of UTF-8.
    package var id = ByteView.empty
    /// A Boolean value that indicates whether `id` needs no escape in JSON.
    package var isPlain = true
    /// The facts about the device.
    package var facts = DeviceView()
    /// The objects in which a payload's link is searched for, or an empty buffer for the other forms.
    package var roots = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
    /// The members of `context` including `push`, or an empty view without a message of a known vendor.
    package var context = ByteView.empty
    /// The offset of the device's object in the JSON text.
    var offset = 0
    /// The offset of the value of `id`, or -1 for none.
    var idOffset = -1

    init() {}

    /// Clears the last device.
    mutating func clear() {
        id = .empty
        isPlain = true
        facts.known = 0
        facts.unreadable = 0
        facts.platform = .empty
        facts.app = .empty
        facts.os = .empty
        facts.locale = .empty
        facts.region = .empty
        facts.coordinator = .empty
        let none = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
        facts.capabilities = none
        facts.claims = none
        facts.attributes = none
        roots = none
        context = .empty
        idOffset = -1
    }
}

/// The reason why a record is not an event, as in its dead letter.
package struct IngestFailure: Error, Sendable {
    /// The stable codes of the stages `decode` and `validate`, and of a defect.
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
        /// Values of the payload were not read, because it reaches a limit.
        case tooManyValues = "too_many_values"
        case untargetable
        case batchUnsupported = "batch_unsupported"
        /// A valid part of the record cannot be read a second time, which is a defect of this program.
        case internalError = "internal"
    }

    /// The code of the failure.
    package var reason: Reason
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
    package init(_ reason: Reason, _ detail: String, offset: Int? = nil) {
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
    var reason: IngestFailure.Reason
    /// A description of the fault.
    var detail: StaticString
    /// The offset in the JSON text, or -1 for none.
    var offset: Int

    /// Returns the fault of a member with the wrong type, or over its limit.
    static func type(_ expected: StaticString, at offset: Int) -> Fault {
        Fault(reason: .badJSON, detail: expected, offset: offset)
    }

    /// Returns the failure for a record whose JSON text begins at `textOffset`.
    func failure(textOffset: Int) -> IngestFailure {
        var failure = IngestFailure(reason, "\(detail)", offset: offset < 0 ? nil : offset + textOffset)
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
