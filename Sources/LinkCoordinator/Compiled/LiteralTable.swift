internal import ByteStorage

/// Every literal of a table in one open-addressing hash table, keyed by the node it hangs from and its bytes.
///
/// Nodes of the trie, coordinators and screens share it; the cost of a look-up does not grow with their number. Texts
/// of up to sixteen bytes stand in their slot, so that they are compared without another place in memory.
struct LiteralTable {
    struct Slot {
        /// The first eight bytes of the text, zeros behind its end.
        var head: UInt64
        /// The last eight, or `head` once more for a text of up to eight.
        var last: UInt64
        /// The node and the length; 0 for an empty slot.
        var key: UInt64
        var child: UInt32
        /// Where the text begins in `texts`.
        var place: UInt32

        /// Whether the slot is that of a text, as far as its first and its last eight bytes and its length tell.
        @inline(__always)
        func holds(head: UInt64, last: UInt64, key: UInt64) -> Bool {
            (self.head ^ head) | (self.last ^ last) | (self.key ^ key) == 0
        }
    }

    /// The node under which the names of coordinators stand.
    static let coordinators: UInt32 = 0xFFFF_FFFF
    /// The node under which the ids of routes stand.
    static let routes: UInt32 = 0xFFFF_FFFE

    /// The node under which a coordinator's screens stand.
    static func screens(of coordinator: Int) -> UInt32 { 0x8000_0000 | UInt32(truncatingIfNeeded: coordinator) }

    /// The node under which patterns for a host stand: `kind` tells host rules with a port and suffixes apart.
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

    /// Hash of a text under a node: one full multiplication; `start` is its head, or of a longer text `mixed`.
    @inline(__always)
    private static func hash(_ start: UInt64, last: UInt64, key: UInt64) -> UInt64 {
        let product = (start ^ key &* 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: last ^ 0xBF58_476D_1CE4_E5B9)
        return product.high ^ product.low
    }

    /// A text of over sixteen bytes but its last eight; every byte counts, since siblings that share many are common.
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

    /// The child under `node` for a text whose first word is known, or -1.
    ///
    /// A search stands around this: texts of up to sixteen bytes are found without a call, so that it keeps what it
    /// works with in registers.
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

    /// As `find`, for a text of over sixteen bytes.
    @inline(never)
    private func findLong(node: UInt32, text: ByteView, head: UInt64) -> Int {
        let last = ByteScan.load(text, text.count &- 8)
        let key = Self.key(node, text.count)
        var index = Self.hash(Self.mixed(text, head), last: last, key: key) & mask
        while true {
            let slot = slots + Int(truncatingIfNeeded: index)
            if slot.pointee.key == 0 { return -1 }
            if slot.pointee.holds(head: head, last: last, key: key), isText(text, at: slot.pointee.place) {
                return Int(slot.pointee.child)
            }
            index = (index &+ 1) & mask
        }
    }

    private func isText(_ text: ByteView, at place: UInt32) -> Bool {
        ByteView.equalBytes(text.start, texts + Int(place), text.count)
    }

    /// The child under `node` for a text, or -1.
    func find(node: UInt32, text: ByteView) -> Int { find(node: node, text: text, head: ByteScan.head(of: text)) }
}

extension LiteralTable {
    /// A literal to be put into a table; node 0 is never used.
    struct Entry {
        var node: UInt32
        var text: [UInt8]
        var child: UInt32
    }

    /// Builds the table at a load of at most a quarter, so that runs of full slots stay short.
    init(_ entries: [Entry], slab: Slab) {
        var capacity = 8
        while capacity < entries.count * 4 { capacity *= 2 }
        var filled = [Slot](repeating: Slot(head: 0, last: 0, key: 0, child: 0, place: 0), count: capacity)
        let all = slab.view(entries.flatMap(\.text))
        var place = 0
        for entry in entries {
            let text = all.slice(place, place + entry.text.count)
            let head = ByteScan.head(of: text)
            let last = text.count > 8 ? ByteScan.load(text, text.count - 8) : head
            let key = Self.key(entry.node, text.count)
            let start = text.count > 16 ? Self.mixed(text, head) : head
            var index = Int(Self.hash(start, last: last, key: key) & UInt64(capacity - 1))
            while filled[index].key != 0 { index = (index + 1) & (capacity - 1) }
            filled[index] = Slot(
                head: head, last: last, key: key, child: entry.child, place: UInt32(truncatingIfNeeded: place))
            place += text.count
        }
        mask = UInt64(capacity - 1)
        slots = slab.store(filled).baseAddress.unsafelyUnwrapped
        texts = all.start
    }
}
