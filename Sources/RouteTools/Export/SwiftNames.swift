/// Swift identifiers for the names of a table.
struct SwiftNames {
    private var usedNames: Set<String>

    /// Creates identifiers that differ from the reserved ones.
    init(reserving reserved: Set<String> = []) { usedNames = reserved.union(Self.unusable) }

    /// Returns an unused name in camel case, with a number at its end if necessary.
    mutating func next(_ text: String, upper: Bool = false) -> String {
        let camelCased = Self.camel(text, upper: upper)
        var name = camelCased
        var number = 2
        while !usedNames.insert(name).inserted {
            name = "\(camelCased)\(number)"
            number += 1
        }
        return name
    }

    /// Returns the name in source code: keywords in backticks.
    static func code(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// Returns the name as the label of an argument, where most keywords need no backticks.
    static func label(_ name: String) -> String { ["inout", "let", "var"].contains(name) ? "`\(name)`" : name }

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

    /// Returns a given name of a type, or a similar one if it is not an identifier or has another meaning.
    static func type(_ name: String) -> String {
        let isIdentifier =
            name.first?.isNumber == false
            && name.unicodeScalars.allSatisfy { $0.isASCII && ($0 == "_" || $0.properties.isAlphabetic || $0.isDigit) }
        let type = isIdentifier ? name : camel(name, upper: true)
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
        "Decodable", "Dictionary", "Double", "Encodable", "Foundation", "Hashable", "Int", "LinkCoordinator",
        "LinkModel", "Optional", "RawRepresentable", "Sendable", "String", "Swift", "UUID",
    ]

    /// The names of other types that generated code refers to outside of the models.
    private static let ofLibrary: Set<String> = [
        "DestinationError", "LinkDestination", "LinkError", "LinkScreen", "ModelValue", "Models", "Result",
        "RouteTable", "RouteTableError", "StackEntry",
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
    /// The other names begin with that of the links, without `Link` at its end.
    init(tableID: String, link: String?) {
        self.link = link.map(SwiftNames.type) ?? SwiftNames.camel(tableID, upper: true) + "Link"
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
