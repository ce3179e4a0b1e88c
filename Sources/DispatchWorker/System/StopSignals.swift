internal import CLibrary
internal import CPlatform
internal import Synchronization
internal import SystemThreads

/// The signals that this process has received, and their handlers.
///
/// A handler only records a signal, because little else is safe in a signal handler.
package enum StopSignals {
    /// The reaction that the stop signals since the start of the process request.
    package static var request: StopRequest { received.request }

    /// The number of the first stop signal, or nil.
    package static var number: Int32? { received.number }

    /// The number of SIGHUP signals.
    package static var hangups: Int { received.hangups }

    /// The number of SIGQUIT signals.
    package static var quits: Int { received.quits }

    /// A Boolean value that indicates whether the last of SIGUSR1 and SIGUSR2 requests a pause.
    ///
    /// If both wait for the process, SIGUSR2 counts.
    package static var isPaused: Bool { received.isPaused }

    /// Installs handlers for SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, and SIGUSR2, for a worker.
    ///
    /// Ignores SIGPIPE, so that writing to a broken pipe returns an error. Call it before anything that takes time.
    package static func install() {
        // Initializes the global before a handler uses it.
        _ = received.hangups
        for number in stopNumbers {
            signal(number) { _ = received.stop(by: $0, at: linkd_monotonic_nanoseconds()) }
        }
        signal(SIGHUP) { _ in received.hangUp() }
        signal(SIGQUIT) { _ in received.quit() }
        signal(SIGUSR1) { _ in received.pause() }
        signal(SIGUSR2) { _ in received.resume() }
        signal(SIGPIPE, SIG_IGN)
        setMask(SIG_UNBLOCK, stopNumbers + [SIGHUP, SIGQUIT])
        // Handlers interrupt each other and run on several threads, so that an earlier pause could undo a resume. This
        // thread takes one signal at a time, and SIGUSR1 first if both wait. Threads that start later inherit the mask.
        setMask(SIG_BLOCK, pauseNumbers)
        pauses.start {
            var signals = signalSet(pauseNumbers)
            var number: Int32 = 0
            while sigwait(&signals, &number) == 0 { number == SIGUSR1 ? received.pause() : received.resume() }
        }
    }

    /// Installs handlers for SIGTERM and SIGINT, for a command that prints a summary before it ends.
    ///
    /// A second signal ends the process at once with exit code 128 plus the number of the signal.
    package static func installEndingOnSecond() {
        // Initializes the globals before a handler uses them.
        _ = (received.hangups, dependent.load(ordering: .relaxed))
        for number in stopNumbers {
            signal(number) {
                if !received.stop(by: $0, at: linkd_monotonic_nanoseconds()) { StopSignals.exitNow(128 + $0) }
            }
        }
        setMask(SIG_UNBLOCK, stopNumbers)
    }

    /// Ignores SIGPIPE, so that writing to a closed connection returns an error.
    package static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    /// Blocks SIGTERM and SIGINT until `waitForBlocked`.
    ///
    /// Threads that start later inherit the mask.
    package static func block() { setMask(SIG_BLOCK, stopNumbers) }

    /// Waits for SIGTERM or SIGINT, which `block` has blocked.
    package static func waitForBlocked() {
        var signals = signalSet(stopNumbers)
        var number: Int32 = 0
        sigwait(&signals, &number)
    }

    /// Sets the child process that ends with this process, or 0 for none.
    ///
    /// A stop signal without a handler gets one that kills the child before it ends this process.
    package static func setDependent(_ pid: Int32) {
        dependent.store(pid, ordering: .relaxed)
        _ = endsDependent
    }

    /// Installs the handlers that `setDependent` describes, once.
    private static let endsDependent: Void = {
        for number in stopNumbers + [SIGHUP] {
            let before = signal(number) {
                StopSignals.endDependent()
                signal($0, SIG_DFL)
                raise($0)
            }
            if let before { signal(number, before) }
        }
    }()

    /// Kills the process group of the child process that ends with this process.
    private static func endDependent() {
        let pid = dependent.load(ordering: .relaxed)
        if pid > 0 { kill(-pid, SIGKILL) }
    }

    /// Ends the process at once, without destructors.
    package static func exitNow(_ code: Int32) -> Never {
        endDependent()
        _exit(code)
    }

    private static var stopNumbers: [Int32] { [SIGTERM, SIGINT] }
    private static var pauseNumbers: [Int32] { [SIGUSR1, SIGUSR2] }
    /// The thread that takes SIGUSR1 and SIGUSR2.
    private static let pauses = StoppableThread(name: "pauses")

    /// Changes the signal mask of this thread.
    ///
    /// Handlers unblock their signals even if the parent process has blocked them: a process inherits the signal mask,
    /// and threads of libdispatch start their children with all signals blocked. Only SIGKILL would then end it.
    private static func setMask(_ operation: Int32, _ numbers: [Int32]) {
        var signals = signalSet(numbers)
        pthread_sigmask(operation, &signals, nil)
    }

    private static func signalSet(_ numbers: [Int32]) -> sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in numbers { sigaddset(&signals, number) }
        return signals
    }
}

