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

    package init(source: TableSource, compiled: CompiledTable, hash: String, warnings: [TableProblem]) {
        self.source = source
        self.compiled = compiled
        self.hash = hash
        self.warnings = warnings
    }

    /// The table's id.
    public var id: String { source.id.value }

    /// The table's version, as the file states it.
    public var version: String { source.version.value }

    /// The table's identity in decisions: the id, the version, and the first 8 hexadecimal digits of the hash.
    public var identity: String { "\(id)@\(version)+\(hash.prefix(8))" }
}
