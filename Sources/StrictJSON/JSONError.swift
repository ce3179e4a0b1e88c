package import ByteStorage

/// An error in a text that is not strict JSON.
///
/// The location is a byte offset, so reading has no cost for counting lines. `JSONLocation.locate` converts it to a
/// line, a column, and a pointer.
public struct JSONError: Error, Sendable, Equatable {
    /// The kind of an error.
    public enum Code: UInt8, Sendable, CaseIterable {
        /// The text ends inside a value.
        case unexpectedEnd
        /// A value was expected here.
        case expectedValue
        /// A member's name in quotes was expected here.
        case expectedName
        /// A colon was expected after the name.
        case expectedColon
        /// A comma or the closing bracket was expected here.
        case expectedCommaOrEnd
        /// More text follows the value.
        case trailingBytes
        /// A number does not match the grammar of RFC 8259, section 6.
        case badNumber
        /// `true`, `false`, or `null` is misspelled.
        case badLiteral
        /// A control character in a string is not escaped (RFC 8259, section 7).
        case controlCharacter
        /// An escape is not defined in RFC 8259, section 7.
        case badEscape
        /// A surrogate is not part of a pair.
        case loneSurrogate
        /// The bytes are not valid UTF-8 (RFC 3629).
        case badUTF8
        /// A name occurs twice in one object.
        case duplicateName
        /// Objects and arrays are nested deeper than the limit.
        case tooDeep
        /// The value has a different type than the caller expects.
        case wrongType
    }

    /// The kind of the error.
    public var code: Code

    /// The offset in bytes from the start of the text.
    public var offset: Int

    /// Creates an error.
    public init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }

    /// A description of the error that contains no byte of the text.
    public var text: String {
        switch code {
        case .unexpectedEnd: "the text ends inside a value"
        case .expectedValue: "expected a value: a string, number, object, array, true, false, or null"
        case .expectedName: "expected a member name in double quotes"
        case .expectedColon: "expected `:` after the member name"
        case .expectedCommaOrEnd: "expected `,` or the closing bracket"
        case .trailingBytes: "more text follows the value; expected only one value"
        case .badNumber: "the number is not valid JSON; expected a form such as 0, -1.5, or 2e3"
        case .badLiteral: "expected true, false, or null"
        case .controlCharacter: "a control character is not escaped; write an escape such as \\n or \\u0007"
        case .badEscape: "the escape is not valid JSON; expected one such as \\n, \\\\, or \\u00e9"
        case .loneSurrogate: "a surrogate is not part of a pair; write both escapes, or the character itself"
        case .badUTF8: "the bytes are not valid UTF-8"
        case .duplicateName: "the object has two members with this name"
        case .tooDeep: "objects and arrays are nested deeper than the limit"
        case .wrongType: "the value has the wrong type"
        }
    }
}

/// A location in a JSON text, for messages and tools.
package struct JSONLocation: Sendable, Equatable {
    /// The line, starting at 1.
    package let line: Int
    /// The column in Unicode scalars, starting at 1.
    package let column: Int
    /// The JSON pointer (RFC 6901) of the innermost value at the location, or empty for the whole text.
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
        var isAtStart = true
        for index in 0..<target {
            if text[index] > UInt8(ascii: " ") { isAtStart = false }
            if text[index] == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if text[index] & 0xC0 != 0x80 {
                column += 1
            }
        }
        // The memory of a cursor costs more than a short text.
        if isAtStart { return JSONLocation(line: line, column: column, pointer: "") }
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
        /// The steps to the cursor, which become text only when the location is found.
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

        /// Returns the pointer of the target.
        ///
        /// Readers report the first error, so the names before it need no check.
        mutating func find(in text: ByteView) -> String {
            cursor.open(validated: text)
            do {
                _ = try walk()
            } catch {
                // The text is invalid here, so the path so far is the result.
            }
            return path.map(\.text).joined()
        }

        /// Reads the value at the cursor, and returns true, with the path in `path`, if the target lies in it.
        private mutating func walk() throws(JSONError) -> Bool {
            switch cursor.peek() {
            case UInt8(ascii: "{"):
                if target <= cursor.offset { return true }
                var scope = try cursor.enterObject()
                while try cursor.nextMember(&scope) {
                    if target < scope.nameOffset - 1 { return true }
                    path.append(Step(name: scope.name))
                    if target <= cursor.offset { return true }
                    if try walk() { return true }
                    path.removeLast()
                }
                return target < cursor.offset
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
