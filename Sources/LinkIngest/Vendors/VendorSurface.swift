internal import ByteStorage
internal import StrictJSON

/// The top level of a body as a device receives it: the members by their numbers in the vendor table.
///
/// It consists of up to two objects. A member of the first one has precedence.
///
/// Every method is `mutating`, even without changes, because Swift 6.3 passes `self` to other methods as a copy.
struct VendorSurface: ~Copyable {
    private let image: VendorImage
    /// The nodes of the members by slot, or -1.
    private let found: UnsafeMutablePointer<Int32>
    /// The slots that are set.
    private let touched: UnsafeMutablePointer<Int32>
    private var touchedCount = 0
    /// The prefixes that a name begins with, as bytes.
    private let prefixes: UnsafeMutablePointer<Bool>
    /// The forms to be tried, as bits.
    private let candidates: UnsafeMutablePointer<UInt64>
    /// The objects, or -1.
    private(set) var first: Int32 = -1
    private(set) var second: Int32 = -1

    init(_ image: VendorImage) {
        self.image = image
        found = .allocate(capacity: max(image.slots, 1))
        found.initialize(repeating: -1, count: max(image.slots, 1))
        touched = .allocate(capacity: max(image.slots, 1))
        prefixes = .allocate(capacity: max(image.prefixes.count, 1))
        prefixes.initialize(repeating: false, count: max(image.prefixes.count, 1))
        candidates = .allocate(capacity: max(image.words, 1))
        candidates.initialize(repeating: 0, count: max(image.words, 1))
    }

    deinit {
        found.deallocate()
        touched.deallocate()
        prefixes.deallocate()
        candidates.deallocate()
    }

    /// Removes all members.
    mutating func clear() {
        for index in 0..<touchedCount { found[Int(touched[index])] = -1 }
        touchedCount = 0
        for index in 0..<image.prefixes.count { prefixes[index] = false }
        for word in 0..<image.words { candidates[word] = image.always[word] }
        first = -1
        second = -1
    }

    /// Sets the members to those of one or two objects, which are nodes of a tape or -1.
    ///
    /// The nodes of a body stay as they are until `clear`, so that the same objects are not searched twice.
    mutating func load(_ first: Int32, _ second: Int32, of tape: borrowing JSONTape) {
        if first >= 0 && first == self.first && second == self.second { return }
        clear()
        self.first = first
        self.second = second
        if image.words == 0 { return }
        if first >= 0 { add(first, of: tape) }
        if second >= 0 { add(second, of: tape) }
    }

    private mutating func add(_ object: Int32, of tape: borrowing JSONTape) {
        let end = tape.end(of: object)
        var node = object &+ 1
        while node < end {
            let member = tape.nodes + Int(node)
            if member.pointee.kind != .null { add(member.pointee.name, member.pointee.nameHash, node) }
            node = member.pointee.end
        }
    }

    private mutating func add(_ name: ByteView, _ hash: UInt32, _ node: Int32) {
        let slot = slot(of: name, hash)
        if slot >= 0, found[Int(slot)] < 0 {
            found[Int(slot)] = node
            touched[touchedCount] = slot
            touchedCount &+= 1
            addCandidates(Int(slot))
        }
        if name.isEmpty || image.prefixBytes & 1 &<< UInt64(name[0] & 63) == 0 { return }
        for prefix in 0..<image.prefixes.count where !prefixes[prefix] && name.hasPrefix(image.prefixes[prefix]) {
            prefixes[prefix] = true
            addCandidates(image.slots &+ prefix)
        }
    }

    private mutating func slot(of name: ByteView, _ hash: UInt32) -> Int32 {
        let mask = image.names.count &- 1
        var place = Int(hash) & mask
        while true {
            let entry = image.names[place]
            if entry.slot < 0 { return -1 }
            if entry.hash == hash, entry.name == name { return entry.slot }
            place = (place &+ 1) & mask
        }
    }

    private mutating func addCandidates(_ row: Int) {
        for word in 0..<image.words { candidates[word] |= image.candidates[row &* image.words &+ word] }
    }

    /// Returns the node of a member, or -1.
    mutating func member(_ slot: Int32) -> Int32 { found[Int(slot)] }

    /// Returns a Boolean value that indicates whether the name of a member begins with a prefix.
    mutating func hasPrefix(_ prefix: Int32) -> Bool { prefixes[Int(prefix)] }

    /// Returns the first form to be tried from a position on, or -1.
    mutating func candidate(from form: Int) -> Int {
        var word = form / 64
        guard word < image.words else { return -1 }
        var bits = candidates[word] & (UInt64.max &<< UInt64(form % 64))
        while bits == 0 {
            word &+= 1
            if word == image.words { return -1 }
            bits = candidates[word]
        }
        return word &* 64 &+ bits.trailingZeroBitCount
    }
}
