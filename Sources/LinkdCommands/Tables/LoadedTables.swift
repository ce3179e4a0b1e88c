internal import RouteTools
internal import RouteAnalysis
internal import LinkCoordinator

/// A table's file, read and checked.
struct CheckedTable {
    /// The file's path.
    var path: String
    /// The table, or nil when it was refused.
    var table: Table?
    /// Everything that was found, worst first.
    var problems: [TableProblem]
    /// A table that only proofs or examples refuse: good for showing what a witness link does, and for nothing else.
    var unchecked: Table?

    /// Problems of a table whose names and shape are right, so that it can be compiled all the same.
    private static let compilable: Set<TableProblem.Code> = [.unreachable, .overlap, .example]

    /// Largest file.
    static let limitBytes = 64 << 20

    /// Reads and checks a file; one that cannot be read ends with 78.
    ///
    /// - Parameter advises: Whether to look for what is allowed but was hardly meant as well.
    init(path: String, advises: Bool = false) throws(CommandFailure) {
        self.path = path
        switch Platform.contents(of: path, limit: Self.limitBytes) {
        case .failure(let error):
            throw CommandFailure(
                .configuration, "table \(Escaping.visible(path)) cannot be read: \(error.text)",
                advice: "name a file that this user can read with --table")
        case .success(let bytes):
            (table, problems) = Table.check(bytes, advises: advises)
            let errors = problems.filter { $0.severity == .error }
            if !errors.isEmpty && errors.allSatisfy({ Self.compilable.contains($0.code) }) {
                unchecked = Table.unchecked(bytes)
            }
        }
    }

    /// The table of a file, for commands that need it whole; a refused one ends with 65.
    static func whole(_ path: String) throws(CommandFailure) -> Table {
        let checked = try CheckedTable(path: path)
        if let table = checked.table { return table }
        throw CommandFailure(
            .badData, "table \(Escaping.visible(path)) is refused: \(checked.errorsText)",
            advice: "`linkd routes check \(Escaping.visible(path))` shows them")
    }

    /// The table of a file for an explanation: a refused one too, if it reads, with a warning.
    static func explainable(_ path: String, on console: Console) throws(CommandFailure) -> Table {
        let checked = try CheckedTable(path: path)
        guard checked.table == nil, let table = checked.unchecked else { return try whole(path) }
        console.warn(checked.refusal)
        return table
    }

    /// What is said before a refused table is used to explain a link.
    var refusal: String {
        "table \(Escaping.visible(path)) is refused: \(errorsText); links are explained all the same, a worker "
            + "would not start with it"
    }

    /// How many problems refuse the table.
    var errors: Int { problems.count { $0.severity == .error } }

    /// The number of problems that refuse the table, in words: no more are looked for than are told.
    var errorsText: String {
        "\(errors) problems" + (errors < ProblemList.maxCount ? "" : ", and more were not looked for")
    }
}

/// The tables that a command resolves with.
struct LoadedTables {
    /// The tables in the order of their files.
    let tables: [Table]

    /// Loads the files that the settings name, or with `shipped` the shipped ones where they name none.
    ///
    /// Problems are handed to `report`; a refused table ends with 65, unless it reads and `isRefusedTaken` says yes.
    init(
        _ settings: Settings, shipped: ShippedFiles?,
        isRefusedTaken: (_ table: CheckedTable) -> Bool = { _ in false },
        report: (_ file: String, _ problem: TableProblem) -> Void
    ) throws(CommandFailure) {
        var tables: [Table] = []
        var refused: [CheckedTable] = []
        for path in try Self.paths(settings, shipped) {
            let checked = try CheckedTable(path: path)
            for problem in checked.problems { report(path, problem) }
            if let table = checked.table {
                tables.append(table)
            } else if let table = checked.unchecked, isRefusedTaken(checked) {
                tables.append(table)
            } else {
                refused.append(checked)
            }
        }
        if let first = refused.first {
            throw CommandFailure(
                .badData, "table \(Escaping.visible(first.path)) is refused: \(first.errors) problems",
                advice: "mend what is named above; `linkd routes check \(Escaping.visible(first.path))` shows it again")
        }
        self.tables = tables
    }

    /// Loads tables and prints what was found, warnings only where they are wanted.
    ///
    /// To explain links, a refused table that reads is taken too: so a witness shows its problem.
    init(
        _ settings: Settings, shipped: ShippedFiles?, toExplain: Bool = false, on console: Console
    ) throws(CommandFailure) {
        let isRefusedTaken = { (table: CheckedTable) in
            if toExplain { console.warn(table.refusal) }
            return toExplain
        }
        try self.init(settings, shipped: shipped, isRefusedTaken: isRefusedTaken) { file, problem in
            guard problem.severity == .error || !console.quiet else { return }
            let lines = problem.text(file: file).split(separator: "\n").map { Escaping.visible(String($0)) }
            console.warn(lines.joined(separator: "\n"))
        }
        for conflict in TableSet(tables).conflicts where !console.quiet {
            console.warn(Escaping.visible(conflict.text))
        }
    }

    /// The files that the settings name, else the shipped ones.
    static func paths(_ settings: Settings, _ shipped: ShippedFiles?) throws(CommandFailure) -> [String] {
        let named = settings.list("tables")
        if !named.isEmpty { return named }
        if let shipped { return try shipped.tables() }
        throw CommandFailure(
            .usage, "no route table is named", advice: "give --table FILE, for example one of config/routes")
    }
}
