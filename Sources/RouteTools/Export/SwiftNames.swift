internal import LinkCoordinator

/// Swift source code in lines of limited length.
enum SwiftLines {
    /// The number of columns at which long lines are broken.
    static let columns = 110

    /// Returns an assignment, broken after the equals sign if it does not fit into a line.
    static func assignment(_ statement: String, indent: Int) -> [String] {
        guard statement.count + indent > columns, let range = statement.firstRange(of: " = ") else {
            return [statement]
        }
        return [statement[..<range.lowerBound] + " =", "    " + statement[range.upperBound...]]
    }

    /// Returns a name with values in parentheses, which have lines of their own if they do not fit into one.
    static func call(_ name: String, _ values: [String], end: String = "", indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        if values.isEmpty { return [margin + name + end] }
        let line = "\(margin)\(name)(\(values.joined(separator: ", ")))\(end)"
        if line.count <= columns { return [line] }
        let lines = values.enumerated().map { index, value in
            "\(margin)    \(value)" + (index + 1 < values.count ? "," : "")
        }
        return ["\(margin)\(name)("] + lines + ["\(margin))\(end)"]
    }

    /// Returns a raw literal of several lines that contains exactly the given UTF-8 text.
    ///
    /// The delimiter has more number signs than any sequence in the text that could end the literal or begin an escape.
    /// Long lines are broken with an escaped line feed. Characters that are invisible or that editors change are
    /// escaped.
    static func rawLiteral(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        let marks = String(repeating: "#", count: longestMarks(bytes) + 1)
        var result = marks + "\"\"\"\n"
        var column = 0
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            if scalar == "\n" {
                result.unicodeScalars.append(scalar)
                column = 0
                continue
            }
            let isBreakable = scalar.isASCII && scalar.properties.isAlphabetic
            if (column >= columns - 20 && scalar == " ") || (column >= columns && isBreakable) {
                result += "\\" + marks + "\n"
                column = 0
            }
            let isLast = index + 1 == scalars.count || scalars[index + 1] == "\n"
            let piece = isEscaped(scalar, isLast: isLast) ? escape(scalar, marks) : String(scalar)
            result += piece
            column += piece.unicodeScalars.count
        }
        return result + "\n\"\"\"" + marks
    }

    /// Returns the length of the longest sequence of number signs after a quotation mark or a backslash.
    private static func longestMarks(_ bytes: [UInt8]) -> Int {
        var longest = 0
        var length: Int?
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): length = 0
            case UInt8(ascii: "#"): length = length.map { $0 + 1 }
            default: length = nil
            }
            longest = max(longest, length ?? 0)
        }
        return longest
    }

    private static func escape(_ scalar: Unicode.Scalar, _ marks: String) -> String {
        "\\\(marks)u{\(String(scalar.value, radix: 16))}"
    }

    /// Returns a Boolean value that indicates whether a character is escaped.
    ///
    /// A line feed is not, and a blank only at the end of a line.
    private static func isEscaped(_ scalar: Unicode.Scalar, isLast: Bool) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: scalar != "\t" || isLast
        case .spaceSeparator: scalar != " " || isLast
        case .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
        default: false
        }
    }
}

/// Swift identifiers for the names of a table.
enum SwiftNames {
    /// Returns identifiers that differ from the reserved ones.
    static func names(reserving reserved: Set<String> = []) -> CodeNames {
        CodeNames(reserving: reserved.union(unusable))
    }

    /// Returns the name in source code: keywords in backticks.
    static func code(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// Returns the name as the label of an argument, where most keywords need no backticks.
    static func label(_ name: String) -> String { ["inout", "let", "var"].contains(name) ? "`\(name)`" : name }

    /// Returns a given name of a type, or a similar one if it is not an identifier or has another meaning.
    static func type(_ name: String) -> String {
        let isIdentifier =
            name.first?.isNumber == false
            && name.unicodeScalars.allSatisfy { $0.isASCII && ($0 == "_" || $0.properties.isAlphabetic || $0.isDigit) }
        let type = isIdentifier ? name : CodeNames.camel(name, upper: true)
        let isReserved = keywords.contains(type) || ofTypes.contains(type) || ofLibrary.contains(type)
        return isReserved ? type + "Link" : type
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

    /// Names that have a meaning of their own even in backticks.
    private static let unusable: Set<String> = ["self", "Self", "init", "Type", "Protocol"]

    /// The members that enumerations get from protocols.
    static let ofEnumerations: Set<String> = ["rawValue", "hashValue", "allCases", "AllCases", "RawValue"]

    /// The names of types that generated code refers to, so that no generated type hides them.
    static let ofTypes: Set<String> = [
        "Any", "Array", "Bool", "CaseIterable", "Codable", "CodingKey", "CodingKeys", "Data", "Date", "Decimal",
        "Decodable", "Decoder", "Dictionary", "Double", "Encodable", "Encoder", "ExpressibleByStringLiteral",
        "FieldName", "Foundation", "Hashable", "Int", "LinkCoordinator", "LinkModel", "Optional", "RawRepresentable",
        "Sendable", "String", "Swift", "UUID",
    ]

    /// The names of other types that generated code refers to outside of the models.
    private static let ofLibrary: Set<String> = [
        "DestinationError", "LinkDestination", "LinkError", "LinkScreen", "ModelError", "ModelValue", "Models",
        "Result", "RouteTable", "RouteTableError", "StackEntry", "StackScreen",
    ]

    private static let keywords: Set<String> = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout",
        "internal", "let", "open", "operator", "private", "precedencegroup", "protocol", "public", "rethrows", "static",
        "struct", "subscript", "typealias", "var", "break", "case", "catch", "continue", "default", "defer", "do",
        "else", "fallthrough", "for", "guard", "if", "in", "repeat", "return", "throw", "switch", "where", "while",
        "Any", "as", "await", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try", "Type",
        "Protocol",
    ]
}

extension Unicode.Scalar {
    /// A Boolean value that indicates whether the character is an ASCII digit.
    fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
}

/// The names of the types of a generated file.
struct SwiftTypeNames {
    /// The enumeration of links.
    let link: String
    /// The enumeration that contains the models and the enumerations of their fields.
    let models: String
    /// The enumeration of screens.
    let screen: String
    /// The name for the destinations of this table.
    let destination: String

    /// Creates the names; by default they are derived from the table's id.
    ///
    /// The other names begin with the name of the links, without `Link` at its end.
    init(tableID: String, link: String?) {
        self.link = link.map(SwiftNames.type) ?? CodeNames.camel(tableID, upper: true) + "Link"
        var stem = self.link.hasSuffix("Link") ? String(self.link.dropLast(4)) : self.link
        // The names `LinkScreen` and `LinkDestination` belong to the library.
        if stem.isEmpty || stem == "Link" { stem = "Links" }
        models = stem + "Models"
        screen = stem + "Screen"
        destination = stem + "Destination"
    }

    /// All names.
    var all: Set<String> { [link, models, screen, destination] }
}

extension TableSource.Route {
    /// The pattern whose captures are the parameters of the route's case, or nil if the route has no case.
    var casePattern: TableSource.RoutePattern? {
        guard case .variants = action else { return nil }
        return patterns.first { !$0.omitsOptionalPart }
    }
}
