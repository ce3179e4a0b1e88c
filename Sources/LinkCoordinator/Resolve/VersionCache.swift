internal import StrictJSON

/// Versions met last, by their bytes: an app's users run a handful of its versions.
///
/// Texts of up to eight bytes that read as versions without a pre-release are kept. Exact bytes are compared, so a hit
/// cannot change an answer.
struct VersionCache: ~Copyable {
    private static let places = 64

    private struct Entry {
        var word: UInt64
        var count: Int
        var version: Version?
    }

    private let entries: UnsafeMutablePointer<Entry>

    init() {
        entries = .allocate(capacity: Self.places)
        entries.initialize(repeating: Entry(word: 0, count: 0, version: nil), count: Self.places)
    }

    deinit { entries.deallocate() }

    /// The version that a text is, or nil if it is none.
    @inline(__always)
    func read(_ text: ByteView) -> Version? {
        if text.count > 8 || text.isEmpty { return Version(text) }
        let word = ByteScan.head(of: text)
        let entry = entries + Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) &>> 58)
        if entry.pointee.word == word && entry.pointee.count == text.count { return entry.pointee.version }
        return keep(text, word, entry)
    }

    @inline(never)
    private func keep(_ text: ByteView, _ word: UInt64, _ entry: UnsafeMutablePointer<Entry>) -> Version? {
        let version = Version(text)
        // A pre-release borrows the bytes of its text.
        if version.map({ $0.prerelease.isEmpty }) ?? true {
            entry.pointee = Entry(word: word, count: text.count, version: version)
        }
        return version
    }
}
