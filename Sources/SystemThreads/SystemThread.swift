internal import CPlatform

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A thread of the operating system.
///
/// Lanes block in C calls, which Swift's cooperative thread pool does not support.
package struct SystemThread: ~Copyable {
    private let handle: pthread_t

    /// Starts a thread that runs `body` once.
    ///
    /// Returns nil if the system cannot create a thread. Tools such as `top -H` show the first 15 bytes of the name.
    package static func start(_ name: String, _ body: sending @escaping () -> Void) -> SystemThread? {
        let box = Unmanaged.passRetained(Body(name, body))
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

    /// Detaches the thread.
    ///
    /// The system frees it when its body returns.
    package consuming func detach() { pthread_detach(handle) }
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
