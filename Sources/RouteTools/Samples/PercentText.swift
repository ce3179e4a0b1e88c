internal import LinkCoordinator
internal import RouteAnalysis

/// Percent-encoding for generated links.
enum PercentText {
    /// Returns a segment, or a name or value of a query, with all but unreserved characters escaped (RFC 3986, 2.3).
    static func encode(_ text: String) -> String { LinkEncoding.encode(Array(text.utf8)) }

    /// Returns a literal of a pattern in the form that browsers keep: `pchar` (RFC 3986, 3.3) is not escaped.
    static func literal(_ text: [UInt8]) -> String {
        text.map { byte in
            PercentDecoding.isUnreserved(byte) || "!$&'()*+,;=:@".utf8.contains(byte)
                ? String(UnicodeScalar(byte)) : LinkEncoding.escape([byte])
        }.joined()
    }
}
