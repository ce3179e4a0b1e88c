public import ByteStorage

extension JSONCursor {
    /// Reads the number at the cursor and returns its text (RFC 8259, section 6), without a check of its range.
    public mutating func number() throws(JSONError) -> ByteView {
        let first = peek()
        guard first == UInt8(ascii: "-") || Self.isDigit(first) else {
            throw failure(position < end ? .wrongType : .expectedValue)
        }
        let start = position
        if first == UInt8(ascii: "-") { position += 1 }
        if position < end, position.pointee == UInt8(ascii: "0") {
            position += 1
        } else {
            try digits()
        }
        if position < end, position.pointee == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if position < end, position.pointee | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < end, position.pointee == UInt8(ascii: "+") || position.pointee == UInt8(ascii: "-") {
                position += 1
            }
            try digits()
        }
        return part(start, count: position - start)
    }

    private mutating func digits() throws(JSONError) {
        guard position < end, Self.isDigit(position.pointee) else { throw failure(.badNumber) }
        while position < end, Self.isDigit(position.pointee) { position += 1 }
    }

    @inlinable
    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") <= 9 }

    /// Reads `true` or `false` at the cursor.
    public mutating func bool() throws(JSONError) -> Bool {
        switch peek() {
        case UInt8(ascii: "t"):
            try literal("true")
            return true
        case UInt8(ascii: "f"):
            try literal("false")
            return false
        default:
            throw failure(position < end ? .wrongType : .expectedValue)
        }
    }

    /// Reads a `null` at the cursor; returns false if there is another value.
    public mutating func null() throws(JSONError) -> Bool {
        if peek() != UInt8(ascii: "n") { return false }
        try literal("null")
        return true
    }

    private mutating func literal(_ word: StaticString) throws(JSONError) {
        let expected = ByteView(word)
        for index in 0..<expected.count {
            if position + index >= end { throw JSONError(.unexpectedEnd, at: end - base) }
            if position[index] != expected[index] { throw JSONError(.badLiteral, at: offset) }
        }
        position += expected.count
    }

    /// Moves past the value at the cursor, validates it, and returns its bytes.
    @discardableResult
    public mutating func skip() throws(JSONError) -> ByteView {
        let first = peek()
        let start = position
        switch first {
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "{"), UInt8(ascii: "["): try skipContainer()
        default: try skipScalar(first)
        }
        return part(start, count: position - start)
    }

    private mutating func skipScalar(_ first: UInt8) throws(JSONError) {
        switch first {
        case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try bool()
        case UInt8(ascii: "n"): _ = try null()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): _ = try number()
        default: throw failure(.expectedValue)
        }
    }

    /// Moves past an object or array without recursion; the open scopes are in `frames`.
    private mutating func skipContainer() throws(JSONError) {
        let outer = depth
        try push()
        while depth > outer {
            if frames[depth].isArray {
                var array = ArrayScope()
                array.first = !frames[depth].started
                frames[depth].started = true
                guard try nextElement(&array) else { continue }
            } else {
                var scope = frames[depth]
                guard try nextMember(&scope) else { continue }
                frames[depth] = scope
            }
            let first = peek()
            switch first {
            case UInt8(ascii: "\""): _ = try string()
            case UInt8(ascii: "{"), UInt8(ascii: "["): try push()
            default: try skipScalar(first)
            }
        }
    }

    private mutating func push() throws(JSONError) {
        if peek() == UInt8(ascii: "{") {
            let scope = try enterObject()
            frames[depth] = scope
        } else {
            _ = try enterArray()
            frames[depth] = ObjectScope(firstName: names.count)
            frames[depth].isArray = true
        }
    }
}
