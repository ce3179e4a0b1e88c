internal import LinkCoordinator

/// Recognizes captures in the syntax of other routers, and the types of captures and fields in other formats.
enum LikelyType {
    /// Returns a suggestion for a mistake in the braces of a capture.
    static func form(_ inside: String, _ mistake: CaptureMistake) -> String {
        let name = inside.drop { "*.: ".contains($0) }.prefix { $0.isLetter || $0.isNumber || "_-".contains($0) }
        let own = NameRule.identifier.matches(String(name)) ? CaptureNames.allowed(String(name)) : "name"
        return switch mistake {
        case .noName: "write `{name}`"
        case .tail: "write `{\(own)*}`"
        case .earlyTail: "write `{\(own)}` for one segment"
        case .space: "write `\(allowed(inside.filter { $0 != " " }))`"
        case .colon: "write `{\(own)}`"
        case .brace: "write `\(allowed(inside.dropFirst()))`"
        case .standard: "write `{\(own)?}` at the end, and declare the default in the type of the field"
        }
    }

    /// Returns a capture with a valid name and the unchanged text after the name.
    private static func allowed(_ inside: some StringProtocol) -> String {
        let name = inside.prefix { $0.isLetter || $0.isNumber || "_-".contains($0) }
        return "{\(CaptureNames.allowed(String(name)))\(inside.dropFirst(name.count))}"
    }

    /// Returns a suggestion for an unknown type of a capture.
    static func type(_ name: String, _ text: String) -> String? {
        switch name.lowercased() {
        case "integer", "number", "long", "num", "digits": return "write `int`"
        case "boolean": return "write `bool`"
        case "guid": return "write `uuid`"
        case "str", "text", "any", "word": return "remove the type: a capture without a type matches any segment"
        case "slug": return "write `[a-z0-9-]{1,64}`"
        case "alpha": return "write `[A-Za-z]{1,64}`"
        case "path", "rest", "tail", "wildcard": return "write `{name+}` or `{name*}` for the rest of the path"
        case "float", "double", "decimal", "url", "list":
            return "remove the type, and declare it for the field of the model"
        case "regex", "re", "regexp": return expression(text)
        case "": return expression(text)
        default: return nil
        }
    }

    /// Returns a suggestion that replaces a regular expression such as `^[A-Z]+$`.
    private static func expression(_ text: String) -> String {
        let marks = "^$()"
        let plain = text.filter { !marks.contains($0) }
        if plain == "\\d+" || plain == "[0-9]+" { return "write `int`, or `[0-9]{1,19}` to allow leading zeros" }
        if plain == "\\w+" { return "write `[A-Za-z0-9_]{1,64}`" }
        if plain.hasPrefix("["), let end = plain.firstIndex(of: "]") {
            let after = plain[plain.index(after: end)...]
            if after == "+" || after == "*" || after.isEmpty { return "write `\(plain[...end]){1,64}`" }
        }
        if plain.contains("|"), !plain.contains("\\"), !plain.contains("[") { return "write `enum(\(plain))`" }
        return "use a class such as `[a-z0-9]{2,8}`, an enum such as `enum(a|b)`, or a number such as `int(1..99)`"
    }

    /// Returns a suggestion for the lengths after a class: `+`, `{5}`, `{2,}`.
    static func lengths(_ text: String, of characters: String) -> String? {
        if text.hasPrefix("+") || text.hasPrefix("*") || text.isEmpty || text.hasPrefix("}") {
            return "write `\(characters){1,64}`"
        }
        let digits = text.dropFirst().prefix { $0.isNumber }
        if text.hasPrefix("{"), let count = Int(digits), count >= 1, count <= 64 {
            let rest = text.dropFirst(1 + digits.count)
            if rest.hasPrefix("}") { return "write `\(characters){\(count),\(count)}`" }
            if rest.hasPrefix(",}") { return "write `\(characters){\(count),64}`" }
        }
        return nil
    }

    /// Returns a suggestion for the type of a field in another format.
    static func field(_ name: String, next: UInt8?) -> String? {
        switch name.lowercased() {
        case "integer", "long", "short": return "write `int`"
        case "number": return "write `int` for a whole number, or `decimal` for any other"
        case "boolean": return "write `bool`"
        case "guid": return "write `uuid`"
        case "str", "text", "char", "varchar": return "write `string`"
        case "float", "real": return "write `double`"
        case "money", "currency", "price", "amount", "numeric", "bigdecimal": return "write `decimal`"
        case "timestamp", "timestamptz", "instant": return "write `datetime`"
        case "time": return "write `datetime` for a date and time, or `string` for a time without a date"
        case "day": return "write `date`"
        case "array", "set": return "write `list<string>`"
        case "uri", "link": return "write `url(host in a.example)`"
        case "object", "dict", "map", "json": return "a field is a single value; declare a model for each object"
        case "optional", "nullable": return "write `?` after the type"
        case "" where next == UInt8(ascii: "["): return "write `list<string>`"
        case "" where next == UInt8(ascii: "?"): return "write `?` after the type"
        default: return nil
        }
    }
}