/// The reaction that stop signals request.
package enum StopRequest: Sendable, Equatable {
    /// No signal was received.
    case none
    /// Finish the work in progress and end.
    case drain
    /// End at once.
    case end
}

/// A record of the signals, of the stop signals by their times.
///
/// All signals within a second of the first one count as one request, because `timeout` signals the process and its
/// group, and a supervisor's SIGTERM follows a terminal's Ctrl-C. A later signal forces the end. Signal handlers write
/// the record, so it only uses atomics.
package struct SignalRecord: ~Copyable, Sendable {
    private let first = Atomic<UInt64>(0)
    private let firstNumber = Atomic<Int32>(0)
    private let isForced = Atomic<Bool>(false)
    private let hangupCount = Atomic<Int>(0)
    private let quitCount = Atomic<Int>(0)
    private let isPauseRequested = Atomic<Bool>(false)

    /// Records a stop signal, and returns a Boolean value that indicates whether it is the first one.
    ///
    /// `now` is in nanoseconds of a monotonic clock.
    package func stop(by number: Int32, at now: UInt64) -> Bool {
        let (isFirst, began) = first.compareExchange(expected: 0, desired: max(1, now), ordering: .relaxed)
        if isFirst {
            firstNumber.store(number, ordering: .relaxed)
        } else if now.saturatingSubtract(began) >= 1_000_000_000 {
            isForced.store(true, ordering: .relaxed)
        }
        return isFirst
    }

    /// The number of the first stop signal, or nil.
    package var number: Int32? {
        let number = firstNumber.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    /// Records a SIGHUP.
    package func hangUp() { hangupCount.wrappingAdd(1, ordering: .relaxed) }

    /// The reaction that the stop signals so far request.
    package var request: StopRequest {
        if isForced.load(ordering: .relaxed) { return .end }
        return first.load(ordering: .relaxed) == 0 ? .none : .drain
    }

    /// The number of SIGHUP signals.
    package var hangups: Int { hangupCount.load(ordering: .relaxed) }

    /// Records a SIGQUIT.
    package func quit() { quitCount.wrappingAdd(1, ordering: .relaxed) }

    /// The number of SIGQUIT signals.
    package var quits: Int { quitCount.load(ordering: .relaxed) }

    /// Records a SIGUSR1, which requests a pause.
    package func pause() { isPauseRequested.store(true, ordering: .relaxed) }

    /// Records a SIGUSR2, which ends a pause.
    package func resume() { isPauseRequested.store(false, ordering: .relaxed) }

    /// A Boolean value that indicates whether the last of SIGUSR1 and SIGUSR2 requests a pause.
    package var isPaused: Bool { isPauseRequested.load(ordering: .relaxed) }
}

private let received = SignalRecord()
private let dependent = Atomic<Int32>(0)
