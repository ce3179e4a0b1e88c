/// Texts of a table inside other formats: nothing in them may be taken for markup.
enum Markup {
    /// Text for XML 1.0, for content and for attributes in double quotes.
    ///
    /// Characters that XML cannot hold, and those that a reader of the file may obey, are shown as escapes.
    static func xml(_ text: String) -> String {
        var result = ""
        for character in Escaping.visible(text).unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    /// Text for a label of Mermaid in double quotes: what it may read as its own is written as a numeric entity.
    static func mermaid(_ text: String) -> String {
        var result = ""
        for scalar in Escaping.visible(text).unicodeScalars {
            let isPlain = scalar.properties.isAlphabetic || " 0123456789./:=,_~+-".unicodeScalars.contains(scalar)
            if isPlain { result.unicodeScalars.append(scalar) } else { result += "#\(scalar.value);" }
        }
        return result
    }

    /// Text for a string of Graphviz in double quotes.
    static func dot(_ text: String) -> String {
        Escaping.visible(text).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }

    /// Text for a line or table cell of Markdown.
    static func markdown(_ text: String) -> String {
        var result = ""
        for scalar in Escaping.visible(text).unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\\", "`", "*", "_", "[", "]", "|", "#", "~", "!", "$": result += "\\" + String(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Text in a code span of Markdown (CommonMark 6.1): as many backticks around it as it needs.
    ///
    /// In a cell of a table a bar ends the cell even in code, so it is escaped there (GitHub's Markdown, 4.10).
    static func code(_ text: String, inCell: Bool = false) -> String {
        var shown = Escaping.visible(text)
        if shown.isEmpty { return "" }
        if inCell { shown = shown.replacing("|", with: "\\|") }
        var longest = 0
        var run = 0
        for scalar in shown.unicodeScalars {
            run = scalar == "`" ? run + 1 : 0
            longest = max(longest, run)
        }
        let fence = String(repeating: "`", count: longest + 1)
        let pad = longest > 0 || (shown.first == " " && shown.last == " ") ? " " : ""
        return fence + pad + shown + pad + fence
    }
}
