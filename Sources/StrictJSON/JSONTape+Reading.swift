internal import ByteStorage

/// The reading of a text into the list, in one loop without recursion.
extension JSONTape {
    /// The state of an open object or array.
    struct Scope: BitwiseCopyable {
        /// The node of the object or array, or what contains the outermost value.
        var node: Int32
        var isObject: Bool
        /// A filter of the names so far: a name whose bit is not set has not occurred.
        var filter: UInt64 = 0
        /// The number of names so far.
        var names: Int32 = 0
        /// The index of the first name in the cursor's list, or -1 if the names are not in it.
        var firstName: Int32 = -1
    }

    /// The state of the loop, apart from the cursor and the list so that it stays in registers.
    ///
    /// `store` writes it back before a function that needs it there.
    private struct Reading {
        var position: UnsafePointer<UInt8>
        let end: UnsafePointer<UInt8>
        var nodes: UnsafeMutablePointer<Node>
        var count: Int
        /// The innermost open object or array, which is not among `scopes`.
        var scope: Scope
        /// The number of open objects and arrays.
        var level = 0
        /// A Boolean value that indicates whether the object or array has no value so far.
        var isFirst = false
        /// The name of the next value, and its hash.
        var name = ByteView.empty
        var hash: UInt32 = 0
    }

    /// Appends the value at the cursor and the values inside it, by a template if one fits.
    ///
    /// Only the first object of a list has templates, because a string with JSON keeps all its checks.
    mutating func appendValue(in outer: Int32, at cursor: inout JSONCursor) throws(JSONError) {
        guard count == 0, outer < 0, cursor.position < cursor.end, cursor.position.pointee == UInt8(ascii: "{") else {
            return try appendNewValue(in: outer, at: &cursor)
        }
        if appendKnown(at: &cursor) { return }
        let isValidated = cursor.isValidated
        try appendNewValue(in: outer, at: &cursor)
        if !isValidated, cut == nil, templates.countMiss() { shape = templates.learn(nodes, count) }
    }

    /// Appends the value at the cursor and the values inside it.
    private mutating func appendNewValue(in outer: Int32, at cursor: inout JSONCursor) throws(JSONError) {
        var reading = Reading(
            position: cursor.position, end: cursor.end, nodes: nodes, count: count,
            scope: Scope(node: outer, isObject: false))
        while true {
            if reading.count == capacity {
                grow(reading.count)
                reading.nodes = nodes
            }
            try addValue(&reading, &cursor)
            repeat {
                if reading.level == 0 { return store(reading, &cursor) }
            } while try !findValue(&reading, &cursor)
        }
    }

    /// Writes the state of the loop to the cursor and the list.
    @inline(__always)
    private mutating func store(_ reading: Reading, _ cursor: inout JSONCursor) {
        cursor.position = reading.position
        count = reading.count
    }

    /// Moves past white space and returns the next byte, or 0 at the end of the text.
    @inline(__always)
    private mutating func peek(_ reading: inout Reading, _ cursor: inout JSONCursor) -> UInt8 {
        if reading.position < reading.end, reading.position.pointee > 0x20 { return reading.position.pointee }
        cursor.position = reading.position
        let byte = cursor.peekAfterWhiteSpace()
        reading.position = cursor.position
        return byte
    }

    /// Returns an error at the position of the loop.
    @inline(never)
    private static func failure(
        _ code: JSONError.Code, at position: UnsafePointer<UInt8>, _ cursor: inout JSONCursor
    ) -> JSONError {
        cursor.position = position
        return cursor.failure(code)
    }

    /// Reads a string whose opening quotation mark is at the position of the loop.
    @inline(__always)
    private mutating func string(
        _ reading: inout Reading, _ cursor: inout JSONCursor, isPlain: inout Bool
    ) throws(JSONError) -> JSONString {
        if let string = cursor.plainString(at: reading.position, reading.end) {
            reading.position = string.raw.end + 1
            isPlain = true
            return string
        }
        cursor.position = reading.position
        let string = try cursor.anyString()
        reading.position = cursor.position
        return string
    }

