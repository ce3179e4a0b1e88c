internal import ByteStorage

/// The query of a request, which is split when it is first used and decoded value by value.
///
/// Every method is `mutating`, as those of `Resolver` are.
///
/// See RouteTableReference, "Query".
package struct QueryReader: ~Copyable {
    /// The link block that reads the query.
    private(set) var block = Ref<CompiledLinkBlock>.unset
    /// The undecoded query.
    private(set) var query: ByteView?
    /// A Boolean value that indicates whether the query has been split into pieces.
    var isSplit = false
    /// The pieces of the query.
    package var pieces = QueryPieces(capacity: 140)
    /// The pieces for the repairs `space` and `entity`, made once for a request at the first attempt.
    var trimmedPieces = QueryPieces(capacity: 4)
    var entityPieces = QueryPieces(capacity: 4)
    var isTrimmed = false
    var isWithoutEntities = false
    /// A Boolean value that indicates whether every value must be decoded already, because a new text would belong to
    /// one of several devices.
    var isSealed = false

    /// Removes the last query.
    @inline(__always)
    mutating func reset(_ block: Ref<CompiledLinkBlock>) {
        self.block = block
        query = nil
        isSplit = false
        isTrimmed = false
        isWithoutEntities = false
        isSealed = false
        pieces.removeAll()
    }

    /// Begins the query of a link, after `reset`.
    @inline(__always)
    mutating func open(_ query: ByteView?, _ block: Ref<CompiledLinkBlock>) {
        self.block = block
        self.query = query
    }

    /// Returns a name or value decoded by the rules of the dialect, in NFC, or nil if it cannot be decoded.
    mutating func decoded(_ raw: ByteView, _ texts: inout ResolutionTexts) -> ByteView? {
        if !needsDecoding(raw) { return raw }
        if block.decode == .none { return texts.normalForm(raw) }
        texts.begin()
        let decodes = PercentDecoding.decode(raw, plusIsSpace: block.plusIsSpace, into: &texts.arena)
        let text = texts.finish()
        guard decodes, PercentDecoding.isClean(text, invisiblesAllowed: true) else { return nil }
        return texts.normalForm(text)
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

    /// Returns the text of a piece's value, or nil if it cannot be decoded.
    ///
    /// Each value is decoded once.
    mutating func text(ofPiece index: Int, _ texts: inout ResolutionTexts) -> ByteView? {
        let piece = pieces.base + index
        if !piece.pointee.isDecoded {
            assert(!isSealed, "a text that is kept for all devices would be stored in the memory of one device")
            let text = decoded(piece.pointee.value, &texts)
            piece.pointee.value = text ?? .empty
            piece.pointee.isBadValue = text == nil
            piece.pointee.isDecoded = true
        }
        if piece.pointee.isBadValue { return nil }
        return piece.pointee.repair == .none
            ? piece.pointee.value : piece.pointee.repair.applied(to: piece.pointee.value, &texts)
    }

    /// Decodes each value once.
    mutating func decodeAll(_ texts: inout ResolutionTexts) {
        for index in 0..<pieces.count where pieces[index].hasValue { _ = text(ofPiece: index, &texts) }
    }

    /// Returns the first piece with a name, or -1.
    @inline(__always)
    mutating func firstPiece(_ name: Ref<CompiledQueryName>) -> Int {
        pieces.first(name, folds: block.namesFold)
    }

    /// Returns the next piece with the same name after a given one, or -1.
    @inline(__always)
    mutating func nextPiece(after index: Int, _ name: Ref<CompiledQueryName>) -> Int {
        pieces.next(after: index, name, folds: block.namesFold)
    }
}
