internal import ByteStorage
internal import StrictJSON

/// A flat list of the values of a payload, in the order of the text.
///
/// The payload of a record is read once. All pointers of the vendor table are then looked up in the list. A string that
/// contains JSON is read on its first use, and its values are appended to the list.
///
/// The memory is used again for each record. The number of values is limited, so its size is limited too.
struct PayloadTape: ~Copyable {
    /// The kind of a value.
    enum Kind: UInt8 {
        case null, boolean, number, string, array, object
    }

    /// A value, or the member of an object with this value.
    struct Node: BitwiseCopyable {
        /// The unescaped name of the member, or an empty view.
        var name: ByteView
        /// The text of the value.
        ///
        /// The text of a string has no quotes, and is unescaped on its first use.
        var text: ByteView
        /// The node of the array, the object, or the string with JSON that contains the value, or -1.
        var parent: Int32
        /// The index after the last node inside the value.
        var end: Int32
        /// The node of the JSON value in a string, or one of the constants of `Content`.
        var content: Int32
        var kind: Kind
        /// A Boolean value that indicates whether the text of a string has escapes.
        var hasEscape: Bool
        /// A Boolean value that indicates whether values of the array or object are beyond the limit.
        var isCut = false
    }

    /// The states of a string that was not read as JSON successfully.
    enum Content {
        static let unread: Int32 = -1
        static let invalid: Int32 = -2
    }

    /// The limit of values in one record.
    static let most = 16_384

    private(set) var nodes = UnsafeMutablePointer<Node>.allocate(capacity: 256)
    private var capacity = 256
    /// The number of values.
    private(set) var count = 0
    /// A Boolean value that indicates whether the record has more values than the limit.
    ///
    /// The other values are not in the list.
    private(set) var isCut = false
    /// The number of values, and whether there are more, when `mark` was called.
    private var marked = (count: 0, isCut: false)
    /// The cursor of texts that are read by themselves.
    ///
    /// It has its own memory, so that it can be passed to a function that changes the list.
    private let own: UnsafeMutablePointer<JSONCursor>
    /// The text at the cursor.
    private var source = ByteView.empty
    /// A cursor that unescapes strings.
    ///
    /// It is separate, so that unescaped strings stay valid when a string with JSON is read.
    private var unescaper = JSONCursor(maxDepth: 1)
    private var names = OutputArena(chunkBytes: 4096)
    private var hasTexts = false

    /// Creates a list.
    ///
    /// - Parameter depth: The limit of nested objects and arrays.
    init(depth: Int) {
        own = .allocate(capacity: 1)
        own.initialize(to: JSONCursor(maxDepth: depth))
    }

    deinit {
        nodes.deallocate()
        own.deinitialize(count: 1)
        own.deallocate()
    }

    /// Removes all values.
    mutating func clear() {
        count = 0
        isCut = false
        marked = (0, false)
        guard hasTexts else { return }
        hasTexts = false
        names.reset()
        unescaper.open(.empty)
    }

    /// Appends a JSON text that was validated strictly before, and returns its node.
    mutating func append(validated text: ByteView) throws(JSONError) -> Int32 {
        own.pointee.open(validated: text)
        source = text
        return try appendText(in: -1)
    }

    /// Appends a JSON text that was not validated before, and returns its node.
    mutating func append(strict text: ByteView) throws(JSONError) -> Int32 {
        own.pointee.open(text)
        source = text
        return try appendText(in: -1)
    }

    /// Appends the value at a cursor, which is validated strictly, and returns its text.
    ///
    /// - Parameter text: The text of the cursor.
    mutating func append(at cursor: inout JSONCursor, of text: ByteView) throws(JSONError) -> ByteView {
        source = text
        let start = cursor.offset
        try appendValue(.empty, in: -1, at: &cursor)
        return text.slice(start, cursor.offset)
    }

