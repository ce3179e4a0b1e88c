internal import RouteTools
internal import RouteAnalysis
internal import LinkCoordinator

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
        name: "FILE", help: "Table files. Default: those of --table, or those that come with linkd.", count: 0...64)
}
