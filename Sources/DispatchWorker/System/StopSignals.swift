#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Synchronization

/// SIGTERM and SIGINT as a number that a thread looks at: a handler may do nothing else safely.
package enum StopSignals {
    /// Signals seen since the process began.
    package static var count: Int { received.load(ordering: .relaxed) }

    /// Counts these signals from now on instead of dying of them; a broken pipe is an error of a write, no death.
    ///
    /// They are let through even where whoever started the process held them back: a mask is inherited, threads of
    /// libdispatch start their children with all signals blocked, and nothing but SIGKILL would end a worker then.
    package static func install() {
        // The global is made before a handler may need it.
        _ = received.load(ordering: .relaxed)
        for number in [SIGTERM, SIGINT] {
            signal(number) { _ in received.wrappingAdd(1, ordering: .relaxed) }
        }
        signal(SIGPIPE, SIG_IGN)
        var stops = sigset_t()
        sigemptyset(&stops)
        for number in [SIGTERM, SIGINT] { sigaddset(&stops, number) }
        pthread_sigmask(SIG_UNBLOCK, &stops, nil)
    }

    /// Ends the process at once, without destructors.
    package static func exitNow(_ code: Int32) -> Never { _exit(code) }
}

private let received = Atomic<Int>(0)
