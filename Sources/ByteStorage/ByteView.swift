/// A borrowed range of bytes: a start and a length.
///
/// The hot path passes views instead of strings and arrays. The bytes belong to a record's value, a table, or an arena.
/// The function that returns a view documents their lifetime. Do not use the view after that. Debug builds check the
/// lifetime (`ViewLease`).
@frozen
public struct ByteView: BitwiseCopyable, @unchecked Sendable {
    // Unchecked because a view is a pointer into memory that its owner does not change during the view's lifetime.

    @usableFromInline let base: UnsafePointer<UInt8>

    /// The number of bytes.
    public let count: Int

    /// The lease that limits the lifetime of the bytes, with a size only in builds that check it.
    public let lease: ViewLease

    /// Creates a view of `count` bytes at `start`.
    ///
    /// For a part of another view, pass the lease of that view.
    @inlinable
    public init(start: UnsafePointer<UInt8>, count: Int, lease: ViewLease = .none) {
        base = start
        self.count = count
        self.lease = lease
    }

    /// The address of the first byte, to be read only if `count` is greater than 0.
    @inlinable
    @inline(__always)
    public var start: UnsafePointer<UInt8> {
        if ViewLease.isChecked && count > 0 { lease.check() }
        return base
    }

    /// Creates a view of a buffer, or `ByteView.empty` for an empty buffer.
    @inlinable
    public init(_ buffer: UnsafeBufferPointer<UInt8>) {
        if let base = buffer.baseAddress {
            self.init(start: base, count: buffer.count)
        } else {
            self = .empty
        }
    }

    /// Creates a view of a raw buffer, or `ByteView.empty` for an empty buffer.
    @inlinable
    public init(_ buffer: UnsafeRawBufferPointer) {
        if let base = buffer.baseAddress {
            self.init(start: base.assumingMemoryBound(to: UInt8.self), count: buffer.count)
        } else {
            self = .empty
        }
    }

    /// Creates a view of a literal, whose bytes live as long as the process.
    @inlinable
    public init(_ literal: StaticString) {
        self.init(start: literal.utf8Start, count: literal.utf8CodeUnitCount)
    }

    /// A view without bytes.
    @inlinable
    @inline(__always)
    public static var empty: ByteView {
        // The address is never read, so any address is valid, and this one costs no call.
        ByteView(start: UnsafePointer(bitPattern: 8).unsafelyUnwrapped, count: 0)
    }

    /// A Boolean value that indicates whether the view has no bytes.
    @inlinable
    public var isEmpty: Bool { count == 0 }

    /// The address after the last byte.
    @inlinable
    public var end: UnsafePointer<UInt8> { start + count }

    /// The byte at `index`, which must be in `0 ..< count`.
    @inlinable
    public subscript(index: Int) -> UInt8 {
        assert(index >= 0 && index < count)
        return start[index]
    }

    /// Returns the bytes in `from ..< to`, which must lie inside the view.
    @inlinable
    public func slice(_ from: Int, _ to: Int) -> ByteView {
        assert(from >= 0 && from <= to && to <= count)
        return ByteView(start: start + from, count: to - from, lease: lease)
    }

    /// Returns the view without its first `dropped` bytes.
    @inlinable
    public func dropFirst(_ dropped: Int) -> ByteView { slice(dropped, count) }

    /// The same bytes as a standard buffer.
    @inlinable
    public var buffer: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: count) }

    /// Returns a Boolean value that indicates whether both views have the same bytes.
    @inlinable
    public static func == (a: ByteView, b: ByteView) -> Bool {
        a.count == b.count && equalBytes(a.start, b.start, a.count)
    }

    /// Returns a Boolean value that indicates whether the bytes of the views differ.
    @inlinable
    public static func != (a: ByteView, b: ByteView) -> Bool { !(a == b) }

    /// Returns a Boolean value that indicates whether the view has the same bytes as the literal.
    @inlinable
    public func equals(_ literal: StaticString) -> Bool { self == ByteView(literal) }

    /// Returns a Boolean value that indicates whether the bytes begin with `prefix`.
    @inlinable
    public func hasPrefix(_ prefix: ByteView) -> Bool {
        count >= prefix.count && ByteView.equalBytes(start, prefix.start, prefix.count)
    }

    /// Returns a Boolean value that indicates whether the bytes end with `suffix`.
    @inlinable
    public func hasSuffix(_ suffix: ByteView) -> Bool {
        count >= suffix.count && ByteView.equalBytes(end - suffix.count, suffix.start, suffix.count)
    }

    /// Returns the index of the first occurrence of `byte`, or nil if there is none.
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

    /// A copy of the bytes as a string in which invalid UTF-8 is repaired, for messages and cold paths.
    public var string: String { String(decoding: buffer, as: UTF8.self) }

    /// Returns a Boolean value that indicates whether `a` precedes `b`, byte by byte.
    ///
    /// A prefix precedes the longer view.
    public static func < (a: ByteView, b: ByteView) -> Bool {
        let shared = min(a.count, b.count)
        var index = 0
        while index < shared {
            if a.start[index] != b.start[index] { return a.start[index] < b.start[index] }
            index += 1
        }
        return a.count < b.count
    }

    /// Returns a Boolean value that indicates whether two ranges of `count` bytes are equal, eight bytes at a time.
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
            // Compare the last eight bytes, some of them for the second time.
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

