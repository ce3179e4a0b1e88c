/// The names met so far in the objects that are open, for finding a name that stands twice.
///
/// One stack serves all open objects: each owns the entries from its `firstName` on. A 64-bit filter in the scope
/// answers most questions; up to 16 names are compared one by one, more are sorted when their object ends, so that an
/// object of very many members costs n log n and not n squared.
struct NameList: ~Copyable {
    struct Entry {
        /// Bytes of the text, or of the cursor's scratch memory: nothing changes either before the next text.
        var name: ByteView
        var hash: UInt32
        var offset: Int
    }

    static let comparedAtOnce = 16

    private(set) var entries: UnsafeMutablePointer<Entry>
    private(set) var count = 0
    private var capacity = 64

    init() { entries = .allocate(capacity: 64) }

    deinit { entries.deallocate() }

    mutating func removeAll() { count = 0 }

    mutating func removeAll(from first: Int) { count = first }

    mutating func append(_ entry: Entry) {
        if count == capacity {
            let larger = UnsafeMutablePointer<Entry>.allocate(capacity: capacity * 2)
            larger.moveInitialize(from: entries, count: count)
            entries.deallocate()
            entries = larger
            capacity *= 2
        }
        entries[count] = entry
        count += 1
    }

    /// Whether `name` is among the entries from `first` on, looked for one by one.
    func contains(_ name: ByteView, hash: UInt32, from first: Int) -> Bool {
        var index = first
        while index < count {
            if entries[index].hash == hash && entries[index].name == name { return true }
            index += 1
        }
        return false
    }

    /// The offset of a name that stands twice from `first` on, or nil.
    mutating func duplicate(from first: Int) -> Int? {
        var slice = UnsafeMutableBufferPointer(start: entries + first, count: count - first)
        slice.sort { a, b in
            if a.hash != b.hash { return a.hash < b.hash }
            if a.name != b.name { return a.name < b.name }
            return a.offset < b.offset
        }
        var found: Int?
        for index in 1..<slice.count where slice[index].name == slice[index - 1].name {
            found = min(found ?? slice[index].offset, slice[index].offset)
        }
        return found
    }
}
