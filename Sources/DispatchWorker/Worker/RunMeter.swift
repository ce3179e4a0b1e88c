internal import CPlatform
internal import Synchronization

/// A meter of the elapsed time and the CPU time from the first record to the last commit.
package final class RunMeter: Sendable {
    private let begun = Atomic<Bool>(false)
    private let span: Mutex<Span>

    private struct Span {
        var firstAt: UInt64 = 0
        var firstCPU: Int64 = 0
        var lastAt: UInt64 = 0
        var lastCPU: Int64 = 0
    }

    /// Creates a meter without measurements.
    package init() { span = Mutex(Span()) }

    /// Records that a lane received records.
    package func received(now: UInt64) {
        if begun.load(ordering: .relaxed) { return }
        if begun.exchange(true, ordering: .relaxed) { return }
        let cpu = linkd_process_cpu_microseconds()
        span.withLock {
            $0.firstAt = now
            $0.firstCPU = cpu
        }
    }

    /// Records that a commit returned.
    package func committed(now: UInt64) {
        let cpu = linkd_process_cpu_microseconds()
        span.withLock {
            guard now >= $0.lastAt else { return }
            $0.lastAt = now
            $0.lastCPU = cpu
        }
    }

    /// The elapsed and CPU seconds from the first record to the last commit, or zeros if nothing was committed.
    package var seconds: (elapsed: Double, cpu: Double) {
        span.withLock {
            guard $0.lastAt > $0.firstAt && $0.firstAt > 0 else { return (0, 0) }
            return (Double($0.lastAt - $0.firstAt) / 1e9, Double($0.lastCPU - $0.firstCPU) / 1e6)
        }
    }
}
