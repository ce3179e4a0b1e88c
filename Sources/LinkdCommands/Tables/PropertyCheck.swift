internal import DispatchWorker
internal import LinkCoordinator
internal import RouteAnalysis
internal import RouteTools

/// The properties of one file, proved for a table.
struct PropertyCheck {
    /// The path of the file.
    let path: String
    /// The properties, or nil if the file cannot be read as properties.
    let file: PropertyFile?
    /// The answers, in the order of the properties.
    let verdicts: [PropertyVerdict]
    /// The problems of the file, or an error for each refuted property and a warning for each that is unproved.
    let problems: [TableProblem]

    /// Reads the properties, and proves them.
    ///
    /// - Parameter isOver: A function that returns true to leave the remaining properties unproved.
    init(path: String, json: [UInt8], _ table: RouteTable, until isOver: @escaping @Sendable () -> Bool = { false }) {
        self.path = path
        let read = PropertyFile.read(json, about: table)
        file = read.file
        guard let file = read.file else {
            (verdicts, problems) = ([], read.problems)
            return
        }
        var search = PropertySearch(table, file.properties, until: isOver)
        verdicts = search.run()
        problems = file.problems(verdicts, in: json)
    }

    /// Returns the bytes of a file of properties.
    ///
    /// A file that cannot be read ends with exit code 78.
    static func bytes(of path: String) throws(CommandFailure) -> [UInt8] {
        try Platform.required(
            path, limit: PropertyFile.maxBytes, as: "properties \(Escaping.visible(path))",
            advice: "specify a file that this user can read, of at most \(PropertyFile.maxBytes >> 20) MiB")
    }

    /// The number of errors.
    var refuted: Int { problems.count { $0.severity == .error } }

    /// The failure with which a command refuses the table, or nil if no property is refuted.
    var failure: CommandFailure? {
        guard refuted > 0 else { return nil }
        guard file != nil else {
            return CommandFailure(
                .badData, "properties \(Escaping.visible(path)) have \(Counts.text(refuted, "problem"))",
                advice: "fix the problems listed above")
        }
        return CommandFailure(
            .badData,
            "the table breaks \(Counts.text(refuted, "property", plural: "properties")) of \(Escaping.visible(path))",
            advice: "change the table, or the properties, see `linkd routes prove`")
    }
}

extension TableFiles {
    /// The time for all proofs, in nanoseconds, after which the remaining properties are unproved.
    private static let proofNanoseconds: UInt64 = 30_000_000_000

    /// Proves the properties of the tables, and logs each that is refuted or unproved.
    ///
    /// A refuted property ends with exit code 65, and so does a file that no table is for. An unproved one does not: a
    /// proof that takes too much work must not keep a table from being mended.
    ///
    /// - Parameter isOver: A function that returns true to leave the remaining properties unproved, or nil for a limit
    ///   of 30 seconds.
    func prove(
        _ tables: [RouteTable], log: Log, until isOver: (@Sendable () -> Bool)? = nil
    ) throws(CommandFailure) {
        let end = SystemClock.monotonicNanoseconds() + Self.proofNanoseconds
        let isOver = isOver ?? { SystemClock.monotonicNanoseconds() > end }
        for path in properties {
            let json = try PropertyCheck.bytes(of: path)
            let id = PropertyFile.tableID(in: json)
            let own = tables.filter { $0.id == id }
            guard !own.isEmpty else {
                throw CommandFailure(
                    .badData,
                    "properties \(Escaping.visible(path)) name the table `\(Escaping.visible(id ?? ""))`, which is not "
                        + "served",
                    advice: "write the id of a served table in `table`, or remove the file from `properties`")
            }
            for table in own {
                let check = PropertyCheck(path: path, json: json, table, until: isOver)
                for problem in check.problems { log.log(problem, of: path) }
                if let failure = check.failure { throw failure }
            }
        }
    }
}
