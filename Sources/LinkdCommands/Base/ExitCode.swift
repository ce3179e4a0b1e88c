internal import DispatchWorker
internal import RouteTools

/// The exit code of a command: one of the worker's codes, or another one for the command line.
package struct ExitCode: RawRepresentable, Sendable, Hashable {
    /// The exit status of the process.
    package let rawValue: Int32

    /// Creates an exit code from a number.
    package init(rawValue: Int32) { self.rawValue = rawValue }

    private init(_ code: WorkerExitCode) { rawValue = code.rawValue }

    /// The command succeeded.
    package static let success = ExitCode(.done)
    /// The command worked and found a problem, or a record was not delivered.
    package static let finding = ExitCode(rawValue: 1)
    /// The command line has an unknown command or flag, or a flag with an invalid value.
    package static let usage = ExitCode(rawValue: 64)
    /// Data is invalid, such as a table or an input line.
    package static let badData = ExitCode(.badData)
    /// No broker answered in time.
    package static let unavailable = ExitCode(.unavailable)
    /// An internal invariant was violated.
    package static let internalError = ExitCode(.internal)
    /// The worker gave up for now.
    ///
    /// A supervisor should restart it.
    package static let temporary = ExitCode(.tryAgain)
    /// The broker denied authentication or authorization.
    package static let refused = ExitCode(.denied)
    /// A file, a topic, or a value from a file or the environment is missing or invalid.
    package static let configuration = ExitCode(.configuration)
    /// Another process uses this instance name.
    package static let fenced = ExitCode(.fenced)
    /// The watchdog or a second signal ended the process.
    package static let forced = ExitCode(.forced)
    /// The limit of dead letters was exceeded.
    package static let deadLetterLimit = ExitCode(.deadLetterLimit)

    /// The command was interrupted with Ctrl-C: 128 plus the number of the signal, as in a shell.
    package static let interrupted = ExitCode(rawValue: 130)
    /// The command was ended with SIGTERM: 128 plus the number of the signal, as in a shell.
    package static let terminated = ExitCode(rawValue: 143)

    /// The name of the exit code in messages.
    package var name: String {
        switch self {
        case .success: "done"
        case .finding: "finding"
        case .usage: "usage"
        case .badData: "bad data"
        case .unavailable: "no broker"
        case .internalError: "internal"
        case .temporary: "gave up for now"
        case .refused: "refused"
        case .configuration: "configuration"
        case .fenced: "fenced"
        case .forced: "forced end"
        case .deadLetterLimit: "dead-letter limit"
        case .interrupted, .terminated: "interrupted"
        default: "ended"
        }
    }
}

/// The failure of a command: its exit code, the reason, and the next step for the user.
package struct CommandFailure: Error, Sendable, Equatable {
    /// The exit code of the process.
    package var code: ExitCode
    /// The reason for the failure, without a final period.
    ///
    /// It contains no data of a record and no credential. It can contain arguments of the command line.
    package var reason: String
    /// The next step for the user, without a final period.
    package var advice: String

    /// Creates a failure.
    package init(_ code: ExitCode, _ reason: String, advice: String) {
        self.code = code
        self.reason = reason
        self.advice = advice
    }

    /// The last line of output of a command that failed, in which terminal control is escaped.
    package var line: String {
        let sentence = String(reason.reversed().drop { $0 == "." }.reversed())
        return Escaping.visible("exit \(code.rawValue) (\(code.name)): \(sentence). Next: \(advice).")
    }
}
