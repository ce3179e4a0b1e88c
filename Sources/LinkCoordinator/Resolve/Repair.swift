internal import StrictJSON

// Rule N9: three repairs of typographic damage, each tried alone and used if exactly one of them parses.
extension Resolver {
    /// Tries to repair a query value that is wrong, or wanting though required; true where the field may stand.
    mutating func repair(
        _ binding: Ref<BindingImage>, _ field: Ref<FieldImage>, _ place: Int
    ) -> Bool {
        let name = binding.ref(\.query)
        switch find(name) {
        case .text, .invalid: break
        // A null is missing: it is repaired only where the field is required.
        case .absent, .null: if field.absence != .required { return false }
        }
        var found: BoundValue?
        var label: StaticString = ""
        var count = 0
        if field.kind == .uuid || field.kind == .date,
            let value = dashed(name).flatMap({ canonical($0, field, kind: field.kind) })
        {
            (found, label) = (value, ":dash")
            count += 1
        }
        if let value = trimmed(name).flatMap({ canonical($0, field, kind: field.kind) }) {
            (found, label) = (value, ":space")
            count += 1
        }
        if let value = withoutEntities(name).flatMap({ canonical($0, field, kind: field.kind) }) {
            (found, label) = (value, ":entity")
            count += 1
        }
        guard count == 1, var value = found else { return false }
        value.stamp = stamp
        values[place] = value
        notes.append(Note("repaired:query.", name.text, label))
        return true
    }

    /// The value with U+2010 to 2015 and U+2212 as `-`.
    private mutating func dashed(_ name: Ref<QueryNameImage>) -> ByteView? {
        guard case .text(let value) = find(name) else { return nil }
        built.begin()
        var index = 0
        while index < value.count {
            let isDash =
                index + 2 < value.count && value[index] == 0xE2
                && ((value[index + 1] == 0x80 && value[index + 2] >= 0x90 && value[index + 2] <= 0x95)
                    || (value[index + 1] == 0x88 && value[index + 2] == 0x92))
            built.append(byte: isDash ? UInt8(ascii: "-") : value[index])
            index += isDash ? 3 : 1
        }
        return built.finish()
    }

    /// The value found with spaces around names and values dropped.
    private mutating func trimmed(_ name: Ref<QueryNameImage>) -> ByteView? {
        let saved = pieces.count
        for index in 0..<saved {
            var piece = pieces[index]
            piece.name = trim(piece.name)
            piece.key = ByteScan.foldedKey(piece.name)
            if piece.hasValue, let text = text(of: piece) {
                piece.value = trim(text)
                piece.isDecoded = true
            }
            pieces.append(piece)
        }
        return findAmong(name, from: saved)
    }

    private mutating func trim(_ text: ByteView) -> ByteView {
        var first = 0
        var last = text.count
        while first < last && text[first] == UInt8(ascii: " ") { first += 1 }
        while last > first && text[last - 1] == UInt8(ascii: " ") { last -= 1 }
        return text.slice(first, last)
    }

    /// The value found with `&amp;` read as `&` and a pilcrow as `&para`, before splitting.
    private mutating func withoutEntities(_ name: Ref<QueryNameImage>) -> ByteView? {
        guard hasQuery else { return nil }
        built.begin()
        var index = 0
        while index < query.count {
            let rest = query.dropFirst(index)
            if rest.hasPrefix(ByteView("&amp;")) {
                built.append("&")
                index += 5
            } else if rest.hasPrefix(ByteView("\u{B6}")) {
                built.append("&para")
                index += 2
            } else if rest.hasPrefix(ByteView("%C2%B6")) || rest.hasPrefix(ByteView("%c2%b6")) {
                built.append("&para")
                index += 6
            } else {
                built.append(byte: query[index])
                index += 1
            }
        }
        let saved = pieces.count
        let original = query
        built.reserve(WideScan.behind)
        query = built.finish()
        queryIsSplit = false
        splitQuery()
        query = original
        return findAmong(name, from: saved)
    }

    /// The value of a name among the pieces from `first` on, which are then taken away again.
    private mutating func findAmong(_ name: Ref<QueryNameImage>, from first: Int) -> ByteView? {
        let kept = (0..<first).map { pieces[$0] }
        let added = (first..<pieces.count).map { pieces[$0] }
        pieces.removeAll()
        for piece in added { pieces.append(piece) }
        let found = find(name)
        pieces.removeAll()
        for piece in kept { pieces.append(piece) }
        if case .text(let value) = found { return value }
        return nil
    }
}
