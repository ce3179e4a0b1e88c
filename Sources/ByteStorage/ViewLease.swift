#if DEBUG || CHECKED_VIEWS
/// Until when a view may be read, in debug builds and in those that the launcher makes with `CHECKED_VIEWS`.
///
/// A lender of scratch memory counts its turns; a view knows in which of them it was lent. Reading it in a later turn
/// ends the process, at the place that reads too late and not where the wrong bytes are noticed. In release builds a
/// lease has no bytes and checks nothing.
@frozen
public struct ViewLease: BitwiseCopyable, @unchecked Sendable {
    // Unchecked: a lender's views are read where its memory is used, by one thread at a time.

    /// The lender's count of turns; it is never freed, only handed on, so that it can be asked at any time.
    private let turns: UnsafeMutablePointer<UInt64>?
    private let turn: UInt64

    fileprivate init(_ turns: UnsafeMutablePointer<UInt64>?) {
        self.turns = turns
        turn = turns?.pointee ?? 0
    }

    /// The lease of memory that nobody takes back while it may be read: a literal, a table.
    public static var none: ViewLease { ViewLease(nil) }

    /// A Boolean value that indicates whether leases are checked in this build.
    public static var isChecked: Bool { true }

    /// Ends the process if the memory was taken back.
    public func check() {
        guard let turns, turns.pointee != turn else { return }
        // The bytes may be any others by now: going on would make a decision of them.
        fatalError("a view was read after its memory was taken back: see who lent it, and until when")
    }
}

/// Counts of turns that no lender has: they go on from where they are, so that no old lease fits them.
private let spareTurns = Lock<[UInt]>([])

/// Lends views of scratch memory and takes them all back at once.
public struct ViewLender: ~Copyable {
    private let turns: UnsafeMutablePointer<UInt64>

    /// Makes a lender in its first turn.
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

    /// The lease of what is lent in this turn.
    public var lease: ViewLease { ViewLease(turns) }

    /// Takes back all that was lent.
    public func revoke() { turns.pointee &+= 1 }
}
#else
/// Until when a view may be read: checked in debug builds, of no bytes in this one.
@frozen
public struct ViewLease: BitwiseCopyable, Sendable {
    @inlinable
    @inline(__always)
    init() {}

    /// The lease of memory that nobody takes back while it may be read: a literal, a table.
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

/// Lends views of scratch memory and takes them all back at once; in this build nothing of it is kept.
@frozen
public struct ViewLender: ~Copyable {
    /// Makes a lender.
    @inlinable
    @inline(__always)
    public init() {}

    /// The lease of what is lent in this turn.
    @inlinable
    @inline(__always)
    public var lease: ViewLease { .none }

    /// Takes back all that was lent.
    @inlinable
    @inline(__always)
    public func revoke() {}
}
#endif

extension ViewLender {
    /// A view that may be read until `revoke`.
    @inlinable
    @inline(__always)
    public func lend(_ start: UnsafePointer<UInt8>, count: Int) -> ByteView {
        ByteView(start: start, count: count, lease: lease)
    }

    /// The bytes of a view as lent by this lender.
    @inlinable
    @inline(__always)
    public func lend(_ view: ByteView) -> ByteView { ByteView(start: view.start, count: view.count, lease: lease) }
}