    /// Adds a scalar, or adds and enters an object or array.
    @inline(__always)
    private mutating func addValue(_ reading: inout Reading, _ cursor: inout JSONCursor) throws(JSONError) {
        let node = reading.nodes + reading.count
        let first = peek(&reading, &cursor)
        var kind = Kind.string
        var hasEscape = false
        var isPlain = false
        let text: ByteView
        switch first {
        case UInt8(ascii: "\""):
            let string = try string(&reading, &cursor, isPlain: &isPlain)
            text = string.raw
            hasEscape = string.hasEscape
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            text = cursor.part(reading.position, count: 1)
            kind = first == UInt8(ascii: "{") ? .object : .array
        default:
            cursor.position = reading.position
            text = try cursor.skip()
            reading.position = cursor.position
            switch first {
            case UInt8(ascii: "n"): kind = .null
            case UInt8(ascii: "t"), UInt8(ascii: "f"): kind = .boolean
            default: kind = .number
            }
        }
        let number = Int32(truncatingIfNeeded: reading.count)
        node.initialize(
            to: Node(
                name: reading.name, text: text, parent: reading.scope.node, end: number &+ 1, nameHash: reading.hash,
                kind: kind, hasEscape: hasEscape, isPlain: isPlain))
        reading.count &+= 1
        reading.isFirst = false
        if kind == .object || kind == .array { try enter(number, kind, &reading, &cursor) }
    }

    @inline(__always)
    private mutating func enter(
        _ node: Int32, _ kind: Kind, _ reading: inout Reading, _ cursor: inout JSONCursor
    ) throws(JSONError) {
        if cursor.depth >= cursor.depthLimit { throw JSONError(.tooDeep, at: reading.position - cursor.base) }
        cursor.depth &+= 1
        if reading.level == scopeCapacity { growScopes() }
        scopes[reading.level] = reading.scope
        reading.level &+= 1
        reading.scope = Scope(node: node, isObject: kind == .object)
        reading.position += 1
        reading.isFirst = true
    }

    /// Moves to the next value of the innermost object or array and reads its name.
    ///
    /// Returns false if there is none, or one beyond the limit.
    @inline(__always)
    private mutating func findValue(_ reading: inout Reading, _ cursor: inout JSONCursor) throws(JSONError) -> Bool {
        var byte = peek(&reading, &cursor)
        if byte == (reading.scope.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
            try leave(&reading, &cursor)
            return false
        }
        if !reading.isFirst {
            if byte != UInt8(ascii: ",") { throw Self.failure(.expectedCommaOrEnd, at: reading.position, &cursor) }
            reading.position += 1
            byte = peek(&reading, &cursor)
        }
        if reading.scope.isObject {
            if byte != UInt8(ascii: "\"") { throw Self.failure(.expectedName, at: reading.position, &cursor) }
            try readName(&reading, &cursor)
        } else {
            if !reading.isFirst, byte == UInt8(ascii: "]") {
                throw Self.failure(.expectedValue, at: reading.position, &cursor)
            }
            reading.name = .empty
            reading.hash = 0
        }
        if reading.count < Self.most { return true }
        try skipValue(&reading, &cursor)
        return false
    }

    /// Ends the innermost object or array.
    @inline(__always)
    private mutating func leave(_ reading: inout Reading, _ cursor: inout JSONCursor) throws(JSONError) {
        reading.position += 1
        cursor.depth &-= 1
        if reading.scope.firstName >= 0 {
            store(reading, &cursor)
            try cursor.removeNames(from: Int(reading.scope.firstName))
        }
        let node = reading.nodes + Int(reading.scope.node)
        let start = node.pointee.text.start
        node.pointee.end = Int32(truncatingIfNeeded: reading.count)
        node.pointee.text = cursor.part(start, count: reading.position - start)
        reading.level &-= 1
        reading.scope = scopes[reading.level]
        reading.isFirst = false
    }

    /// Skips a value beyond the limit.
    @inline(__always)
    private mutating func skipValue(_ reading: inout Reading, _ cursor: inout JSONCursor) throws(JSONError) {
        if cut == nil { cut = Cut(node: reading.scope.node, start: reading.position) }
        reading.nodes[Int(reading.scope.node)].isCut = true
        store(reading, &cursor)
        try cursor.skip()
        reading.position = cursor.position
        reading.isFirst = false
    }

