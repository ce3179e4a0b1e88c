internal import ByteStorage

// Splits a query at one separator and detects parts that must be decoded.
//
// The query must be padded.
extension QueryReader {
    /// Splits `text` into pieces at `separator`, and each piece at its first `=`.
    mutating func splitPairs(_ text: ByteView, _ separator: UInt8, _ texts: inout ResolutionTexts) {
        let separators = WideBytes.all(separator)
        let plus = WideBytes.all(block.plusIsSpace ? UInt8(ascii: "+") : UInt8(ascii: "%"))
        let end = text.end
        var at = text.start
        while at < end {
            var isPlain = true
            var stop = Self.nameEnd(from: at, to: end, separators, plus)
            while stop < end && stop.pointee != UInt8(ascii: "=") && stop.pointee != separator {
                isPlain = false
                stop = Self.nameEnd(from: stop + 1, to: end, separators, plus)
            }
            let name = ByteView(start: at, count: stop - at, lease: text.lease)
            if stop < end && stop.pointee == UInt8(ascii: "=") {
                let value = stop + 1
                at = WideScan.first(from: value, to: end) { WideBytes.equal(separators, in: $0) }
                addPiece(
                    name, value: ByteView(start: value, count: at - value, lease: text.lease), hasValue: true,
                    isPlain: isPlain, &texts)
            } else {
                at = stop
                if name.count > 0 { addPiece(name, value: .empty, hasValue: false, isPlain: isPlain, &texts) }
            }
            at += 1
        }
    }

    /// Returns the end of a name, or the position of a byte that may need decoding: an escape, a plus that represents a
    /// space, or a byte above 0x7F.
    @inline(__always)
    private static func nameEnd(
        from start: UnsafePointer<UInt8>, to end: UnsafePointer<UInt8>, _ separators: SIMD16<Int8>,
        _ plus: SIMD16<Int8>
    ) -> UnsafePointer<UInt8> {
        WideScan.first(from: start, to: end) { bytes in
            WideBytes.equal(WideBytes.all(UInt8(ascii: "=")), in: bytes) | WideBytes.equal(separators, in: bytes)
                | WideBytes.equal(WideBytes.all(UInt8(ascii: "%")), in: bytes) | WideBytes.equal(plus, in: bytes)
                | WideBytes.highs(in: bytes)
        }
    }

    /// Adds a piece.
    ///
    /// A plain name is its own decoded form.
    @inline(__always)
    private mutating func addPiece(
        _ name: ByteView, value: ByteView, hasValue: Bool, isPlain: Bool, _ texts: inout ResolutionTexts
    ) {
        pieces.append(
            QueryPiece(
                name: name, value: value, key: ByteScan.foldASCII(WideScan.head(name.start, name.count)),
                hasValue: hasValue, isBad: false, isDecoded: false))
        if !isPlain { decodeLastName(&texts) }
    }

    @inline(never)
    private mutating func decodeLastName(_ texts: inout ResolutionTexts) {
        let piece = pieces.base + (pieces.count - 1)
        if let decoded = decoded(piece.pointee.name, &texts) {
            piece.pointee.name = decoded
            piece.pointee.key = ByteScan.foldedKey(decoded)
        } else {
            piece.pointee.isBad = true
        }
    }

    /// Returns a Boolean value that indicates whether a text of the query may differ from its decoded form.
    @inline(__always)
    mutating func needsDecoding(_ text: ByteView) -> Bool {
        let plus = WideBytes.all(block.plusIsSpace ? UInt8(ascii: "+") : UInt8(ascii: "%"))
        let stop = WideScan.first(from: text.start, to: text.end) { bytes in
            WideBytes.equal(WideBytes.all(UInt8(ascii: "%")), in: bytes) | WideBytes.equal(plus, in: bytes)
                | WideBytes.highs(in: bytes)
        }
        return stop < text.end
    }
}
