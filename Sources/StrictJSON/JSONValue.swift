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
        return try parse(text, with: &cursor)
    }

    /// Parses a text that consists of one value, with the scratch memory of a cursor.
    package static func parse(_ text: ByteView, with cursor: inout JSONCursor) throws(JSONError) -> JSONValue {
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

    /// The number as a signed 64-bit integer, or nil if this is no number, does not fit, or has a fraction or an
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
    package let value: JSONValue

    /// Creates a member.
    package init(name: String, nameOffset: Int = 0, value: JSONValue) {
        self.name = name
        self.nameOffset = nameOffset
        self.value = value
    }
}

extension JSONValue {
    /// Returns the value at a JSON pointer (RFC 6901), or the innermost one on the way to it that is present.
    ///
    /// `isFound` indicates whether it is the value at the pointer.
    package func nearest(to pointer: String) -> (value: JSONValue, isFound: Bool) {
        var value = self
        for part in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let name = String(part).replacing("~1", with: "/").replacing("~0", with: "~")
            let element = value.array.flatMap { list in
                Int(name).flatMap { list.indices.contains($0) ? list[$0] : nil }
            }
            guard let next = value[name] ?? element else { return (value, false) }
            value = next
        }
        return (value, true)
    }

    /// The value as JSON text without white space.
    package var text: String {
        OutputArena.text { write(into: &$0) }
    }

    /// Appends the value as JSON without white space.
    package func write(into arena: inout OutputArena) {
        switch kind {
        case .null: arena.append("null")
        case .bool(let value): value ? arena.append("true") : arena.append("false")
        case .number(let text): arena.append([UInt8](text.utf8))
        case .string(let text): arena.appendString(text)
        case .array(let elements):
            arena.append("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { arena.append(",") }
                element.write(into: &arena)
            }
            arena.append("]")
        case .object(let members):
            arena.append("{")
            for (index, member) in members.enumerated() {
                if index > 0 { arena.append(",") }
                arena.appendString(member.name)
                arena.append(":")
                member.value.write(into: &arena)
            }
            arena.append("}")
        }
    }

    /// Returns a Boolean value that indicates whether both values are equal.
    ///
    /// Numbers are equal if their texts are equal. The order of members does not matter.
    package func isEqual(to other: JSONValue) -> Bool {
        switch (kind, other.kind) {
        case (.null, .null): return true
        case (.bool(let a), .bool(let b)): return a == b
        case (.number(let a), .number(let b)): return a == b
        case (.string(let a), .string(let b)): return a.utf8.elementsEqual(b.utf8)
        case (.array(let a), .array(let b)):
            return a.count == b.count && zip(a, b).allSatisfy { $0.isEqual(to: $1) }
        case (.object(let a), .object(let b)):
            // Sorted members take less than quadratic time, also for an object with many names.
            return a.count == b.count
                && zip(Self.sorted(a), Self.sorted(b)).allSatisfy {
                    $0.name.utf8.elementsEqual($1.name.utf8) && $0.value.isEqual(to: $1.value)
                }
        default: return false
        }
    }

    /// Adds the value to a hash, regardless of the order of members.
    package func hash(into hasher: inout Hasher) {
        switch kind {
        case .null: hasher.combine(0)
        case .bool(let value):
            hasher.combine(1)
            hasher.combine(value)
        case .number(let text):
            hasher.combine(2)
            hasher.combine(text)
        case .string(let text):
            hasher.combine(3)
            hasher.combine(text)
        case .array(let elements):
            hasher.combine(4)
            hasher.combine(elements.count)
            for element in elements { element.hash(into: &hasher) }
        case .object(let members):
            hasher.combine(5)
            var sum = 0
            for member in members {
                var own = Hasher()
                own.combine(member.name)
                member.value.hash(into: &own)
                sum &+= own.finalize()
            }
            hasher.combine(members.count)
            hasher.combine(sum)
        }
    }

    private static func sorted(_ members: [JSONMember]) -> [JSONMember] {
        members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}
