/// A check of LMDB's file before LMDB reads it.
///
/// LMDB trusts its pages: a damaged one can end the process, or let the writer reuse a page that is in use. So all
/// pages that the newest state can reach are read once: their bounds, the order of their keys, that no page is used
/// twice, the checksums of all devices, their number, and that the links match the devices. It knows version 1 of
/// LMDB's format, with pointers of 64 bits.
struct StoreCheck {
    /// One of the two trees of the file.
    private enum Tree {
        /// The pages that can be used again, by the number of the transaction that released them.
        case free
        case main
    }

    /// The numbers of pages and entries of a tree.
    private struct Figures: Equatable {
        var branches: UInt64 = 0
        var leaves: UInt64 = 0
        var overflows: UInt64 = 0
        var entries: UInt64 = 0
    }

    private let file: UnsafeRawBufferPointer
    private var pageBytes = 0
    /// The number of pages that the newest state knows of.
    private var pageLimit: UInt64 = 0
    private var transaction: UInt64 = 0
    /// For each page one bit, which is set when the page is used.
    private var used: [UInt64] = []
    /// The number of free pages after the end of the file.
    private var absent: UInt64 = 0
    private var figures = Figures()
    /// The last key, or the last key of a branch page, which is not greater than the next key.
    private var floor = UnsafeRawBufferPointer(start: nil, count: 0)
    private var isFloorIncluded = true
    private var state: StoreState?
    private var count = 0
    private var digest: UInt64 = 0
    /// The sum of the links that the devices imply, minus the sum of the links that exist.
    private var links: UInt64 = 0

    /// Checks the bytes of a file, and returns the store's state.
    ///
    /// - Throws: `.damaged` or `.format`.
    static func run(_ file: UnsafeRawBufferPointer) throws(RegistryStore.DropReason) -> StoreState {
        var check = StoreCheck(file: file)
        return try check.run()
    }

    private init(file: UnsafeRawBufferPointer) { self.file = file }

    private mutating func run() throws(RegistryStore.DropReason) -> StoreState {
        let meta = try newestMeta()
        transaction = try load(meta + PageFormat.transaction)
        let last: UInt64 = try load(meta + PageFormat.lastPage)
        // `mdb_txn_id` is a signed integer in Swift, and no store reaches its limit.
        guard transaction > 0, transaction < 1 << 63, last >= 1, last < 1 << 48 else { throw .damaged }
        pageLimit = last + 1
        let present = UInt64(file.count / pageBytes)
        used = Array(repeating: 0, count: Int(present) / 64 + 1)
        try walk(.free, at: meta + PageFormat.freeTree, flags: 8)
        try walk(.main, at: meta + PageFormat.mainTree, flags: 0)
        // Pages at the end that were never written are free. Without this check a wrong number of pages would leave a
        // hole in the file.
        guard absent == pageLimit - min(pageLimit, present) else { throw .damaged }
        guard let state, state.count == count, state.digest == digest, links == 0 else { throw .damaged }
        return state
    }

    /// Returns the place of the newer of the two meta pages, and sets the size of pages.
    private mutating func newestMeta() throws(RegistryStore.DropReason) -> Int {
        pageBytes = Int(try load(PageFormat.head + PageFormat.freeTree) as UInt32)
        guard pageBytes >= 512, pageBytes <= 65536, pageBytes.nonzeroBitCount == 1 else { throw .damaged }
        var newest = 0
        var newestTransaction: UInt64?
        for page in 0..<2 {
            let meta = page * pageBytes + PageFormat.head
            guard try load(meta - PageFormat.head + PageFormat.flags) as UInt16 == 8,
                try load(meta) as UInt32 == 0xBEEF_C0DE
            else { throw .damaged }
            guard try load(meta + 4) as UInt32 == 1 else { throw .format }
            let transaction: UInt64 = try load(meta + PageFormat.transaction)
            // LMDB creates both with 0, and then writes even transactions to the first and odd ones to the second.
            guard transaction == 0 || transaction % 2 == page,
                try load(meta + PageFormat.freeTree) as UInt32 == pageBytes
            else { throw .damaged }
            if let newestTransaction, newestTransaction >= transaction { continue }
            (newest, newestTransaction) = (meta, transaction)
        }
        return newest
    }

