internal import ByteStorage

/// A repair of typographic damage in a query.
///
/// See RouteTableReference, "Repair".
enum Repair: UInt8, CaseIterable {
    /// Replaces U+2010 through U+2015 and U+2212 with `-` in values of the types `uuid` and `date`.
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

// Repairs damaged queries: tries each repair alone and uses it if exactly one of them succeeds.
extension Resolver {
    /// Tries to repair the query value of a field that is invalid, or required and missing.
    ///
    /// Returns `true` if exactly one repair succeeded.
    @inline(never)
    mutating func repair(_ binding: Ref<CompiledBinding>, _ field: Ref<CompiledField>, _ place: Int) -> Bool {
        var found: (value: BoundValue, by: Repair)?
        var count = 0
        for repair in Repair.allCases {
            guard let value = attempt(repair, binding, field) else { continue }
            found = (value, repair)
            count += 1
        }
        guard count == 1, let (value, repair) = found else { return false }
        let stamp = values[place].stamp
        values[place] = value
        values[place].stamp = stamp
        lastRepair = repair
        note(repair, binding)
        return true
    }

    /// Adds a note about a repaired value.
    mutating func note(_ repair: Repair, _ binding: Ref<CompiledBinding>) {
        notes.append(Note("repaired:query.", binding.ref(\.query).text, repair.label))
    }

    /// Returns the value of the field after one repair, or nil if it is still invalid.
    ///
    /// The pieces that a repair changes are made once, and values are repaired when they are read, so that the cost is
    /// not the product of the numbers of damaged fields and pieces.
    private mutating func attempt(
        _ repair: Repair, _ binding: Ref<CompiledBinding>, _ field: Ref<CompiledField>
    ) -> BoundValue? {
        let name = binding.ref(\.query)
        let kind = field.kind == .list ? field.item : field.kind
        let isOfParams = usesParams
        if isOfParams && pieces.isEmpty && !makePiecesOfParams() { return nil }
        usesParams = false
        defer { usesParams = isOfParams }
        switch repair {
        case .dash:
            guard kind == .uuid || kind == .date else { return nil }
            mark(name, .hyphens)
            defer { mark(name, .none) }
            return parse(binding, field, repair)
        case .space:
            if trimStamp != stamp { trimPieces() }
            swap(&pieces, &trimmedPieces)
            defer { swap(&pieces, &trimmedPieces) }
            return parse(binding, field, repair)
        case .entity:
            guard hasQuery else { return nil }
            if entityStamp != stamp { splitWithoutEntities() }
            swap(&pieces, &entityPieces)
            defer { swap(&pieces, &entityPieces) }
            return parse(binding, field, repair)
        }
    }

    /// Reads the value of a field from the current pieces.
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

    /// Sets the repair for the values of a name.
    private mutating func mark(_ name: Ref<CompiledQueryName>, _ repair: ValueRepair) {
        var index = firstPiece(name)
        while index >= 0 {
            pieces[index].repair = repair
            index = nextPiece(after: index, name)
        }
    }

    /// Returns a decoded value with a repair applied.
    @inline(never)
    mutating func repaired(_ text: ByteView, _ repair: ValueRepair) -> ByteView {
        switch repair {
        case .none: text
        case .hyphens: withHyphens(text)
        case .trim: trim(text)
        }
    }

    /// Returns the value with `-` in place of Unicode dashes.
    private mutating func withHyphens(_ value: ByteView) -> ByteView {
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

    /// Makes the pieces without spaces around names and values.
    mutating func trimPieces() {
        trimStamp = stamp
        trimmedPieces.removeAll()
        for index in 0..<pieces.count {
            var piece = pieces[index]
            piece.name = trim(piece.name)
            piece.key = ByteScan.foldedKey(piece.name)
            piece.repair = .trim
            trimmedPieces.append(piece)
        }
    }

    private mutating func trim(_ text: ByteView) -> ByteView {
        var first = 0
        var last = text.count
        while first < last && text[first] == UInt8(ascii: " ") { first += 1 }
        while last > first && text[last - 1] == UInt8(ascii: " ") { last -= 1 }
        return text.slice(first, last)
    }

    /// Makes the pieces of the query with `&amp;` read as `&` and a pilcrow as `&para`.
    mutating func splitWithoutEntities() {
        entityStamp = stamp
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
        let original = query
        texts.built.reserve(WideScan.behind)
        query = texts.built.finish()
        queryIsSplit = false
        swap(&pieces, &entityPieces)
        pieces.removeAll()
        splitQuery()
        swap(&pieces, &entityPieces)
        query = original
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
