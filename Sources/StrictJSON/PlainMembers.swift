public import ByteStorage

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

    /// Leaves an object that ends here if its names need no search for duplicates; otherwise changes nothing and
    /// returns false.
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
                // These are the last sixteen bytes of the text; those that were compared before are plain.
                at = end - 16
            }
            stops = WideBytes.stops(in: WideBytes.load(at))
        }
        return at + WideBytes.first(stops)
    }
}
