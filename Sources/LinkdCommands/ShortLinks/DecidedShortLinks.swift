internal import ShortLinks
internal import StrictJSON

extension ShortLinkFile {
    /// The beginning of the note about a short link.
    static let noteCode = "short_link:"

    /// A file without short links.
    static let empty = ShortLinkFile([])

    /// Returns a file with the short links in the notes of a decision, or nil if there are none.
    ///
    /// A note has the hash of the worker's file, the link, and its destination. So the decision can be made again
    /// without the file. A note in another form does not count.
    static func decided(_ notes: JSONValue?) -> ShortLinkFile? {
        var rows: [String: String] = [:]
        var hash: String?
        for text in notes?.array?.compactMap(\.string) ?? [] where text.hasPrefix(noteCode) {
            let parts = text.dropFirst(noteCode.count).split(separator: " ", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[1].utf8.count <= ShortLinkKey.maxBytes,
                parts[2].utf8.count <= ShortLinkKey.maxDestinationBytes
            else { continue }
            hash = String(parts[0])
            rows[String(parts[1])] = String(parts[2])
        }
        return rows.isEmpty ? nil : ShortLinkFile(rows.map { (Array($0.key.utf8), Array($0.value.utf8)) }, hash: hash)
    }
}

extension ShortLinkSource {
    /// Returns a source of the short links in the notes of a decision, which can be none.
    static func decided(_ notes: JSONValue?) -> ShortLinkSource { ShortLinkSource(.decided(notes) ?? .empty) }
}
