/// A part of a link as it came, by its place in the text.
public struct LinkPart: Sendable, Equatable {
    /// What a part is.
    public enum Kind: String, Sendable {
        /// The scheme, without its colon.
        case scheme
        /// What stands before the last `@` of the authority.
        case userinfo
        /// The host, where the table reads one.
        case host
        /// The port, without its colon.
        case port
        /// A segment of the path that is not empty; where the table says `host: segment`, the authority too.
        case segment
        /// One piece of the query, or where the dialect cannot be cut by eye all of it.
        case query
        /// The fragment, without its `#`.
        case fragment
    }

    /// What it is.
    public let kind: Kind
    /// Where it begins, in bytes of UTF-8.
    public let offset: Int
    /// How long it is, in bytes of UTF-8.
    public let count: Int
    /// What it became: the literal or capture that took it, the rewrite, the fields that read it; nil for nothing.
    public internal(set) var use: String?
}

/// Finds the parts of a link by its raw bytes, as *normalise* does (N2, N3, N4, N8), but with their places.
struct LinkParts {
    private let link: [UInt8]
    private let hostIsSegment: Bool
    private let separators: [UInt8]
    private let cutsQuery: Bool
    private(set) var parts: [LinkPart] = []

    init(_ link: [UInt8], _ block: TableSource.LinkBlock) {
        self.link = link
        hostIsSegment = block.hostRole == .segment
        separators = block.query.pairSeparators
        cutsQuery = block.query.decode != .before && !block.query.flatten
        guard let colon = link.firstIndex(of: UInt8(ascii: ":")) else { return }
        add(.scheme, 0, colon)
        var end = link.firstIndex(of: UInt8(ascii: "#")) ?? link.count
        let fragment = end
        let query = link[..<end].firstIndex(of: UInt8(ascii: "?"))
        end = query ?? end
        var at = colon + 1
        if link[at..<end].starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) {
            let stop = link[(at + 2)..<end].firstIndex(of: UInt8(ascii: "/")) ?? end
            addAuthority(at + 2, stop)
            at = stop
        }
        addPieces(.segment, at, end, [UInt8(ascii: "/")])
        if let query {
            if cutsQuery {
                addPieces(.query, query + 1, fragment, separators)
            } else {
                add(.query, query + 1, fragment)
            }
        }
        if fragment < link.count { add(.fragment, fragment + 1, link.count) }
    }

    private mutating func add(_ kind: LinkPart.Kind, _ from: Int, _ to: Int) {
        if to > from { parts.append(LinkPart(kind: kind, offset: from, count: to - from)) }
    }

    private mutating func addAuthority(_ from: Int, _ to: Int) {
        var start = from
        if let at = link[from..<to].lastIndex(of: UInt8(ascii: "@")) {
            add(.userinfo, from, at)
            start = at + 1
        }
        var end = to
        let bracket = link[start..<to].lastIndex(of: UInt8(ascii: "]")) ?? start
        if let colon = link[bracket..<to].lastIndex(of: UInt8(ascii: ":")) { end = colon }
        add(hostIsSegment ? .segment : .host, start, end)
        if end < to { add(.port, end + 1, to) }
    }

    private mutating func addPieces(_ kind: LinkPart.Kind, _ from: Int, _ to: Int, _ separators: [UInt8]) {
        var start = from
        for index in from...to where index == to || separators.contains(link[index]) {
            add(kind, start, index)
            start = index + 1
        }
    }
}