extension ViewLender {
    /// Returns a view that can be read until `revoke`.
    @inlinable
    @inline(__always)
    public func lend(_ start: UnsafePointer<UInt8>, count: Int) -> ByteView {
        ByteView(start: start, count: count, lease: lease)
    }

    /// Returns the bytes of a view with the lease of this lender.
    @inlinable
    @inline(__always)
    public func lend(_ view: ByteView) -> ByteView { ByteView(start: view.start, count: view.count, lease: lease) }
}

#if DEBUG || CHECKED_VIEWS
/// The lifetime of a view, checked in debug builds and in builds with `CHECKED_VIEWS`.
///
/// A lender of scratch memory begins a new generation when it revokes its views, and each view stores its generation.
/// Reading the view in a later generation ends the process at that read, instead of later, when the wrong bytes
/// have an effect. In release builds a lease has no size and checks nothing.
@frozen
public struct ViewLease: BitwiseCopyable, @unchecked Sendable {
    // Unchecked because views are read where the lender's memory is used, by one thread at a time.

    /// The lender's generation counter, which is reused but never freed, so it can be read at any time.
    private let counter: UnsafeMutablePointer<UInt64>?
    private let generation: UInt64

    fileprivate init(_ counter: UnsafeMutablePointer<UInt64>?) {
        self.counter = counter
        generation = counter?.pointee ?? 0
    }

    /// The lease of memory that is not revoked while it can be read, such as a literal or a table.
    public static var none: ViewLease { ViewLease(nil) }

    /// A Boolean value that indicates whether leases are checked in this build.
    public static var isChecked: Bool { true }

    /// Ends the process if the memory was revoked.
    public func check() {
        guard let counter, counter.pointee != generation else { return }
        // The memory can contain other bytes by now, and a decision must not be based on them.
        fatalError("a view was read after its memory was revoked: read it earlier, or copy its bytes")
    }
}

/// Counters without a lender, which keep counting from their last value, so no old lease matches them.
private let freeCounters = Lock<[UInt]>([])

/// A lender of scratch memory that revokes all its views at once.
public struct ViewLender: ~Copyable {
    private let counter: UnsafeMutablePointer<UInt64>

    /// Creates a lender in its first generation.
    public init() {
        if let spare = freeCounters.withLock({ $0.popLast() }).flatMap(UnsafeMutablePointer<UInt64>.init(bitPattern:)) {
            counter = spare
        } else {
            counter = .allocate(capacity: 1)
            counter.initialize(to: 1)
        }
    }

    deinit {
        counter.pointee &+= 1
        let spare = UInt(bitPattern: counter)
        freeCounters.withLock { $0.append(spare) }
    }

    /// The lease of views that are lent in this generation.
    public var lease: ViewLease { ViewLease(counter) }

    /// Revokes all views that were lent.
    public func revoke() { counter.pointee &+= 1 }
}
#else
/// The lifetime of a view, which only debug builds check and which has no size in this build.
@frozen
public struct ViewLease: BitwiseCopyable, Sendable {
    @inlinable
    @inline(__always)
    init() {}

    /// The lease of memory that is not revoked while it can be read, such as a literal or a table.
    @inlinable
    @inline(__always)
    public static var none: ViewLease { ViewLease() }

    /// A Boolean value that indicates whether leases are checked in this build.
    @inlinable
    @inline(__always)
    public static var isChecked: Bool { false }

    /// Does nothing in this build.
    @inlinable
    @inline(__always)
    public func check() {}
}

/// A lender of scratch memory that revokes all its views at once, and that stores nothing in this build.
@frozen
public struct ViewLender: ~Copyable {
    /// Creates a lender.
    @inlinable
    @inline(__always)
    public init() {}

    /// The lease of views that are lent in this generation.
    @inlinable
    @inline(__always)
    public var lease: ViewLease { .none }

    /// Revokes no views, because this build does not check them.
    @inlinable
    @inline(__always)
    public func revoke() {}
}
#endif
