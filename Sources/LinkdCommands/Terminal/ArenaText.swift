internal import ByteStorage
internal import RouteTools

/// Output of texts for people.
extension OutputArena {
    /// Appends a text.
    mutating func append(text: String) {
        var text = text
        text.withUTF8 { append(ByteView($0)) }
    }

    /// Appends untrusted bytes as one line of text without terminal control.
    mutating func append(visible text: ByteView) {
        if Self.isPlain(text) {
            append(text)
        } else {
            append(text: Escaping.visible(text.buffer))
        }
    }

    /// Returns a Boolean value that indicates whether a text has only bytes from 0x20 to 0x7E.
    static func isPlain(_ text: ByteView) -> Bool {
        for byte in text.buffer where byte < 0x20 || byte > 0x7E { return false }
        return true
    }

    /// Returns a Boolean value that indicates whether a text can contain characters that `TerminalControl` escapes.
    ///
    /// Besides DEL, their encodings begin with 0xC2, 0xD8, 0xE2, or 0xEF.
    static func mayControlTerminal(_ text: ByteView) -> Bool {
        var isFound = false
        for byte in text.buffer {
            isFound = isFound || byte == 0x7F || byte == 0xC2 || byte == 0xD8 || byte == 0xE2 || byte == 0xEF
        }
        return isFound
    }

    /// Appends what a function appends in the color of its meaning, or nothing if that is empty.
    mutating func paint(_ role: Style.TextRole?, _ style: Style, _ body: (inout OutputArena) -> Void) {
        guard style.enabled, let role else { return body(&self) }
        let before = recordBytes
        append(text: "\u{1B}[\(role.rawValue)m")
        let start = recordBytes
        body(&self)
        if recordBytes == start {
            truncateRecord(to: before)
        } else {
            append("\u{1B}[0m")
        }
    }
}

extension Escaping {
    /// Returns at most ten of the names in backquotes, and the number of the others.
    static func list(_ names: [String]) -> String {
        let shown = names.prefix(10).map { "`" + Escaping.visible(DisplayWidth.cut($0, to: 60)) + "`" }
        return shown.joined(separator: ", ") + (names.count > 10 ? ", and \(names.count - 10) more" : "")
    }
}
