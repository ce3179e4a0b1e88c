/// A route table, which resolves links into decisions, identically on a server and in an app.
///
/// A table is loaded, checked, and compiled from the JSON of one file. It is immutable and can be used from any thread.
public struct RouteTable: Sendable {
    /// The table in the form in which its file declares it.
    package let source: TableSource

    /// The table in the form that the resolver reads.
    package let compiled: CompiledTable

    /// The SHA-256 of the file's bytes, in lowercase hexadecimal digits.
    ///
    /// It identifies the table.
    public let hash: String

    /// The problems that were found in the table.
    ///
    /// All of them are warnings.
    public let warnings: [TableProblem]

    init(source: TableSource, compiled: CompiledTable, hash: String, warnings: [TableProblem]) {
        self.source = source
        self.compiled = compiled
        self.hash = hash
        self.warnings = warnings
    }

    /// The table's id.
    public var id: String { source.id.value }

    /// The table's version, as the file states it.
    public var version: String { source.version.value }

    /// The schema versions that the library supports.
    ///
    /// A table that declares a newer one is refused: see ``RouteTableError/requiredSchemaVersion``.
    public static var supportedSchemaVersions: ClosedRange<Int> { SchemaVersions.current.supported }

    /// The schema version that the table declares, in ``supportedSchemaVersions``.
    public var schemaVersion: Int { source.schemaVersion }

    /// The table's identity in decisions: the id, the version, and the first 8 hexadecimal digits of the hash.
    public var identity: String { "\(id)@\(version)+\(hash.prefix(8))" }

    /// Loads a table from the bytes of its file, checks its structure, compiles it, and runs its examples.
    ///
    /// This function omits the proofs that no two routes overlap and that a link selects each pattern. Run the checks
    /// of `RouteAnalysis` when you build the table. An app then loads a checked table without repeating the proofs.
    ///
    /// - Parameter json: The bytes of the file.
    /// - Throws: A ``RouteTableError`` with every problem that was found, errors first.
    public init(json: some Sequence<UInt8>) throws(RouteTableError) {
        let (table, problems, _) = TableLoader([UInt8](json)).finish()
        guard let table else { throw RouteTableError(problems: problems) }
        self = table
    }

    /// Creates a table from a file without running checks, so that the witness links of a refused table can be
    /// resolved.
    ///
    /// Returns nil if the file cannot be read. Only tests, and tools that show the problems of a table, may use it.
    package static func unchecked(_ json: [UInt8]) -> RouteTable? {
        let reading = TableSource.read(json)
        guard let source = reading.source, !reading.problems.hasErrors else { return nil }
        let hash = SHA256.hex(json)
        let compiled = CompiledTable(source, hash: String(hash.prefix(8)))
        return RouteTable(source: source, compiled: compiled, hash: hash, warnings: [])
    }

    /// Resolves a link for a device.
    ///
    /// - Parameters:
    ///   - link: The link, percent-encoded.
    ///   - device: The facts about the device.
    /// - Returns: The decision. An invalid link results in a decision with the outcome ``Decision/Outcome/reject``, or
    ///   with the outcome of a fallback rule.
    public func resolve(_ link: String, device: DeviceFacts = DeviceFacts()) -> Decision {
        resolve(.link(link), device: device)
    }

    /// Resolves a request for a device.
    ///
    /// - Parameters:
    ///   - request: The request to resolve.
    ///   - device: The facts about the device.
    /// - Returns: The decision.
    public func resolve(_ request: LinkRequest, device: DeviceFacts = DeviceFacts()) -> Decision {
        Decision(compiled.resolve(request, device))
    }
}

/// The steps that turn the bytes of a file into a table: reading, checking, compiling, and running the examples.
package struct TableLoader {
    private let json: [UInt8]

    /// The parts of the table that could be read, or nil if the file is not a JSON object.
    package let source: TableSource?

    /// The parts of the table that could not be read completely.
    package let damage: TableDamage

    /// The schema version that the table declares, and the parts for which it matters.
    package let schema: TableSchema

    /// The problems that have been found.
    ///
    /// An error refuses the table.
    package var problems: ProblemList

    /// Reads a file and checks the structure of the table.
    package init(_ json: [UInt8]) {
        self.json = json
        let reading = TableSource.read(json)
        source = reading.source
        damage = reading.damage
        schema = reading.schema
        problems = TableChecks.run(reading)
    }

    /// Compiles the table and runs its examples.
    ///
    /// The returned table is nil if there is an error. The list is truncated if there are more errors than it has.
    ///
    /// - Parameter isOver: A function that returns true to end after the current example. The other examples are not
    ///   run then, so the caller must not use the table.
    package consuming func finish(
        until isOver: () -> Bool = { false }
    ) -> (table: RouteTable?, problems: [TableProblem], isTruncated: Bool) {
        guard let source, !problems.hasErrors else { return (nil, problems.located(in: json), problems.isFull) }
        let hash = SHA256.hex(json)
        let compiled = CompiledTable(source, hash: String(hash.prefix(8)))
        ExampleRun.check(source, compiled, into: &problems, until: isOver)
        let found = problems.located(in: json)
        if problems.hasErrors { return (nil, found, problems.isFull) }
        return (RouteTable(source: source, compiled: compiled, hash: hash, warnings: found), found, false)
    }
}

/// An error that lists the problems of a refused table.
public struct RouteTableError: Error, Sendable, CustomStringConvertible {
    /// The problems that were found, errors first, at most 200.
    public let problems: [TableProblem]

    /// Creates an error from problems, at least one of which is an error.
    package init(problems: [TableProblem]) { self.problems = problems }

    /// The schema version that the table declares if it is newer than those that the library supports, or nil.
    ///
    /// An app that downloads a table can keep its current table in this case, and use the new one after an update.
    public var requiredSchemaVersion: Int? {
        problems.first { $0.code == .unsupportedSchemaVersion }?.schemaVersion
    }

    /// The problems as readable text, one after another.
    public var description: String { problems.map { $0.text(file: "table") }.joined(separator: "\n") }
}
