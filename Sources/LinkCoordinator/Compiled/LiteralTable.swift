internal import StrictJSON

/// Every literal of a table in one open-addressing hash table, keyed by the node it hangs from and its bytes.
///
/// Nodes of the trie, coordinators and screens share it; the cost of a look-up does not grow with their number.
struct LiteralTable {
    struct Slot {
        var text: ByteView
        var hash: UInt32
        var node: UInt32
        var child: UInt32
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
    let mask: Int

    /// Hash of a text; every byte counts, since siblings that share eight bytes are common.
    @inline(__always)
    static func hash(_ text: ByteView) -> UInt64 {
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15 &+ UInt64(truncatingIfNeeded: text.count)
        var index = 0
        while index &+ 8 <= text.count {
            hash = (hash ^ ByteScan.load(text, index)) &* 0xBF58_476D_1CE4_E5B9
            hash ^= hash &>> 31
            index &+= 8
        }
        let tail = index < text.count ? ByteScan.rest(of: text, from: index) : 0
        hash = (hash ^ tail) &* 0x94D0_49BB_1331_11EB
        return hash ^ hash &>> 29
    }

    @inline(__always)
    static func combine(_ hash: UInt64, node: UInt32) -> UInt64 {
        let mixed = (hash ^ UInt64(node) &* 0x9E37_79B9_7F4A_7C15) &* 0xD6E8_FEB8_6659_FD93
        return mixed ^ mixed &>> 32
    }

    /// The child under `node` for a text whose hash is known, or -1.
    @inline(__always)
    func find(node: UInt32, text: ByteView, hash: UInt64) -> Int {
        let mixed = Self.combine(hash, node: node)
        let short = UInt32(truncatingIfNeeded: mixed &>> 32)
        var index = Int(truncatingIfNeeded: mixed) & mask
        while true {
            let slot = slots + index
            if slot.pointee.node == 0 { return -1 }
            if slot.pointee.hash == short && slot.pointee.node == node && slot.pointee.text == text {
                return Int(slot.pointee.child)
            }
            index = (index &+ 1) & mask
        }
    }

    /// The child under `node` for a text, or -1.
    func find(node: UInt32, text: ByteView) -> Int { find(node: node, text: text, hash: Self.hash(text)) }
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
        var filled = [Slot](
            repeating: Slot(text: .empty, hash: 0, node: 0, child: 0), count: capacity)
        for entry in entries {
            let text = slab.view(entry.text)
            let mixed = Self.combine(Self.hash(text), node: entry.node)
            var index = Int(truncatingIfNeeded: mixed) & (capacity - 1)
            while filled[index].node != 0 { index = (index + 1) & (capacity - 1) }
            filled[index] = Slot(
                text: text, hash: UInt32(truncatingIfNeeded: mixed >> 32), node: entry.node, child: entry.child)
        }
        mask = capacity - 1
        slots = slab.store(filled).baseAddress.unsafelyUnwrapped
    }
}
