package import ByteStorage

/// The reason why a phase ended, with the detail for the decision.
///
/// Views are valid as long as the resolution.
///
/// See DecisionReference, "Reasons".
package struct Rejection: Error {
    /// The stable code of the reason.
    package var reason: ReasonCode
    /// The first part of the detail.
    var head: ByteView = .empty
    /// The second part of the detail, which follows a dot, or empty.
    var tail: ByteView = .empty
    /// A number that follows `head`, or -1 for none.
    var number = -1

    /// Creates a rejection with a detail of two parts, joined by a dot.
    package init(_ reason: ReasonCode, _ head: ByteView = .empty, dot tail: ByteView = .empty) {
        self.reason = reason
        self.head = head
        self.tail = tail
    }

    init(_ reason: ReasonCode, _ head: StaticString, number: Int = -1) {
        self.reason = reason
        self.head = ByteView(head)
        self.number = number
    }
}

/// A note about how a decision was made: `head`, `name`, `middle`, and `value`, concatenated.
package struct Note: BitwiseCopyable {
    /// The first part of the note.
    package var head: ByteView
    /// The name that the note refers to.
    package var name: ByteView = .empty
    /// The text between the name and the value.
    package var middle: ByteView = .empty
    /// The value that the note refers to.
    package var value: ByteView = .empty

    init(_ head: StaticString, _ name: ByteView = .empty, _ middle: StaticString = "", _ value: ByteView = .empty) {
        self.head = ByteView(head)
        self.name = name
        self.middle = ByteView(middle)
        self.value = value
    }

    /// Creates the note of a request.
    init(_ note: RequestNote) {
        head = note.code
        name = note.place
    }
}

/// The maximum length of a decision's detail and of a segment in a note, in bytes.
///
/// Longer texts are cut between characters.
package let maxDetailBytes = 64

extension ByteView {
    /// Returns at most `count` bytes from the start, without splitting a character.
    package func prefix(bytes count: Int) -> ByteView {
        if self.count <= count { return self }
        var end = count
        while end > 0 && self[end] & 0xC0 == 0x80 { end -= 1 }
        return slice(0, end)
    }
}
