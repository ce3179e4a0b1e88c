internal import ByteStorage

extension TextReader {
    /// Reads `(min..max)`, `(min..)`, or `(..max)` after the type `decimal`.
    ///
    /// Returns the canonical texts of the bounds, or nil for each bound that is left out.
    mutating func decimalBounds() throws(TextError) -> (min: String?, max: String?) {
        let start = at
        guard take("(") else { return (nil, nil) }
        let inside = run { $0 != UInt8(ascii: ")") }
        let points = Array("..".utf8)
        guard take(")"), inside.count > 2,
            let middle = inside.indices.first(where: { inside[$0...].starts(with: points) })
        else {
            throw TextError("expected bounds such as `(0..99.99)`, `(0.01..)`, or `(..9)`", at: start)
        }
        let min = try Self.decimalBound(inside[..<middle], at: start + 1)
        let max = try Self.decimalBound(inside[(middle + 2)...], at: start + middle + 3)
        if let min, let max, !FieldType.isInOrder(min, max) {
            throw TextError(
                "the lower bound \(min) is greater than the upper bound \(max)", at: start,
                suggestion: "write `(\(max)..\(min))`")
        }
        return (min, max)
    }

    private static func decimalBound(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(TextError) -> String? {
        if bytes.isEmpty { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let canonical = FieldType.decimal(min: nil, max: nil).canonicalText(text) else {
            throw TextError(
                "the bound `\(text)` is not a decimal number", at: offset,
                suggestion: "write a number such as `-0.5`, with at most \(TextForms.maxDecimalDigits) digits, without "
                    + "leading zeros and without an exponent")
        }
        return canonical
    }
}
