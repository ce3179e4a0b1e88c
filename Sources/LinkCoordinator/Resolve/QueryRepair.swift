internal import ByteStorage

extension QueryReader {
    /// Replaces the items with those after a repair.
    ///
    /// The items that a repair changes are made once, and values are repaired when they are read, so that the cost is
    /// not the product of the numbers of damaged fields and items.
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
