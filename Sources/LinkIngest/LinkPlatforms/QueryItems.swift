internal import ByteStorage

/// The items of a query, separated by `&`, in order and as they are written.
struct QueryItems {
    /// An item of a query.
    struct Item {
        /// The whole item.
        let text: ByteView
        /// The name, still encoded.
        let name: ByteView
        /// The value, still encoded, or an empty view.
        let value: ByteView
        /// A Boolean value that indicates whether the query continues after the item.
        let isFollowed: Bool
    }

    private let query: ByteView
    private var position = 0

    /// Creates a sequence of the items of a query, without its question mark.
    init(_ query: ByteView) { self.query = query }

    /// Returns the next item, which is empty between two separators, or nil after the last one.
    mutating func next() -> Item? {
        guard position < query.count else { return nil }
        let end = ByteScan.first(UInt8(ascii: "&"), in: query, from: position)
        let text = query.slice(position, end)
        position = end &+ 1
        let equals = text.firstIndex(of: UInt8(ascii: "=")) ?? text.count
        return Item(
            text: text, name: text.slice(0, equals), value: text.dropFirst(min(equals &+ 1, text.count)),
            isFollowed: end < query.count)
    }

    /// Returns a Boolean value that indicates whether a name, decoded, is `known`, or only begins with it.
    ///
    /// A name with a malformed escape is no known name.
    static func name(_ written: ByteView, is known: ByteView, orBegins isPrefix: Bool = false) -> Bool {
        var index = 0
        var matched = 0
        while matched < known.count {
            guard index < written.count else { return false }
            var byte = written.start[index]
            index &+= 1
            if byte == UInt8(ascii: "%") {
                guard index &+ 1 < written.count, let high = hexDigit(written.start[index]),
                    let low = hexDigit(written.start[index &+ 1])
                else { return false }
                byte = high &<< 4 | low
                index &+= 2
            }
            if byte != known.start[matched] { return false }
            matched &+= 1
        }
        return isPrefix || index == written.count
    }
}
