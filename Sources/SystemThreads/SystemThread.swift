internal import CPlatform

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

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
