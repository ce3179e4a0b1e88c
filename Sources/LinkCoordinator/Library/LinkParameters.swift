internal import ByteStorage

/// The query parameters of any link, by name in any case: for code that needs no table.
///
/// Names are looked up without regard to case, values keep theirs. Pairs are split at `&` and then decoded, once, so
/// that an escaped `&` or `=` stays in its value; of names that stand twice the last value counts, and a name without
/// `=` has no value and hides none. A name or value that does not decode is left out.
public struct LinkParameters: Sendable, Equatable {
    /// The values by name in lower case.
    public let dictionary: [String: String]

    /// Reads the parameters of a link; a text that is no link has none.
    ///
    /// - Parameters:
    ///   - link: The link, percent-encoded as it came.
    ///   - repair: Whether `&amp;` is read as `&`, and a pilcrow as `&para`: what is left of links that went through
    ///     HTML.
    public init(_ link: String, repair: Bool = false) {
        dictionary = Self.read(Array((repair ? Self.repaired(link) : link).utf8))
    }

    private static func read(_ link: [UInt8]) -> [String: String] {
        var dictionary: [String: String] = [:]
        let hasScheme = link.withUnsafeBufferPointer { Resolver.schemeLength(ByteView($0)) > 0 }
        guard hasScheme, link.count <= maxBytes else { return [:] }
        let end = link.firstIndex(of: UInt8(ascii: "#")) ?? link.count
        guard let mark = link[..<end].firstIndex(of: UInt8(ascii: "?")) else { return [:] }
        for piece in link[(mark + 1)..<end].split(separator: UInt8(ascii: "&")).prefix(maxItems) {
            guard let equals = piece.firstIndex(of: UInt8(ascii: "=")), let name = decoded(piece[..<equals]),
                let value = decoded(piece[(equals + 1)...])
            else { continue }
            dictionary[name.lowercased()] = value
        }
        return dictionary
    }

    /// The value of a name, in whatever case it is written; nil where there is none.
    public subscript(name: String) -> String? { dictionary[name.lowercased()] }

    /// Longest link that is read, in bytes; a longer one has no parameters.
    public static let maxBytes = 8192

    /// Most pieces of a query that are read.
    public static let maxItems = 128

    private static func decoded(_ raw: ArraySlice<UInt8>) -> String? {
        var arena = OutputArena(chunkBytes: 256)
        return Array(raw).withUnsafeBufferPointer { raw in
            arena.begin()
            let decodes = PercentDecoding.decode(ByteView(raw), plusIsSpace: false, into: &arena)
            let text = arena.finish()
            return decodes && PercentDecoding.isClean(text, invisiblesAllowed: true) ? text.string : nil
        }
    }

    private static func repaired(_ link: String) -> String {
        var repaired = ""
        var rest = link[...]
        while let first = rest.first {
            if rest.hasPrefix("&amp;") {
                repaired += "&"
                rest = rest.dropFirst(5)
            } else {
                repaired += first == "\u{B6}" ? "&para" : String(first)
                rest = rest.dropFirst()
            }
        }
        return repaired
    }
}
