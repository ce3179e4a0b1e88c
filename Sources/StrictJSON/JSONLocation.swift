package import ByteStorage

/// A location in a JSON text, for messages and tools.
package struct JSONLocation: Sendable, Equatable {
    /// The line, starting at 1.
    package let line: Int
    /// The column in Unicode scalars, starting at 1.
    package let column: Int
    /// The JSON pointer (RFC 6901) of the innermost value at the location; empty for the whole text.
    package let pointer: String

    /// Creates a location.
    package init(line: Int, column: Int, pointer: String) {
        self.line = line
        self.column = column
        self.pointer = pointer
    }

    /// Returns the location of a byte offset by reading the text again, up to its first error.
    package static func locate(offset: Int, in text: ByteView, maxDepth: Int = 512) -> JSONLocation {
        let target = min(max(offset, 0), text.count)
        var line = 1
        var column = 1
        for index in 0..<target {
            if text[index] == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if text[index] & 0xC0 != 0x80 {
                column += 1
            }
        }
        var finder = Finder(target: target, maxDepth: maxDepth)
        return JSONLocation(line: line, column: column, pointer: finder.find(in: text))
    }

    /// Returns the location of a byte offset in an array.
    package static func locate(offset: Int, in text: [UInt8]) -> JSONLocation {
        text.withUnsafeBufferPointer { locate(offset: offset, in: ByteView($0)) }
    }

    /// Returns one step of a JSON pointer, escaped according to RFC 6901, section 3.
    package static func step(_ name: String) -> String {
        var out = "/"
        for scalar in name.unicodeScalars {
            switch scalar {
            case "~": out += "~0"
            case "/": out += "~1"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }

    private struct Finder: ~Copyable {
        let target: Int
        var cursor: JSONCursor
        /// The steps to the cursor; they become text only when the location is found.
        var path: [Step] = []

        /// A member's name, which is valid until the next text is opened, or an index if `name` is nil.
        struct Step {
            var name: ByteView?
            var index = 0

            var text: String { name.map { JSONLocation.step($0.string) } ?? "/\(index)" }
        }

        init(target: Int, maxDepth: Int) {
            self.target = target
            cursor = JSONCursor(maxDepth: maxDepth)
        }

        mutating func find(in text: ByteView) -> String {
            cursor.open(text)
            do {
                _ = try walk()
            } catch {
                // The text is invalid here, so the path so far is the result.
            }
            return path.map(\.text).joined()
        }

        /// Reads the value at the cursor; returns true, with the path in `path`, if the target lies in it.
        private mutating func walk() throws(JSONError) -> Bool {
            switch cursor.peek() {
            case UInt8(ascii: "{"):
                if target <= cursor.offset { return true }
                var scope = try cursor.enterObject()
                while true {
                    let more: Bool
                    do {
                        more = try cursor.nextMember(&scope)
                    } catch {
                        if error.code == .duplicateName, error.offset == scope.nameOffset {
                            path.append(Step(name: scope.name))
                        }
                        throw error
                    }
                    if !more { return target < cursor.offset }
                    if target < scope.nameOffset - 1 { return true }
                    path.append(Step(name: scope.name))
                    if target <= cursor.offset { return true }
                    if try walk() { return true }
                    path.removeLast()
                }
            case UInt8(ascii: "["):
                if target <= cursor.offset { return true }
                var scope = try cursor.enterArray()
                var index = 0
                while try cursor.nextElement(&scope) {
                    if target < cursor.offset { return true }
                    path.append(Step(name: nil, index: index))
                    if try walk() { return true }
                    path.removeLast()
                    index += 1
                }
                return target < cursor.offset
            default:
                try cursor.skip()
                return target < cursor.offset
            }
        }
    }
}
