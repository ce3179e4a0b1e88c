package import ByteStorage

/// A JSON value as a tree with the offset of every value, for tables, settings, and other cold paths.
package struct JSONValue: Sendable {
    /// The kind of a value.
    package enum Kind: Sendable {
        case null
        case bool(Bool)
        /// A number, in its original text.
        case number(String)
        case string(String)
        case array([JSONValue])
        /// The members in the order of the text.
        case object([JSONMember])
    }

    /// The kind of the value.
    package let kind: Kind

    /// The offset of the value in bytes from the start of the text.
    package let offset: Int

    /// Creates a value.
    package init(_ kind: Kind, offset: Int = 0) {
        self.kind = kind
        self.offset = offset
    }

    /// Parses a text that consists of one value.
    package static func parse(_ text: [UInt8], maxDepth: Int = 64) throws(JSONError) -> JSONValue {
        try text.withUnsafeBufferPointer { bytes throws(JSONError) in
            try parse(ByteView(bytes), maxDepth: maxDepth)
        }
    }

    /// Parses a text that consists of one value.
    package static func parse(_ text: ByteView, maxDepth: Int = 64) throws(JSONError) -> JSONValue {
        var cursor = JSONCursor(maxDepth: maxDepth)
        cursor.open(text)
        let value = try read(&cursor)
        try cursor.finish()
        return value
    }

    private static func read(_ cursor: inout JSONCursor) throws(JSONError) -> JSONValue {
        let first = cursor.peek()
        let offset = cursor.offset
        switch first {
        case UInt8(ascii: "\""):
            let string = try cursor.string()
            return JSONValue(.string(cursor.unescaped(string).string), offset: offset)
        case UInt8(ascii: "{"):
            var members: [JSONMember] = []
            var scope = try cursor.enterObject()
            while try cursor.nextMember(&scope) {
                let name = scope.name.string
                let nameOffset = scope.nameOffset
                members.append(JSONMember(name: name, nameOffset: nameOffset, value: try read(&cursor)))
            }
            return JSONValue(.object(members), offset: offset)
        case UInt8(ascii: "["):
            var elements: [JSONValue] = []
            var scope = try cursor.enterArray()
            while try cursor.nextElement(&scope) { elements.append(try read(&cursor)) }
            return JSONValue(.array(elements), offset: offset)
        case UInt8(ascii: "t"), UInt8(ascii: "f"):
            return JSONValue(.bool(try cursor.bool()), offset: offset)
        case UInt8(ascii: "n"):
            _ = try cursor.null()
            return JSONValue(.null, offset: offset)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return JSONValue(.number(try cursor.number().string), offset: offset)
        default:
            throw cursor.failure(.expectedValue)
        }
    }

    /// The value of the member with this name, or nil if this is not an object or does not have it.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = kind else { return nil }
        return members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// The string, or nil if this is another value.
    package var string: String? {
        if case .string(let text) = kind { return text }
        return nil
    }

    /// The elements, or nil if this is not an array.
    package var array: [JSONValue]? {
        if case .array(let elements) = kind { return elements }
        return nil
    }

    /// The members, or nil if this is not an object.
    package var object: [JSONMember]? {
        if case .object(let members) = kind { return members }
        return nil
    }

    /// A Boolean value that indicates whether this is a null.
    package var isNull: Bool {
        if case .null = kind { return true }
        return false
    }

    /// The number as a signed 64-bit integer, or nil if this is not a number that fits, or has a fraction or an
    /// exponent.
    package var integer: Int64? {
        if case .number(let text) = kind { return Int64(text) }
        return nil
    }
}

/// A member of an object.
package struct JSONMember: Sendable {
    /// The name without escapes.
    package let name: String
    /// The offset of the name, after its quote, in bytes from the start of the text.
    package let nameOffset: Int
    /// The value.
    package let value: JSONValue

    /// Creates a member.
    package init(name: String, nameOffset: Int = 0, value: JSONValue) {
        self.name = name
        self.nameOffset = nameOffset
        self.value = value
    }
}
