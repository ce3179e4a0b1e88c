internal import ByteStorage

/// All literals of a table in one open-addressing hash table, with the parent node and the bytes as the key.
///
/// Trie nodes, coordinators, and screens share the table, and the cost of a lookup does not grow with their number. A
/// slot contains the whole text if it has at most sixteen bytes, so comparing it needs no other memory access.
struct LiteralTable {
    struct Slot {
        /// The first eight bytes of the text, padded with zeros.
        var head: UInt64
        /// The last eight bytes, or the value of `head` for a text of at most eight bytes.
        var last: UInt64
        /// The node and the length, or 0 for an empty slot.
        var key: UInt64
        var child: UInt32
        /// The position of the text in `texts`.
        var textOffset: UInt32

        /// Returns a Boolean value that indicates whether the slot matches the first and last eight bytes and the
        /// length of a text.
        @inline(__always)
        func holds(head: UInt64, last: UInt64, key: UInt64) -> Bool {
            (self.head ^ head) | (self.last ^ last) | (self.key ^ key) == 0
        }
    }

    /// The node of coordinator names.
    static let coordinators: UInt32 = 0xFFFF_FFFF
    /// The node of route ids.
    static let routes: UInt32 = 0xFFFF_FFFE

    /// Returns the node of a coordinator's screens.
    static func screens(of coordinator: Int) -> UInt32 { 0x8000_0000 | UInt32(truncatingIfNeeded: coordinator) }

    /// Returns the node of patterns for a host.
    ///
    /// `kind` distinguishes host rules with a port, without a port, and suffixes.
    static func origins(scheme: Int32, kind: UInt32) -> UInt32 {
        0x4000_0000 | (UInt32(truncatingIfNeeded: scheme &+ 1) & 0xFF_FFFF) << 2 | kind
    }

    let slots: UnsafePointer<Slot>
    let mask: UInt64
    let texts: UnsafePointer<UInt8>

    @inline(__always)
    private static func key(_ node: UInt32, _ count: Int) -> UInt64 {
        UInt64(node) &<< 32 | UInt64(UInt32(truncatingIfNeeded: count))
    }

    /// Returns the hash of a text under a node, computed with one full-width multiplication.
    ///
    /// `start` is the head of the text, or `mixed` for a longer text.
    @inline(__always)
    private static func hash(_ start: UInt64, last: UInt64, key: UInt64) -> UInt64 {
        let product = (start ^ key &* 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: last ^ 0xBF58_476D_1CE4_E5B9)
        return product.high ^ product.low
    }

    /// Returns a digest of a text of more than sixteen bytes, without the last eight.
    ///
    /// It includes every byte, because siblings often share many bytes.
    private static func mixed(_ text: ByteView, _ start: UInt64) -> UInt64 {
        var hash = start
        var index = 8
        while index &+ 8 < text.count {
            hash = (hash ^ ByteScan.load(text, index)) &* 0xD6E8_FEB8_6659_FD93
            hash ^= hash &>> 32
            index &+= 8
        }
        return hash
    }

    /// Returns the child under `node` for a text whose first word is known, or -1.
    ///
    /// This function is inlined into the search. A text of up to sixteen bytes is found without a call, so the search
    /// keeps its variables in registers.
    @inline(__always)
    func find(node: UInt32, text: ByteView, head: UInt64) -> Int {
        if text.count > 16 { return findLong(node: node, text: text, head: head) }
        let last = text.count > 8 ? ByteScan.load(text, text.count &- 8) : head
        let key = Self.key(node, text.count)
        var index = Self.hash(head, last: last, key: key) & mask
        while true {
            let slot = slots + Int(truncatingIfNeeded: index)
            if slot.pointee.key == 0 { return -1 }
            if slot.pointee.holds(head: head, last: last, key: key) { return Int(slot.pointee.child) }
            index = (index &+ 1) & mask
        }
    }

    /// Returns the child for a text of more than sixteen bytes, or -1.
    @inline(never)
    private func findLong(node: UInt32, text: ByteView, head: UInt64) -> Int {
        let last = ByteScan.load(text, text.count &- 8)
        let key = Self.key(node, text.count)
        var index = Self.hash(Self.mixed(text, head), last: last, key: key) & mask
        while true {
            let slot = slots + Int(truncatingIfNeeded: index)
            if slot.pointee.key == 0 { return -1 }
            if slot.pointee.holds(head: head, last: last, key: key), isText(text, at: slot.pointee.textOffset) {
                return Int(slot.pointee.child)
            }
            index = (index &+ 1) & mask
        }
    }

    private func isText(_ text: ByteView, at offset: UInt32) -> Bool {
        ByteView.equalBytes(text.start, texts + Int(offset), text.count)
    }

    /// Returns the child under `node` for a text, or -1.
    func find(node: UInt32, text: ByteView) -> Int { find(node: node, text: text, head: ByteScan.head(of: text)) }
}

extension LiteralTable {
    /// A literal to insert into a table.
    ///
    /// Node 0 is reserved.
    struct Entry {
        var node: UInt32
        var text: [UInt8]
        var child: UInt32
    }

    /// Builds the table with a load factor of at most a quarter, which keeps probe sequences short.
    init(_ entries: [Entry], storage: TableStorage) {
        var capacity = 8
        while capacity < entries.count * 4 { capacity *= 2 }
        var filled = [Slot](repeating: Slot(head: 0, last: 0, key: 0, child: 0, textOffset: 0), count: capacity)
        let all = storage.view(entries.flatMap(\.text))
        var offset = 0
        for entry in entries {
            let text = all.slice(offset, offset + entry.text.count)
            let head = ByteScan.head(of: text)
            let last = text.count > 8 ? ByteScan.load(text, text.count - 8) : head
            let key = Self.key(entry.node, text.count)
            let start = text.count > 16 ? Self.mixed(text, head) : head
            var index = Int(Self.hash(start, last: last, key: key) & UInt64(capacity - 1))
            while filled[index].key != 0 { index = (index + 1) & (capacity - 1) }
            filled[index] = Slot(
                head: head, last: last, key: key, child: entry.child, textOffset: UInt32(truncatingIfNeeded: offset))
            offset += text.count
        }
        mask = UInt64(capacity - 1)
        slots = storage.store(filled).baseAddress.unsafelyUnwrapped
        texts = all.start
    }
}
