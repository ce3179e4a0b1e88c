internal import ByteStorage

/// Identifiers in a programming language for the names of a table.
struct CodeNames {
    private var usedNames: Set<String>

    /// Creates identifiers that differ from the reserved ones.
    init(reserving reserved: Set<String>) { usedNames = reserved }

    /// Returns unused names in camel case for texts by their keys, with a number at the end of equal ones.
    ///
    /// The order of the texts in the table does not count: a text that is already such a name keeps it, and the others
    /// are numbered in the order of their texts and keys.
    mutating func assign(_ texts: [String: String], upper: Bool = false) -> [String: String] {
        let all = texts.map { (key: $0, text: $1, name: Self.camel($1, upper: upper)) }
        let sorted = all.sorted { a, b in
            let (x, y) = (a.name != a.text, b.name != b.text)
            if x != y { return y }
            return a.text != b.text ? a.text < b.text : a.key < b.key
        }
        return Dictionary(uniqueKeysWithValues: sorted.map { ($0.key, next($0.name)) })
    }

    /// Returns unused names for texts that differ.
    mutating func assign(_ texts: [String], upper: Bool = false) -> [String: String] {
        assign(Dictionary(texts.map { ($0, $0) }) { first, _ in first }, upper: upper)
    }

    private mutating func next(_ camelCased: String) -> String {
        var name = camelCased
        var number = 2
        while !usedNames.insert(name).inserted {
            name = "\(camelCased)\(number)"
            number += 1
        }
        return name
    }

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

    /// Returns a text as a string literal of Kotlin, JavaScript, and TypeScript.
    static func literal(_ text: String) -> String {
        var result = "\""
        for unit in text.utf16 {
            switch unit {
            case 0x22, 0x24, 0x5C: result += "\\" + String(UnicodeScalar(UInt8(unit)))
            case 0x20..<0x7F: result.unicodeScalars.append(UnicodeScalar(UInt8(unit)))
            default: result += "\\u" + unit.hexadecimal(digits: 4)
            }
        }
        return result + "\""
    }
}
