#if canImport(Darwin)
internal import os
#else
internal import Synchronization
#endif

/// A value that only one thread at a time can read or change.
///
/// On Apple platforms this is the system's unfair lock, because `Mutex` requires iOS 18 and the libraries support iOS
/// 16.
package final class Lock<Value: Sendable>: Sendable {
    #if canImport(Darwin)
    private let value: OSAllocatedUnfairLock<Value>
    #else
    private let value: Mutex<Value>
    #endif

    /// Creates a lock around a value.
    package init(_ value: Value) {
        #if canImport(Darwin)
        self.value = OSAllocatedUnfairLock(initialState: value)
        #else
        self.value = Mutex(value)
        #endif
    }

    /// Calls a closure with exclusive access to the value, and returns its result.
    package func withLock<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
        value.withLock { body(&$0) }
    }
}
