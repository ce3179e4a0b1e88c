package import ByteStorage

/// A place in a JSON text, as people and tools name it.
package struct JSONPlace: Sendable, Equatable {
    /// Line, from 1.
    package let line: Int
    /// Column in characters (Unicode scalars), from 1.
    package let column: Int
    /// The innermost value around the place, as a JSON pointer (RFC 6901); empty for the whole text.
    package let pointer: String

    /// Makes a place.
    package init(line: Int, column: Int, pointer: String) {
        self.line = line
        self.column = column
        self.pointer = pointer
    }

    /// Finds the place of a byte offset by reading the text once more, as far as it can be read.
    package static func locate(offset: Int, in text: ByteView, maxDepth: Int = 512) -> JSONPlace {
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
        return JSONPlace(line: line, column: column, pointer: finder.find(in: text))
    }

    /// Finds the place of a byte offset in a text held as an array.
    package static func locate(offset: Int, in text: [UInt8]) -> JSONPlace {
        text.withUnsafeBufferPointer { locate(offset: offset, in: ByteView($0)) }
    }

    /// One step of a JSON pointer, escaped by RFC 6901, section 3.
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
        /// The steps to where the cursor is; they become text only when the place was found.
        var path: [Step] = []

        /// A member's name, which the cursor lends until the next text, or where `name` is nil an index.
        struct Step {
            var name: ByteView?
            var index = 0

            var text: String { name.map { JSONPlace.step($0.string) } ?? "/\(index)" }
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
                // The text breaks here: the path so far is the answer.
            }
            return path.map(\.text).joined()
        }

        /// Reads the value at the cursor; true when the target lies in it, with its path in `path`.
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
