internal import DispatchWorker
internal import LinkCoordinator
internal import LinkDecider
internal import RouteAnalysis
internal import RouteTools
internal import StrictJSON

/// The tables that a command uses to resolve.
struct LoadedTables {
    /// The tables, in the order of their files.
    let tables: [RouteTable]
    /// The files of the tables.
    let files: [CheckedTable]
    /// The claims that two of the tables make.
    let conflicts: [TableConflict]

    /// Loads the files in the settings, or the shipped ones if the settings name none.
    ///
    /// Problems are passed to `report`. A refused table ends with exit code 65, unless it can be compiled and
    /// `acceptsRefused` returns true.
    init(
        _ settings: Settings, shipped: ShippedFiles?,
        acceptsRefused: (_ table: CheckedTable) -> Bool = { _ in false },
        report: (_ file: String, _ problem: TableProblem) -> Void
    ) throws(CommandFailure) {
        try self.init(paths: TablePaths.of(settings, shipped), acceptsRefused: acceptsRefused, report: report)
    }

    /// Loads files.
    ///
    /// Problems are passed to `report`. A refused table ends with exit code 65, unless it can be compiled and
    /// `acceptsRefused` returns true. A file with the contents of one of the `known` tables is not checked again.
    init(
        paths: [String], known: [RouteTable] = [], acceptsRefused: (_ table: CheckedTable) -> Bool = { _ in false },
        report: (_ file: String, _ problem: TableProblem) -> Void
    ) throws(CommandFailure) {
        let contents = try paths.map { path throws(CommandFailure) in
            TableFiles.Content(path: path, json: try CheckedTable.bytes(of: path))
        }
        try self.init(contents, known: known, acceptsRefused: acceptsRefused, report: report)
    }

    /// Checks files that were read.
    ///
    /// It is otherwise as for files that are named.
    init(
        _ contents: [TableFiles.Content], known: [RouteTable] = [],
        acceptsRefused: (_ table: CheckedTable) -> Bool = { _ in false },
        report: (_ file: String, _ problem: TableProblem) -> Void
    ) throws(CommandFailure) {
        var tables: [RouteTable] = []
        var files: [CheckedTable] = []
        var refused: [CheckedTable] = []
        for content in contents {
            let checked = CheckedTable(path: content.path, json: content.json, includesAdvice: false, known: known)
            for problem in checked.problems { report(content.path, problem) }
            if let table = checked.table {
                tables.append(table)
                files.append(checked)
            } else if let table = checked.unchecked, acceptsRefused(checked) {
                tables.append(table)
                files.append(checked)
            } else {
                refused.append(checked)
            }
        }
        if let first = refused.first {
            throw CommandFailure(
                .badData, "table \(Escaping.visible(first.path)) is refused: \(first.errorsText)",
                advice: "fix the problems listed above, or see `linkd routes check \(Escaping.visible(first.path))`")
        }
        self.tables = tables
        self.files = files
        conflicts = TableSet(tables).conflicts
    }

    /// Loads tables and prints their problems, without warnings in quiet mode.
    ///
    /// With `toExplain`, a refused table that can be compiled is used too, so that its witnesses can be explained.
    init(
        _ settings: Settings, shipped: ShippedFiles?, toExplain: Bool = false, on console: Console
    ) throws(CommandFailure) {
        let acceptsRefused = { (table: CheckedTable) in
            if toExplain { console.warn(table.refusal) }
            return toExplain
        }
        try self.init(settings, shipped: shipped, acceptsRefused: acceptsRefused) { file, problem in
            guard problem.severity == .error || !console.quiet else { return }
            console.warn(problem.text(file: file))
        }
        for conflict in conflicts where !console.quiet {
            console.warn(Escaping.visible(conflict.text))
        }
    }
}

extension Operands {
    /// The files of tables that a command reads, see `TablePaths`.
    static let tables = Operands(
        name: "FILE", help: "Table files. Default: the files of --table, or the tables that come with linkd.",
        count: 0...64)
}

/// A candidate that was loaded, with the bytes of its file.
struct LoadedCanary {
    /// The plan.
    let plan: CanaryPlan
    /// The description of the table.
    let entry: ServedTable
    /// The bytes of the file.
    let json: [UInt8]
}

