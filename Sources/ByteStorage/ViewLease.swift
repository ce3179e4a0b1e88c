#if DEBUG || CHECKED_VIEWS
/// The lifetime of a view, checked in debug builds and in builds with `CHECKED_VIEWS`.
///
/// A lender of scratch memory begins a new turn when it revokes its views, and each view stores the turn in which it
/// was lent. Reading the view in a later turn ends the process at that read, instead of later, when the wrong bytes
/// have an effect. In release builds a lease has no size and checks nothing.
@frozen
public struct ViewLease: BitwiseCopyable, @unchecked Sendable {
    // Unchecked because views are read where the lender's memory is used, by one thread at a time.

    /// The lender's turn counter; it is reused but never freed, so it can be read at any time.
    private let turns: UnsafeMutablePointer<UInt64>?
    private let turn: UInt64

    fileprivate init(_ turns: UnsafeMutablePointer<UInt64>?) {
        self.turns = turns
        turn = turns?.pointee ?? 0
    }

    /// The lease of memory that is not revoked while it can be read, such as a literal or a table.
    public static var none: ViewLease { ViewLease(nil) }

    /// A Boolean value that indicates whether leases are checked in this build.
    public static var isChecked: Bool { true }

    /// Ends the process if the memory was revoked.
    public func check() {
        guard let turns, turns.pointee != turn else { return }
        // The memory can contain other bytes by now, and a decision must not be based on them.
        fatalError("a view was read after its memory was revoked: read it earlier, or copy its bytes")
    }
}

/// Counters without a lender; they keep counting from their last value, so no old lease matches them.
private let spareTurns = Lock<[UInt]>([])

/// A lender of scratch memory that revokes all its views at once.
public struct ViewLender: ~Copyable {
    private let turns: UnsafeMutablePointer<UInt64>

    /// Creates a lender in its first turn.
    public init() {
        if let spare = spareTurns.withLock({ $0.popLast() }).flatMap(UnsafeMutablePointer<UInt64>.init(bitPattern:)) {
            turns = spare
        } else {
            turns = .allocate(capacity: 1)
            turns.initialize(to: 1)
        }
    }

    deinit {
        turns.pointee &+= 1
        let spare = UInt(bitPattern: turns)
        spareTurns.withLock { $0.append(spare) }
    }

    /// The lease of views that are lent in this turn.
    public var lease: ViewLease { ViewLease(turns) }

    /// Revokes all views that were lent.
    public func revoke() { turns.pointee &+= 1 }
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

    /// The lease of views that are lent in this turn.
    @inlinable
    @inline(__always)
    public var lease: ViewLease { .none }

    /// Revokes all views that were lent; does nothing in this build.
    @inlinable
    @inline(__always)
    public func revoke() {}
}
#endif
