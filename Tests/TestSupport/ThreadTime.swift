internal import Foundation

/// The processor time that work takes on the thread that does it.
package enum ThreadTime {
    /// Returns the milliseconds that an action takes, the lesser of two runs: other work on the machine slows one down.
    package static func milliseconds(_ action: () -> Void) -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
        }
        return (0..<2).map { _ in
            let start = now()
            action()
            return now() - start
        }.min() ?? 0
    }
}
