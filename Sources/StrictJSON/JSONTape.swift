public import ByteStorage

/// A flat list of the values of a JSON text, in the order of the text.
///
/// A text is read once. Values are then looked up in the list. A string that contains JSON is read on its first use,
/// and its values are appended to the list.
///
/// The memory is used again for each text. The number of values is limited, so its size is limited too.
public struct JSONTape: ~Copyable {
    /// The kind of a value.
    public enum Kind: UInt8, BitwiseCopyable, Sendable {
        case null, boolean, number, string, array, object
    }

    /// A value, or the member of an object with this value.
    public struct Node: BitwiseCopyable {
        /// The unescaped name of the member, or an empty view.
        public internal(set) var name: ByteView
        /// The text of the value.
        ///
        /// The text of a string has no quotes, and is unescaped on its first use.
        public internal(set) var text: ByteView
        /// The node of the array, the object, or the string with JSON that contains the value, or -1.
        public internal(set) var parent: Int32
        /// The index after the last node inside the value.
        public internal(set) var end: Int32
        /// The node of the JSON value in a string, or one of the constants of `Content`.
        public internal(set) var content = Content.unread
        /// The hash of the name.
        public internal(set) var nameHash: UInt32
        /// The kind of the value.
        public internal(set) var kind = Kind.null
        /// A Boolean value that indicates whether the text of a string has escapes.
        public internal(set) var hasEscape = false
        /// A Boolean value that indicates whether values of the array or object are beyond the limit.
        public internal(set) var isCut = false

        /// The address of the value in its text, unless it is a string that was unescaped.
        @inlinable
        public var start: UnsafePointer<UInt8> { kind == .string ? text.start - 1 : text.start }

        @inline(__always)
        init(name: ByteView, hash: UInt32, parent: Int32, end: Int32) {
            self.name = name
            nameHash = hash
            text = .empty
            self.parent = parent
            self.end = end
        }
    }

    /// The states of a string that was not read as JSON successfully.
    enum Content {
        static let unread: Int32 = -1
        static let invalid: Int32 = -2
    }

    /// The limit of values in one record.
    public static let most = 16_384

    /// The values.
    public private(set) var nodes = UnsafeMutablePointer<Node>.allocate(capacity: 256)
    private var capacity = 256
    /// The number of values.
    public private(set) var count = 0
    /// A Boolean value that indicates whether the text has more values than the limit.
    ///
    /// The other values are not in the list.
    public private(set) var isCut = false
    /// The number of values, and whether there are more, when `mark` was called.
    private var marked = (count: 0, isCut: false)
    /// The cursor of texts that are read by themselves.
    ///
    /// It has its own memory, so that it can be passed to a function that changes the list.
    private let own: UnsafeMutablePointer<JSONCursor>
    /// A cursor that unescapes strings.
    ///
    /// It is separate, so that unescaped strings stay valid when a string with JSON is read.
    private var unescaper = JSONCursor(maxDepth: 1)
    private var names = OutputArena(chunkBytes: 4096)
    private var hasTexts = false
    /// The open objects and arrays.
    private var scopes: UnsafeMutablePointer<Scope>
    private var scopeCapacity: Int

    /// The state of an open object or array.
    private struct Scope: BitwiseCopyable {
        /// A filter of the names so far: a name whose bit is not set has not occurred.
        var filter: UInt64 = 0
        /// The number of names so far.
        var names: Int32 = 0
        /// The index of the first name in the cursor's list, or -1 if the names are not in it.
        var firstName: Int32 = -1
    }

    /// Creates a list.
    ///
    /// - Parameter depth: The limit of nested objects and arrays.
    public init(depth: Int) {
        own = .allocate(capacity: 1)
        own.initialize(to: JSONCursor(maxDepth: depth))
        scopeCapacity = depth + 2
        scopes = .allocate(capacity: scopeCapacity)
    }

    deinit {
        scopes.deallocate()
        nodes.deallocate()
        own.deinitialize(count: 1)
        own.deallocate()
    }

    /// Removes all values.
    public mutating func clear() {
        count = 0
        isCut = false
        marked = (0, false)
        guard hasTexts else { return }
        hasTexts = false
        names.reset()
        unescaper.open(.empty)
    }

    /// Appends a JSON text that was validated strictly before, and returns its node.
    public mutating func append(validated text: ByteView) throws(JSONError) -> Int32 {
        own.pointee.open(validated: text)
        return try appendText(in: -1)
    }

    /// Appends a JSON text that was not validated before, and returns its node.
    public mutating func append(strict text: ByteView) throws(JSONError) -> Int32 {
        own.pointee.open(text)
        return try appendText(in: -1)
    }

