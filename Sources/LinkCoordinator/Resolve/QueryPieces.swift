package import ByteStorage

/// An item of the query: a name, and the value after `=` if there is one.
package struct QueryPiece: BitwiseCopyable {
    /// The decoded name, or the original bytes if they cannot be decoded.
    package var name: ByteView
    /// The undecoded value, or the decoded one if `isDecoded` is true.
    package var value: ByteView
    /// The first eight bytes of the name, folded.
    var key: UInt64
    /// A Boolean value that indicates whether the piece has a `=`.
    package var hasValue: Bool
    /// A Boolean value that indicates whether the name cannot be decoded, and therefore matches nothing.
    var isBad: Bool
    /// A Boolean value that indicates whether `value` is decoded.
    ///
    /// This includes the parameters of a `route` request.
    var isDecoded: Bool
    /// The change that the current repair attempt makes to the value when it is read.
    var repair: ValueRepair = .none
    /// A Boolean value that indicates whether decoding the value failed.
    var isBadValue = false
}

/// The items of a query, with a lookup by name.
///
/// A few pieces are compared one after another. Many pieces are grouped by name at the first lookup, so that the cost
/// is not the product of the numbers of fields and pieces.
package struct QueryPieces: ~Copyable {
    private var pieces: Growable<QueryPiece>
    private var groups = NameGroups()
    private var isGrouped = false

    /// The minimum number of pieces that are grouped.
    private static var fewestGrouped: Int { 24 }

    init(capacity: Int) { pieces = Growable(capacity: capacity) }

    /// The number of pieces.
    package var count: Int {
        @inline(__always)
        get { pieces.count }
    }

    var isEmpty: Bool { pieces.isEmpty }

    var base: UnsafeMutablePointer<QueryPiece> {
        @inline(__always)
        get { pieces.base }
    }

    /// Accesses the piece at an index, which must be less than `count`.
    package subscript(index: Int) -> QueryPiece {
        @inline(__always)
        get { pieces[index] }
        @inline(__always)
        set { pieces[index] = newValue }
    }

    @inline(__always)
    mutating func append(_ piece: QueryPiece) {
        assert(!isGrouped)
        pieces.append(piece)
    }

    @inline(__always)
    mutating func removeAll() {
        pieces.removeAll()
        if isGrouped { forgetGroups() }
    }

    @inline(never)
    private mutating func forgetGroups() {
        groups.forget()
        isGrouped = false
    }

    /// Returns the first piece with a name, or -1.
    @inline(__always)
    mutating func first(_ name: Ref<CompiledQueryName>, folds: Bool) -> Int {
        pieces.count < Self.fewestGrouped ? scan(from: 0, name, folds: folds) : firstOfGroup(name, folds: folds)
    }

    /// Returns the next piece with the same name after a given one, or -1.
    @inline(__always)
    mutating func next(after index: Int, _ name: Ref<CompiledQueryName>, folds: Bool) -> Int {
        pieces.count < Self.fewestGrouped
            ? scan(from: index &+ 1, name, folds: folds)
            : Int(groups.next(Int32(truncatingIfNeeded: index)))
    }

    @inline(__always)
    private mutating func scan(from first: Int, _ name: Ref<CompiledQueryName>, folds: Bool) -> Int {
        var index = first
        while index < pieces.count {
            if matches(index, name, folds: folds) { return index }
            index &+= 1
        }
        return -1
    }

    /// Returns a Boolean value that indicates whether the piece at `index` has this name.
    @inline(__always)
    private mutating func matches(_ index: Int, _ name: Ref<CompiledQueryName>, folds: Bool) -> Bool {
        let piece = Ref(UnsafePointer(pieces.base + index))
        if piece.key != name.key || piece.name.count != name.text.count || piece.isBad { return false }
        if folds { return piece.name.count <= 8 || ByteScan.equalFolded(piece.name, name.text) }
        return piece.name == name.text
    }

    @inline(never)
    private mutating func firstOfGroup(_ name: Ref<CompiledQueryName>, folds: Bool) -> Int {
        if !isGrouped { group(folds: folds) }
        let pieces = pieces.base
        let text = name.text
        let found =
            folds
            ? groups.find(NameGroups.foldedHash(text)) { ByteScan.equalFolded(pieces[Int($0)].name, text) }
            : groups.find(NameGroups.hash(text)) { pieces[Int($0)].name == text }
        return found.map { Int($0.first) } ?? -1
    }

    private mutating func group(folds: Bool) {
        isGrouped = true
        let pieces = pieces.base
        for index in 0..<self.pieces.count where !pieces[index].isBad {
            let name = pieces[index].name
            let number = Int32(truncatingIfNeeded: index)
            if folds {
                groups.add(number, hash: NameGroups.foldedHash(name)) {
                    ByteScan.equalFolded(pieces[Int($0)].name, name)
                }
            } else {
                groups.add(number, hash: NameGroups.hash(name)) { pieces[Int($0)].name == name }
            }
        }
    }
}
