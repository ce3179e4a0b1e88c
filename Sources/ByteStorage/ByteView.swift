/// A borrowed run of bytes: a start and a length, owned by somebody else.
///
/// The hot path passes these instead of strings and arrays. Whoever hands one out says how long its bytes live
/// (a record's value, a table, an arena); a view is never kept longer than that. Debug builds check it (`ViewLease`).
@frozen
public struct ByteView: BitwiseCopyable, @unchecked Sendable {
    // Unchecked: a view is a pointer into memory that its owner keeps unchanged while the view lives.

    @usableFromInline let base: UnsafePointer<UInt8>

    /// Number of bytes.
    public let count: Int

    /// Until when the bytes may be read; it has a size in builds only that check it.
    public let lease: ViewLease

    /// Makes a view of `count` bytes from `start`; parts of another view keep its lease.
    @inlinable
    public init(start: UnsafePointer<UInt8>, count: Int, lease: ViewLease = .none) {
        base = start
        self.count = count
        self.lease = lease
    }

    /// The first byte, valid to read only where `count` is greater than 0.
    @inlinable
    @inline(__always)
    public var start: UnsafePointer<UInt8> {
        if ViewLease.isChecked && count > 0 { lease.check() }
        return base
    }

    /// Makes a view of a buffer; an empty buffer becomes `ByteView.empty`.
    @inlinable
    public init(_ buffer: UnsafeBufferPointer<UInt8>) {
        if let base = buffer.baseAddress {
            self.init(start: base, count: buffer.count)
        } else {
            self = .empty
        }
    }

    /// Makes a view of a raw buffer; an empty buffer becomes `ByteView.empty`.
    @inlinable
    public init(_ buffer: UnsafeRawBufferPointer) {
        if let base = buffer.baseAddress {
            self.init(start: base.assumingMemoryBound(to: UInt8.self), count: buffer.count)
        } else {
            self = .empty
        }
    }

    /// Makes a view of a literal, whose bytes live as long as the process.
    @inlinable
    public init(_ literal: StaticString) {
        self.init(start: literal.utf8Start, count: literal.utf8CodeUnitCount)
    }

    /// The view of no bytes.
    @inlinable
    @inline(__always)
    public static var empty: ByteView {
        // Never read: any address will do, and this one costs no call.
        ByteView(start: UnsafePointer(bitPattern: 8).unsafelyUnwrapped, count: 0)
    }

    /// Whether there are no bytes.
    @inlinable
    public var isEmpty: Bool { count == 0 }

    /// One past the last byte.
    @inlinable
    public var end: UnsafePointer<UInt8> { start + count }

    /// The byte at `index`, which must be in `0 ..< count`.
    @inlinable
    public subscript(index: Int) -> UInt8 {
        assert(index >= 0 && index < count)
        return start[index]
    }

    /// The bytes of `from ..< to`, which must lie inside.
    @inlinable
    public func slice(_ from: Int, _ to: Int) -> ByteView {
        assert(from >= 0 && from <= to && to <= count)
        return ByteView(start: start + from, count: to - from, lease: lease)
    }

    /// The bytes without the first `count`.
    @inlinable
    public func dropFirst(_ dropped: Int) -> ByteView { slice(dropped, count) }

    /// The same bytes as a standard buffer.
    @inlinable
    public var buffer: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: count) }

    /// Whether both hold the same bytes.
    @inlinable
    public static func == (a: ByteView, b: ByteView) -> Bool {
        a.count == b.count && equalBytes(a.start, b.start, a.count)
    }

    /// Whether the two differ.
    @inlinable
    public static func != (a: ByteView, b: ByteView) -> Bool { !(a == b) }

    /// Whether these bytes are exactly the literal's.
    @inlinable
    public func equals(_ literal: StaticString) -> Bool { self == ByteView(literal) }

    /// Whether these bytes begin with `prefix`.
    @inlinable
    public func hasPrefix(_ prefix: ByteView) -> Bool {
        count >= prefix.count && ByteView.equalBytes(start, prefix.start, prefix.count)
    }

    /// Whether these bytes end with `suffix`.
    @inlinable
    public func hasSuffix(_ suffix: ByteView) -> Bool {
        count >= suffix.count && ByteView.equalBytes(end - suffix.count, suffix.start, suffix.count)
    }

    /// Where `byte` stands first, or nil.
    @inlinable
    public func firstIndex(of byte: UInt8) -> Int? {
        var index = 0
        while index < count {
            if start[index] == byte { return index }
            index &+= 1
        }
        return nil
    }

    /// A copy of the bytes as an array, for cold paths.
    public var array: [UInt8] { [UInt8](buffer) }

    /// A copy as text, ill-formed UTF-8 repaired, for messages and cold paths.
    public var string: String { String(decoding: buffer, as: UTF8.self) }

    /// Bytewise order, shorter first where one begins with the other.
    public static func < (a: ByteView, b: ByteView) -> Bool {
        let shared = min(a.count, b.count)
        var index = 0
        while index < shared {
            if a.start[index] != b.start[index] { return a.start[index] < b.start[index] }
            index += 1
        }
        return a.count < b.count
    }

    /// Whether two runs of `count` bytes are the same, eight bytes at a time.
    @inlinable
    public static func equalBytes(_ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        let left = UnsafeRawPointer(a)
        let right = UnsafeRawPointer(b)
        if count >= 8 {
            var index = 0
            while index &+ 8 < count {
                let x = left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                if x != right.loadUnaligned(fromByteOffset: index, as: UInt64.self) { return false }
                index &+= 8
            }
            // The last eight, of which some may be compared again.
            let x = left.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
            return x == right.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
        }
        if count >= 4 {
            let x = left.loadUnaligned(as: UInt32.self) ^ right.loadUnaligned(as: UInt32.self)
            let last = left.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
            return x | (last ^ right.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)) == 0
        }
        var index = 0
        while index < count {
            if a[index] != b[index] { return false }
            index &+= 1
        }
        return true
    }
}