    /// Appends the value at a cursor, which is validated strictly, and returns its text.
    public mutating func append(at cursor: inout JSONCursor) throws(JSONError) -> ByteView {
        let start = cursor.offset
        try appendValue(in: -1, at: &cursor)
        return cursor.part(cursor.start + start, count: cursor.offset - start)
    }

    /// Appends the JSON text that a string contains, and returns its node.
    ///
    /// Returns `Content.invalid` if the string is not strict JSON.
    public mutating func readContent(of string: Int32) -> Int32 {
        let known = nodes[Int(string)].content
        if known != Content.unread { return known }
        let count = count
        let isCut = isCut
        let text = text(of: string)
        let content: Int32
        do throws(JSONError) {
            own.pointee.open(text)
            content = try appendText(in: string)
        } catch {
            self.count = count
            self.isCut = isCut
            content = Content.invalid
        }
        nodes[Int(string)].content = content
        return content
    }

    /// Keeps the values so far when the contents of strings are forgotten.
    public mutating func mark() { marked = (count, isCut) }

    /// Removes the values that were added after `mark`, which are those in strings.
    ///
    /// Each reading of a record then has the same number of values left, in any order of the devices. Texts stay valid.
    public mutating func forgetContents() {
        var root = marked.count
        while root < count {
            let string = nodes[root].parent
            if string >= 0 { nodes[Int(string)].content = Content.unread }
            root = Int(nodes[root].end)
        }
        (count, isCut) = marked
    }

    private mutating func appendText(in parent: Int32) throws(JSONError) -> Int32 {
        let root = Int32(truncatingIfNeeded: count)
        // The first value is always added, so that a text has a node.
        let cursor = own
        try appendValue(in: parent, at: &cursor.pointee)
        try cursor.pointee.finish()
        return root
    }

    /// Appends the value at the cursor and the values inside it.
    private mutating func appendValue(in outer: Int32, at cursor: inout JSONCursor) throws(JSONError) {
        var node = add(.empty, 0, in: outer)
        var level = 0
        while true {
            let isContainer = try readValue(node, at: &cursor)
            if isContainer {
                if level == scopeCapacity { growScopes() }
                scopes[level] = Scope()
                level &+= 1
            }
            var parent = isContainer ? node : nodes[Int(node)].parent
            var isFirst = isContainer
            repeat {
                if level == 0 { return }
                node = try nextValue(in: parent, isFirst: isFirst, scopes + (level &- 1), at: &cursor)
                isFirst = false
                if node >= 0 { break }
                if node == Self.closed {
                    level &-= 1
                    parent = nodes[Int(parent)].parent
                }
            } while true
        }
    }

    /// The result of `nextValue` at the end of an object or array, and after a value beyond the limit.
    private static let closed: Int32 = -1
    private static let skipped: Int32 = -2

    /// Reads a scalar, or enters an object or array and returns true.
    @inline(__always)
    private mutating func readValue(_ number: Int32, at cursor: inout JSONCursor) throws(JSONError) -> Bool {
        let node = nodes + Int(number)
        let first = cursor.peek()
        switch first {
        case UInt8(ascii: "\""):
            let string = try cursor.string()
            node.pointee.text = string.raw
            node.pointee.hasEscape = string.hasEscape
            node.pointee.kind = .string
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            if cursor.depth >= cursor.depthLimit { throw JSONError(.tooDeep, at: cursor.offset) }
            cursor.depth &+= 1
            node.pointee.text = cursor.part(cursor.position, count: 1)
            node.pointee.kind = first == UInt8(ascii: "{") ? .object : .array
            cursor.position += 1
            return true
        default:
            node.pointee.text = try cursor.skip()
            switch first {
            case UInt8(ascii: "n"): node.pointee.kind = .null
            case UInt8(ascii: "t"), UInt8(ascii: "f"): node.pointee.kind = .boolean
            default: node.pointee.kind = .number
            }
        }
        return false
    }

