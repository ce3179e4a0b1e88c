internal import StrictJSON

/// The most likely mistake in a table file that is not strict JSON, with a suggestion.
struct JSONAdvice {
    /// A description of the mistake.
    var message: String
    /// A description of what to do, or nil.
    var suggestion: String?
    /// The byte offset in the file.
    var offset: Int

    /// Examines the bytes around the position at which the reader stopped.
    init(_ error: JSONError, in file: [UInt8]) {
        message = error.text
        offset = error.offset
        let found = Self.encoding(file) ?? Self.found(error, file)
        if let found { (message, suggestion, offset) = (found.message ?? message, found.suggestion, found.offset) }
    }

    private typealias Found = (message: String?, suggestion: String?, offset: Int)

    private static func encoding(_ file: [UInt8]) -> Found? {
        if file.starts(with: [0xEF, 0xBB, 0xBF]) {
            return ("the file begins with a byte order mark", "save the file as UTF-8 without a byte order mark", 0)
        }
        if file.starts(with: [0xFF, 0xFE]) || file.starts(with: [0xFE, 0xFF]) || file.prefix(4).contains(0) {
            return ("the file is UTF-16 or UTF-32, not UTF-8", "save the file as UTF-8", 0)
        }
        return file.allSatisfy(isBlank) ? ("the file is empty", "write a table, which begins with `{`", 0) : nil
    }

    private static func found(_ error: JSONError, _ file: [UInt8]) -> Found? {
        let at = file[min(error.offset, file.count)...].firstIndex { !isBlank($0) } ?? file.count
        let rest = file[at...]
        let before = file[..<at].lastIndex { !isBlank($0) }
        if starts(rest, "//") || starts(rest, "/*") || starts(rest, "#") {
            return ("comments are not allowed in JSON", "remove the comment", at)
        }
        if let before, file[before] == UInt8(ascii: ","), let byte = rest.first, "}]".utf8.contains(byte) {
            return ("there is a comma before the closing bracket", "remove the comma", before)
        }
        if starts(rest, "'") || ["\u{201C}", "\u{201D}", "\u{2018}", "\u{2019}"].contains(where: { starts(rest, $0) }) {
            return ("strings and names need straight double quotes", "write \"…\"", at)
        }
        let word = String(decoding: rest.prefix { ($0 | 0x20) &- UInt8(ascii: "a") < 26 || $0 == 0x5F }, as: UTF8.self)
        if let advice = advice(error.code, rest.first, word) { return (nil, advice, error.offset) }
        return nil
    }

    private static func advice(_ code: JSONError.Code, _ byte: UInt8?, _ word: String) -> String? {
        switch code {
        case .unexpectedEnd: return "add the missing closing bracket or quotation mark"
        case .expectedName: return word.isEmpty ? nil : "write \"\(word)\""
        case .expectedColon: return "write `:` between the name and its value"
        case .expectedCommaOrEnd:
            switch byte {
            case UInt8(ascii: "}"), UInt8(ascii: "]"): return "end an object with `}` and a list with `]`"
            case UInt8(ascii: ":"): return "write a name and its value in `{ … }`, not in `[ … ]`"
            default: return "add a comma before it"
            }
        case .expectedValue, .badLiteral: return self.word(byte, word)
        case .trailingBytes: return "a file has one table; check for an extra closing bracket before it"
        case .badNumber: return "write the number without `+` and leading zeros, and with digits on both sides of a dot"
        case .controlCharacter: return "write `\\n` for a line break in a string"
        case .badEscape: return "write `\\\\` for a backslash"
        default: return nil
        }
    }

    private static func word(_ byte: UInt8?, _ word: String) -> String? {
        switch word.lowercased() {
        case "": return byte == UInt8(ascii: ",") ? "remove the comma" : nil
        case "true", "yes", "on": return "write true"
        case "false", "no", "off": return "write false"
        case "null", "none", "nil", "undefined": return "write null, or remove the key"
        default: return "write strings in double quotes: \"\(word)\""
        }
    }

    private static func starts(_ bytes: ArraySlice<UInt8>, _ text: String) -> Bool { bytes.starts(with: text.utf8) }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte &- 9 < 2 || byte == 13 }
}