    /// Appends the JSON text that a string contains, and returns its node.
    ///
    /// Returns `Content.invalid` if the string is not strict JSON.
    mutating func readContent(of string: Int32) -> Int32 {
        let known = nodes[Int(string)].content
        if known != Content.unread { return known }
        let count = count
        let isCut = isCut
        let text = text(of: string)
        let content: Int32
        do throws(JSONError) {
            own.pointee.open(text)
            source = text
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
    mutating func mark() { marked = (count, isCut) }

    /// Removes the values that were added after `mark`, which are those in strings.
    ///
    /// Each reading of a record then has the same number of values left, in any order of the devices. Texts stay valid.
    mutating func forgetContents() {
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
        try appendValue(.empty, in: parent, at: &cursor.pointee)
        try cursor.pointee.finish()
        return root
    }

    /// Appends the value at the cursor and the values inside it.
    ///
    /// The recursion is limited by the depth of the cursor.
    private mutating func appendValue(
        _ name: ByteView, in parent: Int32, at cursor: inout JSONCursor
    ) throws(JSONError) {
        let first = cursor.peek()
        let node = add(name, in: parent)
        switch first {
        case UInt8(ascii: "{"):
            let start = cursor.offset
            var scope = try cursor.enterObject()
            while try cursor.nextMember(&scope) {
                if count >= Self.most {
                    cut(node)
                    try cursor.skip()
                } else {
                    try appendValue(stableName(scope, from: cursor.start), in: node, at: &cursor)
                }
            }
            close(node, .object, source.slice(start, cursor.offset))
        case UInt8(ascii: "["):
            let start = cursor.offset
            var scope = try cursor.enterArray()
            while try cursor.nextElement(&scope) {
                if count >= Self.most {
                    cut(node)
                    try cursor.skip()
                } else {
                    try appendValue(.empty, in: node, at: &cursor)
                }
            }
            close(node, .array, source.slice(start, cursor.offset))
        case UInt8(ascii: "\""):
            let string = try cursor.string()
            nodes[Int(node)].text = string.raw
            nodes[Int(node)].hasEscape = string.hasEscape
            nodes[Int(node)].kind = .string
        default:
            nodes[Int(node)].text = try cursor.skip()
            nodes[Int(node)].kind =
                switch first {
                case UInt8(ascii: "n"): .null
                case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
                default: .number
                }
        }
    }

    /// Returns the name of a member in memory that is valid until the list is cleared.
    private mutating func stableName(_ scope: ObjectScope, from start: UnsafePointer<UInt8>) -> ByteView {
        let isInText = scope.name.isEmpty || scope.name.start == start + scope.nameOffset
        if isInText { return scope.name }
        hasTexts = true
        names.begin()
        names.append(scope.name)
        return names.finish()
    }

    private mutating func add(_ name: ByteView, in parent: Int32) -> Int32 {
        if count == capacity { grow() }
        (nodes + count).initialize(
            to: Node(
                name: name, text: .empty, parent: parent, end: Int32(truncatingIfNeeded: count &+ 1),
                content: Content.unread, kind: .null, hasEscape: false))
        count &+= 1
        return Int32(truncatingIfNeeded: count &- 1)
    }

    private mutating func cut(_ node: Int32) {
        isCut = true
        nodes[Int(node)].isCut = true
    }

    private mutating func close(_ node: Int32, _ kind: Kind, _ text: ByteView) {
        nodes[Int(node)].kind = kind
        nodes[Int(node)].end = Int32(truncatingIfNeeded: count)
        nodes[Int(node)].text = text
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
    mutating func text(of node: Int32) -> ByteView {
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

extension PayloadTape {
    /// Returns the first node inside an array or object, or the node after it if it is empty.
    func first(in node: Int32) -> Int32 { node &+ 1 }

    /// Returns the end of the nodes inside an array or object.
    func end(of node: Int32) -> Int32 { nodes[Int(node)].end }

    /// Returns the node after a value and all values inside it.
    func next(after node: Int32) -> Int32 { nodes[Int(node)].end }

    /// Returns the kind of a value.
    func kind(of node: Int32) -> Kind { nodes[Int(node)].kind }

    /// Returns the member of an object with a name, or -1.
    func member(_ name: ByteView, of object: Int32) -> Int32 {
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

    /// Returns an element of an array, or -1.
    func element(_ index: Int, of array: Int32) -> Int32 {
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
    func appendPointer(of node: Int32, unnamed: Int32 = -1, to arena: inout OutputArena) {
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
    mutating func appendPointerStep(_ name: ByteView) {
        for index in 0..<name.count {
            switch name[index] {
            case UInt8(ascii: "~"): append("~0")
            case UInt8(ascii: "/"): append("~1")
            default: append(byte: name[index])
            }
        }
    }
}