extension CanaryFile {
    /// Loads the candidate, and logs its problems.
    ///
    /// A refused one, and one whose id not exactly one of the served tables has, ends with exit code 65. A file with
    /// the contents of one of the `known` tables is not checked again.
    func load(
        for served: [RouteTable], known: [RouteTable], after earlier: ServedTable?, log: Log
    ) throws(CommandFailure) -> LoadedCanary {
        let loaded = try LoadedTables(paths: [path], known: known) { file, problem in log.log(problem, of: file) }
        let candidate = loaded.tables[0]
        let time = earlier?.hash == candidate.hash ? earlier?.loadedAtMilliseconds : nil
        return LoadedCanary(
            plan: try plan(candidate, for: served),
            entry: ServedTable(
                id: candidate.id, version: candidate.version, hash: candidate.hash, path: path,
                loadedAtMilliseconds: time ?? SystemClock.wallMilliseconds()),
            json: loaded.files[0].json)
    }
}

/// An application that two tables list, with both places.
///
/// A worker refuses such tables, because every event that names the application would become a dead letter.
struct SharedApplication {
    /// A place in the file of a table.
    struct Place {
        /// The path of the file.
        var path: String
        /// The location in the file.
        var location: JSONLocation

        /// The place as `FILE:LINE:COLUMN`.
        var text: String { "\(Escaping.visible(path)):\(location.line):\(location.column)" }
    }

    /// The code of the problem in the log and in the JSON of a check.
    static let code = "shared_application"
    /// The next step for the author.
    static let advice = "list the application in only one of the tables"

    /// The place in the table that was loaded first.
    var first: Place
    /// The place in the other table.
    var second: Place
    /// The problem as one sentence without a period.
    var text: String

    /// Returns the applications that two of the tables list.
    ///
    /// The conflicts refer to tables by their position in `files`.
    static func all(
        _ conflicts: [TableConflict], in files: [(path: String, json: [UInt8])]
    ) -> [SharedApplication] {
        conflicts.compactMap { conflict in
            guard let offsets = conflict.offsets else { return nil }
            let (first, second) = (files[conflict.tables.first], files[conflict.tables.second])
            return SharedApplication(
                first: Place(path: first.path, location: JSONLocation.locate(offset: offsets.first, in: first.json)),
                second: Place(
                    path: second.path, location: JSONLocation.locate(offset: offsets.second, in: second.json)),
                text: conflict.text)
        }
    }

    /// The problem with both places.
    var textWithPlaces: String { "\(Escaping.visible(text)) (\(first.text), \(second.text))" }

    /// The failure that ends the command with exit code 65.
    var failure: CommandFailure { CommandFailure(.badData, textWithPlaces, advice: Self.advice) }
}

extension LoadedTables {
    /// The applications that two of the tables list.
    var sharedApplications: [SharedApplication] {
        SharedApplication.all(conflicts, in: files.map { ($0.path, $0.json) })
    }
}

extension ServedTables.Version {
    /// The identities of the tables, as in decisions.
    var identities: [String] { tables.tables.map(\.identity) }

    /// The members of a log line that name the tables.
    var fields: LogFields {
        ["tables": .list(identities), "canary": (canary?.candidate.identity).map(LogValue.text)]
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
        let fields: LogFields = [
            "file": .text(file), "line": .count(problem.location.line), "column": .count(problem.location.column),
            "code": .text(problem.code.rawValue), "advice": problem.suggestion.map(LogValue.text),
        ]
        if problem.severity == .error {
            log(.error, "table.refused", problem.message, fields)
        } else {
            log(.warning, "table.loaded", problem.message, fields)
        }
    }

    /// Logs an application that two tables list, at its second place.
    func log(_ problem: SharedApplication) {
        let fields: LogFields = [
            "file": .text(problem.second.path), "line": .count(problem.second.location.line),
            "column": .count(problem.second.location.column), "code": .text(SharedApplication.code),
            "advice": .text(SharedApplication.advice),
        ]
        log(.error, "table.refused", "\(problem.text), first listed at \(problem.first.text)", fields)
    }

    /// Logs the links that two of the tables read.
    func logSharedLinks(of tables: LoadedTables) {
        for conflict in tables.conflicts where conflict.offsets == nil {
            log(
                .warning, "table.loaded", conflict.text,
                ["advice": "change the tables so that only one of them claims such events"])
        }
    }
}
