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
