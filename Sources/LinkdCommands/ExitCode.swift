/// How a command ends: the codes of sysexits.h, and a few of ours from 79 on.
package struct ExitCode: RawRepresentable, Sendable, Hashable {
    /// The number that the process ends with.
    package let rawValue: Int32

    /// Takes a number as it is.
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Done.
    package static let success = ExitCode(rawValue: 0)
    /// Something was found or not delivered; the command itself worked.
    package static let finding = ExitCode(rawValue: 1)
    /// Unknown command or flag, or a flag's value that cannot be.
    package static let usage = ExitCode(rawValue: 64)
    /// Data that cannot be read: a table, a line.
    package static let badData = ExitCode(rawValue: 65)
    /// No broker was reached in time.
    package static let unavailable = ExitCode(rawValue: 69)
    /// A rule of our own was broken.
    package static let internalError = ExitCode(rawValue: 70)
    /// Gave up for now; a supervisor should start it again.
    package static let temporary = ExitCode(rawValue: 75)
    /// Not allowed: authentication or an access rule.
    package static let refused = ExitCode(rawValue: 77)
    /// A file, a value from file or environment, or a topic is not as it must be.
    package static let configuration = ExitCode(rawValue: 78)
    /// Another process has this instance name.
    package static let fenced = ExitCode(rawValue: 79)
    /// The watchdog or a second signal ended it.
    package static let forced = ExitCode(rawValue: 80)
    /// The limit of dead letters was passed.
    package static let deadLetterLimit = ExitCode(rawValue: 81)

    /// The user ended it with Ctrl-C: 128 and the number of the signal, as a shell counts.
    package static let interrupted = ExitCode(rawValue: 130)
    /// The same with SIGTERM.
    package static let terminated = ExitCode(rawValue: 143)

    /// A word for the number, for people.
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

/// Why a command ends with another code than 0: what happened, and what to do next.
package struct CommandFailure: Error, Sendable, Equatable {
    /// The code of the process.
    package var code: ExitCode
    /// What happened, without a full stop; never a link, key, device or credential.
    package var reason: String
    /// What to do next, without a full stop.
    package var advice: String

    /// Makes a failure.
    package init(_ code: ExitCode, _ reason: String, advice: String) {
        self.code = code
        self.reason = reason
        self.advice = advice
    }

    /// The last line of a command that did not end with 0.
    package var line: String {
        let sentence = String(reason.reversed().drop { $0 == "." }.reversed())
        return "exit \(code.rawValue) (\(code.name)): \(sentence). Next: \(advice)."
    }
}
