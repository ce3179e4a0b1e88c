#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Synchronization

/// Handling of Ctrl-C for commands that print a summary before they end.
///
/// The first signal is recorded. The second one ends the process at once.
enum Interruption {
    /// The number of the first signal, or 0.
    private static let number = Atomic<Int32>(0)

    /// Installs handlers for SIGINT and SIGTERM.
    static func installHandlers() {
        // The first access initializes the atomic here, outside the handler, which may only store a number.
        number.store(0, ordering: .relaxed)
        signal(SIGINT, handler)
        signal(SIGTERM, handler)
        // The parent process may have blocked the signals, and a child inherits the mask.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// The number of the first signal, or nil.
    static var signalNumber: Int32? {
        let value = number.load(ordering: .relaxed)
        return value == 0 ? nil : value
    }

    private static let handler: @convention(c) (Int32) -> Void = { signalNumber in
        if Interruption.number.exchange(signalNumber, ordering: .relaxed) != 0 { _exit(128 + signalNumber) }
    }
}