    /// Checks a tree whose root and numbers are at a place of a meta page.
    private mutating func walk(_ tree: Tree, at place: Int, flags: UInt16) throws(RegistryStore.DropReason) {
        let depth = Int(try load(place + PageFormat.depth) as UInt16)
        let root: UInt64 = try load(place + PageFormat.root)
        guard try load(place + 4) as UInt16 == flags, depth < 32, (depth == 0) == (root == .max) else {
            throw .damaged
        }
        figures = Figures()
        floor = UnsafeRawBufferPointer(start: nil, count: 0)
        isFloorIncluded = true
        if depth > 0 { try walk(tree, page: root, depth: depth) }
        let expected = Figures(
            branches: try load(place + 8), leaves: try load(place + 16), overflows: try load(place + 24),
            entries: try load(place + 32))
        guard figures == expected else { throw .damaged }
    }

    /// Checks a page and the pages below it.
    ///
    /// - Parameter depth: The number of levels, which is 1 for a leaf.
    private mutating func walk(_ tree: Tree, page: UInt64, depth: Int) throws(RegistryStore.DropReason) {
        let start = try take(page)
        let lower = Int(try load(start + PageFormat.lower) as UInt16)
        let upper = Int(try load(start + PageFormat.upper) as UInt16)
        let flags: UInt16 = try load(start + PageFormat.flags)
        guard flags == (depth == 1 ? 2 : 1), lower >= PageFormat.head, lower % 2 == 0, lower <= upper,
            upper <= pageBytes
        else { throw .damaged }
        let entries = (lower - PageFormat.head) / 2
        guard entries >= (depth > 1 && tree == .main ? 2 : 1) else { throw .damaged }
        if depth > 1 { figures.branches += 1 } else { figures.leaves += 1 }
        var total = 0
        for index in 0..<entries {
            let offset = Int(try load(start + PageFormat.head + 2 * index) as UInt16)
            guard offset >= upper, offset % 2 == 0, offset + PageFormat.entryHead <= pageBytes else { throw .damaged }
            let node = start + offset
            let keyBytes = Int(try load(node + PageFormat.keyCount) as UInt16)
            let room = pageBytes - offset - PageFormat.entryHead - keyBytes
            guard room >= 0 else { throw .damaged }
            let key = bytes(node + PageFormat.entryHead, keyBytes)
            let number = UInt64(try load(node) as UInt16) | UInt64(try load(node + 2) as UInt16) << 16
            let high: UInt16 = try load(node + PageFormat.entryHigh)
            if depth > 1 {
                // The first key of a branch page has no meaning.
                if index > 0 { try raise(to: key, tree, isIncluded: true) }
                try walk(tree, page: number | UInt64(high) << 32, depth: depth - 1)
                total += even(PageFormat.entryHead + keyBytes)
            } else {
                try raise(to: key, tree, isIncluded: false)
                let isOutside = high == 1
                guard high <= 1, isOutside ? room >= 8 : number <= UInt64(room) else { throw .damaged }
                let place = node + PageFormat.entryHead + keyBytes
                let value = try isOutside ? overflow(at: place, Int(number)) : bytes(place, Int(number))
                total += even(PageFormat.entryHead + keyBytes + (isOutside ? 8 : Int(number)))
                figures.entries += 1
                try read(tree, key, value)
            }
        }
        guard total == pageBytes - upper else { throw .damaged }
    }

    /// Checks that a key is in order.
    private mutating func raise(
        to key: UnsafeRawBufferPointer, _ tree: Tree, isIncluded: Bool
    ) throws(RegistryStore.DropReason) {
        guard key.count > 0, key.count <= 511, tree == .main || key.count == 8 else { throw .damaged }
        if floor.count > 0 {
            var order = StoreKey.compare(floor, key)
            if tree == .free {
                let (low, high) = (floor.loadUnaligned(as: UInt64.self), key.loadUnaligned(as: UInt64.self))
                order = low < high ? -1 : low == high ? 0 : 1
            }
            guard order < 0 || order == 0 && isFloorIncluded else { throw .damaged }
        }
        (floor, isFloorIncluded) = (key, isIncluded)
    }

