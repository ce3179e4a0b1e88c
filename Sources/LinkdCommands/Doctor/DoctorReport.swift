internal import RouteTools
internal import StrictJSON

/// A result of `linkd doctor`.
struct DoctorCheck: Equatable {
    /// The verdict of a check.
    enum Status: String {
        case ok
        case warn
        case fail
    }

    /// The verdict.
    var status: Status
    /// The subject of the check, such as `brokers`.
    var name: String
    /// A description of the result, without a final period.
    var text: String
    /// The next step, without a final period, or nil if there is none.
    var next: String?
    /// The exit code that a failed check leads to.
    var code = ExitCode.finding

    /// Returns a check that passed.
    static func ok(_ name: String, _ text: String) -> DoctorCheck {
        DoctorCheck(status: .ok, name: name, text: text)
    }

    /// Returns a check that found a risk.
    static func warn(_ name: String, _ text: String, next: String) -> DoctorCheck {
        DoctorCheck(status: .warn, name: name, text: text, next: next)
    }

    /// Returns a check that found a problem.
    static func fail(_ name: String, _ text: String, next: String, code: ExitCode = .finding) -> DoctorCheck {
        DoctorCheck(status: .fail, name: name, text: text, next: next, code: code)
    }

    /// Returns a check that a failure of the command ended.
    ///
    /// Only refusals and unreachable brokers have an exit code of their own.
    static func fail(_ name: String, _ failure: CommandFailure) -> DoctorCheck {
        let isOwn = failure.code == .refused || failure.code == .unavailable
        return fail(name, failure.reason, next: failure.advice, code: isOwn ? failure.code : .finding)
    }

    /// The check as a line.
    var line: String {
        let verdict = DisplayWidth.pad(status.rawValue, to: 4, right: false)
        return "\(verdict) \(name): \(text)." + (next.map { " Next: \($0)." } ?? "")
    }
}

/// All results of `linkd doctor`.
struct DoctorReport {
    /// The checks, in the order in which they ran.
    private(set) var checks: [DoctorCheck] = []
    /// The output to which each line is written as soon as it is known, or nil for none.
    var out: Channel?

    /// Adds checks, and prints them at once, because later ones may wait for brokers.
    mutating func add(_ more: [DoctorCheck]) {
        checks += more
        guard let out else { return }
        Self.printLines(more, out)
        out.flush()
    }

    /// Adds a check.
    mutating func add(_ check: DoctorCheck) { add([check]) }

    /// Prints one line per check.
    func printLines(_ out: Channel) { Self.printLines(checks, out) }

    private static func printLines(_ checks: [DoctorCheck], _ out: Channel) {
        for check in checks {
            let role: Style.TextRole =
                switch check.status {
                case .ok: .good
                case .warn: .warning
                case .fail: .bad
                }
            let line = Escaping.visible(check.line)
            out.line(out.style.paint(String(line.prefix(4)), role) + line.dropFirst(4))
        }
    }

    /// The report as one JSON object.
    var json: String {
        return JSONText.object { json in
            json.text("status", worst.rawValue)
            json.objects("checks", of: checks) { json, check in
                json.text("status", check.status.rawValue)
                json.text("name", check.name)
                json.text("text", check.text)
                json.text("next", check.next)
            }
        }
    }

    private var worst: DoctorCheck.Status {
        if checks.contains(where: { $0.status == .fail }) { return .fail }
        return checks.contains { $0.status == .warn } ? .warn : .ok
    }

    /// The failure of the command, or nil if no check failed.
    ///
    /// A refusal counts more than unreachable brokers, which count more than other problems.
    var failure: CommandFailure? {
        let failed = checks.filter { $0.status == .fail }
        let order: [ExitCode] = [.refused, .unavailable, .finding]
        guard let first = order.compactMap({ code in failed.first { $0.code == code } }).first else { return nil }
        let count = failed.count == 1 ? "" : "\(failed.count) checks failed, the first: "
        return CommandFailure(first.code, "\(count)\(first.name): \(first.text)", advice: first.next ?? "correct it")
    }
}
