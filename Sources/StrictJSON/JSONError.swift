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
        case .expectedValue: "expected a value"
        case .expectedName: "expected a name in quotes"
        case .expectedColon: "expected a colon after the name"
        case .expectedCommaOrEnd: "expected a comma or the closing bracket"
        case .trailingBytes: "expected one value and nothing after it"
        case .badNumber: "expected a JSON number, such as 1, -0.5, or 2e3"
        case .badLiteral: "expected true, false, or null"
        case .controlCharacter: "expected control characters to be escaped"
        case .badEscape: "expected an escape that RFC 8259, section 7, defines"
        case .loneSurrogate: "expected both halves of a surrogate pair"
        case .badUTF8: "expected UTF-8"
        case .duplicateName: "expected each name once in an object"
        case .tooDeep: "expected fewer nested objects and arrays"
        case .wrongType: "expected a value of another type"
        }
    }
}
