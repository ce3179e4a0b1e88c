/// Recognizes captures in the syntax of other routers.
enum LikelyCapture {
    /// Returns an error for the text after an opening brace if it has the syntax of another router.
    static func find(_ reader: TextReader) -> TextError? {
        var rest = reader
        let inside = rest.text(until: "}", "/")
        guard rest.next == UInt8(ascii: "}") else { return nil }
        let name = inside.drop { "*.: ".contains($0) }.prefix { $0.isLetter || $0.isNumber || "_-".contains($0) }
        let own = NameRule.identifier.matches(String(name)) ? CaptureNames.allowed(String(name)) : "name"
        let isLast = rest.at + 1 == reader.bytes.count
        func error(_ message: String, _ form: String) -> TextError {
            TextError(message, at: reader.at, suggestion: "write `\(form)`")
        }
        if inside.isEmpty { return error("a capture needs a name", "{name}") }
        if inside.hasPrefix("*") || inside.hasPrefix("...") || inside.hasSuffix("...") {
            if isLast { return error("the `*` of a tail must follow its name", "{\(own)*}") }
            return TextError(
                "a tail must be last, and its `*` must follow its name", at: reader.at,
                suggestion: "write `{\(own)}` for one segment")
        }
        if inside.prefix(while: { $0 != ":" }).contains(" ") {
            return error("a capture must not contain spaces", allowed(inside.filter { $0 != " " }))
        }
        if inside.hasPrefix(":") { return error("a capture must not have `:` before its name", "{\(own)}") }
        if inside.hasPrefix("{") {
            return error("a capture must have a single pair of braces", allowed(inside.dropFirst()))
        }
        if inside.contains("="), !inside.contains("(") {
            return TextError(
                "a capture cannot have a default", at: reader.at,
                suggestion: "write `{\(own)?}` at the end, and declare the default in the type of the field")
        }
        return nil
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
}
