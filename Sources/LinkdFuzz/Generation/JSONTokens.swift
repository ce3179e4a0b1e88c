/// The tokens of a JSON text.
///
/// The text is not validated, so that damaged text has tokens too.
struct JSONTokens {
    /// The kind of a token.
    enum Kind { case name, string, scalar, open, close, separator }

    /// A token with its range.
    struct Token {
        var kind: Kind
        var range: Range<Int>
    }

    private(set) var tokens: [Token] = []

    init(_ bytes: [UInt8]) {
        var at = 0
        while at < bytes.count {
            let start = at
            switch bytes[at] {
            case 0x20, 0x09, 0x0A, 0x0D:
                at += 1
                continue
            case UInt8(ascii: "\""):
                at = Self.stringEnd(bytes, at)
                tokens.append(Token(kind: .string, range: start..<at))
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): tokens.append(Token(kind: .open, range: at..<at + 1))
            case UInt8(ascii: "}"), UInt8(ascii: "]"): tokens.append(Token(kind: .close, range: at..<at + 1))
            case UInt8(ascii: ":"):
                if let last = tokens.indices.last, tokens[last].kind == .string { tokens[last].kind = .name }
                tokens.append(Token(kind: .separator, range: at..<at + 1))
            case UInt8(ascii: ","): tokens.append(Token(kind: .separator, range: at..<at + 1))
            default:
                while at < bytes.count, !Self.ends(bytes[at]) { at += 1 }
                tokens.append(Token(kind: .scalar, range: start..<max(at, start + 1)))
                at = max(at, start + 1)
                continue
            }
            at += 1
        }
    }

    private static func ends(_ byte: UInt8) -> Bool {
        [0x20, 0x0A, 0x0D, 0x09, 0x2C, 0x3A, 0x7D, 0x5D, 0x7B, 0x5B, 0x22].contains(byte)
    }

    private static func stringEnd(_ bytes: [UInt8], _ start: Int) -> Int {
        var at = start + 1
        while at < bytes.count, bytes[at] != UInt8(ascii: "\"") { at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1 }
        return min(at + 1, bytes.count)
    }

    /// Returns the indices of the tokens of certain kinds.
    func indices(of kinds: Set<Kind>) -> [Int] { tokens.indices.filter { kinds.contains(tokens[$0].kind) } }

    /// Returns the range of the value that begins at a token.
    ///
    /// The range ends with the text if the value is not closed.
    func value(at index: Int) -> Range<Int> {
        guard tokens[index].kind == .open else { return tokens[index].range }
        var depth = 0
        for token in tokens[index...] {
            if token.kind == .open { depth += 1 }
            if token.kind == .close { depth -= 1 }
            if depth == 0 { return tokens[index].range.lowerBound..<token.range.upperBound }
        }
        return tokens[index].range.lowerBound..<(tokens.last?.range.upperBound ?? 0)
    }

    /// Returns the range of the member whose name is at a token, or nil if no value follows.
    func member(at name: Int) -> Range<Int>? {
        guard name + 2 < tokens.count else { return nil }
        return tokens[name].range.lowerBound..<value(at: name + 2).upperBound
    }
}
