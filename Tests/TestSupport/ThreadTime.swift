internal import Foundation

/// A comparison of the CPU time of functions on their thread, which other programs on the machine hardly change.
package enum ThreadTime {
    /// Returns the CPU time of a function in milliseconds, for bounds that are a hundred times as long as the usual
    /// time.
    package static func milliseconds(_ action: () -> Void) -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
        }
        let start = now()
        action()
        return now() - start
    }

    /// Returns a text about the CPU times if a function takes more than `factor` times as long as another one and
    /// `allowance`, or nil.
    ///
    /// The least time of up to six runs counts, so that a disturbance of one run changes nothing.
    ///
    /// - Parameters:
    ///   - allowance: A function whose time, multiplied by four, the long one may take in addition.
    package static func excess(
        of long: () -> Void, over short: () -> Void, factor: Double, allowance: () -> Void = {}
    ) -> String? {
        var (most, least, rest) = (Double.infinity, Double.infinity, Double.infinity)
        for _ in 0..<6 {
            least = min(least, milliseconds(short))
            rest = min(rest, milliseconds(allowance))
            most = min(most, milliseconds(long))
            if most < factor * least + 4 * rest + 20 { return nil }
        }
        return "\(Int(most)) ms in place of \(Int(least)) ms, with an allowance for \(Int(rest)) ms"
    }
}
