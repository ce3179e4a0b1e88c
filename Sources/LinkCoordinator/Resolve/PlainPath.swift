internal import ByteStorage

// Splits plain paths, which nearly all links have: nonempty ASCII segments without escapes that do not begin with a
// dot.
extension Resolver {
    /// Splits the path that begins at `start` if it is plain, and stores the query and fragment.
    ///
    /// Returns `false` if a part must be decoded, checked, or noted. No part is stored in that case, and the caller
    /// falls back to the slow path. `text` must be padded.
    mutating func splitPlainPath(of text: ByteView, from start: Int) -> Bool {
        guard let stop = splitPlainSegments(text.start + start, text.end, text.lease) else {
            segments.removeAll()
            return false
        }
        if stop < text.end { Self.splitPlainTail(stop, text.end, text.lease, into: &link) }
        return true
    }

    /// Stores the query and the fragment, the first of which begins at `stop`.
    @inline(__always)
    private static func splitPlainTail(
        _ stop: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ lease: ViewLease, into link: inout NormalizedLink
    ) {
        let isQuery = stop.pointee == UInt8(ascii: "?")
        let hash =
            isQuery
            ? WideScan.first(from: stop + 1, to: end) { WideBytes.equal(WideBytes.all(UInt8(ascii: "#")), in: $0) }
            : stop
        if isQuery { link.query = ByteView(start: stop + 1, count: hash - stop - 1, lease: lease) }
        if hash < end { link.fragment = ByteView(start: hash + 1, count: end - hash - 1, lease: lease) }
    }

    /// Adds the segments from `start` to `?`, `#`, or the end, and returns that position, or nil if a segment is not
    /// plain.
    @inline(__always)
    mutating func splitPlainSegments(
        _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ lease: ViewLease
    ) -> UnsafePointer<UInt8>? {
        var at = start
        if at < end && at.pointee == UInt8(ascii: "/") { at += 1 }
        while at < end {
            let stop = Self.segmentEnd(from: at, to: end)
            let byte = stop < end ? stop.pointee : UInt8(ascii: "?")
            let isEnd = byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
            if stop == at { return isEnd ? endPlain(at, from: start) : nil }
            let text = ByteView(start: at, count: stop - at, lease: lease)
            if at.pointee == UInt8(ascii: ".") || segments.count >= tableData.maxSegments { return nil }
            segments.append(Segment(plain: text, head: WideScan.head(at, text.count)))
            if byte != UInt8(ascii: "/") { return isEnd ? stop : nil }
            at = stop + 1
        }
        return endPlain(at, from: start)
    }

    /// Ends a path that ends with a slash or has no segments.
    ///
    /// Such a path is plain unless empty segments have a meaning.
    @inline(__always)
    private mutating func endPlain(
        _ stop: UnsafePointer<UInt8>, from start: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8>? {
        link.block.emptySegments == .reset && stop > start ? nil : stop
    }

    /// Returns the position of the first slash, `?`, `#`, percent sign, or byte above 0x7F, or `end`.
    @inline(__always)
    private static func segmentEnd(
        from start: UnsafePointer<UInt8>, to end: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8> {
        var at = start
        while true {
            at = WideScan.first(from: at, to: end) { bytes in
                // `/` and `?` differ in one bit. `#`, `%`, `!`, and `'` differ in two bits, which the mask clears.
                let slashes = WideBytes.equal(WideBytes.all(0x3F), in: bytes | WideBytes.all(0x10))
                let marks = WideBytes.equal(WideBytes.all(0x21), in: bytes & WideBytes.all(0xF9))
                return slashes | marks | WideBytes.highs(in: bytes)
            }
            if at == end || (at.pointee != UInt8(ascii: "!") && at.pointee != UInt8(ascii: "'")) { return at }
            at += 1
        }
    }
}
