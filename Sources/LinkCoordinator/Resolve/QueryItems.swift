package import ByteStorage

/// An item of the query: a name, and the value after `=` if there is one.
package struct QueryItem: BitwiseCopyable {
    /// The decoded name, or the original bytes if they cannot be decoded.
    package var name: ByteView
    /// The undecoded value, or the decoded one if `isDecoded` is true.
    package var value: ByteView
    /// The first eight bytes of the name, folded.
    var key: UInt64
    /// A Boolean value that indicates whether the item has a `=`.
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
/// A few items are compared one after another. Many items are grouped by name at the first lookup, so that the cost
/// is not the product of the numbers of fields and items.
package struct QueryItems: ~Copyable {
    private var items: Growable<QueryItem>
    private var groups = NameGroups()
    private var isGrouped = false

    /// The minimum number of items that are grouped.
    private static var minGroupedCount: Int { 24 }

    init(capacity: Int) { items = Growable(capacity: capacity) }

    /// The number of items.
    package var count: Int {
        @inline(__always)
        get { items.count }
    }

    var isEmpty: Bool { items.isEmpty }

    var base: UnsafeMutablePointer<QueryItem> {
        @inline(__always)
        get { items.base }
    }

    /// Accesses the item at an index, which must be less than `count`.
    package subscript(index: Int) -> QueryItem {
        @inline(__always)
        get { items[index] }
        @inline(__always)
        set { items[index] = newValue }
    }

    @inline(__always)
    mutating func append(_ item: QueryItem) {
        assert(!isGrouped)
        items.append(item)
    }

    @inline(__always)
    mutating func removeAll() {
        items.removeAll()
        if isGrouped { forgetGroups() }
    }

    @inline(never)
    private mutating func forgetGroups() {
        groups.forget()
        isGrouped = false
    }

    /// Returns the first item with a name, or -1.
    @inline(__always)
    mutating func first(_ name: Ref<CompiledQueryName>, folds: Bool) -> Int {
        items.count < Self.minGroupedCount ? scan(from: 0, name, folds: folds) : firstOfGroup(name, folds: folds)
    }

    /// Returns the next item with the same name after a given one, or -1.
    @inline(__always)
    mutating func next(after index: Int, _ name: Ref<CompiledQueryName>, folds: Bool) -> Int {
        items.count < Self.minGroupedCount
            ? scan(from: index &+ 1, name, folds: folds)
            : Int(groups.next(Int32(truncatingIfNeeded: index)))
    }

    @inline(__always)
    private mutating func scan(from first: Int, _ name: Ref<CompiledQueryName>, folds: Bool) -> Int {
        var index = first
        while index < items.count {
            if matches(index, name, folds: folds) { return index }
            index &+= 1
        }
        return -1
    }

    /// Returns a Boolean value that indicates whether the item at `index` has this name.
    @inline(__always)
    private mutating func matches(_ index: Int, _ name: Ref<CompiledQueryName>, folds: Bool) -> Bool {
        let item = Ref(UnsafePointer(items.base + index))
        if item.key != name.key || item.name.count != name.text.count || item.isBad { return false }
        if folds { return item.name.count <= 8 || ByteScan.equalFolded(item.name, name.text) }
        return item.name == name.text
    }

    @inline(never)
    private mutating func firstOfGroup(_ name: Ref<CompiledQueryName>, folds: Bool) -> Int {
        if !isGrouped { group(folds: folds) }
        let items = items.base
        let text = name.text
        let found =
            folds
            ? groups.find(NameGroups.foldedHash(text)) { ByteScan.equalFolded(items[Int($0)].name, text) }
            : groups.find(NameGroups.hash(text)) { items[Int($0)].name == text }
        return found.map { Int($0.first) } ?? -1
    }

    private mutating func group(folds: Bool) {
        isGrouped = true
        let items = items.base
        for index in 0..<self.items.count where !items[index].isBad {
            let name = items[index].name
            let number = Int32(truncatingIfNeeded: index)
            if folds {
                groups.add(number, hash: NameGroups.foldedHash(name)) {
                    ByteScan.equalFolded(items[Int($0)].name, name)
                }
            } else {
                groups.add(number, hash: NameGroups.hash(name)) { items[Int($0)].name == name }
            }
        }
    }
}
