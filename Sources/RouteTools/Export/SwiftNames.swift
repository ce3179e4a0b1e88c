/// Swift identifiers for the names of a table.
struct SwiftNames {
    private var taken: Set<String>

    /// Creates identifiers that differ from the reserved ones.
    init(reserving reserved: Set<String> = []) { taken = reserved }

    /// Returns an unused name in camel case, with a number at its end if necessary.
    mutating func next(_ text: String, upper: Bool = false) -> String {
        let wanted = Self.camel(text, upper: upper)
        var name = wanted
        var number = 2
        while !taken.insert(name).inserted {
            name = "\(wanted)\(number)"
            number += 1
        }
        return name
    }

    /// Returns the name in source code: keywords in backticks.
    static func code(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// Returns the words of a text joined in camel case: `new-items` becomes `newItems`.
    static func camel(_ text: String, upper: Bool) -> String {
        var result = ""
        var startsWord = upper
        for scalar in text.unicodeScalars {
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            guard isPlain else {
                startsWord = !result.isEmpty || upper
                continue
            }
            let letter = String(scalar)
            result += startsWord ? letter.uppercased() : result.isEmpty ? letter.lowercased() : letter
            startsWord = false
        }
        if result.isEmpty { result = upper ? "Value" : "value" }
        if result.first?.isNumber == true { result = (upper ? "Value" : "value") + result }
        return result
    }

    /// Returns a text as a string literal.
    static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\" + String(scalar)
            case _ where scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) || !scalar.isASCII:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private static let keywords: Set<String> = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout",
        "internal", "let", "open", "operator", "private", "precedencegroup", "protocol", "public", "rethrows", "static",
        "struct", "subscript", "typealias", "var", "break", "case", "catch", "continue", "default", "defer", "do",
        "else", "fallthrough", "for", "guard", "if", "in", "repeat", "return", "throw", "switch", "where", "while",
        "Any", "as", "await", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try", "Type",
        "Protocol",
    ]
}
