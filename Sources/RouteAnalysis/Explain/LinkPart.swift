internal import LinkCoordinator
internal import ByteStorage

/// A part of a link as received, identified by its byte range.
public struct LinkPart: Sendable, Equatable {
    /// The kind of a part.
    public enum Kind: String, Sendable {
        /// The scheme, without its colon.
        case scheme
        /// The text before the last `@` of the authority.
        case userinfo
        /// The host, if the table reads one.
        case host
        /// The port, without its colon.
        case port
        /// A segment of the path that is not empty; with `host: segment`, also the authority.
        case segment
        /// One item of the query, or the whole query if the dialect does not split it at fixed characters.
        case query
        /// The fragment, without its `#`.
        case fragment
        /// An empty range where something is missing, or bytes that belong to no other part.
        case position = "place"
    }

    /// The kind of the part.
    public let kind: Kind
    /// The start, in bytes of UTF-8.
    public let offset: Int
    /// The length, in bytes of UTF-8.
    public let count: Int
    /// The use of the part: the literal or capture that matched it, the rewrite, or the fields that read it; nil for
    /// none.
    public internal(set) var use: String?
    /// A remark, such as a similar name; nil for none.
    public internal(set) var hint: String?
    /// The fault that made the request fail, as text; nil for none.
    public internal(set) var fault: String?
}

/// The parts of a link, found by the rules of the phase `normalize`, with their byte ranges.
///
/// See RouteTableReference, "Normalization".
struct LinkParts {
    private let link: [UInt8]
    private let hostIsSegment: Bool
    private let separators: [UInt8]
    private let splitsQuery: Bool
    private(set) var parts: [LinkPart] = []
    /// The start of the authority, or the offset at which it is missing.
    private(set) var authorityStart = 0
    /// The end of the path.
    private(set) var pathEnd = 0
    /// The end of the query, or the offset at which it is missing.
    private(set) var queryEnd = 0
    /// The offset of the first empty segment in the path, or nil if there is none.
    private(set) var emptySegment: Int?

    /// Finds the parts of any text by the rules of a block; a text without a scheme is a path.
    init(_ link: [UInt8], _ block: TableSource.LinkBlock) {
        self.link = link
        hostIsSegment = block.hostRole == .segment
        separators = block.query.pairSeparators
        splitsQuery = block.query.decode != .before && !block.query.flatten
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
        addParts(.segment, at, end, [UInt8(ascii: "/")])
        if let query {
            if splitsQuery {
                addParts(.query, query + 1, fragment, separators)
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

    private mutating func addParts(_ kind: LinkPart.Kind, _ from: Int, _ to: Int, _ separators: [UInt8]) {
        var start = from
        for index in from...to where index == to || separators.contains(link[index]) {
            add(kind, start, index)
            start = index + 1
        }
    }
}
