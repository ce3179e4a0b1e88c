/// The name of a capture in another router's syntax.
package struct ForeignName {
    /// The name.
    var text: String
    /// The index after the name.
    var end: Substring.Index

    /// Reads a name at the beginning of a text: a letter, followed by letters, digits, and `_`.
    init?(_ text: Substring) {
        let name = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        guard let first = name.first, first.isLetter else { return nil }
        self.text = String(name)
        end = name.endIndex
    }

    /// Reads a name after a mark.
    init?(after mark: Character, in text: Substring) {
        guard text.first == mark else { return nil }
        self.init(text.dropFirst())
    }

    /// Returns a Boolean value that indicates whether the value of a query constraint looks like a capture or a
    /// wildcard.
    package static func isPlaceholder(_ text: String) -> Bool {
        let inner = text.dropFirst().dropLast()
        if text.hasPrefix("{") && text.hasSuffix("}") || text.hasPrefix("<") && text.hasSuffix(">") {
            return ForeignName(inner)?.end == inner.endIndex
        }
        return [".*", ".+", "**", "%"].contains(text) || ForeignName(after: ":", in: text[...])?.end == text.endIndex
    }
}
