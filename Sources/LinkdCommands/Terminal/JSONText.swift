internal import StrictJSON

/// Writes small JSON texts for `--json`, through the one writer.
struct JSONText: ~Copyable {
    private var arena = OutputArena(chunkBytes: 4096)
    private var needsComma = false

    /// Starts an empty text.
    init() { arena.begin() }

    /// Begins an object, as a member when `name` is given.
    mutating func beginObject(_ name: String? = nil) { open(name, "{") }

    /// Ends an object.
    mutating func endObject() { close("}") }

    /// Begins an array, as a member when `name` is given.
    mutating func beginArray(_ name: String? = nil) { open(name, "[") }

    /// Ends an array.
    mutating func endArray() { close("]") }

    /// A text; nil is `null`.
    mutating func text(_ name: String? = nil, _ value: String?) {
        start(name)
        if let value { string(value) } else { arena.append("null") }
    }

    /// A whole number; nil is `null`.
    mutating func number(_ name: String? = nil, _ value: Int64?) {
        start(name)
        if let value { arena.append(decimal: value) } else { arena.append("null") }
    }

    /// `true` or `false`.
    mutating func boolean(_ name: String? = nil, _ value: Bool) {
        start(name)
        arena.append(value ? "true" : "false")
    }

    /// A number with three digits behind the point.
    mutating func decimal(_ name: String? = nil, _ value: Double) {
        start(name)
        let thousandths = Int64((max(0, value) * 1000).rounded())
        arena.append(decimal: thousandths / 1000)
        arena.append(byte: UInt8(ascii: "."))
        let rest = String(thousandths % 1000)
        arena.append(Array((String(repeating: "0", count: 3 - rest.count) + rest).utf8))
    }

    /// JSON that somebody else wrote.
    mutating func raw(_ name: String? = nil, _ value: [UInt8]) {
        start(name)
        arena.append(value)
    }

    /// The text so far.
    mutating func finish() -> String { arena.finish().string }

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