    // MARK: Names

    /// Reads the name of a member and the colon after it.
    @inline(__always)
    private mutating func readName(_ reading: inout Reading, _ cursor: inout JSONCursor) throws(JSONError) {
        let offset = reading.position - cursor.base &+ 1
        var isPlain = false
        let string = try string(&reading, &cursor, isPlain: &isPlain)
        let name = string.hasEscape ? stableName(cursor.unescaped(string)) : string.raw
        let byte = peek(&reading, &cursor)
        if byte != UInt8(ascii: ":") { throw Self.failure(.expectedColon, at: reading.position, &cursor) }
        reading.position += 1
        let hash = name.nameHash
        reading.name = name
        reading.hash = hash
        if cursor.isValidated { return }
        let bit: UInt64 = 1 &<< UInt64(hash & 63)
        if reading.scope.names >= NameList.maxLinearSearchCount || reading.count >= Self.most {
            let first = listNames(reading.scope, reading.count, &cursor)
            reading.scope.firstName = first
            try cursor.listUniqueName(name, hash: hash, at: offset, from: Int(first))
        } else if reading.scope.filter & bit != 0 {
            if isMember(name, hash, of: reading.scope.node, reading.count) {
                throw JSONError(.duplicateName, at: offset)
            }
        }
        reading.scope.filter |= bit
        reading.scope.names &+= 1
    }

    /// Returns a Boolean value that indicates whether an open object has a member with a name.
    ///
    /// - Parameter count: The number of values so far.
    @inline(never)
    private mutating func isMember(_ name: ByteView, _ hash: UInt32, of object: Int32, _ count: Int) -> Bool {
        var node = Int(object) &+ 1
        while node < count {
            let member = nodes + node
            if member.pointee.nameHash == hash, member.pointee.name == name { return true }
            node = Int(member.pointee.end)
        }
        return false
    }

    /// Adds the names of an open object to the cursor's list, which finds duplicates among many names in linear time.
    ///
    /// Returns the index of the first of them.
    ///
    /// - Parameter count: The number of values so far.
    @inline(never)
    private mutating func listNames(_ scope: Scope, _ count: Int, _ cursor: inout JSONCursor) -> Int32 {
        if scope.firstName >= 0 { return scope.firstName }
        let first = Int32(truncatingIfNeeded: cursor.nameCount)
        var node = Int(scope.node) &+ 1
        while node < count {
            let member = nodes + node
            // The second of two equal names is reported, so the offsets of these names are not used.
            cursor.listName(member.pointee.name, hash: member.pointee.nameHash, at: 0)
            node = Int(member.pointee.end)
        }
        return first
    }

    /// Returns a copy of an unescaped name in memory that is valid until the list is cleared.
    @inline(never)
    private mutating func stableName(_ name: ByteView) -> ByteView {
        hasTexts = true
        names.begin()
        names.append(name)
        return names.finish()
    }

    // MARK: Memory

    @inline(never)
    private mutating func growScopes() {
        let larger = UnsafeMutablePointer<Scope>.allocate(capacity: scopeCapacity * 2)
        larger.moveInitialize(from: scopes, count: scopeCapacity)
        scopes.deallocate()
        scopes = larger
        scopeCapacity *= 2
    }

    /// - Parameter count: The number of values so far.
    @inline(never)
    private mutating func grow(_ count: Int) {
        let larger = UnsafeMutablePointer<Node>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: nodes, count: count)
        nodes.deallocate()
        nodes = larger
        capacity *= 2
    }
}

extension JSONCursor {
    /// Returns the string whose opening quotation mark is at an address, or nil if it is not plain or too near the end.
    @inline(__always)
    func plainString(at start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> JSONString? {
        let body = start + 1
        guard end - body >= 16 else { return nil }
        let quote = Self.plainEnd(of: body, end)
        guard quote < end, quote.pointee == UInt8(ascii: "\"") else { return nil }
        return JSONString(raw: part(body, count: quote - body), hasEscape: false, hasNonASCII: false)
    }
}
