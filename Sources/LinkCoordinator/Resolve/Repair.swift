internal import ByteStorage

/// A repair of typographic damage in a query.
///
/// See RouteTableReference, "Repair".
enum Repair: UInt8, CaseIterable {
    /// Replaces U+2010 through U+2015 and U+2212 with `-` in values of the types `uuid`, `date`, and `datetime`.
    case dash
    /// Removes spaces around names and values.
    case space
    /// Replaces `&amp;` with `&`, and a pilcrow with `&para`, before splitting.
    case entity

    /// The end of the note.
    var label: StaticString {
        switch self {
        case .dash: ":dash"
        case .space: ":space"
        case .entity: ":entity"
        }
    }
}

extension QueryReader {
    /// Replaces the items with the repaired ones.
    ///
    /// The items that a repair changes are made once, and values are repaired when they are read. Otherwise, the cost
    /// would be the product of the numbers of damaged fields and items.
    ///
    /// Returns `false` if there is nothing to repair. Otherwise, the caller must restore the items with `end`.
    mutating func begin(
        _ repair: Repair, _ name: Ref<CompiledQueryName>, _ texts: inout ResolutionTexts
    ) -> Bool {
        switch repair {
        case .dash: mark(name, .hyphens)
        case .space:
            if !isTrimmed { trimItems() }
            swap(&items, &trimmedItems)
        case .entity:
            guard let query else { return false }
            if !isWithoutEntities { splitWithoutEntities(query, &texts) }
            swap(&items, &entityItems)
        }
        return true
    }

    /// Restores the items as they were before `begin`.
    mutating func end(_ repair: Repair, _ name: Ref<CompiledQueryName>) {
        switch repair {
        case .dash: mark(name, .none)
        case .space: swap(&items, &trimmedItems)
        case .entity: swap(&items, &entityItems)
        }
    }

    /// Sets the repair for the values of a name.
    private mutating func mark(_ name: Ref<CompiledQueryName>, _ repair: ValueRepair) {
        var index = firstItem(name)
        while index >= 0 {
            items[index].repair = repair
            index = nextItem(after: index, name)
        }
    }

    /// Makes the items without spaces around names and values.
    private mutating func trimItems() {
        isTrimmed = true
        trimmedItems.removeAll()
        for index in 0..<items.count {
            var item = items[index]
            item.name = ValueRepair.trimmed(item.name)
            item.key = ByteScan.foldedKey(item.name)
            item.repair = .trim
            trimmedItems.append(item)
        }
    }

    /// Makes the items of the query with `&amp;` read as `&` and a pilcrow as `&para`.
    private mutating func splitWithoutEntities(_ query: ByteView, _ texts: inout ResolutionTexts) {
        isWithoutEntities = true
        texts.built.begin()
        var index = 0
        while index < query.count {
            let rest = query.dropFirst(index)
            if case let length = Self.ampersandLength(rest), length > 0 {
                texts.built.append("&")
                index += length
            } else if case let length = Self.pilcrowLength(rest), length > 0 {
                texts.built.append("&para")
                index += length
            } else {
                texts.built.append(byte: query[index])
                index += 1
            }
        }
        texts.built.reserve(WideScan.padding)
        let text = texts.built.finish()
        swap(&items, &entityItems)
        items.removeAll()
        split(text, &texts)
        swap(&items, &entityItems)
    }

    /// Returns the length of the `&amp;` that a text begins with, or 0.
    ///
    /// Its letters may be percent-encoded.
    private static func ampersandLength(_ text: ByteView) -> Int {
        guard text.count > 0, text[0] == UInt8(ascii: "&") else { return 0 }
        var at = 1
        let letters: StaticString = "amp"
        for index in 0..<3 {
            let length = letterLength(text.dropFirst(at), letters.utf8Start[index])
            if length == 0 { return 0 }
            at += length
        }
        return at < text.count && text[at] == UInt8(ascii: ";") ? at + 1 : 0
    }

    /// Returns the length of a letter, plain or percent-encoded, that a text begins with, or 0.
    private static func letterLength(_ text: ByteView, _ letter: UInt8) -> Int {
        guard text.count > 0 else { return 0 }
        if text[0] == letter { return 1 }
        guard text.count >= 3, text[0] == UInt8(ascii: "%") else { return 0 }
        guard let high = hexDigit(text[1]), let low = hexDigit(text[2]) else {
            return 0
        }
        return high &<< 4 | low == letter ? 3 : 0
    }

