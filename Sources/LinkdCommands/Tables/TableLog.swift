internal import StrictJSON
internal import DispatchWorker
internal import LinkCoordinator
internal import RouteAnalysis

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

extension LoadedTables {
    /// Loads the tables of a worker, which all have to be valid, and logs their problems.
    ///
    /// A refused table, or an application that two tables list, ends with exit code 65. A file with the contents of one
    /// of the `known` tables is not checked again.
    init(paths: [String], known: [RouteTable] = [], log: Log) throws(CommandFailure) {
        try self.init(paths: paths, known: known) { file, problem in log.log(problem, of: file) }
        let shared = sharedApplications
        for problem in shared { log.log(problem) }
        if let first = shared.first { throw first.failure }
    }
}
