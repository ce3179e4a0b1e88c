internal import ByteStorage

/// Why a phase ended, with the detail that the decision says (3.6); views live as long as the resolution.
struct Rejection: Error {
    var reason: Reason
    /// First part of the detail.
    var head: ByteView = .empty
    /// Second part, after a dot, or empty.
    var tail: ByteView = .empty
    /// A number after the head, or -1.
    var number = -1

    init(_ reason: Reason, _ head: ByteView = .empty, dot tail: ByteView = .empty) {
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
struct Note {
    var head: ByteView
    var name: ByteView = .empty
    var middle: ByteView = .empty
    var value: ByteView = .empty

    init(_ head: StaticString, _ name: ByteView = .empty, _ middle: StaticString = "", _ value: ByteView = .empty) {
        self.head = ByteView(head)
        self.name = name
        self.middle = ByteView(middle)
        self.value = value
    }
}

/// Longest detail of a decision and longest segment in a note, in bytes; cut between characters.
let maxDetailBytes = 64

extension ByteView {
    /// At most `count` bytes from the start, cut between characters.
    func prefix(bytes count: Int) -> ByteView {
        if self.count <= count { return self }
        var end = count
        while end > 0 && self[end] & 0xC0 == 0x80 { end -= 1 }
        return slice(0, end)
    }
}