    /// Returns the length of the pilcrow, plain or percent-encoded, that a text begins with, or 0.
    private static func pilcrowLength(_ text: ByteView) -> Int {
        if text.hasPrefix(ByteView("\u{B6}")) { return 2 }
        guard text.count >= 6, text[0] == UInt8(ascii: "%"), text[3] == UInt8(ascii: "%") else { return 0 }
        let isPilcrow =
            ByteScan.foldASCII(text[1]) == UInt8(ascii: "c") && text[2] == UInt8(ascii: "2")
            && ByteScan.foldASCII(text[4]) == UInt8(ascii: "b") && text[5] == UInt8(ascii: "6")
        return isPilcrow ? 6 : 0
    }
}

// Repairs damaged queries: tries each repair alone and uses it if exactly one of them succeeds.
extension Resolver {
    /// Tries to repair the query value of a field that is invalid, or required and missing.
    ///
    /// Returns `true` if exactly one repair succeeded.
    @inline(never)
    mutating func repair(_ binding: Ref<CompiledBinding>, _ field: Ref<CompiledField>, _ slot: Int) -> Bool {
        var found: (value: BoundValue, by: Repair)?
        var count = 0
        for repair in Repair.allCases {
            guard let value = attempt(repair, binding, field) else { continue }
            found = (value, repair)
            count += 1
        }
        guard count == 1, let (value, repair) = found else { return false }
        let stamp = values[slot].stamp
        values[slot] = value
        values[slot].stamp = stamp
        readings.lastRepair = repair
        note(repair, binding)
        return true
    }

    /// Adds a note about a repaired value.
    mutating func note(_ repair: Repair, _ binding: Ref<CompiledBinding>) {
        notes.append(Note("repaired:query.", binding.ref(\.query).text, repair.label))
    }

    /// Returns the value of the field after one repair, or nil if it is still invalid.
    private mutating func attempt(
        _ repair: Repair, _ binding: Ref<CompiledBinding>, _ field: Ref<CompiledField>
    ) -> BoundValue? {
        let name = binding.ref(\.query)
        let kind = field.kind == .list ? field.item : field.kind
        let isOfParams = usesParams
        if isOfParams && query.items.isEmpty && !makeItemsFromParams() { return nil }
        usesParams = false
        defer { usesParams = isOfParams }
        if repair == .dash && kind != .uuid && kind != .date && kind != .dateTime { return nil }
        guard query.begin(repair, name, &texts) else { return nil }
        defer { query.end(repair, name) }
        return parse(binding, field, repair)
    }

    /// Reads the value of a field from the current items.
    private mutating func parse(
        _ binding: Ref<CompiledBinding>, _ field: Ref<CompiledField>, _ repair: Repair
    ) -> BoundValue? {
        guard field.kind == .list else {
            guard case .text(let text) = find(binding.ref(\.query)) else { return nil }
            return canonical(text, field, kind: field.kind)
        }
        let read = readList(binding, field, repair)
        guard read.isValid, read.count > 0, read.count >= field.minCount, read.count <= field.maxCount else {
            return nil
        }
        return BoundValue(state: .list, first: read.first, count: read.count)
    }
}

/// The change that a repair makes to a decoded value.
///
/// See RouteTableReference, "Repair".
enum ValueRepair: UInt8 {
    case none, hyphens, trim

    /// Returns a decoded value with the repair applied.
    @inline(never)
    func applied(to text: ByteView, _ texts: inout ResolutionTexts) -> ByteView {
        switch self {
        case .none: text
        case .hyphens: Self.withHyphens(text, &texts)
        case .trim: Self.trimmed(text)
        }
    }

    /// Returns the value with `-` in place of Unicode dashes.
    private static func withHyphens(_ value: ByteView, _ texts: inout ResolutionTexts) -> ByteView {
        texts.built.begin()
        var index = 0
        while index < value.count {
            let isDash =
                index + 2 < value.count && value[index] == 0xE2
                && ((value[index + 1] == 0x80 && value[index + 2] >= 0x90 && value[index + 2] <= 0x95)
                    || (value[index + 1] == 0x88 && value[index + 2] == 0x92))
            texts.built.append(byte: isDash ? UInt8(ascii: "-") : value[index])
            index += isDash ? 3 : 1
        }
        return texts.built.finish()
    }

    /// Returns a text without spaces around it.
    static func trimmed(_ text: ByteView) -> ByteView {
        var first = 0
        var last = text.count
        while first < last && text[first] == UInt8(ascii: " ") { first += 1 }
        while last > first && text[last - 1] == UInt8(ascii: " ") { last -= 1 }
        return text.slice(first, last)
    }
}
