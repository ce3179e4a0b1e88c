internal import ByteStorage

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
