internal import LinkDecider
internal import DispatchWorker
internal import LinkCoordinator
internal import RouteAnalysis
internal import StrictJSON

extension ServedTables.Version {
    /// The identities of the tables, as in decisions.
    var identities: [String] { tables.tables.map(\.identity) }

    /// The members of a log line that name the tables.
    var fields: [LogField] {
        [LogField("tables", .list(identities))]
            + (canary.map { [LogField("canary", .text($0.candidate.identity))] } ?? [])
    }

    /// Returns a Boolean value that indicates whether both versions have the same files with the same contents.
    func isSame(as other: ServedTables.Version) -> Bool {
        entries.map(\.path) == other.entries.map(\.path)
            && entries.map(\.hash) == other.entries.map(\.hash)
            && canary?.candidate.hash == other.canary?.candidate.hash
    }
}

// Log lines about route tables.
extension Log {
    /// Logs a problem of a table.
    func log(_ problem: TableProblem, of file: String) {
        var fields = [
            LogField("file", .text(file)), LogField("line", .count(problem.location.line)),
            LogField("column", .count(problem.location.column)), LogField("code", .text(problem.code.rawValue)),
        ]
        if let suggestion = problem.suggestion { fields.append(LogField("advice", .text(suggestion))) }
        if problem.severity == .error {
            log(LogEntry(.error, "table.refused", problem.message, fields))
        } else {
            log(LogEntry(.warning, "table.loaded", problem.message, fields))
        }
    }

    /// Logs an application that two tables list, at its second place.
    func log(_ problem: SharedApplication) {
        let fields = [
            LogField("file", .text(problem.second.path)), LogField("line", .count(problem.second.location.line)),
            LogField("column", .count(problem.second.location.column)), LogField("code", .text(SharedApplication.code)),
            LogField("advice", .text(SharedApplication.advice)),
        ]
        log(LogEntry(.error, "table.refused", "\(problem.text), first listed at \(problem.first.text)", fields))
    }

    /// Logs the links that two of the tables read.
    func logSharedLinks(of tables: LoadedTables) {
        for conflict in tables.conflicts where conflict.offsets == nil {
            log(
                LogEntry(
                    .warning, "table.loaded", conflict.text,
                    [LogField("advice", .text("change the tables so that only one of them claims such events"))]))
        }
    }
}
