#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A thread of the operating system: lanes block in C calls, which Swift's cooperative pool does not bear.
package struct SystemThread: ~Copyable {
    private let handle: pthread_t

    /// Starts a thread that runs `body` once.
    ///
    /// Returns nil when the system has no thread left.
    package static func start(_ body: sending @escaping () -> Void) -> SystemThread? {
        let box = Unmanaged.passRetained(Body(body))
        #if canImport(Darwin)
        var handle: pthread_t?
        #else
        var handle = pthread_t()
        #endif
        let code = pthread_create(&handle, nil, linkdThreadMain, box.toOpaque())
        guard code == 0 else {
            box.release()
            return nil
        }
        #if canImport(Darwin)
        return handle.map { SystemThread(handle: $0) }
        #else
        return SystemThread(handle: handle)
        #endif
    }

    private init(handle: pthread_t) { self.handle = handle }

    /// Waits until the thread's body has returned.
    package consuming func join() { pthread_join(handle, nil) }

    /// Lets the thread run on; the system frees it when its body returns.
    package consuming func detach() { pthread_detach(handle) }
}

/// Carries a thread's body through C.
private final class Body {
    let run: () -> Void

    init(_ run: @escaping () -> Void) { self.run = run }
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
