internal import ByteStorage
internal import CWideBytes

/// The places of numbers in LMDB's file, which has version 1 of its format, with pointers of 64 bits.
enum PageFormat {
    /// The number of bytes before the offsets of a page's entries, or before the contents of another page.
    static let head = 16
    /// The place of a page's flags: 1 for a branch, 2 for a leaf, 4 for a large value, and 8 for a meta page.
    static let flags = 10
    /// The places of the end of a page's offsets, and of the start of its entries.
    static let (lower, upper) = (12, 14)
    /// The place of an entry's upper bits: of the page below, or a flag for a value that has pages of its own.
    static let entryHigh = 4
    /// The place of the number of bytes of an entry's key.
    static let keyCount = 6
    /// The number of bytes before an entry's key.
    static let entryHead = 8
    /// The places in a meta page, after its head, of the two trees, of the last page, and of the transaction.
    static let (freeTree, mainTree, lastPage, transaction) = (24, 72, 120, 128)
    /// The places in a tree of its depth and of its root.
    static let (depth, root) = (6, 40)
}

/// A search for several ids at once in LMDB's pages.
///
/// A search for one id waits for memory at nearly every step. This one makes the same step for all ids, and asks the
/// processor for the memory of their next steps meanwhile.
///
/// A device that it finds belongs to the state that is read, because the search begins at the state's root. It does not
/// trust the pages: it reads nothing outside of the file, ends after the depth of the tree, and skips an id whose
/// pages are not as expected. What it does not find can exist, so that LMDB has to be asked.
struct PageSearch: ~Copyable {
    /// The limit of the ids of a search.
    static let limit = 32

    /// The pages of a state.
    struct Pages {
        var file: UnsafeRawPointer
        var count: UInt64
        var pageBytes: Int
        var root: UInt64
        var depth: Int
    }

    /// An id that is searched, and the entries of a page that can lead to it.
    private struct Search {
        var id: UnsafeRawPointer
        var idCount: Int
        /// The `head` of the id, by which most ids are ordered.
        var head: Int
        var page: UnsafeRawPointer
        /// The first of the entries.
        var first = 0
        /// The number of the entries, which is 0 if the search has failed.
        var count = 1
    }

    /// A device that was found.
    private struct Found {
        var id: UnsafeRawBufferPointer
        var value: UnsafeRawBufferPointer
    }

    private let searches = UnsafeMutablePointer<Search>.allocate(capacity: PageSearch.limit)
    private let found = UnsafeMutablePointer<Found>.allocate(capacity: PageSearch.limit)
    private var foundCount = 0
    /// The place of the device that was taken last, because devices are usually taken in order.
    private var last = 0
    private var isUsed = true
    /// The number of searches that are skipped, because none of the last devices was taken.
    private var skipped = 0

    init() {}

    deinit {
        searches.deallocate()
        found.deallocate()
    }

    /// Forgets what was found.
    mutating func removeAll() {
        foundCount = 0
        last = 0
    }

    /// Returns the value of a device that the last search has found.
    @inline(__always)
    mutating func value(of id: ByteView) -> UnsafeRawBufferPointer? {
        var at = last
        while at < foundCount {
            let device = found[at]
            if device.id.count == id.count, ByteView(device.id) == id {
                (last, isUsed) = (at, true)
                return device.value
            }
            at &+= 1
        }
        return nil
    }

    /// Searches ids, at most `limit` of them.
    mutating func run(_ ids: UnsafeBufferPointer<ByteView>, in pages: Pages) {
        removeAll()
        if skipped > 0 { return skipped -= 1 }
        if !isUsed { skipped = 15 }
        isUsed = false
        guard let root = Self.page(pages.root, of: pages), pages.depth < 32 else { return }
        var count = 0
        for id in ids.prefix(Self.limit) where id.count >= 8 && id.count <= StoredDevice.nameLimit {
            searches[count] = Search(
                id: UnsafeRawPointer(id.start), idCount: id.count, head: Self.head(ByteScan.head(of: id)), page: root)
            count &+= 1
        }
        var level = pages.depth
        while level > 0 {
            descend(count, pages.pageBytes, isLeaf: level == 1)
            level &-= 1
            for index in 0..<count where searches[index].count == 1 {
                if level > 0 { enterPage(index, pages) } else { take(index, pages.pageBytes) }
            }
        }
    }

    /// Finds the last entry of each page that does not follow the id.
    @inline(__always)
    private func descend(_ count: Int, _ pageBytes: Int, isLeaf: Bool) {
        var most = 0
        for index in 0..<count where searches[index].count > 0 {
            let page = searches[index].page
            let lower = Self.number(page, PageFormat.lower)
            let flags = Self.number(page, PageFormat.flags)
            let isExpected = flags == (isLeaf ? 2 : 1) && lower > PageFormat.head && lower <= pageBytes
            searches[index].first = 0
            searches[index].count = isExpected ? (lower &- PageFormat.head) / 2 : 0
            most = max(most, searches[index].count)
            prefetch(index)
        }
        while most > 1 {
            most &-= most / 2
            for index in 0..<count {
                let half = searches[index].count / 2
                guard half > 0 else { continue }
                let middle = searches[index].first &+ half
                searches[index].first &+= half & ~follows(middle, index, pageBytes)
                searches[index].count &-= half
                prefetch(index)
            }
        }
    }

