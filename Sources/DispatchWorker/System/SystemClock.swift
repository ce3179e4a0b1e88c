internal import CLibrary
internal import CPlatform

/// The system clocks.
///
/// Deadlines use the monotonic clock. The time of day is used only in log lines and dead letters.
package enum SystemClock {
    /// Returns the monotonic clock's time in nanoseconds.
    package static func monotonicNanoseconds() -> UInt64 { linkd_monotonic_nanoseconds() }

    /// Returns the milliseconds since 1970, UTC.
    package static func wallMilliseconds() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) &* 1_000 &+ Int64(now.tv_nsec) / 1_000_000
    }

    /// Blocks this thread for a number of milliseconds.
    package static func sleep(milliseconds: Int) {
        guard milliseconds > 0 else { return }
        var left = timespec(tv_sec: milliseconds / 1_000, tv_nsec: (milliseconds % 1_000) * 1_000_000)
        var rest = timespec()
        while nanosleep(&left, &rest) != 0 && errno == EINTR { left = rest }
    }
}

/// Calls `write(2)`, under a name that no method shadows.
package func systemWrite(_ descriptor: Int32, _ start: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, start, count)
}

extension UInt64 {
    /// Returns the difference, or 0 if it would be negative.
    func saturatingSubtract(_ other: UInt64) -> UInt64 { self > other ? self - other : 0 }
}
