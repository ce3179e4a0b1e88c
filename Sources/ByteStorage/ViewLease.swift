#if DEBUG || CHECKED_VIEWS
/// The lifetime of a view, checked in debug builds and in builds with `CHECKED_VIEWS`.
///
/// A lender of scratch memory begins a new generation when it revokes its views, and each view stores its generation.
/// Reading the view in a later generation ends the process at that read, instead of later, when the wrong bytes
/// have an effect. In release builds a lease has no size and checks nothing.
@frozen
public struct ViewLease: BitwiseCopyable, @unchecked Sendable {
    // Unchecked because views are read where the lender's memory is used, by one thread at a time.

    /// The lender's generation counter; it is reused but never freed, so it can be read at any time.
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

/// Counters without a lender; they keep counting from their last value, so no old lease matches them.
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
/// The lifetime of a view, which only debug builds check; it has no size in this build.
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

/// A lender of scratch memory that revokes all its views at once; it stores nothing in this build.
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

    /// Revokes all views that were lent; does nothing in this build.
    @inlinable
    @inline(__always)
    public func revoke() {}
}
#endif
