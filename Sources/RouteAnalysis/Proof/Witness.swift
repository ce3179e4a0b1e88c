internal import LinkCoordinator

/// A normalized link that demonstrates a result, before it is written as text.
struct Witness {
    /// The scheme and host.
    var origin: Origin
    /// The decoded segments.
    var segments: [[UInt8]]
    /// The names and values of the query.
    var query: [QueryConstraints.Item]
    /// A Boolean value that indicates whether a rewrite changes the link, so that resolving it does not show the
    /// result.
    var isRewritten = false

    /// Returns the link as text: the origin, the percent-encoded segments, and the query in its dialect.
    func text(in source: TableSource) -> String {
        head + QueryConstraints(source.blocks[origin.block].query).text(of: query)
    }

    /// The scheme and authority; the authority is the first segment if the tables read it differently.
    var authority: String {
        let first = segments.first ?? []
        let lead = origin.escapesAuthority ? LinkEncoding.escape(first) : LinkEncoding.encode(first)
        let host = origin.isAuthoritySegment ? lead : String(decoding: origin.host, as: UTF8.self)
        return "\(origin.scheme)://\(host)\(origin.port.map { ":\($0)" } ?? "")"
    }

    /// The path with percent-encoded segments.
    var path: String {
        let own = segments.dropFirst(origin.isAuthoritySegment ? 1 : 0)
        return own.isEmpty ? "/" : own.map { "/" + LinkEncoding.encode($0) }.joined()
    }

    /// The link without its query.
    var head: String { authority + path }
}
