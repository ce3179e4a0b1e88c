public import ByteStorage

/// The known names of a kind of object, with a prediction for each position of a member.
///
/// Producers write the same members in the same order with the same white space. For each position the shape stores the
/// bytes between two values, with the name, and compares them in one step. If they differ, the name is scanned and
/// stored. Because exact bytes are compared, a wrong prediction costs time but never changes a result. After too many
/// misses predictions pause for a while. One shape serves one open object at a time.
public struct MemberShape: ~Copyable {
    /// The tag of a name that is not in the list.
    public static let unknown: UInt8 = 255

    @usableFromInline static let slotCount = 24
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
        /// The name's bit in `known`, or in the filter of the other names.
        @usableFromInline var bit: UInt64 = 0
        /// A Boolean value that indicates whether the slot has a member whose value can be read as a plain string.
        @usableFromInline var isText = false

        /// Returns a Boolean value that indicates whether the learned bytes occur at `position`.
        ///
        /// As many bytes as are compared must be readable there.
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
    @usableFromInline var pauseRemaining: Int32 = 0

    /// Creates a shape with the names that get tags: 0 for the first, 1 for the next, and so on, at most 64.
    ///
    /// - Parameters:
    ///   - names: The names that the caller's code uses.
    ///   - extra: The names from a configuration, whose tags follow.
    ///   - plain: The tags, as bits, whose values `readPlainMembers` reads. It always reads the values of names without
    ///     a tag.
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
        slots = .allocate(capacity: Self.slotCount + 1)
        slots.initialize(repeating: Slot(), count: Self.slotCount + 1)
    }

    deinit {
        slots.deallocate()
        known.deallocate()
        for copy in extra { copy.deallocate() }
    }

    @inlinable
    func slot(at memberIndex: Int) -> UnsafeMutablePointer<Slot> { slots + memberIndex }

    /// Returns a Boolean value that indicates whether the member at `position` is the one learned for `memberIndex`.
    ///
    /// Returns false if too few bytes are left for a comparison in one step. `predictsNearEnd` handles that case.
    @inlinable
    @inline(__always)
    mutating func predicts(
        _ position: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, memberIndex: Int
    ) -> Bool {
        if memberIndex >= Self.slotCount { return false }
        let slot = slots + memberIndex
        let length = Int(slot.pointee.length)
        if end - position < (length <= 16 ? 16 : Self.bytes) || length == 0 { return false }
        if !slot.pointee.isAt(position) { return false }
        if score > 0 { score &-= 1 }
        return true
    }

    /// Returns the result of `predicts`, compared byte by byte.
    func predictsNearEnd(_ position: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, memberIndex: Int) -> Bool {
        if memberIndex >= Self.slotCount { return false }
        let slot = slots + memberIndex
        let length = Int(slot.pointee.length)
        if length == 0 || end - position < length { return false }
        return withUnsafeBytes(of: &slot.pointee.words) { words in
            for index in 0..<length where words[index] != position[index] { return false }
            return true
        }
    }

    /// Appends the name of the member that was learned for a position to the open record of `arena`.
    ///
    /// A slot lends no view of its bytes because it can learn another member, or be cleared, while an object is open.
    func copyName(at memberIndex: Int, to arena: inout OutputArena) {
        let slot = slots + memberIndex
        withUnsafeBytes(of: &slot.pointee.words) { words in
            let first = Int(slot.pointee.nameStart)
            for index in first..<first + Int(slot.pointee.nameLength) { arena.append(byte: words[index]) }
        }
    }

    /// Returns the tag of a name.
    public func tag(of name: ByteView) -> UInt8 {
        var index = 0
        while index < knownCount {
            if name == known[index] { return UInt8(truncatingIfNeeded: index) }
            index += 1
        }
        return Self.unknown
    }

    /// Counts a miss and returns a Boolean value that indicates whether to learn now, which pauses after too many
    /// misses.
    mutating func mayLearn(memberIndex: Int) -> Bool {
        if pauseRemaining > 0 {
            pauseRemaining -= 1
            if pauseRemaining == 0 { score = 0 }
            return false
        }
        if memberIndex >= Self.slotCount { return false }
        score += 1
        if score > 1024 {
            pauseRemaining = 4096
            for index in 0..<Self.slotCount { slots[index] = Slot() }
            return false
        }
        return true
    }

    /// Stores the bytes between the last value and this one as the prediction for their position.
    mutating func learn(
        memberIndex: Int, from start: UnsafePointer<UInt8>, to value: UnsafePointer<UInt8>, name: ByteView, tag: UInt8,
        hash: UInt32
    ) {
        let length = value - start
        let slot = slots + memberIndex
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

/// A fast path for predicted members whose values are plain strings.
extension JSONCursor {
    /// Reads members while each is the predicted one and its value is a plain string.
    ///
    /// A plain string has only bytes from 0x20 to 0x7E and no backslash. It needs no unescaping, no UTF-8 check and, in
    /// a link, no check for forbidden bytes. The cursor stops before the first other member, which `nextMember` reads.
    /// The loop changes only positions, so they stay in registers.
    ///
    /// - Parameters:
    ///   - scope: The object that the cursor is in.
    ///   - shape: The predictions for its members.
    ///   - body: A closure that receives the tag of each name and the value between its quotes.
    @inlinable
    @inline(__always)
    public mutating func readPlainMembers(
        _ scope: inout ObjectScope, _ shape: inout MemberShape, body: (_ tag: UInt8, _ value: ByteView) -> Void
    ) {
        let end = end
        var at = position
        var memberIndex = min(scope.memberIndex, MemberShape.slotCount)
        let first = memberIndex
        var slot = UnsafePointer(shape.slots + memberIndex)
        var known = scope.known
        var filter = scope.filter
        // The slot after the last position never predicts a member.
        while slot.pointee.isText {
            let value = at + (Int(slot.pointee.length) &+ 1)
            if end - value < 16 || !slot.pointee.isAt(at) || value[-1] != UInt8(ascii: "\"") { break }
            let close = Self.plainEnd(of: value, end)
            if close == end || close.pointee != UInt8(ascii: "\"") { break }
            let bit = slot.pointee.bit
            let tag = slot.pointee.tag
            if tag < 64 {
                if known & bit != 0 { break }
                known |= bit
            } else {
                if filter & bit != 0 { break }
                filter |= bit
                scope.unlisted |= 1 &<< UInt32(truncatingIfNeeded: memberIndex)
            }
            body(tag, part(value, count: close - value))
            at = close + 1
            memberIndex &+= 1
            slot += 1
        }
        if memberIndex == first { return }
        position = at
        scope.known = known
        scope.filter = filter
        scope.memberIndex = memberIndex
        scope.started = true
        shape.score = max(0, shape.score &- Int32(truncatingIfNeeded: memberIndex &- first))
    }

    /// Leaves an object that ends here if its names need no search for duplicates, or changes nothing and returns
    /// false.
    @inlinable
    @inline(__always)
    public mutating func leaveObjectIfPossible(_ scope: borrowing ObjectScope) -> Bool {
        guard position < end, position.pointee == UInt8(ascii: "}"), scope.started, nameCount == scope.firstName else {
            return false
        }
        position += 1
        depth &-= 1
        return true
    }

    /// Returns the address of the first byte from `start` on that is not plain, such as the closing quote, or `end`.
    ///
    /// - Parameter start: An address at least 16 bytes before `end`.
    @inlinable
    @inline(__always)
    static func plainEnd(of start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        var at = start
        var stops = WideBytes.stops(in: WideBytes.load(at))
        while WideBytes.isNone(stops) {
            at += 16
            if end - at < 16 {
                if at == end { return end }
                // These are the last sixteen bytes of the text. The bytes that were compared before are plain.
                at = end - 16
            }
            stops = WideBytes.stops(in: WideBytes.load(at))
        }
        return at + WideBytes.first(stops)
    }
}

extension ByteView {
    /// The hash of a name.
    ///
    /// It only excludes unequal names and selects an entry of a table, so crafted names with equal hashes are compared.
    @inlinable
    @inline(__always)
    public var nameHash: UInt32 {
        let bytes = UnsafeRawPointer(start)
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(truncatingIfNeeded: count)
        var tail: UInt64 = 0
        if count >= 8 {
            var index = 0
            while index &+ 8 < count {
                hash = (hash ^ bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) &* 0xBF58_476D_1CE4_E5B9
                hash ^= hash &>> 29
                index &+= 8
            }
            tail = bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
        } else if count >= 4 {
            let last = bytes.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
            tail = UInt64(bytes.loadUnaligned(as: UInt32.self)) | UInt64(last) &<< 32
        } else if count > 0 {
            tail = UInt64(self[0]) | UInt64(self[count &>> 1]) &<< 8 | UInt64(self[count &- 1]) &<< 16
        }
        hash = (hash ^ tail) &* 0x94D0_49BB_1331_11EB
        hash ^= hash &>> 32
        return UInt32(truncatingIfNeeded: hash ^ (hash &>> 17))
    }
}
