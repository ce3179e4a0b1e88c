package import ByteStorage
internal import StrictJSON

/// The parameters of a `route` request by name, read once for a record.
///
/// A parameter is a scalar or a list of scalars. A field that is not a list uses the first item. Nulls, objects, and
/// items of lists that are not scalars are skipped. The JSON text has been validated strictly before. If it cannot be
/// read again, an error is thrown.
///
/// See RouteTableReference, "Other request forms".
package struct ParamTable: ~Copyable {
    struct Entry {
        var name: ByteView
        /// The position and number of its items: at most one more than the maximum length of a list.
        var first: Int32
        var count: Int32
        var isList: Bool
    }

    struct Item {
        /// The JSON value, or its text after the text was first used.
        var view: ByteView
        var isText: Bool
    }

    private var cursor = JSONCursor(maxDepth: 512)
    private var entries = Growable<Entry>(capacity: 16)
    private var items = Growable<Item>(capacity: 16)
    /// The parameters grouped by exact and by case-insensitive name.
    ///
    /// Each grouping is built at the first lookup of its kind.
    private var exact = NameGroups()
    private var folded = NameGroups()
    private var hasExact = false
    private var hasFolded = false
    /// The entries whose names require composition, which lookups of ASCII names do not need.
    private var uncomposed = Growable<Int32>(capacity: 4)

    /// The number of parameters.
    package var count: Int { entries.count }

    /// Removes all parameters.
    mutating func forget() {
        entries.removeAll(keeping: NameGroups.retainedCapacity)
        items.removeAll(keeping: NameGroups.retainedCapacity)
        uncomposed.removeAll(keeping: NameGroups.retainedCapacity)
        forgetGroups()
    }

    private mutating func forgetGroups() {
        exact.forget()
        folded.forget()
        hasExact = false
        hasFolded = false
    }

    /// Reads the parameters of a JSON object.
    mutating func read(_ json: ByteView, _ texts: inout RecordTexts) throws(JSONError) {
        forget()
        cursor.open(validated: json)
        var scope = try cursor.enterObject()
        while try cursor.nextMember(&scope) {
            let first = items.count
            let isList = cursor.peek() == UInt8(ascii: "[")
            if isList {
                try readList()
            } else if !(try readItem()) {
                continue
            }
            add(scope.name, Int32(truncatingIfNeeded: first), isList: isList, &texts)
        }
        try cursor.finish()
    }

    private mutating func readList() throws(JSONError) {
        let first = items.count
        var scope = try cursor.enterArray()
        while try cursor.nextElement(&scope) {
            if items.count - first > FieldType.maxListCount { try cursor.skip() } else { _ = try readItem() }
        }
    }

    /// Reads a scalar.
    ///
    /// Returns `false` for any other value, which is skipped.
    private mutating func readItem() throws(JSONError) -> Bool {
        let byte = cursor.peek()
        let raw = try cursor.skip()
        if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "n") { return false }
        items.append(Item(view: raw, isText: byte != UInt8(ascii: "\"")))
        return true
    }

    /// Adds a parameter.
    ///
    /// Its name is valid as long as the cursor has the JSON text open, which is until the next text is read.
    private mutating func add(_ name: ByteView, _ first: Int32, isList: Bool, _ texts: inout RecordTexts) {
        let number = Int32(truncatingIfNeeded: entries.count)
        let isComposed = name.isSurelyComposed
        let known = isComposed ? name : texts.composedASCII(name)
        entries.append(
            Entry(
                name: known ?? name, first: first, count: Int32(truncatingIfNeeded: items.count) - first,
                isList: isList))
        if known == nil { uncomposed.append(number) }
    }

    /// Groups the parameters whose names need no composition, in their order.
    private mutating func group(folds: Bool) {
        if folds { hasFolded = true } else { hasExact = true }
        let entries = entries.base
        var waiting = 0
        for index in 0..<self.entries.count {
            let number = Int32(truncatingIfNeeded: index)
            if waiting < uncomposed.count && uncomposed[waiting] == number {
                waiting += 1
                continue
            }
            let name = entries[index].name
            if folds {
                folded.add(number, hash: NameGroups.foldedHash(name)) {
                    ByteScan.equalFolded(entries[Int($0)].name, name)
                }
            } else {
                exact.add(number, hash: NameGroups.hash(name)) { entries[Int($0)].name == name }
            }
        }
    }

    /// Composes the remaining names if the requested name has non-ASCII characters, because it may equal one of them.
    private mutating func composeNames(for name: ByteView, _ texts: inout RecordTexts) {
        guard !uncomposed.isEmpty, name.hasNonASCII else { return }
        for index in 0..<uncomposed.count {
            let number = Int(uncomposed[index])
            entries[number].name = texts.normalForm(entries[number].name)
        }
        uncomposed.removeAll()
        // All names are grouped again, so that the members of a group stay in their order.
        forgetGroups()
    }

    /// Returns the first and last parameter with this name and their number, or nil.
    mutating func find(
        _ name: ByteView, folds: Bool, _ texts: inout RecordTexts
    ) -> (first: Int32, last: Int32, count: Int32)? {
        composeNames(for: name, &texts)
        if folds ? !hasFolded : !hasExact { group(folds: folds) }
        let entries = entries.base
        if folds {
            return folded.find(NameGroups.foldedHash(name)) { ByteScan.equalFolded(entries[Int($0)].name, name) }
        }
        return exact.find(NameGroups.hash(name)) { entries[Int($0)].name == name }
    }

    /// Returns the next parameter with the same name, or -1.
    mutating func next(_ number: Int32, folds: Bool) -> Int32 { folds ? folded.next(number) : exact.next(number) }

    /// Returns the name of a parameter.
    package mutating func name(_ number: Int32) -> ByteView { entries[Int(number)].name }

    /// Returns a Boolean value that indicates whether a parameter is a list.
    mutating func isList(_ number: Int32) -> Bool { entries[Int(number)].isList }

    /// Returns the number of items of a parameter.
    ///
    /// It is 1 if the parameter is not a list.
    mutating func itemCount(_ number: Int32) -> Int { Int(entries[Int(number)].count) }

    /// Returns the text of an item in normalization form C (NFC).
    mutating func text(_ number: Int32, item: Int, _ texts: inout RecordTexts) -> ByteView {
        let index = Int(entries[Int(number)].first) + item
        if !items[index].isText {
            items[index].view = texts.normalForm(texts.text(quoted: items[index].view))
            items[index].isText = true
        }
        return items[index].view
    }
}

