public import ByteStorage

/// What a kind of object looks like: the names that its user knows, and what stood at each place last time.
///
/// Producers write the same members in the same order with the same white space. So for each place the bytes between
/// the last value and this one are kept and compared in one step; a miss reads the name the long way and keeps it.
/// Exact bytes are compared, so a guess can cost time but never change an answer. Where guesses keep missing they are
/// left off for a while. One shape serves one open object at a time.
public struct MemberShape: ~Copyable {
    /// The tag of a name that is not in the list.
    public static let unknown: UInt8 = 255

    @usableFromInline static let places = 24
    @usableFromInline static let bytes = 32

    @usableFromInline
    struct Slot {
        @usableFromInline var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        @usableFromInline var masks: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        @usableFromInline var length: UInt8 = 0
        @usableFromInline var nameStart: UInt8 = 0
        @usableFromInline var nameLength: UInt8 = 0
        @usableFromInline var tag: UInt8 = MemberShape.unknown
        @usableFromInline var hash: UInt32 = 0
        /// The name's bit among the known names, or in the filter of the others.
        @usableFromInline var bit: UInt64 = 0
        /// Whether something was learned and the member's value may be taken as a plain string.
        @usableFromInline var isText = false

        /// Whether what was learned stands at `position`, behind which as many bytes can be read as are compared.
        @inlinable
        @inline(__always)
        func isAt(_ position: UnsafePointer<UInt8>) -> Bool {
            let raw = UnsafeRawPointer(position)
            var difference = (raw.loadUnaligned(as: UInt64.self) ^ words.0) & masks.0
            difference |= (raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self) ^ words.1) & masks.1
            if length > 16 {
                difference |= (raw.loadUnaligned(fromByteOffset: 16, as: UInt64.self) ^ words.2) & masks.2
                difference |= (raw.loadUnaligned(fromByteOffset: 24, as: UInt64.self) ^ words.3) & masks.3
            }
            return difference == 0
        }
    }

    @usableFromInline let slots: UnsafeMutablePointer<Slot>
    @usableFromInline let known: UnsafeMutableBufferPointer<ByteView>
    private let extra: [UnsafeMutablePointer<UInt8>]
    private let knownCount: Int
    private let plain: UInt64
    @usableFromInline var score: Int32 = 0
    @usableFromInline var resting: Int32 = 0

    /// Makes a shape with the names that get a tag: the first 0, the next 1, and so on, at most 64 of them.
    ///
    /// - Parameters:
    ///   - names: Names that the user's code knows.
    ///   - extra: Names that it is told, by a configuration; their tags follow.
    ///   - plain: The tags, as bits, whose values `plainMembers` may take; those of names without a tag it always may.
    public init(_ names: [StaticString], extra: [[UInt8]] = [], plain: UInt64 = 0) {
        precondition(names.count + extra.count <= 64)
        known = .allocate(capacity: max(names.count + extra.count, 1))
        known.initialize(repeating: .empty)
        for (index, name) in names.enumerated() { known[index] = ByteView(name) }
        var copies: [UnsafeMutablePointer<UInt8>] = []
        for (index, name) in extra.enumerated() {
            let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: max(name.count, 1))
            for (offset, byte) in name.enumerated() { copy[offset] = byte }
            known[names.count + index] = ByteView(start: copy, count: name.count)
            copies.append(copy)
        }
        self.extra = copies
        knownCount = names.count + extra.count
        self.plain = plain
        slots = .allocate(capacity: Self.places + 1)
        slots.initialize(repeating: Slot(), count: Self.places + 1)
    }

    deinit {
        slots.deallocate()
        known.deallocate()
        for copy in extra { copy.deallocate() }
    }

    @inlinable
    func slot(_ place: Int) -> UnsafeMutablePointer<Slot> { slots + place }

    /// Whether the member that stands at `position` is the one that stood at this place last time.
    ///
    /// Says no where fewer bytes are left than it reads at once; `predictsNearEnd` answers there.
    @inlinable
    @inline(__always)
    mutating func predicts(
        _ position: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, place: Int
    ) -> Bool {
        if place >= Self.places { return false }
        let slot = slots + place
        let length = Int(slot.pointee.length)
        if end - position < (length <= 16 ? 16 : Self.bytes) || length == 0 { return false }
        if !slot.pointee.isAt(position) { return false }
        if score > 0 { score &-= 1 }
        return true
    }

    /// As `predicts`, byte by byte.
    func predictsNearEnd(_ position: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, place: Int) -> Bool {
        if place >= Self.places { return false }
        let slot = slots + place
        let length = Int(slot.pointee.length)
        if length == 0 || end - position < length { return false }
        return withUnsafeBytes(of: &slot.pointee.words) { words in
            for index in 0..<length where words[index] != position[index] { return false }
            return true
        }
    }

    /// Appends the name of the member that was learned for a place to the open record of `arena`.
    ///
    /// A slot lends no view of its bytes: it may learn another member, or be cleared, while an object is open.
    func copyName(at place: Int, to arena: inout OutputArena) {
        let slot = slots + place
        withUnsafeBytes(of: &slot.pointee.words) { words in
            let first = Int(slot.pointee.nameStart)
            for index in first..<first + Int(slot.pointee.nameLength) { arena.append(byte: words[index]) }
        }
    }

    /// The tag of a name.
    public func tag(of name: ByteView) -> UInt8 {
        var index = 0
        while index < knownCount {
            if name == known[index] { return UInt8(truncatingIfNeeded: index) }
            index += 1
        }
        return Self.unknown
    }

    /// Whether guesses are worth learning now: they rest after too many misses.
    mutating func mayLearn(place: Int) -> Bool {
        if resting > 0 {
            resting -= 1
            if resting == 0 { score = 0 }
            return false
        }
        if place >= Self.places { return false }
        score += 1
        if score > 1024 {
            resting = 4096
            for place in 0..<Self.places { slots[place] = Slot() }
            return false
        }
        return true
    }

    /// Keeps what stands between the last value and this one as the guess for its place.
    mutating func learn(
        place: Int, from start: UnsafePointer<UInt8>, to value: UnsafePointer<UInt8>, name: ByteView, tag: UInt8,
        hash: UInt32
    ) {
        let length = value - start
        let slot = slots + place
        if length > Self.bytes || name.start < start || name.end > value {
            slot.pointee = Slot()
            return
        }
        var words = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
        var masks = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
        withUnsafeMutableBytes(of: &words) { bytes in
            for index in 0..<length { bytes[index] = start[index] }
        }
        withUnsafeMutableBytes(of: &masks) { bytes in
            for index in 0..<length { bytes[index] = 0xFF }
        }
        slot.pointee = Slot(
            words: words, masks: masks, length: UInt8(length), nameStart: UInt8(name.start - start),
            nameLength: UInt8(name.count), tag: tag, hash: hash,
            bit: 1 &<< UInt64(tag < 64 ? UInt32(tag) : hash & 63),
            isText: tag >= 64 || plain & (1 &<< UInt64(tag)) != 0)
    }
}
