package import ByteStorage

/// Why a phase ended, with the detail that the decision says (3.6); views live as long as the resolution.
package struct Rejection: Error {
    /// The stable code.
    package var reason: Reason
    /// First part of the detail.
    var head: ByteView = .empty
    /// Second part, after a dot, or empty.
    var tail: ByteView = .empty
    /// A number after the head, or -1.
    var number = -1

    /// Makes a rejection with a detail of two parts and a dot between them.
    package init(_ reason: Reason, _ head: ByteView = .empty, dot tail: ByteView = .empty) {
        self.reason = reason
        self.head = head
        self.tail = tail
    }

    init(_ reason: Reason, _ head: StaticString, number: Int = -1) {
        self.reason = reason
        self.head = ByteView(head)
        self.number = number
    }
}

/// A remark on how a decision came about: `head`, `name`, `middle`, `value`, one after another.
package struct Note: BitwiseCopyable {
    /// The first part of the detail.
    package var head: ByteView
    /// The name that the detail is about.
    package var name: ByteView = .empty
    /// The text between name and value.
    package var middle: ByteView = .empty
    /// The value that the detail is about.
    package var value: ByteView = .empty

    init(_ head: StaticString, _ name: ByteView = .empty, _ middle: StaticString = "", _ value: ByteView = .empty) {
        self.head = ByteView(head)
        self.name = name
        self.middle = ByteView(middle)
        self.value = value
    }
}

/// Longest detail of a decision and longest segment in a note, in bytes; cut between characters.
package let maxDetailBytes = 64

extension ByteView {
    /// At most `count` bytes from the start, cut between characters.
    package func prefix(bytes count: Int) -> ByteView {
        if self.count <= count { return self }
        var end = count
        while end > 0 && self[end] & 0xC0 == 0x80 { end -= 1 }
        return slice(0, end)
    }
}
