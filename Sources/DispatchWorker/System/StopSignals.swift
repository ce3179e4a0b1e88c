internal import CPlatform
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Synchronization

/// The signals that this process got, as numbers that a thread looks at: a handler may do nothing else safely.
package enum StopSignals {
    /// What the stop signals since the process began ask for.
    package static var wish: StopWish { received.wish }

    /// How often SIGHUP came.
    package static var hangups: Int { received.hangups }

    /// Notes SIGTERM, SIGINT and SIGHUP from now on instead of dying of them; a broken pipe is an error of a write, no
    /// death.
    ///
    /// Call it before anything else that takes time. The signals are let through even where whoever started the process
    /// held them back: a mask is inherited, threads of libdispatch start their children with all signals blocked, and
    /// nothing but SIGKILL would end a worker then.
    package static func install() {
        // The global is made before a handler may need it.
        _ = received.hangups
        for number in [SIGTERM, SIGINT] {
            signal(number) { _ in received.stop(at: linkd_monotonic_nanoseconds()) }
        }
        signal(SIGHUP) { _ in received.hangUp() }
        signal(SIGPIPE, SIG_IGN)
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// Ends the process at once, without destructors.
    package static func exitNow(_ code: Int32) -> Never { _exit(code) }
}

/// What stop signals ask for.
package enum StopWish: Sendable, Equatable {
    /// None came.
    case none
    /// Finish what is under way and end.
    case drain
    /// End at once.
    case end
}

/// Stop signals by their times: all within a second of the first are one wish, since `timeout` signals the process and
/// its group, and a terminal's Ctrl-C is followed by a supervisor's SIGTERM; one that comes later forces the end.
///
/// Written by signal handlers: atomics only.
package struct SignalRecord: ~Copyable, Sendable {
    private let first = Atomic<UInt64>(0)
    private let isForced = Atomic<Bool>(false)
    private let hangupCount = Atomic<Int>(0)

    /// Makes a record of no signal.
    package init() {}

    /// Notes a stop signal; `now` is nanoseconds of a monotonic clock.
    package func stop(at now: UInt64) {
        let (isFirst, began) = first.compareExchange(expected: 0, desired: max(1, now), ordering: .relaxed)
        if !isFirst && now.saturatingSubtract(began) >= 1_000_000_000 { isForced.store(true, ordering: .relaxed) }
    }

    /// Notes a SIGHUP.
    package func hangUp() { hangupCount.wrappingAdd(1, ordering: .relaxed) }

    /// What the stop signals so far ask for.
    package var wish: StopWish {
        if isForced.load(ordering: .relaxed) { return .end }
        return first.load(ordering: .relaxed) == 0 ? .none : .drain
    }

    /// How often SIGHUP came.
    package var hangups: Int { hangupCount.load(ordering: .relaxed) }
}

private let received = SignalRecord()
