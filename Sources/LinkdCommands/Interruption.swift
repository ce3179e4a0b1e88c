#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Synchronization

/// Ctrl-C for commands that have something to say before they end.
///
/// The first signal is noted, a second one ends the process at once.
enum Interruption {
    /// The number of the signal that came, or 0.
    private static let number = Atomic<Int32>(0)

    /// Notes SIGINT and SIGTERM from now on.
    static func watch() {
        // Made here: the handler may do nothing but store a number.
        number.store(0, ordering: .relaxed)
        signal(SIGINT, note)
        signal(SIGTERM, note)
        // Whoever started this process may have held them back, and a mask is inherited.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// The signal that came, or nil.
    static var signalNumber: Int32? {
        let value = number.load(ordering: .relaxed)
        return value == 0 ? nil : value
    }

    private static let note: @convention(c) (Int32) -> Void = { signalNumber in
        if Interruption.number.exchange(signalNumber, ordering: .relaxed) != 0 { _exit(128 + signalNumber) }
    }
}
