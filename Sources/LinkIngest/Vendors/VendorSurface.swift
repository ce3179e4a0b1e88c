internal import ByteStorage
internal import StrictJSON

/// The top level of a body as a device receives it: the members by their numbers in the vendor table.
///
/// It consists of up to two objects. A member of the first one has precedence, even if it is null.
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
        found = .allocate(capacity: max(image.slotNames.count, 1))
        found.initialize(repeating: -1, count: max(image.slotNames.count, 1))
        touched = .allocate(capacity: max(image.slotNames.count, 1))
        prefixes = .allocate(capacity: max(image.prefixes.count, 1))
        prefixes.initialize(repeating: false, count: max(image.prefixes.count, 1))
        candidates = .allocate(capacity: max(image.words, 1))
        candidates.initialize(repeating: 0, count: max(image.words, 1))
        for word in 0..<image.words { candidates[word] = image.always[word] }
    }

    deinit {
        found.deallocate()
        touched.deallocate()
        prefixes.deallocate()
        candidates.deallocate()
    }

    /// Removes all members.
    @inline(__always)
    mutating func clear() {
        if first >= 0 || second >= 0 { removeAll() }
    }

    @inline(never)
    private mutating func removeAll() {
        for index in 0..<touchedCount { found[Int(touched[index])] = -1 }
        touchedCount = 0
        for index in 0..<image.prefixes.count { prefixes[index] = false }
        for word in 0..<image.words { candidates[word] = image.always[word] }
        first = -1
        second = -1
    }

    /// Loads the members of one or two objects, which are nodes of a tape or -1.
    ///
    /// The nodes of a body stay as they are until `clear`, so that the same objects are not searched twice.
    mutating func load(_ first: Int32, _ second: Int32, of nodes: JSONTape.Nodes) {
        if first >= 0 && first == self.first && second == self.second { return }
        clear()
        self.first = first
        self.second = second
        if image.words == 0 { return }
        if first >= 0 { add(first, of: nodes) }
        if second >= 0 { add(second, of: nodes) }
    }

    private mutating func add(_ object: Int32, of nodes: JSONTape.Nodes) {
        let end = nodes[Int(object)].end
        let names = image.names.baseAddress.unsafelyUnwrapped
        let mask = image.names.count &- 1
        let firstBytes = image.prefixBytes
        var node = object &+ 1
        while node < end {
            let member = nodes + Int(node)
            let isNull = member.pointee.kind == .null
            let name = member.pointee.name
            var place = Int(member.pointee.nameHash) & mask
            while names[place].slot >= 0 {
                if names[place].hash == member.pointee.nameHash, names[place].name == name {
                    set(names[place].slot, node, isNull: isNull)
                    break
                }
                place = (place &+ 1) & mask
            }
            if !isNull, firstBytes & VendorImage.prefixBit(name) != 0 { addPrefixes(of: name) }
            node = member.pointee.end
        }
    }

    @inline(__always)
    private mutating func set(_ slot: Int32, _ node: Int32, isNull: Bool) {
        if found[Int(slot)] >= 0 { return }
        found[Int(slot)] = node
        touched[touchedCount] = slot
        touchedCount &+= 1
        // A null hides the member of the second object, and is itself no reason to try a form.
        if !isNull { addCandidates(Int(slot)) }
    }

    @inline(never)
    private mutating func addPrefixes(of name: ByteView) {
        for prefix in 0..<image.prefixes.count where !prefixes[prefix] && name.hasPrefix(image.prefixes[prefix]) {
            prefixes[prefix] = true
            addCandidates(image.slotNames.count &+ prefix)
        }
    }

    @inline(__always)
    private mutating func addCandidates(_ row: Int) {
        let words = image.words
        let added = image.candidates.baseAddress.unsafelyUnwrapped + row &* words
        for word in 0..<words { candidates[word] |= added[word] }
    }

    /// Returns the node of a member, which may be null, or -1.
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
