internal import ByteStorage
internal import StrictJSON

/// Writes the parameters of a route in the form that events allow: scalars and lists of scalars.
enum ParamWriter {
    /// Appends an object without white space.
    ///
    /// Nested objects, and values in lists that are not scalars, are left out.
    ///
    /// - Throws: A `JSONError` if the text cannot be read, which cannot happen for text that was read strictly before.
    static func write(_ json: ByteView, into arena: inout OutputArena) throws(JSONError) {
        var cursor = JSONCursor(maxDepth: 512)
        cursor.open(validated: json)
        arena.append(byte: UInt8(ascii: "{"))
        var scope = try cursor.enterObject()
        var isFirst = true
        while try cursor.nextMember(&scope) {
            let byte = cursor.peek()
            if byte == UInt8(ascii: "{") {
                try cursor.skip()
                continue
            }
            if !isFirst { arena.append(byte: UInt8(ascii: ",")) }
            isFirst = false
            arena.appendString(scope.name)
            arena.append(byte: UInt8(ascii: ":"))
            if byte == UInt8(ascii: "[") {
                try writeList(&cursor, into: &arena)
            } else {
                arena.appendCompact(try cursor.skip())
            }
        }
        arena.append(byte: UInt8(ascii: "}"))
    }

    private static func writeList(_ cursor: inout JSONCursor, into arena: inout OutputArena) throws(JSONError) {
        arena.append(byte: UInt8(ascii: "["))
        var scope = try cursor.enterArray()
        var isFirst = true
        while try cursor.nextElement(&scope) {
            let byte = cursor.peek()
            let raw = try cursor.skip()
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "n") { continue }
            if !isFirst { arena.append(byte: UInt8(ascii: ",")) }
            isFirst = false
            arena.appendCompact(raw)
        }
        arena.append(byte: UInt8(ascii: "]"))
    }
}
