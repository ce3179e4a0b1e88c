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
        if let value { string(value) } else { arena.append("null") }
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
        string(name)
        arena.append(":")
    }

    private mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { arena.appendString(ByteView($0)) }
    }
}
