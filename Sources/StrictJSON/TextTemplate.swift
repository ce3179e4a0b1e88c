public import ByteStorage

/// A template for texts that differ only in plain values; the bytes around the values are the same.
///
/// The records of one producer are an example. If one text is valid, any other text with the same bytes around plain
/// values is valid too, and has the same names at the same positions. A single pass that compares these bytes and finds
/// the ends of the values is therefore enough. A plain string has only bytes from 0x20 to 0x7E and no backslash; a
/// plain number has only digits. All other values belong to the bytes that must be the same.
public struct TextTemplate: ~Copyable {
    /// The handling of one value of the text.
    public struct Value {
        /// The destination for the value's bytes when a text matches.
        public var place: UnsafeMutablePointer<ByteView>
        /// The accepted lengths of the value in bytes; a text with another length does not match.
        public var bytes: ClosedRange<Int>

        /// Creates a value's description.
        public init(place: UnsafeMutablePointer<ByteView>, bytes: ClosedRange<Int>) {
            self.place = place
            self.bytes = bytes
        }
    }

    /// The maximum number of values of a text that can be learned.
    public static let maxValues = 32
    /// The maximum number of bytes around the values of a text that can be learned.
    public static let maxBytes = 2048

    /// Sixteen bytes and a mask of those that must be the same.
    private struct Sixteen {
        var words = SIMD2<UInt64>(repeating: 0)
        var mask = SIMD2<UInt64>(repeating: 0)

        init() {}

        /// Creates a comparison with a text of at most sixteen bytes, placed at index `at`.
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

    /// The bytes between two values, including the quotes of both, or before the first value or after the last.
    private struct Gap {
        var bytes = ByteView.empty
        /// The first and the last sixteen bytes; a shorter gap fills the start or the end of the sixteen.
        var first = Sixteen()
        var last = Sixteen()

        init() {}

        init(_ bytes: ByteView) {
            self.bytes = bytes
            let length = min(16, bytes.count)
            first = Sixteen(bytes.slice(0, length), at: 0)
            last = Sixteen(bytes.dropFirst(bytes.count - length), at: 16 - length)
        }

        /// Returns a Boolean value that indicates whether the gap begins at `start`, which is followed by `left` bytes.
        @inline(__always)
        func begins(at start: UnsafePointer<UInt8>, left: Int) -> Bool {
            if left < 16 { return left >= bytes.count && ByteView.equalBytes(start, bytes.start, bytes.count) }
            if !first.isAt(start) { return false }
            if bytes.count <= 16 { return true }
            return left >= bytes.count && last.isAt(start + (bytes.count &- 16)) && hasMiddle(start)
        }

        /// Returns a Boolean value that indicates whether the gap ends at `end`, which is preceded by `left` bytes.
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
        /// The bytes before the value.
        var gap: Gap
        var place: UnsafeMutablePointer<ByteView>
        var least: Int
        var span: UInt
        /// A Boolean value that indicates whether the value is a number instead of a string.
        var isNumber: Bool

        /// Stores a value; returns false if its length is not accepted.
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
    /// The bytes after the last value.
    private var tail = Gap()

    /// Creates a template that matches no text.
    public init() {
        slots = .allocate(capacity: Self.maxValues)
        bytes = .allocate(capacity: Self.maxBytes)
    }

    deinit {
        slots.deallocate()
        bytes.deallocate()
    }

    /// A Boolean value that indicates whether the template has learned no text.
    public var isEmpty: Bool { count == 0 }

    /// Stores the values of a text that matches the learned one; returns false if it does not match.
    ///
    /// If it returns false, some destinations can have been written. The values are read from both ends of the text:
    /// the position of a value depends on the end of the value before it, and with two such chains the processor works
    /// on two values at once.
    public mutating func matches(_ text: ByteView) -> Bool {
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

    /// Moves past a gap and the value after it; `at` becomes the value's end, which is a string's closing quote.
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

    /// Moves back past a value that ends at `stop` and the gap before it; `stop` becomes the gap's start.
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

    /// Returns the address after the last byte before `stop` that is not plain, or `start`.
    ///
    /// - Parameter stop: An address at least 16 bytes after `start`.
    @inline(__always)
    private static func plainStart(
        of stop: UnsafePointer<UInt8>, _ start: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8> {
        var at = stop - 16
        var stops = WideBytes.stops(in: WideBytes.load(at))
        while WideBytes.isNone(stops) {
            if at == start { return start }
            // These are the first sixteen bytes of the text; those that were compared before are plain.
            at = at - start < 16 ? start : at - 16
            stops = WideBytes.stops(in: WideBytes.load(at))
        }
        return at + (WideBytes.last(stops) &+ 1)
    }

    /// Returns the result of `plainStart`, byte by byte.
    @inline(never)
    private static func plainStart(
        nearStart stop: UnsafePointer<UInt8>, _ start: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8> {
        var at = stop
        while at > start && isPlain(at[-1]) { at -= 1 }
        return at
    }

    /// Returns the result of `JSONCursor.plainEnd`, byte by byte.
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

    /// Returns a Boolean value that indicates whether digits are a valid number: at least one, without a leading zero
    /// (RFC 8259, section 6).
    private static func isNumber(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Bool {
        end - start == 1 || end > start && start.pointee != UInt8(ascii: "0")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Learns a text that was validated.
    ///
    /// The template becomes empty if the text has no plain values, a string that is not plain, too many values, or too
    /// many bytes around them.
    ///
    /// - Parameters:
    ///   - text: A valid JSON text.
    ///   - describe: A closure that receives each plain value, a string without its quotes, and returns its handling in
    ///     other texts.
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
            // After a string that is not plain, the next text most likely has another one.
            if !token.isPlain || !add(text.slice(gapStart, start), value, isNumber) { return forget() }
            gapStart = token.end
        }
        guard let rest = kept(text.dropFirst(gapStart)) else { return forget() }
        tail = Gap(rest)
    }

    /// Discards the learned text.
    public mutating func forget() { count = 0 }

    /// Returns the end of the string that begins at `start` and a Boolean value that indicates whether it is plain.
    private static func string(of text: ByteView, from start: Int) -> (end: Int, isPlain: Bool) {
        var at = start
        var plain = true
        while at < text.count && text[at] != UInt8(ascii: "\"") {
            if !isPlain(text[at]) { plain = false }
            at += text[at] == UInt8(ascii: "\\") ? 2 : 1
        }
        return (min(at, text.count), plain)
    }

    /// Returns the end of the number that begins at `start` and a Boolean value that indicates whether it has only
    /// digits.
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

    /// Returns a Boolean value that indicates whether the string before `at` is a member's name.
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

    /// Returns a copy of bytes around values, or nil if there is no space for it.
    private mutating func kept(_ text: ByteView) -> ByteView? {
        if text.count > Self.maxBytes - used { return nil }
        let start = bytes + used
        start.update(from: text.start, count: text.count)
        used += text.count
        return ByteView(start: start, count: text.count)
    }
}
