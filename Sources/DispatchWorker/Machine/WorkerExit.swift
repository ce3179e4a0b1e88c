/// The exit codes of a worker: codes of `sysexits.h`, and codes from 79 that only `linkd` defines.
///
/// `WorkerReference` describes each of them.
package enum ExitCode: Int32, Sendable {
    /// The worker stopped after a signal, or `stop.after` was reached.
    case done = 0
    /// Data was lost with `data.loss: stop`.
    case badData = 65
    /// No broker was reached within `start.timeout`.
    case unavailable = 69
    /// An invariant is violated, which is a bug.
    case `internal` = 70
    /// A failure that a restart by the supervisor may resolve.
    case tryAgain = 75
    /// Authentication failed or an ACL is missing.
    case denied = 77
    /// A setting, a file, or a topic is wrong.
    case configuration = 78
    /// Another process has the same instance name.
    case fenced = 79
    /// Forced by the watchdog or a second signal.
    case forced = 80
    /// A dead-letter limit was exceeded.
    case deadLetterLimit = 81
}

/// The reason why a worker ends with an error.
package struct WorkerExit: Error, Sendable, Equatable {
    /// The process's exit code.
    package var code: ExitCode
    /// A description of what happened.
    package var reason: String
    /// Advice on how to resolve it.
    package var advice: String

    /// Creates an exit.
    package init(_ code: ExitCode, _ reason: String, advice: String) {
        self.code = code
        self.reason = reason
        self.advice = advice
    }

    /// Returns the exit for a missing topic.
    static func missingTopic(_ name: String) -> WorkerExit {
        WorkerExit(
            .configuration, "the topic \(name) does not exist", advice: "create it with: linkd topics create")
    }
}
