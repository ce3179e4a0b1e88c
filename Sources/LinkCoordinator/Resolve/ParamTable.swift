package import ByteStorage
internal import StrictJSON

/// The parameters of a `route` request by name (N12), read once for a record.
///
/// A parameter is a scalar, or a list of scalars: its first item answers for all but a list. Nulls, objects and what
/// is in a list and no scalar are passed over. The text was read strictly before; what does not read again throws.
package struct ParamTable: ~Copyable {
    struct Entry {
        var name: ByteView
        /// Where its items stand, and how many of them: one more at most than the longest list has.
        var first: Int32
        var count: Int32
        var isList: Bool
    }

    struct Item {
        /// The value as it stands, or its text once that was made.
        var view: ByteView
        var isText: Bool
    }

    private var cursor = JSONCursor(maxDepth: 512)
    private var entries = Growable<Entry>(capacity: 16)
    private var items = Growable<Item>(capacity: 16)
    /// Parameters of one name, made when the first name is looked for: exactly, or whatever the case of its letters.
    private var exact = NameGroups()
    private var folded = NameGroups()
    private var hasExact = false
    private var hasFolded = false
    /// Entries whose names have to be composed, which a name of ASCII need not wait for.
    private var uncomposed = Growable<Int32>(capacity: 4)

    /// Number of parameters.
    package var count: Int { entries.count }

    /// Forgets the parameters.
    mutating func forget() {
        entries.removeAll(keeping: NameGroups.kept)
        items.removeAll(keeping: NameGroups.kept)
        uncomposed.removeAll(keeping: NameGroups.kept)
        forgetGroups()
    }

    private mutating func forgetGroups() {
        exact.forget()
        folded.forget()
        hasExact = false
        hasFolded = false
    }

    /// Reads the parameters of one JSON object.
    mutating func read(_ json: ByteView, _ texts: inout RecordTexts) throws(JSONError) {
        forget()
        cursor.open(again: json)
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

    /// Reads a scalar; false for all else, which is passed.
    private mutating func readItem() throws(JSONError) -> Bool {
        let byte = cursor.peek()
        let raw = try cursor.skip()
        if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "n") { return false }
        items.append(Item(view: raw, isText: byte != UInt8(ascii: "\"")))
        return true
    }

    /// Adds a parameter; its name lives as long as its text is open in the cursor, so until the next is read.
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

    /// Puts the parameters whose names need not wait to be composed into groups, in their order.
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

    /// Composes the names that wait for it, for a name that may be one of them: one with other characters than ASCII.
    private mutating func composeNames(for name: ByteView, _ texts: inout RecordTexts) {
        guard !uncomposed.isEmpty, name.hasNonASCII else { return }
        for index in 0..<uncomposed.count {
            let number = Int(uncomposed[index])
            entries[number].name = texts.normalForm(entries[number].name)
        }
        uncomposed.removeAll()
        // All are put into groups anew, so that those of a group stand in their order.
        forgetGroups()
    }

    /// The parameters of this name: the first, the last, and how many; nil for none.
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

    /// The next parameter of the same name, or -1.
    mutating func next(_ number: Int32, folds: Bool) -> Int32 { folds ? folded.next(number) : exact.next(number) }

    /// The name of a parameter.
    package mutating func name(_ number: Int32) -> ByteView { entries[Int(number)].name }

    /// Whether a parameter is a list.
    mutating func isList(_ number: Int32) -> Bool { entries[Int(number)].isList }

    /// Number of items of a parameter: 1, unless it is a list.
    mutating func itemCount(_ number: Int32) -> Int { Int(entries[Int(number)].count) }

    /// The text of an item in normal form C.
    mutating func text(_ number: Int32, item: Int, _ texts: inout RecordTexts) -> ByteView {
        let place = Int(entries[Int(number)].first) + item
        if !items[place].isText {
            items[place].view = texts.normalForm(texts.text(quoted: items[place].view))
            items[place].isText = true
        }
        return items[place].view
    }
}

/// Numbers of names in groups of equal ones, found by hash; which are equal says the caller.
///
/// The hash is seeded for each process, so that nobody can choose names that fall together.
struct NameGroups: ~Copyable {
    struct Group {
        var hash: UInt64
        var first: Int32
        var last: Int32
        var count: Int32
    }

    private var groups = Growable<Group>(capacity: 16)
    /// For each number that was added the next of its group, or -1.
    private var following = Growable<Int32>(capacity: 16)
    private var slots = Growable<Int32>(capacity: 32)

    /// Forgets all names.
    mutating func forget() {
        groups.removeAll(keeping: Self.kept)
        following.removeAll(keeping: Self.kept)
        slots.removeAll(keeping: 2 * Self.kept)
    }

    /// Most names whose memory is kept for the next record.
    static var kept: Int { 1024 }

    /// The hash of a name.
    static func hash(_ name: ByteView) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(name.buffer))
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// As `hash`, the same for names that are equal but for the case of ASCII letters.
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

    /// Adds a number, which is greater than all that were added.
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

    /// The group of a name, or nil.
    mutating func find(_ hash: UInt64, _ isEqual: (Int32) -> Bool) -> (first: Int32, last: Int32, count: Int32)? {
        if slots.isEmpty { return nil }
        let slot = slot(of: hash, isEqual)
        if slots[slot] < 0 { return nil }
        let group = groups[Int(slots[slot])]
        return (group.first, group.last, group.count)
    }

    /// The number after another of the same group, or -1.
    mutating func next(_ number: Int32) -> Int32 { following[Int(number)] }

    private mutating func slot(of hash: UInt64, _ isEqual: (Int32) -> Bool) -> Int {
        var place = Int(truncatingIfNeeded: hash & UInt64(slots.count - 1))
        while slots[place] >= 0 {
            let group = groups[Int(slots[place])]
            if group.hash == hash && isEqual(group.first) { return place }
            place = (place + 1) & (slots.count - 1)
        }
        return place
    }

    private mutating func grow() {
        let capacity = max(32, slots.count * 2)
        slots.removeAll()
        for _ in 0..<capacity { slots.append(-1) }
        for number in 0..<groups.count {
            var place = Int(truncatingIfNeeded: groups[number].hash & UInt64(capacity - 1))
            while slots[place] >= 0 { place = (place + 1) & (capacity - 1) }
            slots[place] = Int32(truncatingIfNeeded: number)
        }
    }
}
