/// Exit codes of `linkd` (sysexits and a few of its own; `kafka-worker`, 8.1) that a worker ends with.
package enum ExitCode: Int32, Sendable {
    /// Done, drained, or `stop.after` reached.
    case done = 0
    /// Data lost with `data.loss: stop`.
    case badData = 65
    /// No broker was reached within `start.timeout`.
    case unavailable = 69
    /// An invariant of ours is broken.
    case `internal` = 70
    /// Gave up for now: a supervisor should start it again.
    case tryAgain = 75
    /// Authentication failed or an ACL is missing.
    case denied = 77
    /// A setting, a file or a topic is wrong.
    case configuration = 78
    /// Another process has this instance name.
    case fenced = 79
    /// The watchdog or a second signal.
    case forced = 80
    /// A dead-letter limit was passed.
    case deadLetterLimit = 81
}

/// Why a worker ends otherwise than well.
package struct WorkerExit: Error, Sendable, Equatable {
    /// The process's exit code.
    package var code: ExitCode
    /// What happened.
    package var reason: String
    /// What to do next.
    package var advice: String

    /// Makes an exit.
    package init(_ code: ExitCode, _ reason: String, advice: String) {
        self.code = code
        self.reason = reason
        self.advice = advice
    }
}
