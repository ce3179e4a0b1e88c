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
        /// A Boolean value that indicates whether a string has only bytes from 0x20 to 0x7E and no escapes.
        public internal(set) var isPlain = false
        /// A Boolean value that indicates whether values of the array or object are beyond the limit.
        public internal(set) var isCut = false

        /// The address of the value in its text, unless it is a string that was unescaped.
        @inlinable
        public var start: UnsafePointer<UInt8> { kind == .string ? text.start - 1 : text.start }
    }

    /// The address of the values of a list.
    ///
    /// It becomes invalid when a value is added. Look-ups need only the address, because Swift 6.3 copies a list to
    /// pass it to a function that borrows it.
    public typealias Nodes = UnsafeMutablePointer<Node>

    /// The states of a string that was not read as JSON successfully.
    enum Content {
        static let unread: Int32 = -1
        static let invalid: Int32 = -2
        /// The string has JSON that is nested deeper than the limit.
        static let tooDeep: Int32 = -3
    }

    /// The first place at which a limit was reached.
    ///
    /// A value after it is not in the list, so it must not count as absent.
    public struct Cut: BitwiseCopyable {
        /// The object or array with the first value beyond the limit of values, or the string with JSON that is nested
        /// too deep.
        public internal(set) var node: Int32
        /// The address of the first value beyond the limit of values, or nil if the nesting is too deep.
        public internal(set) var start: UnsafePointer<UInt8>?
    }

    /// The limit of values in one record.
    public static let most = 16_384

    /// The values.
    public internal(set) var nodes = UnsafeMutablePointer<Node>.allocate(capacity: 256)
    var capacity = 256
    /// The number of values.
    public internal(set) var count = 0
    /// The place after which values are missing in the list, or nil if it has all values.
    public internal(set) var cut: Cut?
    /// A Boolean value that indicates whether values are missing in the list.
    @inlinable
    public var isCut: Bool { cut != nil }
    /// The shape of the first value, or 0 if none is known.
    ///
    /// Objects of one shape have the same names in the same order, the same structure, and values of the same kinds, so
    /// that the nodes of their values have the same positions. Booleans are equal too.
    public internal(set) var shape: UInt32 = 0
    /// The number of values, and the place of a cut, when `mark` was called.
    private var marked: (count: Int, cut: Cut?) = (0, nil)
    /// The cursor of texts that are read by themselves.
    ///
    /// It has its own memory, so that it can be passed to a function that changes the list.
    private let own: UnsafeMutablePointer<JSONCursor>
    /// A cursor that unescapes strings.
    ///
    /// It is separate, so that unescaped strings stay valid when a string with JSON is read.
    private var unescaper = JSONCursor(maxDepth: 1)
    var templates = TapeTemplates()
    var names = OutputArena(chunkBytes: 4096)
    var hasTexts = false
    /// The open objects and arrays.
    var scopes: UnsafeMutablePointer<Scope>
    var scopeCapacity: Int

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
        cut = nil
        shape = 0
        marked = (0, nil)
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
    /// Returns a negative number if the string is not strict JSON, or nested too deep. The latter is a cut.
    public mutating func readContent(of string: Int32) -> Int32 {
        let known = nodes[Int(string)].content
        if known == Content.tooDeep, cut == nil { cut = Cut(node: string, start: nil) }
        if known != Content.unread { return known }
        let count = count
        let cut = cut
        let text = text(of: string)
        let content: Int32
        do throws(JSONError) {
            own.pointee.open(text)
            content = try appendText(in: string)
        } catch {
            self.count = count
            self.cut = cut
            content = error.code == .tooDeep ? Content.tooDeep : Content.invalid
            if content == Content.tooDeep, cut == nil { self.cut = Cut(node: string, start: nil) }
        }
        nodes[Int(string)].content = content
        return content
    }

    /// Keeps the values so far when the contents of strings are forgotten.
    public mutating func mark() { marked = (count, cut) }

    /// Removes the values that were added from strings, after `mark`.
    ///
    /// Each reading of a record then has the same number of values left, in any order of the devices. Texts stay valid.
    public mutating func forgetContents() {
        var root = marked.count
        while root < count {
            let string = nodes[root].parent
            if string >= 0 { nodes[Int(string)].content = Content.unread }
            root = Int(nodes[root].end)
        }
        (count, cut) = marked
    }

    private mutating func appendText(in parent: Int32) throws(JSONError) -> Int32 {
        let root = Int32(truncatingIfNeeded: count)
        // The first value is always added, so that a text has a node.
        let cursor = own
        try appendValue(in: parent, at: &cursor.pointee)
        try cursor.pointee.finish()
        return root
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
    public func kind(of node: Int32) -> Kind { nodes.kind(of: node) }

    /// Returns the member of an object with a name, or -1.
    @inlinable
    @inline(__always)
    public func member(_ name: ByteView, of object: Int32) -> Int32 { nodes.member(name, of: object) }

    /// Returns a Boolean value that indicates whether a node is an object.
    ///
    /// The node can be -1.
    @inlinable
    @inline(__always)
    public func isObject(_ node: Int32) -> Bool { nodes.isObject(node) }

    /// Returns a Boolean value that indicates whether a node is a string.
    ///
    /// The node can be -1.
    @inlinable
    @inline(__always)
    public func isString(_ node: Int32) -> Bool { nodes.isString(node) }

    /// Returns the member of an object if it is an object itself, or -1.
    @inlinable
    @inline(__always)
    public func object(_ name: StaticString, of object: Int32) -> Int32 { nodes.object(ByteView(name), of: object) }

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

extension UnsafeMutablePointer<JSONTape.Node> {
    /// Returns the kind of a value.
    @inlinable
    @inline(__always)
    public func kind(of node: Int32) -> JSONTape.Kind { self[Int(node)].kind }

    /// Returns the end of the nodes inside an array or object.
    @inlinable
    @inline(__always)
    public func end(of node: Int32) -> Int32 { self[Int(node)].end }

    /// Returns a Boolean value that indicates whether a node is an object, and not -1.
    @inlinable
    @inline(__always)
    public func isObject(_ node: Int32) -> Bool { node >= 0 && kind(of: node) == .object }

    /// Returns a Boolean value that indicates whether a node is a string, and not -1.
    @inlinable
    @inline(__always)
    public func isString(_ node: Int32) -> Bool { node >= 0 && kind(of: node) == .string }

    /// Returns the member of an object with a name, or -1.
    @inlinable
    public func member(_ name: ByteView, of object: Int32) -> Int32 {
        guard kind(of: object) == .object else { return -1 }
        let end = end(of: object)
        var node = object &+ 1
        while node < end {
            let found = self + Int(node)
            if found.pointee.name.count == name.count, found.pointee.name == name { return node }
            node = found.pointee.end
        }
        return -1
    }

    /// Returns the member of an object if both are objects, or -1.
    @inlinable
    public func object(_ name: ByteView, of object: Int32) -> Int32 {
        guard object >= 0 else { return -1 }
        let node = member(name, of: object)
        return isObject(node) ? node : -1
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
