internal import CLibrary
internal import CPlatform

/// A value under a lock, with a condition that threads wait on.
package final class Monitor<Value>: @unchecked Sendable {
    // Unchecked: `value` is only accessed while `mutex` is locked.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    /// Creates a monitor around `value`.
    package init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        Self.makeCondition(condition)
    }

    /// Initializes a condition whose timed waits are independent of changes to the time of day.
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

    /// Reads or changes the value without waking other threads.
    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// Changes the value and wakes all waiting threads.
    package func signal<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        let result = body(&value)
        pthread_cond_broadcast(condition)
        return result
    }

    /// Waits until `body` returns a value.
    ///
    /// Returns nil after `milliseconds`.
    ///
    /// `body` is called at once and after every signal.
    package func wait<Result>(milliseconds: Int, until body: (inout Value) -> Result?) -> Result? {
        let deadline = linkd_monotonic_nanoseconds() &+ UInt64(max(0, milliseconds)) &* 1_000_000
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            if !waitForSignal(until: deadline) { return body(&value) }
        }
    }

    /// Waits for a signal.
    ///
    /// Returns false if the monotonic clock reaches `deadline` first.
    private func waitForSignal(until deadline: UInt64) -> Bool {
        #if canImport(Darwin)
        let now = linkd_monotonic_nanoseconds()
        guard deadline > now else { return false }
        let left = deadline - now
        var span = timespec(tv_sec: Int(left / 1_000_000_000), tv_nsec: Int(left % 1_000_000_000))
        return pthread_cond_timedwait_relative_np(condition, mutex, &span) == 0
        #else
        var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
        return pthread_cond_timedwait(condition, mutex, &time) == 0
        #endif
    }
}
