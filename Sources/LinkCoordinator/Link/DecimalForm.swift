package import ByteStorage

// The text form of a `decimal`, and the exact comparison of such numbers.
//
// See RouteTableReference, "Field types".
extension TextForms {
    /// The length of the longest text of a `decimal`, in bytes.
    package static let maxDecimalBytes = 64

    /// The maximum number of significant digits of a `decimal`, without leading zeros and trailing zeros of the
    /// fraction.
    package static let maxDecimalDigits = 38

    /// Returns the canonical text of a `decimal`, or nil.
    ///
    /// The form is that of a `double`, with more digits.
    @inline(never)
    package static func decimal(_ text: ByteView) -> ByteView? {
        number(text, maxBytes: maxDecimalBytes, maxDigits: maxDecimalDigits)
    }

    /// Returns a negative number if the first of two canonical decimals is less than the second one, 0 if they are
    /// equal, and a positive number otherwise.
    ///
    /// The digits are compared, so the result is exact for any number of digits.
    @inline(never)
    package static func compareDecimals(_ a: ByteView, _ b: ByteView) -> Int {
        let (isNegative, isOtherNegative) = (startsWithMinus(a), startsWithMinus(b))
        if isNegative != isOtherNegative { return isNegative ? -1 : 1 }
        return isNegative ? compareMagnitudes(b.dropFirst(1), a.dropFirst(1)) : compareMagnitudes(a, b)
    }

    private static func startsWithMinus(_ text: ByteView) -> Bool {
        text.count > 0 && text[0] == UInt8(ascii: "-")
    }

    /// Compares two canonical decimals without a sign.
    ///
    /// The number with more digits before the point is greater. Otherwise, the first different byte decides, or a
    /// fraction that only one of them has.
    private static func compareMagnitudes(_ a: ByteView, _ b: ByteView) -> Int {
        let (whole, otherWhole) = (wholeDigits(a), wholeDigits(b))
        if whole != otherWhole { return whole < otherWhole ? -1 : 1 }
        var index = 0
        while index < a.count, index < b.count {
            if a[index] != b[index] { return a[index] < b[index] ? -1 : 1 }
            index += 1
        }
        return a.count &- b.count
    }

    /// Returns the number of digits before the point.
    private static func wholeDigits(_ text: ByteView) -> Int {
        var index = 0
        while index < text.count, text[index] != UInt8(ascii: ".") { index += 1 }
        return index
    }
}

extension FieldType {
    /// Returns a Boolean value that indicates whether a canonical decimal is within bounds.
    ///
    /// A missing or empty bound is none.
    static func isDecimal(_ number: ByteView, from min: ByteView?, to max: ByteView?) -> Bool {
        if let min, !min.isEmpty, TextForms.compareDecimals(number, min) < 0 { return false }
        if let max, !max.isEmpty, TextForms.compareDecimals(number, max) > 0 { return false }
        return true
    }

    /// Returns a Boolean value that indicates whether a canonical decimal is less than or equal to another one.
    static func isInOrder(_ min: String, _ max: String) -> Bool {
        Array(min.utf8).withUnsafeBufferPointer { isDecimal(ByteView($0), from: nil, to: max) }
    }

    /// Returns a Boolean value that indicates whether a canonical decimal is within the bounds of a table.
    static func isDecimal(_ number: ByteView, from min: String?, to max: String?) -> Bool {
        Array((min ?? "").utf8).withUnsafeBufferPointer { low in
            Array((max ?? "").utf8).withUnsafeBufferPointer { high in
                isDecimal(number, from: ByteView(low), to: ByteView(high))
            }
        }
    }
}
