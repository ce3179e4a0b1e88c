import ByteStorage
import StrictJSON

/// Runs `body` with bytes in memory of exactly their length, so that a sanitizer detects reads beyond it.
func withExact<Result>(_ bytes: [UInt8], _ body: (ByteView) throws -> Result) rethrows -> Result {
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: max(bytes.count, 1))
    defer { memory.deallocate() }
    for (index, byte) in bytes.enumerated() { memory[index] = byte }
    if bytes.isEmpty { memory.pointee = UInt8(ascii: "1") }
    return try body(ByteView(start: UnsafePointer(memory), count: bytes.count))
}

/// The result of a reader.
enum Verdict: Equatable {
    case accepted
    case refused(JSONError)
}

/// Skips a text with the cursor alone.
func passed(_ bytes: [UInt8], depth: Int = Corpus.depth) -> Verdict {
    withExact(bytes) { view in
        var cursor = JSONCursor(maxDepth: depth)
        cursor.open(view)
        do throws(JSONError) {
            try cursor.skip()
            try cursor.finish()
            return .accepted
        } catch {
            return .refused(error)
        }
    }
}

/// Parses a text into a tree.
func tree(_ bytes: [UInt8], depth: Int = Corpus.depth) -> Result<JSONValue, JSONError> {
    withExact(bytes) { view in
        do throws(JSONError) {
            return .success(try JSONValue.parse(view, maxDepth: depth))
        } catch {
            return .failure(error)
        }
    }
}

extension JSONValue {
    /// The value in a form that is comparable with other readers.
    ///
    /// `n`, `t`, `f`, `#` with the text of a number, `"` with the bytes of a string in hexadecimal, and arrays and
    /// objects with their members in order.
    var rendered: String {
        switch kind {
        case .null: "n"
        case .bool(let value): value ? "t" : "f"
        case .number(let text): "#" + text
        case .string(let text): "\"" + Self.hex(text)
        case .array(let elements): "[" + elements.map(\.rendered).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.hex($0.name) + ":" + $0.value.rendered }.joined(separator: ",") + "}"
        }
    }

    private static func hex(_ text: String) -> String {
        text.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
