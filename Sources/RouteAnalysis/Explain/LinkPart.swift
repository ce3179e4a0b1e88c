internal import LinkCoordinator
internal import ByteStorage

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
        /// A place of no bytes where something is missing, or bytes that belong to no part.
        case place
    }

    /// What it is.
    public let kind: Kind
    /// Where it begins, in bytes of UTF-8.
    public let offset: Int
    /// How long it is, in bytes of UTF-8.
    public let count: Int
    /// What it became: the literal or capture that took it, the rewrite, the fields that read it; nil for nothing.
    public internal(set) var use: String?
    /// A remark, such as the name that was meant; nil for none.
    public internal(set) var hint: String?
    /// The fault because of which the request failed, in words; nil where there is none.
    public internal(set) var fault: String?
}

/// Finds the parts of a link by its raw bytes, as *normalise* does (N2, N3, N4, N8), but with their places.
struct LinkParts {
    private let link: [UInt8]
    private let hostIsSegment: Bool
    private let separators: [UInt8]
    private let cutsQuery: Bool
    private(set) var parts: [LinkPart] = []
    /// Where an authority begins, or would.
    private(set) var authorityStart = 0
    /// Where the path ends.
    private(set) var pathEnd = 0
    /// Where the query ends, or would.
    private(set) var queryEnd = 0
    /// Where two slashes of the path stand side by side, if any do.
    private(set) var emptySegment: Int?

    /// Finds the parts of any text, as a block reads links; what has no scheme is a path.
    init(_ link: [UInt8], _ block: TableSource.LinkBlock) {
        self.link = link
        hostIsSegment = block.hostRole == .segment
        separators = block.query.pairSeparators
        cutsQuery = block.query.decode != .before && !block.query.flatten
        let colon = link.withUnsafeBufferPointer { Resolver.schemeLength(ByteView($0)) }
        add(.scheme, 0, colon)
        var end = link.firstIndex(of: UInt8(ascii: "#")) ?? link.count
        let fragment = end
        let query = link[..<end].firstIndex(of: UInt8(ascii: "?"))
        end = query ?? end
        var at = colon > 0 ? colon + 1 : 0
        authorityStart = at
        if link[at..<end].starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) {
            let stop = link[(at + 2)..<end].firstIndex(of: UInt8(ascii: "/")) ?? end
            authorityStart = at + 2
            addAuthority(at + 2, stop)
            at = stop
        }
        (pathEnd, queryEnd) = (end, fragment)
        emptySegment =
            zip(at..<end, (at..<end).dropFirst()).first {
                link[$0] == UInt8(ascii: "/") && link[$1] == UInt8(ascii: "/")
            }?.1
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