    /// Moves to the next value of an object or array, and returns its node, `closed`, or `skipped`.
    @inline(__always)
    private mutating func nextValue(
        in parent: Int32, isFirst: Bool, _ scope: UnsafeMutablePointer<Scope>, at cursor: inout JSONCursor
    ) throws(JSONError) -> Int32 {
        let isObject = nodes[Int(parent)].kind == .object
        let byte = cursor.peek()
        if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
            cursor.position += 1
            cursor.depth &-= 1
            if scope.pointee.firstName >= 0 { try cursor.removeNames(from: Int(scope.pointee.firstName)) }
            close(parent, at: cursor.position)
            return Self.closed
        }
        if !isFirst {
            if byte != UInt8(ascii: ",") { throw cursor.failure(.expectedCommaOrEnd) }
            cursor.position += 1
        }
        var name = ByteView.empty
        var hash: UInt32 = 0
        if isObject {
            (name, hash) = try nextName(in: parent, scope, at: &cursor)
        } else if !isFirst, cursor.peek() == UInt8(ascii: "]") {
            throw cursor.failure(.expectedValue)
        }
        if count < Self.most { return add(name, hash, in: parent) }
        cut(parent)
        try cursor.skip()
        return Self.skipped
    }

    /// Reads the name of a member and the colon after it, and returns the name with its hash.
    @inline(__always)
    private mutating func nextName(
        in parent: Int32, _ scope: UnsafeMutablePointer<Scope>, at cursor: inout JSONCursor
    ) throws(JSONError) -> (ByteView, UInt32) {
        if cursor.peek() != UInt8(ascii: "\"") { throw cursor.failure(.expectedName) }
        let offset = cursor.offset &+ 1
        let string = try cursor.string()
        let name = string.hasEscape ? stableName(cursor.unescaped(string)) : string.raw
        if cursor.peek() != UInt8(ascii: ":") { throw cursor.failure(.expectedColon) }
        cursor.position += 1
        cursor.skipWhiteSpace()
        let hash = name.nameHash
        if !cursor.isValidated {
            let bit: UInt64 = 1 &<< UInt64(hash & 63)
            if scope.pointee.names >= NameList.maxLinearSearchCount || count >= Self.most {
                try listName(name, hash, at: offset, in: parent, scope, &cursor)
            } else if scope.pointee.filter & bit != 0 {
                if isMember(name, hash, of: parent) { throw JSONError(.duplicateName, at: offset) }
            }
            scope.pointee.filter |= bit
            scope.pointee.names &+= 1
        }
        return (name, hash)
    }

    /// Returns a Boolean value that indicates whether an open object has a member with a name.
    @inline(never)
    private func isMember(_ name: ByteView, _ hash: UInt32, of object: Int32) -> Bool {
        var node = object &+ 1
        while node < Int32(truncatingIfNeeded: count) {
            let member = nodes + Int(node)
            if member.pointee.nameHash == hash, member.pointee.name == name { return true }
            node = member.pointee.end
        }
        return false
    }

    /// Adds a name to the cursor's list, which finds duplicates among many names in linear time.
    @inline(never)
    private mutating func listName(
        _ name: ByteView, _ hash: UInt32, at offset: Int, in object: Int32, _ scope: UnsafeMutablePointer<Scope>,
        _ cursor: inout JSONCursor
    ) throws(JSONError) {
        if scope.pointee.firstName < 0 {
            scope.pointee.firstName = Int32(truncatingIfNeeded: cursor.nameCount)
            var node = object &+ 1
            while node < Int32(truncatingIfNeeded: count) {
                let member = nodes + Int(node)
                // The second of two equal names is reported, so the offsets of these names are not used.
                cursor.listName(member.pointee.name, hash: member.pointee.nameHash, at: 0)
                node = member.pointee.end
            }
        }
        try cursor.listUniqueName(name, hash: hash, at: offset, from: Int(scope.pointee.firstName))
    }

    /// Returns a copy of an unescaped name in memory that is valid until the list is cleared.
    @inline(never)
    private mutating func stableName(_ name: ByteView) -> ByteView {
        hasTexts = true
        names.begin()
        names.append(name)
        return names.finish()
    }

    @inline(__always)
    private mutating func add(_ name: ByteView, _ hash: UInt32, in parent: Int32) -> Int32 {
        if count == capacity { grow() }
        (nodes + count).initialize(
            to: Node(name: name, hash: hash, parent: parent, end: Int32(truncatingIfNeeded: count &+ 1)))
        count &+= 1
        return Int32(truncatingIfNeeded: count &- 1)
    }

    private mutating func cut(_ node: Int32) {
        isCut = true
        nodes[Int(node)].isCut = true
    }

    @inline(__always)
    private mutating func close(_ number: Int32, at end: UnsafePointer<UInt8>) {
        let node = nodes + Int(number)
        node.pointee.end = Int32(truncatingIfNeeded: count)
        let text = node.pointee.text
        node.pointee.text = ByteView(start: text.start, count: end - text.start, lease: text.lease)
    }

    @inline(never)
    private mutating func growScopes() {
        let larger = UnsafeMutablePointer<Scope>.allocate(capacity: scopeCapacity * 2)
        larger.moveInitialize(from: scopes, count: scopeCapacity)
        scopes.deallocate()
        scopes = larger
        scopeCapacity *= 2
    }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutablePointer<Node>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: nodes, count: count)
        nodes.deallocate()
        nodes = larger
        capacity *= 2
    }

    /// Returns the text of a scalar, unescaped if it is a string.
    public mutating func text(of node: Int32) -> ByteView {
        let node = Int(node)
        if nodes[node].hasEscape {
            hasTexts = true
            let string = JSONString(raw: nodes[node].text, hasEscape: true, hasNonASCII: false)
            nodes[node].text = unescaper.unescaped(string)
            nodes[node].hasEscape = false
        }
        return nodes[node].text
    }
}

