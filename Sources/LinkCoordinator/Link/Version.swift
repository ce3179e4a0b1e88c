package import ByteStorage

/// A version of an app or an operating system, parsed in place.
///
/// A version has 1 to 5 numbers of 1 to 9 digits, separated by dots. A `-` and a pre-release, and a `+` and build
/// metadata, both in the form of Semantic Versioning, can follow. It has at most 64 bytes. Build metadata is ignored.
/// The version borrows the bytes that it was read from.
///
/// See RouteTableReference, "Versions".
package struct Version: Sendable, BitwiseCopyable {
    /// The numbers.
    ///
    /// Missing numbers are 0.
    package let numbers: (UInt32, UInt32, UInt32, UInt32, UInt32)

    /// The pre-release without its dash, or empty if there is none.
    package let prerelease: ByteView

    /// The length of the longest text of a version, in bytes.
    package static let maxBytes = 64

    /// The version 0, a placeholder.
    static let zero = Version(numbers: (0, 0, 0, 0, 0))

    private init(numbers: (UInt32, UInt32, UInt32, UInt32, UInt32)) {
        self.numbers = numbers
        prerelease = .empty
    }

    /// Creates a version from its text, or returns nil if the text is not a version.
    package init?(_ text: ByteView) {
        if let numbers = Self.plain(text) {
            self.numbers = numbers
            prerelease = .empty
            return
        }
        guard text.count > 0, text.count <= Self.maxBytes else { return nil }
        var read: (UInt32, UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0, 0)
        var at = 0
        var index = 0
        while true {
            guard index < 5, let number = Self.number(text, &at) else { return nil }
            switch index {
            case 0: read.0 = number
            case 1: read.1 = number
            case 2: read.2 = number
            case 3: read.3 = number
            default: read.4 = number
            }
            index += 1
            guard at < text.count, text[at] == UInt8(ascii: ".") else { break }
            at += 1
        }
        var prerelease = ByteView.empty
        if at < text.count, text[at] == UInt8(ascii: "-") {
            guard let end = Self.identifiers(text, from: at + 1) else { return nil }
            prerelease = text.slice(at + 1, end)
            at = end
        }
        if at < text.count, text[at] == UInt8(ascii: "+") {
            guard let end = Self.identifiers(text, from: at + 1) else { return nil }
            at = end
        }
        guard at == text.count else { return nil }
        numbers = read
        self.prerelease = prerelease
    }

    /// Parses the usual form: up to three short numbers, separated by dots.
    ///
    /// If it returns nil, the caller falls back to the slow path.
    @inline(__always)
    private static func plain(_ text: ByteView) -> (UInt32, UInt32, UInt32, UInt32, UInt32)? {
        guard text.count > 0, text.count <= 12 else { return nil }
        var major: UInt32 = 0
        var minor: UInt32 = 0
        var value: UInt32 = 0
        var digits = 0
        var dots = 0
        var at = text.start
        let end = text.end
        while at < end {
            let digit = UInt32(at.pointee) &- UInt32(UInt8(ascii: "0"))
            if digit < 10 {
                value = value &* 10 &+ digit
                digits &+= 1
            } else {
                guard at.pointee == UInt8(ascii: "."), digits > 0, digits < 10, dots < 2 else { return nil }
                major = minor
                minor = value
                value = 0
                digits = 0
                dots &+= 1
            }
            at += 1
        }
        guard digits > 0, digits < 10 else { return nil }
        return dots == 2
            ? (major, minor, value, 0, 0) : dots == 1 ? (minor, value, 0, 0, 0) : (value, 0, 0, 0, 0)
    }

    /// Parses 1 to 9 digits.
    private static func number(_ text: ByteView, _ at: inout Int) -> UInt32? {
        var value: UInt32 = 0
        let start = at
        while at < text.count, at - start < 10 {
            let digit = text[at] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            value = value &* 10 &+ UInt32(digit)
            at += 1
        }
        return at > start && at - start < 10 ? value : nil
    }

    /// Returns the end of identifiers separated by dots, or nil if one of them is empty.
    private static func identifiers(_ text: ByteView, from start: Int) -> Int? {
        var at = start
        var length = 0
        while at < text.count {
            switch text[at] {
            case UInt8(ascii: "."):
                guard length > 0 else { return nil }
                length = 0
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"):
                length += 1
            default:
                return length > 0 ? at : nil
            }
            at += 1
        }
        return length > 0 ? at : nil
    }

    /// Returns a negative number if `a` is lower, a positive number if `b` is lower, and 0 if they are equal.
    package static func compare(_ a: Version, _ b: Version) -> Int {
        if a.numbers.0 != b.numbers.0 { return a.numbers.0 < b.numbers.0 ? -1 : 1 }
        if a.numbers.1 != b.numbers.1 { return a.numbers.1 < b.numbers.1 ? -1 : 1 }
        if a.numbers.2 != b.numbers.2 { return a.numbers.2 < b.numbers.2 ? -1 : 1 }
        if a.numbers.3 != b.numbers.3 { return a.numbers.3 < b.numbers.3 ? -1 : 1 }
        if a.numbers.4 != b.numbers.4 { return a.numbers.4 < b.numbers.4 ? -1 : 1 }
        if a.prerelease.isEmpty || b.prerelease.isEmpty {
            return (a.prerelease.isEmpty ? 1 : 0) - (b.prerelease.isEmpty ? 1 : 0)
        }
        return comparePrereleases(a.prerelease, b.prerelease)
    }

    /// Compares pre-releases as Semantic Versioning 2.0.0, item 11.4, requires: identifier by identifier.
    ///
    /// If all identifiers are equal, the longer list is higher.
    private static func comparePrereleases(_ a: ByteView, _ b: ByteView) -> Int {
        var left = a
        var right = b
        while true {
            let x = head(of: &left)
            let y = head(of: &right)
            if x.isEmpty || y.isEmpty { return x.count - y.count }
            let order = compareIdentifiers(x, y)
            if order != 0 { return order }
        }
    }

    /// Removes and returns the first identifier with its dot, or returns an empty view if there is none.
    private static func head(of text: inout ByteView) -> ByteView {
        let end = text.firstIndex(of: UInt8(ascii: ".")) ?? text.count
        let first = text.slice(0, end)
        text = text.dropFirst(min(end + 1, text.count))
        return first
    }

    /// Compares numbers by value and words by bytes.
    ///
    /// Numbers are lower than words.
    private static func compareIdentifiers(_ a: ByteView, _ b: ByteView) -> Int {
        switch (isNumber(a), isNumber(b)) {
        case (true, false): return -1
        case (false, true): return 1
        case (true, true):
            let x = withoutLeadingZeros(a)
            let y = withoutLeadingZeros(b)
            if x.count != y.count { return x.count - y.count }
            return x == y ? 0 : (x < y ? -1 : 1)
        case (false, false):
            return a == b ? 0 : (a < b ? -1 : 1)
        }
    }

    private static func isNumber(_ text: ByteView) -> Bool {
        for byte in text.buffer where byte &- UInt8(ascii: "0") >= 10 { return false }
        return true
    }

    private static func withoutLeadingZeros(_ text: ByteView) -> ByteView {
        var at = 0
        while at < text.count - 1, text[at] == UInt8(ascii: "0") { at += 1 }
        return text.dropFirst(at)
    }
}
