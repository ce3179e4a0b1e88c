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
            let close = Self.closingQuote(of: value, end)
            if close == value - 1 { break }
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
            take(tag, ByteView(start: value, count: close - value))
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

    /// The quote that ends a plain string, or the one that begins it where the string is not plain or does not end.
    ///
    /// - Parameter start: The first byte of the string; at least 16 bytes stand between it and `end`.
    @inlinable
    @inline(__always)
    static func closingQuote(
        of start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8> {
        var at = start
        var stops = plainStops(at)
        while stops[0] | stops[1] == 0 {
            at += 16
            if end - at < 16 {
                if at == end { return start - 1 }
                // The last sixteen bytes of the text: those of them that were seen are plain.
                at = end - 16
            }
            stops = plainStops(at)
        }
        // Without a branch, since lengths vary: 64 of the first word's bits are zero where it has no stop.
        let low = stops[0].trailingZeroBitCount
        let high = stops[1].trailingZeroBitCount
        at += (low &+ (high & (0 &- low &>> 6))) &>> 3
        return at.pointee == UInt8(ascii: "\"") ? at : start - 1
    }

    /// Which of sixteen bytes are no plain ones: 0xFF for each that is not, 0 for the others.
    @inlinable
    @inline(__always)
    static func plainStops(_ start: UnsafePointer<UInt8>) -> SIMD2<UInt64> {
        let bytes = UnsafeRawPointer(start).loadUnaligned(as: SIMD16<Int8>.self)
        // The type is spelled out each time: where it is inferred, Swift 6.3 chooses operators that go byte by byte.
        let quotes = bytes .== SIMD16<Int8>(repeating: 0x22)
        let slashes = bytes .== SIMD16<Int8>(repeating: 0x5C)
        // As signed numbers bytes over 0x7F are negative, and one more than 0x7F is the least of them.
        let controls = (bytes &+ SIMD16<Int8>(repeating: 1)) .< SIMD16<Int8>(repeating: 0x21)
        return Self.words(quotes) | Self.words(slashes) | Self.words(controls)
    }

    /// A mask as two words: operations on masks themselves go byte by byte through memory (Swift 6.3).
    @inlinable
    @inline(__always)
    static func words(_ mask: SIMDMask<SIMD16<Int8>>) -> SIMD2<UInt64> {
        unsafeBitCast(mask, to: SIMD2<UInt64>.self)
    }
}
