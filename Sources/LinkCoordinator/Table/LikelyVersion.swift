/// Recognizes versions and comparisons in the syntax of other tools.
enum LikelyVersion {
    /// Returns the version that a text most likely means, or nil.
    static func version(_ text: String) -> String? {
        var own = text.drop { $0 == "v" || $0 == "V" || $0 == " " }
        while own.last == " " { own = own.dropLast() }
        if own.hasSuffix(".x") || own.hasSuffix(".*") { own = own.dropLast(2) }
        return VersionText(String(own)).map(\.text)
    }

    /// Returns the comparisons that a text most likely means, or nil.
    static func comparisons(_ text: String) -> String? {
        var signs = text.replacing("\u{2265}", with: ">=").replacing("\u{2264}", with: "<=")
        for (wrong, right) in [("=>", ">="), ("=<", "<="), ("==", "="), ("&&", " "), (",", " "), (" and ", " ")] {
            signs = signs.replacing(wrong, with: right)
        }
        let bounds = signs.split(separator: " - ")
        if bounds.count == 2, let low = version(String(bounds[0])), let high = version(String(bounds[1])) {
            return ">=\(low) <=\(high)"
        }
        var parts: [String] = []
        for part in signs.split(separator: " ") {
            let sign = part.prefix { "<>=".contains($0) }
            if sign.count == part.count {
                parts.append(String(part))
            } else if let last = parts.last, last.allSatisfy({ "<>=".contains($0) }) {
                parts[parts.count - 1] = last + part
            } else {
                parts.append(String(part))
            }
        }
        let converted = parts.map { part -> String? in
            let sign = part.prefix { "<>=".contains($0) }
            let isOpen = sign.isEmpty && part.hasSuffix("+")
            guard let version = version(String(isOpen ? part.dropLast() : part.dropFirst(sign.count))) else {
                return nil
            }
            return (sign.isEmpty ? ">=" : sign) + version
        }
        let known = converted.compactMap { $0 }
        return known.count == parts.count && !known.isEmpty ? known.joined(separator: " ") : nil
    }
}
