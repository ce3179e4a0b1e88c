internal import ByteStorage
package import LinkIngest

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
    /// The causes of all items without decisions, beginning with this one, or an empty array for a single cause.
    private let items: [DeadLetterCause]

    /// Creates a cause.
    package init(
        reason: DeadLetterReason, detail: String, pointer: String? = nil, event: [UInt8]? = nil, item: Int? = nil
    ) {
        self.reason = reason
        self.detail = detail
        self.pointer = pointer
        self.event = event
        self.item = item
        items = []
    }

    /// Creates the cause of a record from the causes of its items, or returns nil if there are none.
    init?(_ items: [DeadLetterCause]) {
        guard let first = items.first else { return nil }
        (reason, detail, pointer, event, item) = (first.reason, first.detail, first.pointer, first.event, first.item)
        self.items = items.count > 1 ? items : []
    }

    /// The causes of all items without decisions, or this one for the whole record.
    package var all: [DeadLetterCause] { items.isEmpty ? [self] : items }

    /// Returns a Boolean value that indicates whether two causes are equal.
    package static func == (a: DeadLetterCause, b: DeadLetterCause) -> Bool {
        a.reason == b.reason && a.detail == b.detail && a.pointer == b.pointer && a.event == b.event
            && a.item == b.item && a.items == b.items
    }
}

extension DeadLetterCause {
    /// Creates the cause from a reader's failure about a record or an item, with the pointer to its location.
    convenience init(_ failure: IngestFailure, value: ByteView, item: Int? = nil) {
        let pointer = failure.pointer(in: value)
        self.init(
            reason: failure.reason, detail: failure.detail,
            pointer: item.map { Self.pointer(to: $0, pointer) } ?? pointer,
            event: failure.event, item: item)
    }

    /// Creates the cause of an item from the one that it would have as a record of its own.
    convenience init(_ own: DeadLetterCause, item: Int) {
        self.init(
            reason: own.reason, detail: own.detail, pointer: Self.pointer(to: item, own.pointer), event: own.event,
            item: item)
    }

    /// The pointers of all items, because text of a number costs a fifth of the work for a refused item.
    private static let starts = (0..<RecordBatch.limit).map { "/\($0)" }

    private static func pointer(to item: Int, _ pointer: String?) -> String {
        let start = starts[item]
        return pointer.map { start + $0 } ?? start
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
