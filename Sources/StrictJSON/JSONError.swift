/// Why a text is not the strict JSON that this reader takes, and where.
///
/// The place is a byte offset, so that nothing is counted while reading goes well; `JSONPlace.locate` turns it into
/// line, column and pointer.
public struct JSONError: Error, Sendable, Equatable {
    /// What was found wrong.
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
        /// Something follows the one value of the text.
        case trailingBytes
        /// A number breaks the grammar of RFC 8259, section 6.
        case badNumber
        /// `true`, `false` or `null` is misspelt.
        case badLiteral
        /// A control character stands unescaped in a string (RFC 8259, section 7).
        case controlCharacter
        /// An escape is none of RFC 8259, section 7.
        case badEscape
        /// Half a surrogate pair stands alone.
        case loneSurrogate
        /// The bytes are not UTF-8 (RFC 3629).
        case badUTF8
        /// A name stands twice in one object.
        case duplicateName
        /// Objects and arrays are nested deeper than the limit.
        case tooDeep
        /// The value is of another type than its user asked for.
        case wrongType
    }

    /// What was found wrong.
    public var code: Code

    /// Where, as an offset in bytes from the start of the text.
    public var offset: Int

    /// Makes an error.
    public init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }

    /// What was expected, in words that hold no byte of the text.
    public var text: String {
        switch code {
        case .unexpectedEnd: "the text ends inside a value"
        case .expectedValue: "expected a value"
        case .expectedName: "expected a name in quotes"
        case .expectedColon: "expected a colon after the name"
        case .expectedCommaOrEnd: "expected a comma or the closing bracket"
        case .trailingBytes: "expected one value and nothing after it"
        case .badNumber: "expected a number as RFC 8259 writes it"
        case .badLiteral: "expected true, false or null"
        case .controlCharacter: "expected control characters to be escaped"
        case .badEscape: "expected an escape of RFC 8259"
        case .loneSurrogate: "expected both halves of a surrogate pair"
        case .badUTF8: "expected UTF-8"
        case .duplicateName: "expected each name once in an object"
        case .tooDeep: "expected fewer nested objects and arrays"
        case .wrongType: "expected a value of another type"
        }
    }
}
