public import ByteStorage

/// Texts that differ from one another in plain values only: what stands around their values, byte for byte.
///
/// A producer's records are one such family. If one text was read strictly, then any other that has the same bytes
/// around its values, and plain ones for values, is well-formed too, with the same names at the same places. So one
/// pass that compares and looks for the ends of values reads it. Plain is a string of bytes of 0x20 to 0x7E without a
/// backslash, and a number of digits only; all other values are part of what has to be the same.
public struct TextTemplate: ~Copyable {
    /// What to do with one value of the text.
    public struct Value {
        /// Where the value's bytes are noted when a text has it.
        public var place: UnsafeMutablePointer<ByteView>
        /// Least and most bytes of it; a text with fewer or more is not taken.
        public var bytes: ClosedRange<Int>

        /// Makes a value's description.
        public init(place: UnsafeMutablePointer<ByteView>, bytes: ClosedRange<Int>) {
            self.place = place
            self.bytes = bytes
        }
    }

    /// Most values of a text that is learned.
    public static let maxValues = 32
    /// Most bytes around the values of a text that is learned.
    public static let maxBytes = 2048

    /// Sixteen bytes, and which of them have to be the same.
    private struct Sixteen {
        var words = SIMD2<UInt64>(repeating: 0)
        var mask = SIMD2<UInt64>(repeating: 0)

        init() {}

        /// The bytes of a text of at most sixteen, from place `at` on.
        init(_ text: ByteView, at: Int) {
            withUnsafeMutableBytes(of: &words) { bytes in
                for index in 0..<text.count { bytes[at + index] = text[index] }
            }
            withUnsafeMutableBytes(of: &mask) { bytes in
                for index in 0..<text.count { bytes[at + index] = 0xFF }
            }
        }

        @inline(__always)
        func isAt(_ start: UnsafePointer<UInt8>) -> Bool {
            let bytes = UnsafeRawPointer(start).loadUnaligned(as: SIMD2<UInt64>.self)
            return WideBytes.isNone((bytes ^ words) & mask)
        }
    }

    /// The bytes between two values, the quotes of both included; or those before the first or behind the last.
    private struct Gap {
        var bytes = ByteView.empty
        /// Its first sixteen bytes and its last; where there are fewer, at the begin and at the end of the sixteen.
        var first = Sixteen()
        var last = Sixteen()

        init() {}

        init(_ bytes: ByteView) {
            self.bytes = bytes
            let length = min(16, bytes.count)
            first = Sixteen(bytes.slice(0, length), at: 0)
            last = Sixteen(bytes.dropFirst(bytes.count - length), at: 16 - length)
        }

        /// Whether the gap begins at `start`, behind which `left` bytes stand.
        @inline(__always)
        func begins(at start: UnsafePointer<UInt8>, left: Int) -> Bool {
            if left < 16 { return left >= bytes.count && ByteView.equalBytes(start, bytes.start, bytes.count) }
            if !first.isAt(start) { return false }
            if bytes.count <= 16 { return true }
            return left >= bytes.count && last.isAt(start + (bytes.count &- 16)) && hasMiddle(start)
        }

        /// Whether the gap ends at `end`, before which `left` bytes stand.
        @inline(__always)
        func ends(at end: UnsafePointer<UInt8>, left: Int) -> Bool {
            if left < bytes.count { return false }
            if left < 16 { return ByteView.equalBytes(end - bytes.count, bytes.start, bytes.count) }
            if !last.isAt(end - 16) { return false }
            if bytes.count <= 16 { return true }
            return first.isAt(end - bytes.count) && hasMiddle(end - bytes.count)
        }

        @inline(__always)
        private func hasMiddle(_ start: UnsafePointer<UInt8>) -> Bool {
            bytes.count <= 32 || ByteView.equalBytes(start + 16, bytes.start + 16, bytes.count &- 32)
        }
    }

    private struct Slot {
        /// What stands before the value.
        var gap: Gap
        var place: UnsafeMutablePointer<ByteView>
        var least: Int
        var span: UInt
        /// Whether the value is a number, else a string.
        var isNumber: Bool