/// Groups of parameters or query items with equal names, found by hash.
///
/// A group contains the numbers of its members. The caller compares the names.
///
/// The hash is seeded for each process, so that a sender cannot choose names that collide.
struct NameGroups: ~Copyable {
    struct Group {
        var hash: UInt64
        var first: Int32
        var last: Int32
        var count: Int32
    }

    private var groups = Growable<Group>(capacity: 16)
    /// The next number in the group of each number, or -1.
    private var following = Growable<Int32>(capacity: 16)
    private var slots = Growable<Int32>(capacity: 32)

    /// Removes all names.
    mutating func forget() {
        groups.removeAll(keeping: Self.retainedCapacity)
        following.removeAll(keeping: Self.retainedCapacity)
        slots.removeAll(keeping: 2 * Self.retainedCapacity)
    }

    /// The number of names for which memory is kept for the next record.
    static var retainedCapacity: Int { 1024 }

    /// Returns the hash of a name.
    static func hash(_ name: ByteView) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(name.buffer))
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// Returns a hash that is equal for names that differ only in the case of ASCII letters.
    static func foldedHash(_ name: ByteView) -> UInt64 {
        var hasher = Hasher()
        var index = 0
        while index &+ 8 <= name.count {
            hasher.combine(ByteScan.foldASCII(ByteScan.load(name, index)))
            index &+= 8
        }
        while index < name.count {
            hasher.combine(ByteScan.foldASCII(name.start[index]))
            index &+= 1
        }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// Adds a number, which must be greater than all numbers added before.
    mutating func add(_ number: Int32, hash: UInt64, _ isEqual: (Int32) -> Bool) {
        while following.count <= Int(number) { following.append(-1) }
        if (groups.count + 1) * 2 > slots.count { grow() }
        let slot = slot(of: hash, isEqual)
        if slots[slot] < 0 {
            slots[slot] = Int32(truncatingIfNeeded: groups.count)
            groups.append(Group(hash: hash, first: number, last: number, count: 1))
            return
        }
        let group = Int(slots[slot])
        groups[group].count += 1
        following[Int(groups[group].last)] = number
        groups[group].last = number
    }

    /// Returns the group of a name, or nil.
    mutating func find(_ hash: UInt64, _ isEqual: (Int32) -> Bool) -> (first: Int32, last: Int32, count: Int32)? {
        if slots.isEmpty { return nil }
        let slot = slot(of: hash, isEqual)
        if slots[slot] < 0 { return nil }
        let group = groups[Int(slots[slot])]
        return (group.first, group.last, group.count)
    }

    /// Returns the next number of the same group, or -1.
    mutating func next(_ number: Int32) -> Int32 { following[Int(number)] }

    private mutating func slot(of hash: UInt64, _ isEqual: (Int32) -> Bool) -> Int {
        var index = Int(truncatingIfNeeded: hash & UInt64(slots.count - 1))
        while slots[index] >= 0 {
            let group = groups[Int(slots[index])]
            if group.hash == hash && isEqual(group.first) { return index }
            index = (index + 1) & (slots.count - 1)
        }
        return index
    }

    private mutating func grow() {
        let capacity = max(32, slots.count * 2)
        slots.removeAll()
        for _ in 0..<capacity { slots.append(-1) }
        for number in 0..<groups.count {
            var index = Int(truncatingIfNeeded: groups[number].hash & UInt64(capacity - 1))
            while slots[index] >= 0 { index = (index + 1) & (capacity - 1) }
            slots[index] = Int32(truncatingIfNeeded: number)
        }
    }
}
