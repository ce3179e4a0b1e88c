internal import ByteStorage
internal import StrictJSON

/// What a payload holds at a pointer.
struct PayloadValue {
    /// What kind of value.
    enum Kind: UInt8 { case absent, null, string, scalar, object, array }
    var kind = Kind.absent
    /// Whether `text` was made.
    var hasText = false
    /// Whether `normal` was made.
    var hasNormal = false
    /// Whether `first`, `count` and `hasOther` were found.
    var hasItems = false
    /// Whether an array has an item that is no scalar, among those that were looked at.
    var hasOther = false
    /// The value as it stands.
    var raw = ByteView.empty
    /// The text of a string, number or truth value.
    var text = ByteView.empty
    /// The text in normal form C.
    var normal = ByteView.empty
    /// Where the items of an array stand, and how many of them.
    var first: Int32 = 0
    var count: Int32 = 0
}

/// What a payload holds at all pointers of the tables: read once for a record, whatever its devices and tables.
///
/// The payload was read strictly before. What does not read again all the same throws, and is never taken for absent.
struct PayloadReading: ~Copyable {
    private var cursor = JSONCursor(maxDepth: 512)
    /// Values by root and pointer.
    private var values = Growable<PayloadValue>(capacity: 8)
    /// Items of arrays, in normal form C.
    private(set) var items = Growable<ByteView>(capacity: 8)
    private var pointers: Ref<PointerTrie>?
    /// How many roots were read.
    private(set) var roots = 0

    /// Whether the payload of this request was read.
    var isRead: Bool { pointers != nil }

    /// Forgets the payload.
    mutating func forget() {
        pointers = nil
        roots = 0
        items.removeAll()
    }

    /// Reads the roots of a payload, each once.
    mutating func read(_ roots: UnsafeBufferPointer<ByteView>, _ pointers: Ref<PointerTrie>) throws(JSONError) {
        values.removeAll()
        for _ in 0..<(roots.count * pointers.count) { values.append(PayloadValue()) }
        for (number, root) in roots.enumerated() {
            cursor.open(again: root)
            try walk(0, pointers, from: number * pointers.count)
            try cursor.finish()
        }
        self.roots = roots.count
        self.pointers = pointers
    }

    /// Passes the value at the cursor and notes what pointers name in it; `first` is the root's first value.
    ///
    /// It calls itself as deep as the trie is and the cursor lets it go, so at most 512 times.
    private mutating func walk(_ node: Int, _ trie: Ref<PointerTrie>, from first: Int) throws(JSONError) {
        let image = trie.nodes.at(node)
        let byte = cursor.peek()
        let start = cursor.offset
        if byte == UInt8(ascii: "{") && image.hasMembers {
            var scope = try cursor.enterObject()
            while try cursor.nextMember(&scope) {
                let child = trie.names.find(node: UInt32(truncatingIfNeeded: node &+ 1), text: scope.name)
                if child >= 0 { try walk(child, trie, from: first) } else { try cursor.skip() }
            }
        } else if byte == UInt8(ascii: "[") && !image.elements.isEmpty {
            try walkElements(image.elements, trie, from: first)
        } else {
            try cursor.skip()
        }
        guard image.number >= 0 else { return }
        let place = first + Int(image.number)
        values[place].raw = ByteView(start: cursor.start + start, count: cursor.offset - start)
        values[place].kind = Self.kind(byte)
    }

    private mutating func walkElements(
        _ wanted: UnsafeBufferPointer<PointerTrie.Element>, _ trie: Ref<PointerTrie>, from first: Int
    ) throws(JSONError) {
        var scope = try cursor.enterArray()
        var index = 0
        var next = 0
        while try cursor.nextElement(&scope) {
            if next < wanted.count && wanted[next].index == index {
                try walk(Int(wanted[next].node), trie, from: first)
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

    private func place(_ pointer: Int32, _ root: Int) -> Int {
        root * (pointers?.count ?? 0) + Int(pointer)
    }

    /// What kind of value stands at a pointer of a root.
    mutating func kind(_ pointer: Int32, in root: Int) -> PayloadValue.Kind { values[place(pointer, root)].kind }

    /// The bytes of the value at a pointer of a root.
    mutating func raw(_ pointer: Int32, in root: Int) -> ByteView { values[place(pointer, root)].raw }

    /// The text of the string or scalar at a pointer of a root, as it came.
    mutating func text(_ pointer: Int32, in root: Int, _ texts: inout RecordTexts) -> ByteView {
        let place = place(pointer, root)
        if !values[place].hasText {
            let raw = values[place].raw
            values[place].text = values[place].kind == .string ? texts.text(quoted: raw) : raw
            values[place].hasText = true
        }
        return values[place].text
    }

    /// The text of the string or scalar at a pointer of a root in normal form C.
    mutating func normalText(_ pointer: Int32, in root: Int, _ texts: inout RecordTexts) -> ByteView {
        let place = place(pointer, root)
        if !values[place].hasNormal {
            values[place].normal = texts.normalForm(text(pointer, in: root, &texts))
            values[place].hasNormal = true
        }
        return values[place].normal
    }

    /// The items of the array at a pointer of a root: nulls passed over, one more at most than the longest list has.
    mutating func readItems(
        _ pointer: Int32, in root: Int, _ texts: inout RecordTexts
    ) throws(JSONError) -> (first: Int, count: Int, hasOther: Bool) {
        let place = place(pointer, root)
        if !values[place].hasItems {
            let first = items.count
            cursor.open(again: values[place].raw)
            var scope = try cursor.enterArray()
            while try cursor.nextElement(&scope) {
                let byte = cursor.peek()
                let raw = try cursor.skip()
                switch Self.kind(byte) {
                case .null, .absent: continue
                case .object, .array: values[place].hasOther = true
                case .string: items.append(texts.normalForm(texts.text(quoted: raw)))
                case .scalar: items.append(raw)
                }
                if values[place].hasOther || items.count - first > FieldType.maxListCount { break }
            }
            values[place].first = Int32(truncatingIfNeeded: first)
            values[place].count = Int32(truncatingIfNeeded: items.count - first)
            values[place].hasItems = true
        }
        return (Int(values[place].first), Int(values[place].count), values[place].hasOther)
    }
}
