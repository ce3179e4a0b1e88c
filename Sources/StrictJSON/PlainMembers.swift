public import ByteStorage

/// Members without surprises: names that come as they came last time, with plain strings as values.
extension JSONCursor {
    /// Passes members while each is the one that its place predicts and its value is a plain string: all bytes of 0x20
    /// to 0x7E and none a backslash.
    ///
    /// Such a string needs no unescaping, no check of its UTF-8 and, in a link, none of forbidden bytes. The cursor
    /// stops before the first member of another kind, which `nextMember` then judges. Nothing but positions changes
    /// while members are passed, so that all of it stays in registers.
    ///
    /// - Parameters:
    ///   - scope: The object that the cursor is in.
    ///   - shape: What its members looked like last time.
    ///   - take: Gets the tag of each name and the value between its quotes.
    @inlinable
    @inline(__always)
    public mutating func plainMembers(
        _ scope: inout ObjectScope, _ shape: inout MemberShape, take: (_ tag: UInt8, _ value: ByteView) -> Void
    ) {
        let end = end
        var at = position
        var place = min(scope.place, MemberShape.places)
        let first = place
        var slot = UnsafePointer(shape.slots + place)
        var known = scope.known
        var filter = scope.filter
        // The slot behind the last place never predicts anything.
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
                scope.unlisted |= 1 &<< UInt32(truncatingIfNeeded: place)
            }
            take(tag, part(value, count: close - value))
            at = close + 1
            place &+= 1
            slot += 1
        }
        if place == first { return }
        position = at
        scope.known = known
        scope.filter = filter
        scope.place = place
        scope.started = true
        shape.score = max(0, shape.score &- Int32(truncatingIfNeeded: place &- first))
    }

    /// Leaves an object that ends here, if none of its names has to be looked through; false changes nothing.
    @inlinable
    @inline(__always)
    public mutating func leavesObject(_ scope: borrowing ObjectScope) -> Bool {
        guard position < end, position.pointee == UInt8(ascii: "}"), scope.started, nameCount == scope.firstName else {
            return false
        }
        position += 1
        depth &-= 1
        return true
    }

    /// The first byte from `start` on that may not stand in a plain string, as the quote that ends it; or `end`.
    ///
    /// - Parameter start: At least 16 bytes stand between it and `end`.
    @inlinable
    @inline(__always)
    static func plainEnd(of start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        var at = start
        var stops = WideBytes.stops(in: WideBytes.load(at))
        while WideBytes.isNone(stops) {
            at += 16
            if end - at < 16 {
                if at == end { return end }
                // The last sixteen bytes of the text: those of them that were seen are plain.
                at = end - 16
            }
            stops = WideBytes.stops(in: WideBytes.load(at))
        }
        return at + WideBytes.first(stops)
    }
}