// MARK: Lookup

extension JSONTape {
    /// Returns the first node inside an array or object, or the node after it if it is empty.
    @inlinable
    @inline(__always)
    public func first(in node: Int32) -> Int32 { node &+ 1 }

    /// Returns the end of the nodes inside an array or object.
    @inlinable
    @inline(__always)
    public func end(of node: Int32) -> Int32 { nodes[Int(node)].end }

    /// Returns the node after a value and all values inside it.
    @inlinable
    @inline(__always)
    public func next(after node: Int32) -> Int32 { nodes[Int(node)].end }

    /// Returns the kind of a value.
    @inlinable
    @inline(__always)
    public func kind(of node: Int32) -> Kind { nodes[Int(node)].kind }

    /// Returns the member of an object with a name, or -1.
    @inlinable
    public func member(_ name: ByteView, of object: Int32) -> Int32 {
        guard nodes[Int(object)].kind == .object else { return -1 }
        let end = nodes[Int(object)].end
        var node = object &+ 1
        while node < end {
            let found = nodes + Int(node)
            if found.pointee.name.count == name.count, found.pointee.name == name { return node }
            node = found.pointee.end
        }
        return -1
    }

    /// Returns a Boolean value that indicates whether a node is an object.
    ///
    /// The node can be -1.
    @inlinable
    public func isObject(_ node: Int32) -> Bool { node >= 0 && kind(of: node) == .object }

    /// Returns a Boolean value that indicates whether a node is a string.
    ///
    /// The node can be -1.
    @inlinable
    public func isString(_ node: Int32) -> Bool { node >= 0 && kind(of: node) == .string }

    /// Returns the member of an object if it is an object itself, or -1.
    @inlinable
    public func object(_ name: StaticString, of object: Int32) -> Int32 {
        guard object >= 0 else { return -1 }
        let node = member(ByteView(name), of: object)
        return isObject(node) ? node : -1
    }

    /// Returns an element of an array, or -1.
    public func element(_ index: Int, of array: Int32) -> Int32 {
        guard nodes[Int(array)].kind == .array else { return -1 }
        let end = nodes[Int(array)].end
        var node = array &+ 1
        for _ in 0..<index where node < end { node = nodes[Int(node)].end }
        return node < end ? node : -1
    }

    /// Appends the JSON pointer of a value to the open record of an arena.
    ///
    /// The pointer continues from a string with JSON to the values in it.
    ///
    /// - Parameter unnamed: A node whose name is written as `*`, or -1.
    public func appendPointer(of node: Int32, unnamed: Int32 = -1, to arena: inout OutputArena) {
        let parent = nodes[Int(node)].parent
        guard parent >= 0, node != 0 else { return }
        appendPointer(of: parent, unnamed: unnamed, to: &arena)
        switch nodes[Int(parent)].kind {
        case .object:
            arena.append(byte: UInt8(ascii: "/"))
            arena.appendPointerStep(node == unnamed ? ByteView("*") : nodes[Int(node)].name)
        case .array:
            arena.append(byte: UInt8(ascii: "/"))
            arena.append(decimal: Int64(index(of: node, in: parent)))
        default: break
        }
    }

    private func index(of node: Int32, in array: Int32) -> Int {
        var index = 0
        var other = array &+ 1
        while other < node {
            index &+= 1
            other = nodes[Int(other)].end
        }
        return index
    }
}

extension OutputArena {
    /// Appends a step of a JSON pointer with its escapes (RFC 6901, section 3).
    package mutating func appendPointerStep(_ name: ByteView) {
        for index in 0..<name.count {
            switch name[index] {
            case UInt8(ascii: "~"): append("~0")
            case UInt8(ascii: "/"): append("~1")
            default: append(byte: name[index])
            }
        }
    }
}
