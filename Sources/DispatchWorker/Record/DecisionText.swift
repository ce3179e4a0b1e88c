internal import ByteStorage

/// The encoded text of a decision, with the position of its member `table`.
///
/// `table` follows members whose values are strings, and `route` follows `table`.
struct DecisionText {
    private let text: ByteView
    /// The positions of the value of `table` with its quotation marks, or an empty range at the end without one.
    private let table: Range<Int>

    /// Finds the members of a decision.
    init(_ decision: ByteView) {
        text = decision
        table = Self.table(in: decision)
    }

    /// The id of the route, or nil if the decision has none.
    var route: String? {
        let member = ByteView(",\"route\":")
        let rest = text.dropFirst(table.upperBound)
        guard rest.count > member.count, rest.slice(0, member.count) == member,
            let end = Self.endOfString(in: rest, at: member.count)
        else { return nil }
        return rest.slice(member.count + 1, end - 1).string
    }

    /// Returns a Boolean value that indicates whether two decisions are equal apart from the table's name.
    func isSame(as other: DecisionText) -> Bool {
        text.slice(0, table.lowerBound) == other.text.slice(0, other.table.lowerBound)
            && text.dropFirst(table.upperBound) == other.text.dropFirst(other.table.upperBound)
    }

    private static func table(in text: ByteView) -> Range<Int> {
        let name = ByteView("\"table\"")
        var index = 1
        while let nameEnd = endOfString(in: text, at: index), let end = endOfString(in: text, at: nameEnd + 1) {
            if text.slice(index, nameEnd) == name { return nameEnd + 1..<end }
            index = end + 1
        }
        return text.count..<text.count
    }

    /// Returns the position after a string, or nil if there is none at `start`.
    private static func endOfString(in text: ByteView, at start: Int) -> Int? {
        guard start < text.count, text[start] == UInt8(ascii: "\"") else { return nil }
        var index = start + 1
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\""): return index + 1
            case UInt8(ascii: "\\"): index += 2
            default: index += 1
            }
        }
        return nil
    }
}
