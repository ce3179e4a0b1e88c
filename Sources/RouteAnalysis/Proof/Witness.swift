internal import LinkCoordinator
internal import ByteStorage

/// A normalised link that shows something, before it is written.
struct Witness {
    /// Scheme and host.
    var origin: Origin
    /// The segments, decoded.
    var segments: [[UInt8]]
    /// The query's names and values.
    var query: [QueryConstraints.Item]
    /// Whether a rewrite takes segments off it, so that it shows nothing when it is resolved.
    var isRewritten = false

    /// The link as text: an origin, then the segments percent-encoded, then the query in its dialect.
    func text(in source: TableSource) -> String {
        head + QueryConstraints(source.blocks[origin.block].query).text(of: query)
    }

    /// Scheme and authority, which is the first segment where tables do not take it for the same.
    var authority: String {
        let first = segments.first ?? []
        let lead = origin.escapesAuthority ? Self.escape(first) : Self.encode(first)
        let host = origin.leads ? lead : String(decoding: origin.host, as: UTF8.self)
        return "\(origin.scheme)://\(host)\(origin.port.map { ":\($0)" } ?? "")"
    }

    /// The path, its segments percent-encoded.
    var path: String {
        let own = segments.dropFirst(origin.leads ? 1 : 0)
        return own.isEmpty ? "/" : own.map { "/" + Self.encode($0) }.joined()
    }

    /// The link without its query.
    var head: String { authority + path }

    /// A text with all bytes percent-encoded.
    static func escape(_ text: [UInt8]) -> String {
        text.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }

    /// A text with all but unreserved characters percent-encoded.
    static func encode(_ text: [UInt8]) -> String {
        var arena = OutputArena(chunkBytes: 256)
        arena.begin()
        text.withUnsafeBufferPointer { PercentDecoding.encode(ByteView($0), into: &arena) }
        return arena.finish().string
    }
}
