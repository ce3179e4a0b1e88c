internal import Foundation

/// A measurement of the CPU time of a function on its thread.
package enum ThreadTime {
    /// Returns the CPU time in milliseconds, the minimum of two runs.
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
