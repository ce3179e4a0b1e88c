internal import LinkCoordinator
package import ByteStorage

/// The headers of a record that determine how its value is read: the headers of CloudEvents and the content type.
///
/// If a header occurs more than once, its last value counts. The views are valid as long as the record.
package struct EnvelopeHeaders {
    /// The header `content-type`.
    private(set) var contentType = ByteView.empty
    /// The mandatory attributes of CloudEvents 1.0 in binary mode.
    private(set) var id = ByteView.empty
    private(set) var source = ByteView.empty
    private(set) var specificationVersion = ByteView.empty
    private(set) var type = ByteView.empty
    /// The extension `partitionkey`.
    private(set) var partitionKey = ByteView.empty
    /// A Boolean value that indicates whether there is a version of the specification, even an empty one.
    private(set) var hasSpecificationVersion = false

    /// The way in which a record uses CloudEvents (Kafka protocol binding, section 3).
    enum Mode {
        /// The record is no event of CloudEvents.
        case none
        /// The attributes are headers, and the value is the data.
        case binary
        /// The value is an event in JSON.
        case structured
        /// The value is an event in a format other than JSON.
        case otherFormat
        /// The value is a batch of events, in JSON or in another format.
        case batch(isJSON: Bool)
    }

    /// The beginning of the types of batches.
    static let batchType: StaticString = "application/cloudevents-batch"

    /// A Boolean value that indicates whether no header is relevant.
    package private(set) var isEmpty = true

    /// Adds a header if it is relevant.
    ///
    /// The names of attributes are case-sensitive. `content-type` is not, because producers copy it from HTTP.
    package mutating func add(name: ByteView, value: ByteView?) {
        let value = value ?? .empty
        if equalsFolded(name, "content-type") {
            contentType = value
        } else if name.equals("ce_id") {
            id = value
        } else if name.equals("ce_source") {
            source = value
        } else if name.equals("ce_specversion") {
            specificationVersion = value
            hasSpecificationVersion = true
        } else if name.equals("ce_type") {
            type = value
        } else if name.equals("ce_partitionkey") {
            partitionKey = value
        } else {
            return
        }
        isEmpty = false
    }

    /// The mode of the record.
    ///
    /// The type of a batch has the type of a structured event as its prefix, so it is compared first.
    var mode: Mode {
        let type = MediaType(contentType)
        if type.hasPrefix(Self.batchType) { return .batch(isJSON: type.equals("application/cloudevents-batch+json")) }
        if type.hasPrefix("application/cloudevents") {
            return type.equals("application/cloudevents+json") ? .structured : .otherFormat
        }
        let isComplete = !id.isEmpty && !source.isEmpty && !specificationVersion.isEmpty && !self.type.isEmpty
        return isComplete ? .binary : .none
    }
}

/// A media type without its parameters, compared without case (RFC 9110, section 8.3.1).
struct MediaType {
    private let text: ByteView

    /// Creates the media type of a header's value or an attribute.
    init(_ value: ByteView) {
        let range = WireFormat.trimmed(value, from: 0)
        let whole = value.slice(range.lowerBound, range.upperBound)
        var end = 0
        while end < whole.count, whole[end] != UInt8(ascii: ";"), !WireFormat.isWhiteSpace(whole[end]) { end += 1 }
        let type = whole.slice(0, end)
        let trimmed = WireFormat.trimmed(type, from: 0)
        text = type.slice(trimmed.lowerBound, trimmed.upperBound)
    }

    /// A Boolean value that indicates whether there is no media type.
    var isEmpty: Bool { text.isEmpty }

    /// A Boolean value that indicates whether the media type is one of JSON.
    var isJSON: Bool {
        equals("application/json") || equals("text/json") || hasSuffix("+json")
    }

    /// A Boolean value that indicates whether the media type is plain text.
    var isPlainText: Bool { equals("text/plain") }

    func equals(_ literal: StaticString) -> Bool { equalsFolded(text, literal) }

    func hasPrefix(_ literal: StaticString) -> Bool {
        let count = literal.utf8CodeUnitCount
        return text.count >= count && equalsFolded(text.slice(0, count), literal)
    }

    func hasSuffix(_ literal: StaticString) -> Bool {
        let count = literal.utf8CodeUnitCount
        return text.count >= count && equalsFolded(text.slice(text.count - count, text.count), literal)
    }
}
