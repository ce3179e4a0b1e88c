package import ByteStorage

/// The text forms of typed values and their canonical forms.
///
/// They are used for every value of every link, so they work on borrowed bytes without allocating memory.
///
/// See RouteTableReference, "Canonical forms".
package enum TextForms {
    /// Returns a Boolean value that indicates whether the text is a UUID: 32 hexadecimal digits of either case, grouped
    /// 8-4-4-4-12.
    package static func isUUID(_ text: ByteView) -> Bool {
        guard text.count == 36 else { return false }
        let dash = UInt8(ascii: "-")
        guard text.start[8] == dash, text.start[13] == dash, text.start[18] == dash, text.start[23] == dash else {
            return false
        }
        let raw = UnsafeRawPointer(text.start)
        let second = UInt64(raw.loadUnaligned(fromByteOffset: 9, as: UInt32.self))
        let third = UInt64(raw.loadUnaligned(fromByteOffset: 14, as: UInt32.self))
        let fourth = UInt64(raw.loadUnaligned(fromByteOffset: 19, as: UInt32.self))
        let fifth = UInt64(raw.loadUnaligned(fromByteOffset: 24, as: UInt32.self))
        return areHex(raw.loadUnaligned(as: UInt64.self)) && areHex(second | third &<< 32)
            && areHex(fourth | fifth &<< 32) && areHex(raw.loadUnaligned(fromByteOffset: 28, as: UInt64.self))
    }

    /// Returns a Boolean value that indicates whether all eight bytes of a word are hexadecimal digits.
    @inline(__always)
    private static func areHex(_ word: UInt64) -> Bool {
        let highs: UInt64 = 0x8080_8080_8080_8080
        let ones: UInt64 = 0x0101_0101_0101_0101
        // For bytes below 0x80, adding 0x80 - n sets the high bit exactly if the byte is n or greater.
        let small = word | 0x2020_2020_2020_2020
        let digits = (word &+ 0x50 &* ones) & ~(word &+ 0x46 &* ones)
        let letters = (small &+ 0x1F &* ones) & ~(small &+ 0x19 &* ones)
        return word & highs == 0 && (digits | letters) & highs == highs
    }

    /// Returns the text as a signed 64-bit integer, or nil.
    ///
    /// The text is `0` or digits without leading zeros. A `-` is allowed only before a number that is not zero. The
    /// text of a number is therefore its canonical form. An overflow returns nil.
    package static func integer(_ text: ByteView) -> Int64? {
        let negative = text.count > 0 && text[0] == UInt8(ascii: "-")
        let first = negative ? 1 : 0
        let digits = text.count &- first
        guard digits > 0, digits < 20 else { return nil }
        if text[first] == UInt8(ascii: "0") { return digits == 1 && !negative ? 0 : nil }
        var value: UInt64 = 0
        var index = first
        while index < text.count {
            let digit = text[index] &- UInt8(ascii: "0")
            if digit >= 10 { return nil }
            // The largest value of 19 digits is less than 2^64, so this cannot overflow.
            value = value &* 10 &+ UInt64(digit)
            index &+= 1
        }
        if negative {
            guard value <= UInt64(1) << 63 else { return nil }
            return Int64(truncatingIfNeeded: 0 &- value)
        }
        return value < UInt64(1) << 63 ? Int64(truncatingIfNeeded: value) : nil
    }

    /// Returns the text as a Boolean value: `true` or `1`, `false` or `0`.
    package static func boolean(_ text: ByteView) -> Bool? {
        if text.count == 1 {
            if text[0] == UInt8(ascii: "1") { return true }
            return text[0] == UInt8(ascii: "0") ? false : nil
        }
        if text.equals("true") { return true }
        return text.equals("false") ? false : nil
    }

    /// Returns a Boolean value that indicates whether the text is a date of the proleptic Gregorian calendar,
    /// `YYYY-MM-DD`, from year 0000 to 9999.
    package static func isDate(_ text: ByteView) -> Bool { text.count == 10 && CivilDate(startOf: text) != nil }

    /// The length of the longest text of a `datetime`, in bytes.
    package static let maxDateTimeBytes = 35

    /// The maximum number of digits of the fraction of a second of a `datetime`.
    package static let maxFractionDigits = 9

    /// The first second of the year 1 to the last one of the year 9999, since 1970.
    private static let secondsOfYears: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// Returns the date and time of a text, or nil if the text has no offset, or if the year is not from 1 to 9999 in
    /// UTC.
    ///
    /// A leap second is not accepted, because most calendars of apps cannot represent it.
    ///
    /// See RouteTableReference, "Dates and times".
    package static func dateTime(_ text: ByteView) -> UTCDateTime? {
        guard text.count <= maxDateTimeBytes, let time = UTCDateTime(text), time.clock.second != 60,
            time.clock.fraction.count <= maxFractionDigits + 1, secondsOfYears.contains(time.seconds)
        else { return nil }
        return time
    }

    /// The length of the longest text of a `double`, in bytes.
    package static let maxDoubleBytes = 32

    /// The maximum number of significant digits of a `double`, without leading zeros and trailing zeros of the
    /// fraction.
    package static let maxDoubleDigits = 15

    /// Returns the canonical text of a `double`, or nil.
    package static func double(_ text: ByteView) -> ByteView? {
        number(text, maxBytes: maxDoubleBytes, maxDigits: maxDoubleDigits)
    }

    /// Returns the canonical text of a decimal number with at most `maxDigits` significant digits, or nil.
    ///
    /// The text is an optional `-`, `0` or digits without leading zeros, and an optional `.` with digits. The canonical
    /// text has no trailing zeros in the fraction, and zero has no sign. It is a prefix of the text or the literal `0`.
    @inline(__always)
    static func number(_ text: ByteView, maxBytes: Int, maxDigits: Int) -> ByteView? {
        guard text.count > 0, text.count <= maxBytes else { return nil }
        var at = text[0] == UInt8(ascii: "-") ? 1 : 0
        let whole = at
        while at < text.count, text[at] &- UInt8(ascii: "0") < 10 { at += 1 }
        let point = at
        guard point > whole, text[whole] != UInt8(ascii: "0") || point == whole + 1 else { return nil }
        var end = point
        if point < text.count {
            guard text[point] == UInt8(ascii: "."), point + 1 < text.count else { return nil }
            for index in (point + 1)..<text.count {
                if text[index] &- UInt8(ascii: "0") >= 10 { return nil }
                if text[index] != UInt8(ascii: "0") { end = index + 1 }
            }
        }
        let significant = significantDigits(text, whole, end)
        if significant == 0 { return ByteView("0") }
        return significant <= maxDigits ? text.slice(0, end) : nil
    }

    /// Returns the number of digits from the first one that is not 0 to `end`.
    private static func significantDigits(_ text: ByteView, _ start: Int, _ end: Int) -> Int {
        var count = 0
        for index in start..<end where text[index] != UInt8(ascii: ".") {
            if count > 0 || text[index] != UInt8(ascii: "0") { count += 1 }
        }
        return count
    }
}

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
    /// A `decimal` has the form of a `double`, with more digits.
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

/// A value in its canonical form, which borrows the original text.
package enum CanonicalValue: Sendable {
    /// The text is not of the type.
    case invalid
    /// A text, unchanged.
    case text(ByteView)
    /// A UUID, to be written in uppercase.
    case uuid(ByteView)
    /// A number, unchanged.
    case number(ByteView)
    /// A Boolean value.
    case boolean(Bool)
    /// A date and time, to be written in UTC.
    case dateTime(UTCDateTime)
}
