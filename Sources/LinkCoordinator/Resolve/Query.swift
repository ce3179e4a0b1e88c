package import ByteStorage

/// The query of a request, which is split when it is first used and decoded value by value.
///
/// Every method is `mutating`, as in `Resolver`.
///
/// See RouteTableReference, "Query".
package struct QueryReader: ~Copyable {
    /// The link block that reads the query.
    private(set) var block = Ref<CompiledLinkBlock>.unset
    /// The undecoded query.
    private(set) var query: ByteView?
    private var isSplit = false
    /// The items of the query.
    package var items = QueryItems(capacity: 140)
    /// The items for the repairs `space` and `entity`, made once for a request at the first attempt.
    var trimmedItems = QueryItems(capacity: 4)
    var entityItems = QueryItems(capacity: 4)
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
        items.removeAll()
    }

    /// Begins the query of a link, after `reset`.
    @inline(__always)
    mutating func open(_ query: ByteView?, _ block: Ref<CompiledLinkBlock>) {
        self.block = block
        self.query = query
    }

    /// Splits the query into items, once.
    @inline(__always)
    mutating func split(_ texts: inout ResolutionTexts) {
        if isSplit { return }
        isSplit = true
        if let query { split(query, &texts) }
    }

    /// Splits a text into items by the rules of the dialect.
    mutating func split(_ query: ByteView, _ texts: inout ResolutionTexts) {
        let text = block.decode == .before ? decodedWhole(query, &texts) : query
        if block.flatten { return splitFlat(text, &texts) }
        if block.separators.count == 1 { return splitPairs(text, block.separators[0], &texts) }
        var at = 0
        while at <= text.count {
            var end = at
            var equals = -1
            while end < text.count && !isSeparator(text.start[end]) {
                if equals < 0 && text.start[end] == UInt8(ascii: "=") { equals = end }
                end &+= 1
            }
            if end > at { addItem(text, from: at, equals: equals, to: end, &texts) }
            at = end &+ 1
        }
    }

    /// Splits `text`, which must be padded, into items at `separator`, and each item at its first `=`.
    private mutating func splitPairs(_ text: ByteView, _ separator: UInt8, _ texts: inout ResolutionTexts) {
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
                addItem(
                    name, value: ByteView(start: value, count: at - value, lease: text.lease), hasValue: true,
                    isPlain: isPlain, &texts)
            } else {
                at = stop
                if name.count > 0 { addItem(name, value: .empty, hasValue: false, isPlain: isPlain, &texts) }
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

    /// Adds an item.
    ///
    /// A plain name is its own decoded form.
    @inline(__always)
    private mutating func addItem(
        _ name: ByteView, value: ByteView, hasValue: Bool, isPlain: Bool, _ texts: inout ResolutionTexts
    ) {
        items.append(
            QueryItem(
                name: name, value: value, key: ByteScan.foldASCII(WideScan.head(name.start, name.count)),
                hasValue: hasValue, isBad: false, isDecoded: false))
        if !isPlain { decodeLastName(&texts) }
    }

    @inline(never)
    private mutating func decodeLastName(_ texts: inout ResolutionTexts) {
        let item = items.base + (items.count - 1)
        if let decoded = decoded(item.pointee.name, &texts) {
            item.pointee.name = decoded
            item.pointee.key = ByteScan.foldedKey(decoded)
        } else {
            item.pointee.isBad = true
        }
    }

    private mutating func isSeparator(_ byte: UInt8) -> Bool {
        for separator in block.separators where separator == byte { return true }
        return false
    }

    /// Returns the whole query decoded once, or unchanged if it cannot be decoded (`decode: before`).
    private mutating func decodedWhole(_ text: ByteView, _ texts: inout ResolutionTexts) -> ByteView {
        texts.begin()
        let decodes = PercentDecoding.decode(text, plusIsSpace: false, into: &texts.arena)
        texts.arena.reserve(WideScan.padding)
        let decoded = texts.finish()
        return decodes && PercentDecoding.isClean(decoded, invisiblesAllowed: true) ? decoded : text
    }

    private mutating func addItem(
        _ text: ByteView, from: Int, equals: Int, to: Int, _ texts: inout ResolutionTexts
    ) {
        let name = text.slice(from, equals < 0 ? to : equals)
        let value = equals < 0 ? ByteView.empty : text.slice(equals &+ 1, to)
        var item = QueryItem(
            name: name, value: value, key: 0, hasValue: equals >= 0, isBad: false, isDecoded: false)
        if needsDecoding(name) {
            if let decoded = decoded(name, &texts) { item.name = decoded } else { item.isBad = true }
        }
        item.key = ByteScan.foldedKey(item.name)
        items.append(item)
    }

    /// Splits the query at separators and `=` signs into one list, in which the value of a name is the next item
    /// (`flatten`).
    private mutating func splitFlat(_ text: ByteView, _ texts: inout ResolutionTexts) {
        var parts: [ByteView] = []
        var at = 0
        var index = 0
        while index <= text.count {
            if index == text.count || text[index] == UInt8(ascii: "=") || isSeparator(text[index]) {
                if index > at { parts.append(text.slice(at, index)) }
                at = index + 1
            }
            index += 1
        }
        for (partIndex, part) in parts.enumerated() {
            let next = partIndex + 1 < parts.count ? parts[partIndex + 1] : nil
            var item = QueryItem(
                name: part, value: next ?? .empty, key: 0, hasValue: next != nil, isBad: false, isDecoded: false)
            if needsDecoding(part) {
                if let decoded = decoded(part, &texts) { item.name = decoded } else { item.isBad = true }
            }
            item.key = ByteScan.foldedKey(item.name)
            items.append(item)
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

    /// Returns the text of an item's value, or nil if it cannot be decoded.
    ///
    /// Each value is decoded once.
    mutating func text(ofItem index: Int, _ texts: inout ResolutionTexts) -> ByteView? {
        let item = items.base + index
        if !item.pointee.isDecoded {
            assert(!isSealed, "a text that is kept for all devices would be stored in the memory of one device")
            let text = decoded(item.pointee.value, &texts)
            item.pointee.value = text ?? .empty
            item.pointee.isBadValue = text == nil
            item.pointee.isDecoded = true
        }
        if item.pointee.isBadValue { return nil }
        return item.pointee.repair == .none
            ? item.pointee.value : item.pointee.repair.applied(to: item.pointee.value, &texts)
    }

    /// Decodes each value once.
    mutating func decodeAll(_ texts: inout ResolutionTexts) {
        for index in 0..<items.count where items[index].hasValue { _ = text(ofItem: index, &texts) }
    }

    /// Returns the first item with a name, or -1.
    @inline(__always)
    mutating func firstItem(_ name: Ref<CompiledQueryName>) -> Int {
        items.first(name, folds: block.namesFold)
    }

    /// Returns the next item with the same name after a given one, or -1.
    @inline(__always)
    mutating func nextItem(after index: Int, _ name: Ref<CompiledQueryName>) -> Int {
        items.next(after: index, name, folds: block.namesFold)
    }

    /// Returns the value of a name under the dialect's rule for duplicates.
    ///
    /// Nulls that are kept are ignored if the name also has a value. Nulls that erase count like any other item. With
    /// `reject`, every item counts.
    mutating func find(_ name: Ref<CompiledQueryName>, _ texts: inout ResolutionTexts) -> Found {
        split(&texts)
        var first = -1
        var last = -1
        var count = 0
        var index = firstItem(name)
        while index >= 0 {
            count &+= 1
            if block.nullsErase || (items.base + index).pointee.hasValue {
                if first < 0 { first = index }
                last = index
            }
            // In a flat list, only the first occurrence counts.
            if block.flatten { break }
            index = nextItem(after: index, name)
        }
        if count == 0 { return .absent }
        if count > 1 && block.duplicates == .reject { return .invalid }
        let chosen = block.duplicates == .last ? last : first
        if chosen < 0 || !items[chosen].hasValue { return block.flatten ? .absent : .null }
        return text(ofItem: chosen, &texts).map { .text($0) } ?? .invalid
    }

    /// Returns a Boolean value that indicates whether the name is present, with or without a value.
    mutating func contains(_ name: Ref<CompiledQueryName>, _ texts: inout ResolutionTexts) -> Bool {
        split(&texts)
        return firstItem(name) >= 0
    }
}

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

// Values by query name, from the query or from the parameters of a `route` request.
extension Resolver {
    /// Splits the query into items, once.
    package mutating func splitQuery() { query.split(&texts) }

    /// Returns the text of an item's value, or nil if it cannot be decoded.
    package mutating func text(ofItem index: Int) -> ByteView? { query.text(ofItem: index, &texts) }

    /// Returns the first item with a name, or -1.
    package mutating func firstItem(_ name: Ref<CompiledQueryName>) -> Int { query.firstItem(name) }

    /// Returns the next item with the same name after a given one, or -1.
    package mutating func nextItem(after index: Int, _ name: Ref<CompiledQueryName>) -> Int {
        query.nextItem(after: index, name)
    }

    /// Returns the value of a name under the dialect's rule for duplicates.
    package mutating func find(_ name: Ref<CompiledQueryName>) -> Found {
        usesParams ? findParam(name) : query.find(name, &texts)
    }

    /// Returns a Boolean value that indicates whether a constraint of the table holds for this query.
    package mutating func holds(_ constraint: Ref<CompiledConstraint>) -> Bool {
        let name = constraint.ref(\.name)
        switch constraint.test {
        case .present: return hasItem(name)
        case .absent: return !hasItem(name)
        case .equals:
            if case .text(let value) = find(name) { return value == constraint.value }
            return false
        }
    }

    /// Returns a Boolean value that indicates whether all constraints hold for this query.
    mutating func allHold(_ constraints: UnsafeBufferPointer<CompiledConstraint>) -> Bool {
        for index in 0..<constraints.count where !holds(constraints.at(index)) { return false }
        return true
    }

    private mutating func hasItem(_ name: Ref<CompiledQueryName>) -> Bool {
        usesParams ? hasParam(name) : query.contains(name, &texts)
    }
}

/// The result of looking up a value.
package enum Found {
    /// The name is absent.
    case absent
    /// The name has no value.
    case null
    /// A decoded value.
    case text(ByteView)
    /// A value that cannot be decoded, or a name that occurs twice although duplicates are rejected.
    case invalid
}
