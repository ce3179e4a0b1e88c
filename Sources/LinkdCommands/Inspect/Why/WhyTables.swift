internal import LinkCoordinator
internal import RouteAnalysis

/// The tables at hand beside those of an archive's topic: the archive of a worker's state directory, and the tables of
/// the settings or else the shipped ones.
struct WhyTables: Sendable {
    /// A table with its source.
    struct Entry: Sendable {
        var table: RouteTable
        /// The kind of the source: `topic`, `archive`, `file`, or `shipped`.
        var source: String
        /// The path of the file, or the name of the topic.
        var path: String
    }

    /// The tables of the settings, or the shipped ones if the settings name none.
    let files: [Entry]
    private let stateDirectory: String?

    /// Loads the tables of the settings.
    init(_ settings: Settings, _ shipped: ShippedFiles) throws(CommandFailure) {
        stateDirectory = settings.text("state.dir")
        var paths = settings.list("tables")
        var source = "file"
        if settings.text("table.directory") != nil { paths = try TableFiles(settings).paths() }
        if paths.isEmpty {
            source = "shipped"
            paths = (try? shipped.tables()) ?? []
        }
        var entries: [Entry] = []
        for path in paths {
            entries.append(Entry(table: try CheckedTable.validTable(at: path), source: source, path: path))
        }
        files = entries
    }

    /// Returns the table with an identity, such as `shop@1+d1ec0520`, or nil if it is not at hand.
    func table(identity: String) -> Entry? {
        if let directory = stateDirectory, let plus = identity.lastIndex(of: "+") {
            let prefix = String(identity[identity.index(after: plus)...])
            for archived in TableArchive.tables(hashPrefix: prefix, in: directory) {
                guard let table = RouteTable.check(archived.json).table, table.identity == identity else { continue }
                return Entry(table: table, source: "archive", path: archived.path)
            }
        }
        return files.first { $0.table.identity == identity }
    }
}
