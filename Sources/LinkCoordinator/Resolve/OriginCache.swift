internal import ByteStorage

/// A cache of the most recent origins: the bytes of `scheme://authority` and their parsed form.
///
/// Campaign links share a few origins. Entries are compared byte by byte, so a hit returns the same result as parsing.
/// Only origins without userinfo and port are stored.
struct OriginCache: ~Copyable {
    static let capacity = 4
    static let maxBytes = 64

    struct Entry {
        var count = 0
        var block: Int32 = 0
        var schemeNumber: Int32?
        var schemeCount = 0
        /// The length of the lowercase host.
        var hostCount = 0
        /// The serial number of the table, which is unique within the process.
        var table: UInt64 = 0
        /// The last eight bytes of the origin, or all of them padded with zeros.
        ///
        /// `mask` selects the bytes to compare, which begin at `wordOffset` in the origin.
        var word: UInt64 = 0
        var mask: UInt64 = 0
        var wordOffset = 0
    }

    private let entries: UnsafeMutablePointer<Entry>
    private let texts: UnsafeMutablePointer<UInt8>
    private let hosts: UnsafeMutablePointer<UInt8>
    private var next = 0
    /// Lends the hosts, which are valid until another origin is stored.
    private let lender = ViewLender()

    init() {
        entries = .allocate(capacity: Self.capacity)
        entries.initialize(repeating: Entry(), count: Self.capacity)
        texts = .allocate(capacity: Self.capacity * Self.maxBytes)
        hosts = .allocate(capacity: Self.capacity * Self.maxBytes)
    }

    deinit {
        entries.deallocate()
        texts.deallocate()
        hosts.deallocate()
    }

    /// Returns the index of the entry whose origin `link` begins with, or -1.
    ///
    /// At least eight bytes must be readable from the start of the link.
    @inline(__always)
    func find(_ link: ByteView, table: UInt64) -> Int {
        for index in 0..<Self.capacity {
            let entry = entries + index
            if link.count < entry.pointee.count { continue }
            let word = UnsafeRawPointer(link.start).loadUnaligned(
                fromByteOffset: entry.pointee.wordOffset, as: UInt64.self)
            // The last bytes distinguish origins best, because all web origins begin alike.
            if (word ^ entry.pointee.word) & entry.pointee.mask != 0 { continue }
            if isOrigin(of: link, index, entry, table: table) { return index }
        }
        return -1
    }

    private func isOrigin(
        of link: ByteView, _ index: Int, _ entry: UnsafePointer<Entry>, table: UInt64
    ) -> Bool {
        let count = entry.pointee.count
        if count == 0 || entry.pointee.table != table { return false }
        if link.count > count {
            let next = link.start[count]
            if next != UInt8(ascii: "/") && next != UInt8(ascii: "?") && next != UInt8(ascii: "#") { return false }
        }
        return ByteView.equalBytes(link.start, texts + index * Self.maxBytes, count)
    }

    /// Returns the entry at an index that `find` returned.
    func entry(_ index: Int) -> UnsafePointer<Entry> { UnsafePointer(entries + index) }

    func host(_ index: Int) -> ByteView {
        lender.lend(hosts + index * Self.maxBytes, count: entries[index].hostCount)
    }

    /// Stores an origin in place of the oldest entry.
    mutating func insert(_ origin: ByteView, host: ByteView, entry: Entry) {
        if origin.count > Self.maxBytes || host.count > Self.maxBytes { return }
        lender.revoke()
        let index = next
        next = (next + 1) % Self.capacity
        (texts + index * Self.maxBytes).update(from: origin.start, count: origin.count)
        (hosts + index * Self.maxBytes).update(from: host.start, count: host.count)
        entries[index] = entry
        entries[index].count = origin.count
        entries[index].hostCount = host.count
        entries[index].wordOffset = max(0, origin.count - 8)
        entries[index].word = ByteScan.head(of: origin.dropFirst(max(0, origin.count - 8)))
        entries[index].mask = origin.count >= 8 ? .max : ~(UInt64.max << UInt64(origin.count * 8))
    }
}
