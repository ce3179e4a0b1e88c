internal import ByteStorage

/// The query parameters of a link, for code that does not use a table.
///
/// Lookup by name ignores case. The query is split at `&`, and then each name and value is percent-decoded once, so an
/// escaped `&` or `=` stays in its value. If a name occurs more than once, the last value is used. A name without `=`
/// is ignored. So is a pair whose name or value cannot be decoded.
public struct LinkParameters: Sendable, Equatable {
    /// The values by lowercase name.
    public let dictionary: [String: String]

    /// Creates the parameters of a link.
    ///
    /// A text that is not a link has no parameters.
    ///
    /// - Parameters:
    ///   - link: The percent-encoded link.
    ///   - repair: Pass `true` to read `&amp;` as `&`, and a pilcrow as `&para`. HTML processing leaves both in links.
    public init(_ link: String, repair: Bool = false) {
        dictionary = Self.read(Array((repair ? Self.repaired(link) : link).utf8))
    }

    private static func read(_ link: [UInt8]) -> [String: String] {
        var dictionary: [String: String] = [:]
        let hasScheme = link.withUnsafeBufferPointer { Resolver.schemeLength(ByteView($0)) > 0 }
        guard hasScheme, link.count <= maxBytes else { return [:] }
        let end = link.firstIndex(of: UInt8(ascii: "#")) ?? link.count
        guard let mark = link[..<end].firstIndex(of: UInt8(ascii: "?")) else { return [:] }
        for item in link[(mark + 1)..<end].split(separator: UInt8(ascii: "&")).prefix(maxItems) {
            guard let equals = item.firstIndex(of: UInt8(ascii: "=")), let name = decoded(item[..<equals]),
                let value = decoded(item[(equals + 1)...])
            else { continue }
            dictionary[name.lowercased()] = value
        }
        return dictionary
    }

    /// Returns the value for a name, ignoring the name's case, or nil if there is none.
    public subscript(name: String) -> String? { dictionary[name.lowercased()] }

    /// The length of the longest link that is read, in bytes.
    ///
    /// A longer link has no parameters.
    public static let maxBytes = 8192

    /// The maximum number of query items that are read.
    ///
    /// Further items are ignored.
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
