internal import ByteStorage

/// A builder of small JSON texts for `--json`, on top of the JSON writer.
package struct JSONText: ~Copyable {
    private var arena = OutputArena(chunkBytes: 4096)
    private var needsComma = false

    /// Creates an empty text.
    package init() { arena.begin() }

    /// Begins an object, as a member if `name` is given.
    package mutating func beginObject(_ name: String? = nil) { open(name, "{") }

    /// Ends an object.
    package mutating func endObject() { close("}") }

    /// Begins an array, as a member if `name` is given.
    package mutating func beginArray(_ name: String? = nil) { open(name, "[") }

    /// Ends an array.
    package mutating func endArray() { close("]") }

    /// Writes a string, or `null` for nil.
    package mutating func text(_ name: String? = nil, _ value: String?) {
        start(name)
        if let value { arena.appendString(value) } else { arena.append("null") }
    }

    /// Writes an array of strings.
    package mutating func texts(_ name: String, _ values: [String]) {
        beginArray(name)
        for value in values { text(nil, value) }
        endArray()
    }

    /// Writes an array of objects, whose members a function writes.
    package mutating func objects<Items: Sequence>(
        _ name: String, of items: Items, _ write: (inout JSONText, Items.Element) -> Void
    ) {
        beginArray(name)
        for item in items {
            beginObject()
            write(&self, item)
            endObject()
        }
        endArray()
    }

    /// Writes an integer, or `null` for nil.
    package mutating func number(_ name: String? = nil, _ value: Int64?) {
        start(name)
        if let value { arena.append(decimal: value) } else { arena.append("null") }
    }

    /// Writes `true` or `false`.
    package mutating func boolean(_ name: String? = nil, _ value: Bool) {
        start(name)
        arena.append(value ? "true" : "false")
    }

    /// Writes a number with three decimal places.
    package mutating func decimal(_ name: String? = nil, _ value: Double) {
        start(name)
        arena.append(Array(Decimals.text(value).utf8))
    }

    /// Writes bytes that are valid JSON.
    package mutating func raw(_ name: String? = nil, _ value: [UInt8]) {
        start(name)
        arena.append(value)
    }

    /// Writes a parsed value, without white space.
    package mutating func value(_ name: String? = nil, _ value: JSONValue) {
        start(name)
        value.write(into: &arena)
    }

    /// Returns the text written so far, in which characters that can control a terminal are escaped.
    package mutating func finish() -> String { TerminalControl.escaped(json: arena.finish().string) }

    private mutating func open(_ name: String?, _ bracket: StaticString) {
        start(name)
        arena.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: StaticString) {
        arena.append(bracket)
        needsComma = true
    }

    private mutating func start(_ name: String?) {
        if needsComma { arena.append(",") }
        needsComma = true
        guard let name else { return }
        arena.appendString(name)
        arena.append(":")
    }
}

/// Numbers with three decimal places, independent of the locale.
package enum Decimals {
    /// Returns a text such as `1.234`.
    ///
    /// A negative number becomes 0.
    package static func text(_ value: Double) -> String {
        let thousandths = Int64((min(max(0, value), 1e12) * 1000).rounded())
        let fraction = String(thousandths % 1000)
        return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
    }
}

/// The characters that can control a terminal although JSON allows them unescaped.
package enum TerminalControl {
    /// Returns a Boolean value that indicates whether a scalar is DEL or in C1, changes the writing direction, or
    /// breaks a line.
    ///
    /// All such scalars are below U+10000.
    package static func contains(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x7F..<0xA0, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }

    /// Returns JSON text with the same value, in which these characters are escaped.
    ///
    /// JSON itself requires escapes only for C0 (RFC 8259, section 7). The other characters occur only inside strings.
    package static func escaped(json text: String) -> String {
        guard text.unicodeScalars.contains(where: contains) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if contains(scalar) {
                result += "\\u" + scalar.value.hexadecimal(digits: 4)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Returns a text as one line, in which control characters and these characters are visible escapes.
    ///
    /// An escape contains no such character, so that a text can be escaped twice.
    package static func visible(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars { append(visible: scalar, to: &result) }
        return result
    }

    /// Appends a scalar, or its visible escape.
    package static func append(visible scalar: Unicode.Scalar, to result: inout String) {
        switch scalar.value {
        case 0x0A: result += "\\n"
        case 0x0D: result += "\\r"
        case 0x09: result += "\\t"
        case 0..<0x20, 0x7F: result += "\\x" + scalar.value.hexadecimal(digits: 2)
        case _ where contains(scalar): result += "\\u{" + scalar.value.hexadecimal(digits: 1) + "}"
        default: result.unicodeScalars.append(scalar)
        }
    }
}
