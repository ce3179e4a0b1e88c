internal import RouteTools
internal import RouteAnalysis
internal import LinkCoordinator

/// The file of a table, parsed and checked.
struct CheckedTable {
    /// The path of the file.
    var path: String
    /// The table, or nil if it was refused.
    var table: RouteTable?
    /// The problems, most severe first.
    var problems: [TableProblem]
    /// A Boolean value that indicates whether the table has more errors than the check reports.
    var isTruncated: Bool
    /// A table that failed only proofs or examples.
    ///
    /// It is used to explain a link, and for nothing else.
    var unchecked: RouteTable?

    /// The bytes of the file.
    var json: [UInt8]

    /// The errors with which a table can still be compiled, because its names and structure are valid.
    private static let compilable: Set<TableProblem.Code> = [.unreachable, .overlap, .example]

    /// The size limit of a file.
    static let limitBytes = 64 << 20

    /// Reads and checks a file.
    ///
    /// A file that cannot be read ends with exit code 78.
    ///
    /// - Parameters:
    ///   - path: The path of the file, or `-` for standard input.
    ///   - includesAdvice: A Boolean value that indicates whether to report valid parts that are probably unintended.
    ///   - version: The newest schema version of an older library, whose problems with the table are added, or nil.
    ///   - known: Tables that were checked before. A file with the contents of one of them is not checked again.
    init(
        path: String, includesAdvice: Bool = false, forSchemaVersion version: Int? = nil, known: [RouteTable] = []
    ) throws(CommandFailure) {
        self.init(
            path: path, json: try Self.bytes(of: path), includesAdvice: includesAdvice, forSchemaVersion: version,
            known: known)
    }

    /// Returns the bytes of a file.
    ///
    /// A file that cannot be read ends with exit code 78.
    static func bytes(of path: String) throws(CommandFailure) -> [UInt8] {
        let isInput = path == "-"
        switch isInput ? Platform.standardInput(limit: limitBytes) : Platform.contents(of: path, limit: limitBytes) {
        case .success(let bytes): return bytes
        case .failure(let error):
            throw CommandFailure(
                .configuration, "table \(Escaping.visible(path)) cannot be read: \(error.text)",
                advice: "specify a file that this user can read")
        }
    }

    /// Checks the bytes of a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file, or a name for bytes that are not in a file.
    ///   - json: The bytes.
    ///   - includesAdvice: A Boolean value that indicates whether to report valid parts that are probably unintended.
    ///   - version: The newest schema version of an older library, whose problems with the table are added, or nil.
    ///   - known: Tables that were checked before. Bytes that are one of them are not checked again.
    init(
        path: String, json: [UInt8], includesAdvice: Bool, forSchemaVersion version: Int? = nil,
        known: [RouteTable] = []
    ) {
        if !known.isEmpty {
            let hash = SHA256.hex(json)
            if let same = known.first(where: { $0.hash == hash }) {
                self.init(path: path, json: json, same: same)
                return
            }
        }
        self.init(
            path: path, json: json,
            RouteTable.check(json, includesAdvice: includesAdvice, forSchemaVersion: version))
    }

    /// Checks the bytes of a file, or returns nil if the check is ended.
    ///
    /// - Parameters:
    ///   - path: The path of the file, or a name for bytes that are not in a file.
    ///   - json: The bytes.
    ///   - isOver: A function that returns true to end the check.
    init?(path: String, json: [UInt8], until isOver: @escaping @Sendable () -> Bool) {
        guard let checked = RouteTable.check(json, includesAdvice: true, until: isOver) else { return nil }
        self.init(path: path, json: json, checked)
    }

    private init(
        path: String, json: [UInt8], _ checked: (table: RouteTable?, problems: [TableProblem], isTruncated: Bool)
    ) {
        self.path = path
        self.json = json
        (table, problems, isTruncated) = checked
        let errors = problems.filter { $0.severity == .error }
        if !errors.isEmpty && errors.allSatisfy({ Self.compilable.contains($0.code) }) {
            unchecked = RouteTable.unchecked(json)
        }
    }

    /// Creates the file of a table that was checked before.
    private init(path: String, json: [UInt8], same: RouteTable) {
        self.path = path
        self.json = json
        (table, problems, isTruncated) = (same, [], false)
    }

    /// Returns the hash of a file, which is also the hash of its table, or nil if the file cannot be read.
    static func hash(ofFile path: String) -> String? {
        guard case .success(let bytes) = Platform.contents(of: path, limit: limitBytes) else { return nil }
        return SHA256.hex(bytes)
    }

    /// Returns the table of a file.
    ///
    /// A refused one ends with exit code 65.
    static func validTable(at path: String) throws(CommandFailure) -> RouteTable { try validFile(at: path).table }

    /// Returns the table of a file, and the bytes of the file.
    ///
    /// A refused one ends with exit code 65.
    static func validFile(at path: String) throws(CommandFailure) -> (table: RouteTable, json: [UInt8]) {
        let checked = try CheckedTable(path: path)
        return (try checked.validTable(), checked.json)
    }

    /// Returns the table, or throws a failure with exit code 65 if it was refused.
    private func validTable() throws(CommandFailure) -> RouteTable {
        if let table { return table }
        throw CommandFailure(
            .badData, "table \(Escaping.visible(path)) is refused: \(errorsText)",
            advice: "see `linkd routes check \(Escaping.visible(path))` for the problems")
    }

    /// The warning before a refused table is used to explain a link.
    var refusal: String {
        "table \(Escaping.visible(path)) is refused: \(errorsText). A worker would not start with it. The explanation "
            + "uses it nevertheless."
    }

    /// A Boolean value that indicates whether this library, or the older one of the check, refuses the table.
    var isRefused: Bool { table == nil || errors > 0 }

    /// The number of problems for which the table is refused.
    var errors: Int { problems.count { $0.severity == .error } }

    /// The number of errors as text, with a remark if there are more.
    var errorsText: String {
        Counts.text(errors, "problem") + (isTruncated ? ", the limit of one check" : "")
    }
}

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
        try self.init(paths: Self.paths(settings, shipped), acceptsRefused: acceptsRefused, report: report)
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
            let lines = problem.text(file: file).split(separator: "\n").map { Escaping.visible(String($0)) }
            console.warn(lines.joined(separator: "\n"))
        }
        for conflict in conflicts where !console.quiet {
            console.warn(Escaping.visible(conflict.text))
        }
    }

    /// Returns the files in the arguments of a command, or the files of its settings.
    static func paths(_ call: Invocation) throws(CommandFailure) -> [String] {
        // Settings are read in any case, so that wrong ones are reported.
        let settings = try call.settings()
        if !call.operands.isEmpty { return call.operands }
        return try paths(settings, ShippedFiles(environment: call.environment))
    }

    /// Returns the files in the settings, or the shipped ones.
    static func paths(_ settings: Settings, _ shipped: ShippedFiles?) throws(CommandFailure) -> [String] {
        let named = settings.list("tables")
        if !named.isEmpty { return named }
        if let shipped { return try shipped.tables() }
        throw CommandFailure(
            .usage, "no route table is specified",
            advice: "pass --table FILE, for example one of config/routes, or --table-directory")
    }
}

extension Operands {
    /// The files of tables that a command reads, see `LoadedTables.paths`.
    static let tables = Operands(
        name: "FILE", help: "Table files. Default: those of --table, or those that come with linkd.", count: 0...64)
}