        /// Notes a value; false if it has too few or too many bytes.
        @inline(__always)
        func note(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ lease: ViewLease) -> Bool {
            let length = end - start
            place.pointee = ByteView(start: start, count: length, lease: lease)
            return UInt(bitPattern: length &- least) <= span
        }
    }

    private let slots: UnsafeMutablePointer<Slot>
    private let bytes: UnsafeMutablePointer<UInt8>
    private var count = 0
    private var used = 0
    /// What follows the last value.
    private var tail = Gap()

    /// Makes a template that takes no text.
    public init() {
        slots = .allocate(capacity: Self.maxValues)
        bytes = .allocate(capacity: Self.maxBytes)
    }

    deinit {
        slots.deallocate()
        bytes.deallocate()
    }

    /// Whether anything was learned.
    public var isEmpty: Bool { count == 0 }

    /// Notes the values of a text that is as the learned one around them; false if it is not.
    ///
    /// Where false comes back some of the places may have been written. Where a value ends says where the next begins,
    /// and it takes long to find out; so the values are gone through from both ends, that the processor works on two
    /// at once.
    public mutating func takes(_ text: ByteView) -> Bool {
        let start = text.start
        let end = text.end
        if count == 0 || !tail.ends(at: end, left: text.count) { return false }
        var at = start
        var stop = end - tail.bytes.count
        var front = UnsafePointer(slots)
        var back = front + (count &- 1)
        while front < back {
            guard Self.goForward(&at, end, front, text.lease), Self.goBackward(&stop, start, back, text.lease)
            else { return false }
            front += 1
            back -= 1
        }
        if front == back && !Self.goForward(&at, end, front, text.lease) { return false }
        return at == stop
    }

    /// Passes a gap and the value behind it; `at` comes to the value's end, as a string's closing quote.
    @inline(__always)
    private static func goForward(
        _ at: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ slot: UnsafePointer<Slot>, _ lease: ViewLease
    ) -> Bool {
        if !slot.pointee.gap.begins(at: at, left: end - at) { return false }
        let value = at + slot.pointee.gap.bytes.count
        let close: UnsafePointer<UInt8>
        if slot.pointee.isNumber {
            close = digitsEnd(of: value, end)
            if !isNumber(value, close) { return false }
        } else {
            close = end - value < 16 ? plainEnd(nearEnd: value, end) : JSONCursor.plainEnd(of: value, end)
            if close == end || close.pointee != UInt8(ascii: "\"") { return false }
        }
        at = close
        return slot.pointee.note(value, close, lease)
    }

    /// Passes a value, which ends at `stop`, and the gap before it; `stop` comes to the gap's begin.
    @inline(__always)
    private static func goBackward(
        _ stop: inout UnsafePointer<UInt8>, _ start: UnsafePointer<UInt8>, _ slot: UnsafePointer<Slot>,
        _ lease: ViewLease
    ) -> Bool {
        let value: UnsafePointer<UInt8>
        if slot.pointee.isNumber {
            value = digitsStart(of: stop, start)
            if !isNumber(value, stop) { return false }
        } else {
            value = stop - start < 16 ? plainStart(nearStart: stop, start) : plainStart(of: stop, start)
        }
        if !slot.pointee.gap.ends(at: value, left: value - start) { return false }
        let close = stop
        stop = value - slot.pointee.gap.bytes.count
        return slot.pointee.note(value, close, lease)
    }

