internal import StrictJSON

/// The formatter of log entries.
///
/// Lines have no line terminator.
package enum LogFormatter {
    /// Returns the formatted line.
    ///
    /// `milliseconds` since 1970 is its time.
    package static func text(of line: LogEntry, milliseconds: Int64, format: LogFormat) -> String {
        switch format {
        case .json: json(line, Timestamp.text(milliseconds: milliseconds))
        case .text: plain(line, Timestamp.text(milliseconds: milliseconds))
        }
    }

    private static func json(_ line: LogEntry, _ time: String) -> String {
        var result = "{\"time\":\"\(time)\",\"level\":\"\(line.level.name)\",\"event\":\(quoted(line.event))"
        if let lane = line.lane { result += ",\"lane\":\(lane)" }
        result += ",\"message\":\(quoted(line.message))"
        for field in line.fields { result += ",\(quoted(field.name)):\(json(field.value))" }
        return result + "}"
    }

    private static func json(_ value: LogValue) -> String {
        switch value {
        case .text(let text): quoted(text)
        case .number(let number): String(number)
        case .list(let list): "[" + list.map(quoted).joined(separator: ",") + "]"
        // Only strings of the value can contain characters that are escaped.
        case .json(let text): escaped(text)
        }
    }

    private static func plain(_ line: LogEntry, _ time: String) -> String {
        var parts = ["\(time) \(line.level.name)"]
        if let lane = line.lane { parts.append("lane \(lane)") }
        parts.append(escaped(line.message))
        let fields = line.fields.map { "\($0.name)=\(plain($0.value))" }.joined(separator: " ")
        if !fields.isEmpty { parts.append(fields) }
        return parts.joined(separator: "  ")
    }

    private static func plain(_ value: LogValue) -> String {
        switch value {
        case .number(let number): String(number)
        case .list(let list): plain(.text(list.joined(separator: ",")))
        case .json(let text): quoted(text)
        case .text(let text):
            text.isEmpty || text.contains(where: { " =\"".contains($0) }) ? quoted(text) : escaped(text)
        }
    }

    /// Returns the text as a JSON string (RFC 8259, section 7).
    ///
    /// The text format uses the same form for values with spaces.
    package static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            default: append(scalar, to: &result)
            }
        }
        return result + "\""
    }

    /// Returns the text with control characters and marks of the writing direction escaped, so that external text
    /// cannot control a terminal.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars { append(scalar, to: &result) }
        return result
    }

    private static func append(_ scalar: Unicode.Scalar, to result: inout String) {
        switch scalar.value {
        case 0x0A: result += "\\n"
        case 0x0D: result += "\\r"
        case 0x09: result += "\\t"
        case _ where scalar.value < 0x20 || TerminalControl.contains(scalar):
            let digits = String(scalar.value, radix: 16)
            result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: result.unicodeScalars.append(scalar)
        }
    }
}
