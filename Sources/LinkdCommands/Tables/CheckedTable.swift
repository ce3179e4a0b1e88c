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
        try Platform.required(path, limit: limitBytes, as: "table \(Escaping.visible(path))", readsInput: true)
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

    /// Returns the hash that the table of a file has, or nil if the file cannot be read.
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

    /// The number of problems that are reasons to refuse the table.
    var errors: Int { problems.count { $0.severity == .error } }

    /// The number of errors as text, with a remark if there are more.
    var errorsText: String {
        Counts.text(errors, "problem") + (isTruncated ? ", the limit of one check" : "")
    }
}

extension TableProblem {
    /// Prints the problem, the first line in the color of its severity.
    func print(file: String, on out: Channel) {
        for (index, line) in text(file: file).split(separator: "\n").enumerated() {
            let role: Style.TextRole = severity == .error ? .bad : .warning
            out.line(index == 0 ? out.style.paint(String(line), role) : String(line))
        }
    }
}
