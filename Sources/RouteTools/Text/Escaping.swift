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
                append(scalar, to: &result)
            case .error(let length):
                for _ in 0..<length {
                    result += "\\x" + hex(UInt32(bytes[position]), digits: 2)
                    position = bytes.index(after: position)
                }
            }
        }
    }

    /// Returns the text as one line without terminal control.
    package static func visible(_ text: String) -> String { visible(text.utf8) }

    /// Returns JSON text with the same value, in which characters that can control a terminal are escaped.
    package static func json(_ text: String) -> String { TerminalControl.escaped(json: text) }

    private static func append(_ scalar: Unicode.Scalar, to result: inout String) {
        switch scalar.value {
        case 0x0A: result += "\\n"
        case 0x0D: result += "\\r"
        case 0x09: result += "\\t"
        case 0..<0x20, 0x7F: result += "\\x" + hex(scalar.value, digits: 2)
        case _ where TerminalControl.contains(scalar): result += "\\u{" + hex(scalar.value, digits: 1) + "}"
        default: result.unicodeScalars.append(scalar)
        }
    }

    private static func hex(_ value: UInt32, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
