internal import ShortLinks
internal import StrictJSON

extension ShortLinkFile {
    /// The beginning of the note about a short link.
    static let noteCode: StaticString = "short_link:"

    /// A file without short links.
    static let empty = ShortLinkFile([])

    /// Returns a file with the short links in the notes of a decision, or nil if there are none.
    ///
    /// A note has the hash of the worker's file, the link, and its destination. So the decision can be made again
    /// without the file. A note in another form does not count.
    static func decided(_ notes: JSONValue?) -> ShortLinkFile? {
        var rows: [[UInt8]: [UInt8]] = [:]
        var hash: String?
        for text in notes?.array?.compactMap(\.string) ?? [] where text.hasPrefix("\(noteCode)") {
            // A space and a combining character after it are one `Character`, so the text is split as bytes.
            let parts = text.utf8.dropFirst(noteCode.utf8CodeUnitCount)
                .split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            guard parts.count == 3, parts[1].count <= ShortLinkKey.maxBytes,
                parts[2].count <= ShortLinkKey.maxDestinationBytes
            else { continue }
            hash = String(parts[0])
            rows[Array(parts[1])] = Array(parts[2])
        }
        return rows.isEmpty ? nil : ShortLinkFile(rows.map { ($0.key, $0.value) }, hash: hash)
    }
}

extension ShortLinkSource {
    /// Returns a source of the short links in the notes of a decision, which can be none.
    static func decided(_ notes: JSONValue?) -> ShortLinkSource { ShortLinkSource(.decided(notes) ?? .empty) }
}
