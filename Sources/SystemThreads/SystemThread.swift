internal import CLibrary
internal import CPlatform

/// Threads of the operating system.
///
/// Lanes block in C calls, which Swift's cooperative thread pool does not support.
package enum SystemThread {
    /// Starts a thread that runs `body` once, and that the system frees at its end.
    ///
    /// Returns false if the system cannot create a thread. Tools such as `top -H` show the first 15 bytes of the name.
    @discardableResult
    package static func start(_ name: String, _ body: sending @escaping () -> Void) -> Bool {
        let box = Unmanaged.passRetained(Body(name, body))
        #if canImport(Darwin)
        var handle: pthread_t?
        #else
        var handle = pthread_t()
        #endif
        guard pthread_create(&handle, nil, linkdThreadMain, box.toOpaque()) == 0 else {
            box.release()
            return false
        }
        #if canImport(Darwin)
        if let handle { pthread_detach(handle) }
        #else
        pthread_detach(handle)
        #endif
        return true
    }
}

/// The body of a thread, passed through a C pointer.
private final class Body {
    private let name: String
    private let body: () -> Void

    init(_ name: String, _ body: @escaping () -> Void) {
        self.name = name
        self.body = body
    }

    func run() {
        linkd_name_thread(name)
        body()
    }
}

#if canImport(Darwin)
private func linkdThreadMain(_ pointer: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run()
    return nil
}
#else
private func linkdThreadMain(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let pointer { Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run() }
    return nil
}
#endif

/// A thread that works at intervals until it is stopped.
package final class StoppableThread: Sendable {
    private struct State {
        var isStarted = false
        var isStopped = false
        var isOver = false
    }

    private let name: String
    private let state = Monitor(State())

    /// Creates a thread that has not started.
    ///
    /// `SystemThread.start` describes the name.
    package init(name: String) { self.name = name }

    /// A Boolean value that indicates whether `stop` was called.
    package var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Starts the thread, which runs `body` once.
    ///
    /// A second call has no effect. Returns false if the system cannot create a thread.
    @discardableResult
    package func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let isFirst = state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted
        }
        guard isFirst else { return true }
        let isRunning = SystemThread.start(name) { [state] in
            body()
            state.signal { $0.isOver = true }
        }
        if !isRunning { state.signal { $0.isOver = true } }
        return isRunning
    }

    /// Waits, and returns a Boolean value that indicates whether the thread goes on.
    ///
    /// Returns false at once when the thread is stopped. The thread's body calls it.
    package func sleep(milliseconds: Int) -> Bool {
        state.wait(milliseconds: milliseconds) { $0.isStopped ? true : nil } == nil
    }

    /// Requests that the thread's body return.
    package func stop() { state.signal { $0.isStopped = true } }

    /// Waits until the thread's body has returned, at most `milliseconds`.
    package func join(milliseconds: Int) {
        _ = state.wait(milliseconds: milliseconds) { $0.isOver || !$0.isStarted ? true : nil }
    }
}
