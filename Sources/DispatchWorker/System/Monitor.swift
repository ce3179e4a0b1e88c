#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A value under a lock, with threads that wait until it has changed.
package final class Monitor<Value>: @unchecked Sendable {
    // Unchecked: `value` is only touched between lock and unlock of `mutex`.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    /// Makes a monitor around `value`.
    package init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        Self.makeCondition(condition)
    }

    /// A condition whose timed waits a step of the time of day does not touch.
    private static func makeCondition(_ condition: UnsafeMutablePointer<pthread_cond_t>) {
        #if canImport(Darwin)
        pthread_cond_init(condition, nil)
        #else
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Reads or changes the value; nobody is woken.
    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// Changes the value and wakes those that wait.
    package func signal<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        let result = body(&value)
        pthread_cond_broadcast(condition)
        return result
    }

    /// Waits until `body` returns a value, or at most `milliseconds`; then nil.
    ///
    /// `body` is asked at once and after every signal.
    package func wait<Result>(milliseconds: Int, until body: (inout Value) -> Result?) -> Result? {
        let deadline = SystemClock.monotonicNanoseconds() &+ UInt64(max(0, milliseconds)) &* 1_000_000
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            if !waitForSignal(until: deadline) { return body(&value) }
        }
    }

    /// Waits for a signal; returns false when the monotonic clock has come to `deadline` first.
    private func waitForSignal(until deadline: UInt64) -> Bool {
        #if canImport(Darwin)
        let left = deadline.saturatingSubtract(SystemClock.monotonicNanoseconds())
        if left == 0 { return false }
        var span = timespec(tv_sec: Int(left / 1_000_000_000), tv_nsec: Int(left % 1_000_000_000))
        return pthread_cond_timedwait_relative_np(condition, mutex, &span) == 0
        #else
        var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
        return pthread_cond_timedwait(condition, mutex, &time) == 0
        #endif
    }
}
