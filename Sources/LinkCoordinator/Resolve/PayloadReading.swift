internal import ByteStorage
internal import StrictJSON

/// The value of a payload at a pointer.
struct PayloadValue {
    /// The kind of a value.
    enum Kind: UInt8 { case absent, null, string, scalar, object, array }
    var kind = Kind.absent
    /// A Boolean value that indicates whether `text` is set.
    var hasText = false
    /// A Boolean value that indicates whether `normal` is set.
    var hasNormal = false
    /// A Boolean value that indicates whether `first`, `count`, and `hasOther` are set.
    var hasItems = false
    /// A Boolean value that indicates whether one of the visited items of an array is not a scalar.
    var hasOther = false
    /// The JSON text of the value.
    var raw = ByteView.empty
    /// The text of a string, number, or Boolean value.
    var text = ByteView.empty
    /// The text in normalization form C (NFC).
    var normal = ByteView.empty
    /// The position and number of the items of an array.
    var first: Int32 = 0
    var count: Int32 = 0
}

/// The values of a payload at all pointers of the tables, read once for a record regardless of its devices and tables.
///
/// The payload has been validated strictly before. If it cannot be read again, an error is thrown, and no value is
/// treated as absent.
struct PayloadReading: ~Copyable {
    private var cursor = JSONCursor(maxDepth: 512)
    /// The values by root and pointer.
    private var values = Growable<PayloadValue>(capacity: 8)
    /// The items of arrays, in normalization form C (NFC).
    private(set) var items = Growable<ByteView>(capacity: 8)
    private var pointers: Ref<PointerTrie>?
    /// The number of roots that were read.
    private(set) var roots = 0

    /// A Boolean value that indicates whether the payload of this request has been read.
    var isRead: Bool { pointers != nil }

    /// Removes the payload.
    mutating func forget() {
        pointers = nil
        roots = 0
        items.removeAll()
    }

    /// Reads each root of a payload once.
    mutating func read(_ roots: UnsafeBufferPointer<ByteView>, _ pointers: Ref<PointerTrie>) throws(JSONError) {
        values.removeAll()
        for _ in 0..<(roots.count * pointers.count) { values.append(PayloadValue()) }
        for (number, root) in roots.enumerated() {
            cursor.open(validated: root)
            try walk(0, pointers, from: number * pointers.count)
            try cursor.finish()
        }
        self.roots = roots.count
        self.pointers = pointers
    }

    /// Skips the value at the cursor and records the values that pointers refer to.
    ///
    /// `first` is the index in `values` at which the values of the root begin.
    ///
    /// The recursion is limited by the depth of the trie and of the cursor, which is at most 512.
    private mutating func walk(_ node: Int, _ trie: Ref<PointerTrie>, from first: Int) throws(JSONError) {
        let pointerNode = trie.nodes.at(node)
        let byte = cursor.peek()
        let start = cursor.offset
        if byte == UInt8(ascii: "{") && pointerNode.hasMembers {
            var scope = try cursor.enterObject()
            while try cursor.nextMember(&scope) {
                let child = trie.names.find(node: UInt32(truncatingIfNeeded: node &+ 1), text: scope.name)
                if child >= 0 { try walk(child, trie, from: first) } else { try cursor.skip() }
            }
        } else if byte == UInt8(ascii: "[") && !pointerNode.elements.isEmpty {
            try walkElements(pointerNode.elements, trie, from: first)
        } else {
            try cursor.skip()
        }
        guard pointerNode.number >= 0 else { return }
        let index = first + Int(pointerNode.number)
        values[index].raw = ByteView(start: cursor.start + start, count: cursor.offset - start)
        values[index].kind = Self.kind(byte)
    }

    private mutating func walkElements(
        _ elements: UnsafeBufferPointer<PointerTrie.Element>, _ trie: Ref<PointerTrie>, from first: Int
    ) throws(JSONError) {
        var scope = try cursor.enterArray()
        var index = 0
        var next = 0
        while try cursor.nextElement(&scope) {
            if next < elements.count && elements[next].index == index {
                try walk(Int(elements[next].node), trie, from: first)
                next += 1
            } else {
                try cursor.skip()
            }
            index += 1
        }
    }

    private static func kind(_ first: UInt8) -> PayloadValue.Kind {
        switch first {
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "n"): .null
        default: .scalar
        }
    }

    private func index(of pointer: Int32, in root: Int) -> Int {
        root * (pointers?.count ?? 0) + Int(pointer)
    }

    /// Returns the kind of the value at a pointer of a root.
    mutating func kind(_ pointer: Int32, in root: Int) -> PayloadValue.Kind {
        values[index(of: pointer, in: root)].kind
    }

    /// Returns the JSON text of the value at a pointer of a root.
    mutating func raw(_ pointer: Int32, in root: Int) -> ByteView { values[index(of: pointer, in: root)].raw }

    /// Returns the original text of the string or scalar at a pointer of a root.
    mutating func text(_ pointer: Int32, in root: Int, _ texts: inout RecordTexts) -> ByteView {
        let index = index(of: pointer, in: root)
        if !values[index].hasText {
            let raw = values[index].raw
            values[index].text = values[index].kind == .string ? texts.text(quoted: raw) : raw
            values[index].hasText = true
        }
        return values[index].text
    }

    /// Returns the text of the string or scalar at a pointer of a root in normalization form C (NFC).
    mutating func normalText(_ pointer: Int32, in root: Int, _ texts: inout RecordTexts) -> ByteView {
        let index = index(of: pointer, in: root)
        if !values[index].hasNormal {
            values[index].normal = texts.normalForm(text(pointer, in: root, &texts))
            values[index].hasNormal = true
        }
        return values[index].normal
    }

    /// Reads the items of the array at a pointer of a root.
    ///
    /// Nulls are skipped, and at most one item more than the maximum length of a list is read.
    mutating func readItems(
        _ pointer: Int32, in root: Int, _ texts: inout RecordTexts
    ) throws(JSONError) -> (first: Int, count: Int, hasOther: Bool) {
        let index = index(of: pointer, in: root)
        if !values[index].hasItems {
            let first = items.count
            cursor.open(validated: values[index].raw)
            var scope = try cursor.enterArray()
            while try cursor.nextElement(&scope) {
                let byte = cursor.peek()
                let raw = try cursor.skip()
                switch Self.kind(byte) {
                case .null, .absent: continue
                case .object, .array: values[index].hasOther = true
                case .string: items.append(texts.normalForm(texts.text(quoted: raw)))
                case .scalar: items.append(raw)
                }
                if values[index].hasOther || items.count - first > FieldType.maxListCount { break }
            }
            values[index].first = Int32(truncatingIfNeeded: first)
            values[index].count = Int32(truncatingIfNeeded: items.count - first)
            values[index].hasItems = true
        }
        return (Int(values[index].first), Int(values[index].count), values[index].hasOther)
    }
}
