internal import ByteStorage
internal import StrictJSON

/// Escapes for untrusted text on a terminal.
///
/// Control characters, invalid UTF-8, and marks that change the writing direction become visible escapes.
package enum Escaping {
    /// Returns the bytes as one line of text without terminal control.
    package static func visible(_ bytes: some Collection<UInt8>) -> String {
        var result = ""
        var iterator = bytes.makeIterator()
        var parser = Unicode.UTF8.ForwardParser()
        var position = bytes.startIndex
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .emptyInput: return result
            case .valid(let encoded):
                let scalar = Unicode.UTF8.decode(encoded)
                position = bytes.index(position, offsetBy: encoded.count)
                TerminalControl.append(visible: scalar, to: &result)
            case .error(let length):
                for _ in 0..<length {
                    result += "\\x" + bytes[position].hexadecimal(digits: 2)
                    position = bytes.index(after: position)
                }
            }
        }
    }

    /// Returns the text as one line without terminal control.
    package static func visible(_ text: String) -> String { TerminalControl.visible(text) }
}

/// Escapes for texts of a table in other formats, so that no text is interpreted as markup.
enum Markup {
    /// Returns the text as XML 1.0, for content and for attributes in double quotes.
    ///
    /// Characters that XML cannot contain, and characters that can control a terminal, become visible escapes.
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

    /// Returns the text for a quoted label in Mermaid.
    ///
    /// Characters with a meaning in Mermaid become numeric entities.
    static func mermaid(_ text: String) -> String {
        var result = ""
        for scalar in Escaping.visible(text).unicodeScalars {
            let isPlain = scalar.properties.isAlphabetic || " 0123456789./:=,_~+-".unicodeScalars.contains(scalar)
            if isPlain { result.unicodeScalars.append(scalar) } else { result += "#\(scalar.value);" }
        }
        return result
    }

    /// Returns the text for a quoted string in Graphviz.
    static func dot(_ text: String) -> String {
        Escaping.visible(text).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }

    /// Returns the text for a line or a table cell in Markdown.
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

    /// Returns the text as a code span in Markdown (CommonMark 6.1), with as many backticks as it needs.
    ///
    /// In a table cell a bar ends the cell even in code, so it is escaped there (GitHub Flavored Markdown, 4.10).
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