    /// The byte behind the last one before `stop` that may not stand in a plain string, or `start`.
    ///
    /// - Parameter stop: At least 16 bytes stand between `start` and it.
    @inline(__always)
    private static func plainStart(
        of stop: UnsafePointer<UInt8>, _ start: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8> {
        var at = stop - 16
        var stops = WideBytes.stops(in: WideBytes.load(at))
        while WideBytes.isNone(stops) {
            if at == start { return start }
            // The first sixteen bytes of the text: those of them that were seen are plain.
            at = at - start < 16 ? start : at - 16
            stops = WideBytes.stops(in: WideBytes.load(at))
        }
        return at + (WideBytes.last(stops) &+ 1)
    }

    /// As `plainStart`, byte by byte.
    @inline(never)
    private static func plainStart(
        nearStart stop: UnsafePointer<UInt8>, _ start: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8> {
        var at = stop
        while at > start && isPlain(at[-1]) { at -= 1 }
        return at
    }

    /// As `JSONCursor.plainEnd`, byte by byte.
    @inline(never)
    private static func plainEnd(
        nearEnd start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8> {
        var at = start
        while at < end && isPlain(at.pointee) { at += 1 }
        return at
    }

    @inline(never)
    private static func digitsEnd(
        of start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8> {
        var at = start
        while at < end && isDigit(at.pointee) { at += 1 }
        return at
    }

    @inline(never)
    private static func digitsStart(
        of stop: UnsafePointer<UInt8>, _ start: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8> {
        var at = stop
        while at > start && isDigit(at[-1]) { at -= 1 }
        return at
    }

    /// Whether digits are a number of JSON: some, and no zero before others (RFC 8259, section 6).
    private static func isNumber(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Bool {
        end - start == 1 || end > start && start.pointee != UInt8(ascii: "0")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Learns a text that was read strictly; one with no plain values, with strings for values that are not plain, with
    /// too many values or too much around them leaves an empty template.
    ///
    /// - Parameters:
    ///   - text: A well-formed JSON text.
    ///   - describe: Gets each plain value of it, a string without its quotes, and says what to do with it in other
    ///     texts.
    public mutating func learn(_ text: ByteView, describe: (ByteView) -> Value) {
        count = 0
        used = 0
        var gapStart = 0
        var at = 0
        while at < text.count {
            let first = text[at]
            guard first == UInt8(ascii: "\"") || first == UInt8(ascii: "-") || Self.isDigit(first) else {
                at += 1
                continue
            }
            let isNumber = first != UInt8(ascii: "\"")
            let start = isNumber ? at : at + 1
            let token = isNumber ? Self.number(of: text, from: start) : Self.string(of: text, from: start)
            at = isNumber ? token.end : token.end + 1
            if isNumber ? !token.isPlain : Self.isName(text, behind: at) { continue }
            let value = describe(text.slice(start, token.end))
            // Of strings that are not plain the next would most likely be another.
            if !token.isPlain || !add(text.slice(gapStart, start), value, isNumber) { return forget() }
            gapStart = token.end
        }
        guard let rest = kept(text.dropFirst(gapStart)) else { return forget() }
        tail = Gap(rest)
    }

    /// Forgets what was learned.
    public mutating func forget() { count = 0 }

    /// Where the string that begins at `start` ends, and whether all of it is plain.
    private static func string(of text: ByteView, from start: Int) -> (end: Int, isPlain: Bool) {
        var at = start
        var plain = true
        while at < text.count && text[at] != UInt8(ascii: "\"") {
            if !isPlain(text[at]) { plain = false }
            at += text[at] == UInt8(ascii: "\\") ? 2 : 1
        }
        return (min(at, text.count), plain)
    }

    /// Where the number that begins at `start` ends, and whether all of it are digits.
    private static func number(of text: ByteView, from start: Int) -> (end: Int, isPlain: Bool) {
        var at = start
        var plain = true
        while at < text.count {
            switch text[at] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): break
            case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
                plain = false
            default: return (at, plain)
            }
            at += 1
        }
        return (at, plain)
    }

    /// Whether the string before `at` is a member's name.
    private static func isName(_ text: ByteView, behind at: Int) -> Bool {
        var at = at
        while at < text.count && JSONCursor.isWhiteSpace(text[at]) { at += 1 }
        return at < text.count && text[at] == UInt8(ascii: ":")
    }

    private mutating func add(_ gap: ByteView, _ value: Value, _ isNumber: Bool) -> Bool {
        guard count < Self.maxValues, let kept = kept(gap) else { return false }
        let slot = Slot(
            gap: Gap(kept), place: value.place, least: value.bytes.lowerBound,
            span: UInt(value.bytes.upperBound - value.bytes.lowerBound), isNumber: isNumber)
        (slots + count).initialize(to: slot)
        count += 1
        return true
    }

    /// A copy of bytes around values, or nil where there is no room for it.
    private mutating func kept(_ text: ByteView) -> ByteView? {
        if text.count > Self.maxBytes - used { return nil }
        let start = bytes + used
        start.update(from: text.start, count: text.count)
        used += text.count
        return ByteView(start: start, count: text.count)
    }
}
