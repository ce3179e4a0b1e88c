package import ByteStorage

/// A piece of the query.
package struct QueryPiece: BitwiseCopyable {
    /// The name, decoded, once it was looked at.
    package var name: ByteView
    /// The value as it came, or its text once it was read.
    package var value: ByteView
    /// First eight bytes of the name, folded.
    var key: UInt64
    /// Whether there is a `=`.
    package var hasValue: Bool
    /// Whether the name does not decode and so matches nothing.
    var isBad: Bool
    /// Whether `value` is text already: a parameter of a `route` request, or decoded when it was read.
    var isDecoded: Bool
    /// What a repair that is being tried does to the value when it is read.
    var repair: ValueRepair = .none
    /// Whether the value was decoded and does not decode.
    var isBadValue = false
}

/// What a repair does to a value once it is decoded (N9).
enum ValueRepair: UInt8 { case none, hyphens, trim }

/// The pieces of a query, and which of them have one name.
///
/// A few pieces are compared one after another. Many are put into groups by name when the first name is looked for, so
/// that many fields of many pieces do not cost their product.
package struct QueryPieces: ~Copyable {
    private var pieces: Growable<QueryPiece>
    private var groups = NameGroups()
    private var isGrouped = false

    /// Fewest pieces that are put into groups.
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

    /// The piece at an index, which must be less than `count`.
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

    /// The first piece of a name, or -1.
    @inline(__always)
    mutating func first(_ name: Ref<QueryNameImage>, folds: Bool) -> Int {
        pieces.count < Self.fewestGrouped ? scan(from: 0, name, folds: folds) : firstOfGroup(name, folds: folds)
    }

    /// The next piece of the same name behind one that was found, or -1.
    @inline(__always)
    mutating func next(after index: Int, _ name: Ref<QueryNameImage>, folds: Bool) -> Int {
        pieces.count < Self.fewestGrouped
            ? scan(from: index &+ 1, name, folds: folds)
            : Int(groups.next(Int32(truncatingIfNeeded: index)))
    }

    @inline(__always)
    private mutating func scan(from first: Int, _ name: Ref<QueryNameImage>, folds: Bool) -> Int {
        var index = first
        while index < pieces.count {
            if matches(index, name, folds: folds) { return index }
            index &+= 1
        }
        return -1
    }

    /// Whether the piece at `index` has this name.
    @inline(__always)
    private mutating func matches(_ index: Int, _ name: Ref<QueryNameImage>, folds: Bool) -> Bool {
        let piece = Ref(UnsafePointer(pieces.base + index))
        if piece.key != name.key || piece.name.count != name.text.count || piece.isBad { return false }
        if folds { return piece.name.count <= 8 || ByteScan.equalFolded(piece.name, name.text) }
        return piece.name == name.text
    }

    @inline(never)
    private mutating func firstOfGroup(_ name: Ref<QueryNameImage>, folds: Bool) -> Int {
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
