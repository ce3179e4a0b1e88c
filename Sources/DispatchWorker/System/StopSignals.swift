internal import CPlatform
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Synchronization

/// The signals that this process has received.
///
/// A signal handler can safely do no more than record them.
package enum StopSignals {
    /// The request of the stop signals since the process began.
    package static var request: StopRequest { received.request }

    /// The number of SIGHUP signals.
    package static var hangups: Int { received.hangups }

    /// Handles SIGTERM, SIGINT and SIGHUP from now on.
    ///
    /// Ignores SIGPIPE, so that writing to a broken pipe returns an error.
    ///
    /// Call it before anything that takes time. The signals are unblocked even if the parent process has blocked them:
    /// a process inherits the signal mask, and threads of libdispatch start their children with all signals blocked.
    /// Only SIGKILL would then end a worker.
    package static func install() {
        // Initializes the global before a handler uses it.
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

/// The request of the stop signals.
package enum StopRequest: Sendable, Equatable {
    /// No signal was received.
    case none
    /// Finish the work in progress and end.
    case drain
    /// End at once.
    case end
}

/// A record of the stop signals by their times.
///
/// All signals within a second of the first one count as one request, because `timeout` signals the process and its
/// group, and a supervisor's SIGTERM follows a terminal's Ctrl-C. A later signal forces the end. Signal handlers write
/// the record, so it only uses atomics.
package struct SignalRecord: ~Copyable, Sendable {
    private let first = Atomic<UInt64>(0)
    private let isForced = Atomic<Bool>(false)
    private let hangupCount = Atomic<Int>(0)

    /// Creates a record without signals.
    package init() {}

    /// Records a stop signal.
    ///
    /// `now` is in nanoseconds of a monotonic clock.
    package func stop(at now: UInt64) {
        let (isFirst, began) = first.compareExchange(expected: 0, desired: max(1, now), ordering: .relaxed)
        if !isFirst && now.saturatingSubtract(began) >= 1_000_000_000 { isForced.store(true, ordering: .relaxed) }
    }

    /// Records a SIGHUP.
    package func hangUp() { hangupCount.wrappingAdd(1, ordering: .relaxed) }

    /// The request of the stop signals so far.
    package var request: StopRequest {
        if isForced.load(ordering: .relaxed) { return .end }
        return first.load(ordering: .relaxed) == 0 ? .none : .drain
    }

    /// The number of SIGHUP signals.
    package var hangups: Int { hangupCount.load(ordering: .relaxed) }
}

private let received = SignalRecord()
