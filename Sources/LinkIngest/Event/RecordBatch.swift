package import ByteStorage
internal import LinkCoordinator
internal import StrictJSON

/// The items of a record with several messages, which are the elements of a JSON array.
///
/// An item is read like a record of its own with the key, the headers, and the timestamp of its record. An item that is
/// an array is refused, so no record has items in items.
package struct RecordBatch {
    /// The limit of items.
    package static let limit = 100
    /// The maximum depth of a list, which is 1 more than the greatest setting allows for a record.
    private static let greatestDepth = 513
    private static let structuredType: StaticString = "application/cloudevents+json"

    /// The places of the items in the record's value, at most `limit`.
    package private(set) var items: [Range<Int>] = []
    /// The number of elements, which can be greater than the limit.
    package private(set) var count = 0

    /// Creates a batch without items.
    init() {}

    /// Finds the items of a JSON text, or returns nil if it does not begin as an array.
    ///
    /// - Parameters:
    ///   - text: The text without white space at its ends.
    ///   - offset: The offset of the text in the record's value.
    ///   - cursor: A cursor that the function can use.
    /// - Throws: The first error in the array.
    init?(_ text: ByteView, at offset: Int, _ cursor: inout JSONCursor) throws(JSONError) {
        guard !text.isEmpty, text[0] == UInt8(ascii: "[") else { return nil }
        cursor.open(text)
        var list = try cursor.enterArray()
        while try cursor.nextElement(&list) {
            let start = cursor.offset
            try cursor.skip()
            if count < Self.limit { items.append(offset + start..<offset + cursor.offset) }
            count += 1
        }
        try cursor.finish()
    }

    /// Finds the items of a record's value, or returns nil if it is not 1 to 100 items.
    ///
    /// It does not ask whether a rule knows the messages, so it is for records that a worker has read.
    package init?(_ value: ByteView) {
        let start = WireFormat.hasSchemaPrefix(value) ? WireFormat.schemaPrefixBytes : 0
        let range = WireFormat.trimmed(value, from: start)
        let text = value.slice(range.lowerBound, range.upperBound)
        guard !text.isEmpty, text[0] == UInt8(ascii: "[") else { return nil }
        var cursor = JSONCursor(maxDepth: Self.greatestDepth)
        guard let found = try? RecordBatch(text, at: range.lowerBound, &cursor), found.isReadable else { return nil }
        self = found
    }

    /// A Boolean value that indicates whether the number of items is within the limit.
    var isReadable: Bool { (1...Self.limit).contains(count) }

    /// Returns the headers of a record for an item that is read as a record of its own.
    ///
    /// The content type of one event replaces the content type of a batch.
    package static func headers(_ headers: [HeaderView]) -> [HeaderView] {
        headers.map { header in
            let isBatch = header.value.map { MediaType($0).hasPrefix(EnvelopeHeaders.batchType) } ?? false
            guard isBatch, equalsFolded(header.name, "content-type") else { return header }
            return HeaderView(name: header.name, value: ByteView(structuredType))
        }
    }
}

extension EventReader {
    /// Finds the items of the record that was refused last, or returns nil if it is no list of messages that a rule
    /// knows.
    ///
    /// A list needs a rule for one of its items at least: a form of the vendor table with `list`, or CloudEvents. A
    /// batch of CloudEvents is known by its content type. The failure of the record stays in `failure`.
    package mutating func batch(of value: ByteView, key: ByteView?, headers: [HeaderView]) -> RecordBatch? {
        guard failure.reason == .batchUnsupported, list.isReadable else { return nil }
        let (found, refusal) = (list, failure)
        if isTypedBatch { return found }
        // The list in encoded data of CloudEvents is not in the value.
        guard !cloudEvent.isStructured else { return nil }
        defer { failure = refusal }
        for place in found.items {
            _ = readInPlace(value: value.slice(place.lowerBound, place.upperBound), key: key, headers: headers)
            if cloudEvent.isStructured || state.isPushRecord && messages.isListed { return found }
        }
        return nil
    }

    /// Refuses a text that is neither an object nor a link.
    ///
    /// The items of an array are then in `list`.
    mutating func refuseText(isTypedBatch isTyped: Bool) {
        cursor.depthLimit = limits.depth + 1
        defer { cursor.depthLimit = limits.depth }
        list = RecordBatch()
        isTypedBatch = false
        do {
            if let found = try RecordBatch(text, at: textOffset, &cursor) {
                list = found
                isTypedBatch = isTyped
                failure = IngestFailure(
                    .batchUnsupported,
                    isTyped
                        ? "expected 1 to 100 events of CloudEvents as a JSON array"
                        : "expected a JSON object, or a list of 1 to 100 messages that a rule knows")
            } else if isTyped {
                failure = IngestFailure(.badJSON, "expected a JSON array of events of CloudEvents")
            } else {
                failure =
                    text.firstIllFormedUTF8 == nil
                    ? IngestFailure(.badJSON, neither)
                    : IngestFailure(.notUTF8, "expected UTF-8 with a JSON object or a link")
            }
        } catch {
            fail(IngestFailure(error, textOffset: textOffset))
        }
    }

    /// A description of what was expected of a text that is neither an object nor a link.
    private var neither: String {
        if Resolver.schemeLength(text) > 0 {
            return "expected a JSON object or a link without white space or control bytes: write %20 for a space"
        }
        return "expected a JSON object or a link, which begins with a scheme such as https:"
    }

    /// Refuses a batch of CloudEvents, whose items are read one by one.
    mutating func refuseBatch(_ value: ByteView, _ key: ByteView?, isJSON: Bool) -> Bool {
        let lent = lend(value, key)
        startOver()
        frame(lent.value)
        if isJSON {
            refuseText(isTypedBatch: true)
        } else {
            list = RecordBatch()
            isTypedBatch = false
            failure = IngestFailure(.batchUnsupported, "expected 1 to 100 events of CloudEvents as a JSON array")
        }
        return false
    }
}
