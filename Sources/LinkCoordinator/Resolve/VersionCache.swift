internal import ByteStorage

/// A cache of the most recent versions of one kind, by their bytes.
///
/// Most devices run one of a few versions of an app.
///
/// It stores texts of up to eight bytes that are versions without a pre-release, or not versions at all. Entries are
/// compared byte by byte, so a hit returns the same result as parsing.
struct VersionCache: ~Copyable {
    private static let slotCount = 64

    private struct Entry {
        var word: UInt64 = 0
        var count = 0
        var isVersion = false
        var version = Version.zero
    }

    private let entries: UnsafeMutablePointer<Entry>
    /// Selects which of the two positions of a text is replaced next.
    private var next = 0

    /// Creates an empty cache, with one additional entry for texts that are not cached.
    init() {
        entries = .allocate(capacity: Self.slotCount + 1)
        entries.initialize(repeating: Entry(), count: Self.slotCount + 1)
    }

    deinit { entries.deallocate() }

    /// Returns the version of a text, or nil if it is not a version.
    ///
    /// The result is valid until the next text is read.
    @inline(__always)
    mutating func read(_ text: ByteView) -> UnsafePointer<Version>? {
        if text.count > 8 || text.isEmpty { return parseUncached(text) }
        let word = ByteScan.head(of: text)
        let slot = Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) &>> 58)
        var entry = entries + slot
        if entry.pointee.word != word || entry.pointee.count != text.count {
            // The second position prevents two texts with the same hash from replacing each other repeatedly.
            entry = entries + (slot ^ 1)
            if entry.pointee.word != word || entry.pointee.count != text.count {
                return parseAndInsert(text, word, slot)
            }
        }
        return entry.pointee.isVersion ? Self.version(entry) : nil
    }

    @inline(__always)
    private static func version(_ entry: UnsafeMutablePointer<Entry>) -> UnsafePointer<Version> {
        UnsafePointer(entry.pointer(to: \.version).unsafelyUnwrapped)
    }

    @inline(never)
    private mutating func parseAndInsert(_ text: ByteView, _ word: UInt64, _ slot: Int) -> UnsafePointer<Version>? {
        let version = Version(text)
        // A pre-release borrows the bytes of its text.
        if let version, !version.prerelease.isEmpty { return parseUncached(text) }
        next ^= 1
        let entry = entries + (slot ^ next)
        entry.pointee = Entry(
            word: word, count: text.count, isVersion: version != nil, version: version ?? Version.zero)
        return version == nil ? nil : Self.version(entry)
    }

    /// Reads a text that is not cached.
    @inline(never)
    private mutating func parseUncached(_ text: ByteView) -> UnsafePointer<Version>? {
        guard let version = Version(text) else { return nil }
        let entry = entries + Self.slotCount
        entry.pointee.version = version
        return Self.version(entry)
    }
}
