internal import StrictJSON

/// What is most likely wrong with a table's file that is no strict JSON, and what to do.
struct JSONAdvice {
    /// What is wrong.
    var message: String
    /// What to do.
    var suggestion: String?
    /// Byte offset in the file.
    var offset: Int

    /// Looks at the bytes around the place where the reader stopped.
    init(_ error: JSONError, in file: [UInt8]) {
        message = error.text
        offset = error.offset
        let found = Self.encoding(file) ?? Self.found(error, file)
        if let found { (message, suggestion, offset) = (found.message ?? message, found.suggestion, found.offset) }
    }

    private typealias Found = (message: String?, suggestion: String?, offset: Int)

    private static func encoding(_ file: [UInt8]) -> Found? {
        if file.starts(with: [0xEF, 0xBB, 0xBF]) {
            return ("the file begins with a byte order mark", "save it as UTF-8 without one", 0)
        }
        if file.starts(with: [0xFF, 0xFE]) || file.starts(with: [0xFE, 0xFF]) || file.prefix(4).contains(0) {
            return ("the file is no UTF-8 but UTF-16 or UTF-32", "save it as UTF-8", 0)
        }
        return file.allSatisfy(isBlank) ? ("the file is empty", "a table begins with {", 0) : nil
    }

    private static func found(_ error: JSONError, _ file: [UInt8]) -> Found? {
        let at = file[min(error.offset, file.count)...].firstIndex { !isBlank($0) } ?? file.count
        let rest = file[at...]
        let before = file[..<at].lastIndex { !isBlank($0) }
        if starts(rest, "//") || starts(rest, "/*") || starts(rest, "#") {
            return ("JSON has no comments", "take it away", at)
        }
        if let before, file[before] == UInt8(ascii: ","), let byte = rest.first, "}]".utf8.contains(byte) {
            return ("a comma stands before the closing bracket", "take the comma away", before)
        }
        if starts(rest, "'") || ["\u{201C}", "\u{201D}", "\u{2018}", "\u{2019}"].contains(where: { starts(rest, $0) }) {
            return ("a text or a name stands in plain double quotes", "write \"…\"", at)
        }
        let word = String(decoding: rest.prefix { ($0 | 0x20) &- UInt8(ascii: "a") < 26 || $0 == 0x5F }, as: UTF8.self)
        if let advice = advice(error.code, rest.first, word) { return (nil, advice, error.offset) }
        return nil
    }

    private static func advice(_ code: JSONError.Code, _ byte: UInt8?, _ word: String) -> String? {
        switch code {
        case .unexpectedEnd: return "a closing bracket or quote is missing"
        case .expectedName: return word.isEmpty ? nil : "write \"\(word)\""
        case .expectedColon: return "a name and its value have ':' between them"
        case .expectedCommaOrEnd:
            switch byte {
            case UInt8(ascii: "}"), UInt8(ascii: "]"): return "an object ends with '}', and a list with ']'"
            case UInt8(ascii: ":"): return "a name and its value stand in { … }, not in [ … ]"
            default: return "put a comma before it"
            }
        case .expectedValue, .badLiteral: return self.word(byte, word)
        case .trailingBytes: return "a file holds one table; perhaps a bracket before it is one too many"
        case .badNumber: return "a number has no '+', no leading zeros, and digits on both sides of its dot"
        case .controlCharacter: return "a text ends on the line where it begins; write '\\n' for a line break in it"
        case .badEscape: return "write '\\\\' for a backslash"
        default: return nil
        }
    }

    private static func word(_ byte: UInt8?, _ word: String) -> String? {
        switch word.lowercased() {
        case "": return byte == UInt8(ascii: ",") ? "take the comma away" : nil
        case "true", "yes", "on": return "write true"
        case "false", "no", "off": return "write false"
        case "null", "none", "nil", "undefined": return "write null, or leave the key out"
        default: return "a text stands in double quotes: \"\(word)\""
        }
    }

    private static func starts(_ bytes: ArraySlice<UInt8>, _ text: String) -> Bool { bytes.starts(with: text.utf8) }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte &- 9 < 2 || byte == 13 }
}
