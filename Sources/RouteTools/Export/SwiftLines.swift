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