    /// Asks for the memory of the next entry of a search.
    @inline(__always)
    private func prefetch(_ index: Int) {
        let entry = self.entry(searches[index].first &+ searches[index].count / 2, of: searches[index].page)
        // Of most entries, only the first eight bytes of the id are read.
        wide_prefetch(entry.start, 1)
        wide_prefetch(entry.start + PageFormat.entryHead + 8, 1)
    }

    /// Returns a mask: all bits if an entry follows the id of a search or is not as expected, and none otherwise.
    ///
    /// A branch on the order of the ids would be predicted wrongly half of the time.
    @inline(__always)
    private func follows(_ number: Int, _ index: Int, _ pageBytes: Int) -> Int {
        let entry = self.entry(number, of: searches[index].page)
        let id = PageFormat.entryHead + 1
        guard entry.offset &+ id &+ 8 <= pageBytes else { return -1 }
        if entry.start.load(fromByteOffset: PageFormat.entryHead, as: UInt8.self) == StoreKey.device,
            Self.number(entry.start, PageFormat.keyCount) > 8
        {
            let bytes = entry.start.loadUnaligned(fromByteOffset: id, as: UInt64.self)
            let difference = searches[index].head &- Self.head(bytes)
            if difference != 0 { return difference &>> 63 }
        }
        return followsInAllBytes(entry.start, entry.offset, index, pageBytes)
    }

    @inline(never)
    private func followsInAllBytes(_ entry: UnsafeRawPointer, _ offset: Int, _ index: Int, _ pageBytes: Int) -> Int {
        let count = Self.number(entry, PageFormat.keyCount)
        guard count > 0, offset &+ PageFormat.entryHead &+ count <= pageBytes else { return -1 }
        let key = UnsafeRawBufferPointer(start: entry + PageFormat.entryHead, count: count)
        guard key[0] == StoreKey.device else { return key[0] > StoreKey.device ? -1 : 0 }
        let id = UnsafeRawBufferPointer(start: searches[index].id, count: searches[index].idCount)
        return StoreKey.compare(UnsafeRawBufferPointer(rebasing: key[1...]), id) > 0 ? -1 : 0
    }

    /// Returns the first eight bytes of an id as a number without its lowest bit, so that a difference has a sign.
    @inline(__always)
    private static func head(_ bytes: UInt64) -> Int { Int(truncatingIfNeeded: bytes.byteSwapped &>> 1) }

    /// Goes on to the page below the entry that was found.
    @inline(__always)
    private func enterPage(_ index: Int, _ pages: Pages) {
        let entry = self.entry(searches[index].first, of: searches[index].page)
        var page: UnsafeRawPointer?
        if entry.offset &+ PageFormat.entryHead <= pages.pageBytes {
            let low = UInt64(entry.start.loadUnaligned(as: UInt32.self))
            page = Self.page(low | UInt64(Self.number(entry.start, PageFormat.entryHigh)) << 32, of: pages)
        }
        guard let page else { return searches[index].count = 0 }
        searches[index].page = page
        wide_prefetch(page, 128)
    }

    /// Keeps the device of the entry that was found.
    @inline(__always)
    private mutating func take(_ index: Int, _ pageBytes: Int) {
        let entry = self.entry(searches[index].first, of: searches[index].page)
        let keyStart = PageFormat.entryHead
        guard entry.offset &+ keyStart <= pageBytes else { return }
        let keyCount = Self.number(entry.start, PageFormat.keyCount)
        let valueCount = Int(entry.start.loadUnaligned(as: UInt32.self))
        // A value with pages of its own is left to LMDB.
        guard keyCount == searches[index].idCount &+ 1, Self.number(entry.start, PageFormat.entryHigh) == 0,
            entry.offset &+ keyStart &+ keyCount &+ valueCount <= pageBytes,
            entry.start.load(fromByteOffset: keyStart, as: UInt8.self) == StoreKey.device
        else { return }
        let key = entry.start + keyStart
        wide_prefetch(key, UInt(min(keyCount &+ valueCount, 256) &+ 63))
        found[foundCount] = Found(
            id: UnsafeRawBufferPointer(start: key + 1, count: keyCount &- 1),
            value: UnsafeRawBufferPointer(start: key + keyCount, count: valueCount))
        foundCount &+= 1
    }

    /// Returns the start of an entry, and its offset in the page, which can be beyond the end.
    @inline(__always)
    private func entry(_ number: Int, of page: UnsafeRawPointer) -> (start: UnsafeRawPointer, offset: Int) {
        let offset = Self.number(page, PageFormat.head &+ 2 &* number)
        return (page + offset, offset)
    }

    @inline(__always)
    private static func number(_ start: UnsafeRawPointer, _ place: Int) -> Int {
        Int(start.loadUnaligned(fromByteOffset: place, as: UInt16.self))
    }

    @inline(__always)
    private static func page(_ number: UInt64, of pages: Pages) -> UnsafeRawPointer? {
        number < pages.count ? pages.file + Int(number) &* pages.pageBytes : nil
    }
}