    /// Returns a value that has pages of its own.
    private mutating func overflow(
        at place: Int, _ count: Int
    ) throws(RegistryStore.DropReason) -> UnsafeRawBufferPointer {
        let page: UInt64 = try load(place)
        let start = try take(page)
        let pages = Int(try load(start + PageFormat.lower) as UInt32)
        guard try load(start + PageFormat.flags) as UInt16 == 4, pages > 0,
            PageFormat.head + count <= pages * pageBytes
        else { throw .damaged }
        for next in 1..<UInt64(pages) { _ = try take(page + next, isFirst: false) }
        figures.overflows += UInt64(pages)
        return bytes(start + PageFormat.head, count)
    }

    /// Marks a page as used, and returns its place in the file.
    private mutating func take(
        _ page: UInt64, isFirst: Bool = true
    ) throws(RegistryStore.DropReason) -> Int {
        guard page >= 2, page < pageLimit, page < UInt64(file.count / pageBytes) else { throw .damaged }
        let start = Int(page) * pageBytes
        if isFirst { guard try load(start) as UInt64 == page else { throw .damaged } }
        try mark(page)
        return start
    }

    private mutating func mark(_ page: UInt64) throws(RegistryStore.DropReason) {
        let (word, bit) = (Int(page / 64), UInt64(1) << (page % 64))
        guard used[word] & bit == 0 else { throw .damaged }
        used[word] |= bit
    }

    /// Checks an entry of a leaf.
    private mutating func read(
        _ tree: Tree, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(RegistryStore.DropReason) {
        guard tree == .main else { return try readFree(key, value) }
        let rest = UnsafeRawBufferPointer(rebasing: key[1...])
        switch key[0] {
        case StoreKey.state where rest.isEmpty: state = try StoreState(value)
        case StoreKey.device:
            // The key of the state is the first one.
            guard let state, let device = StoredDevice(value, id: rest) else { throw .damaged }
            count += 1
            digest &+= UInt64(device.checksum)
            if let hash = device.userHash(state.key) { links &+= StoreHash.hash(rest, seed: hash) }
        case StoreKey.link:
            guard key.count > StoreKey.linkHead, value.isEmpty else { throw .damaged }
            let hash = UInt64(bigEndian: rest.loadUnaligned(as: UInt64.self))
            links &-= StoreHash.hash(UnsafeRawBufferPointer(rebasing: rest[8...]), seed: hash)
        default: throw .damaged
        }
    }

    /// Checks a list of free pages: their number, and then the pages in descending order.
    private mutating func readFree(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(RegistryStore.DropReason) {
        guard value.count >= 8, key.loadUnaligned(as: UInt64.self) <= transaction else { throw .damaged }
        let pages = value.loadUnaligned(as: UInt64.self)
        guard pages < UInt64(value.count / 8) else { throw .damaged }
        var previous = pageLimit
        for index in 0..<Int(pages) {
            let page = value.loadUnaligned(fromByteOffset: 8 + 8 * index, as: UInt64.self)
            guard page >= 2, page < previous else { throw .damaged }
            previous = page
            if page < UInt64(file.count / pageBytes) { try mark(page) } else { absent += 1 }
        }
    }

    private func even(_ number: Int) -> Int { (number + 1) & ~1 }

    private func bytes(_ place: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: file[place..<place + count])
    }

    private func load<Number: FixedWidthInteger & BitwiseCopyable>(
        _ place: Int
    ) throws(RegistryStore.DropReason) -> Number {
        guard place >= 0, file.count - place >= MemoryLayout<Number>.size else { throw .damaged }
        return file.loadUnaligned(fromByteOffset: place, as: Number.self)
    }
}
