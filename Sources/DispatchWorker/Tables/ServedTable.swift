/// A route table that the worker serves.
package struct ServedTable: Sendable, Equatable {
    /// The table's id.
    package var id: String
    /// The table's version.
    package var version: String
    /// The hash of the table, as in decisions.
    package var hash: String
    /// The path of the file.
    package var path: String
    /// The time of loading, in milliseconds since 1970.
    package var loadedAtMilliseconds: Int64
    /// A Boolean value that indicates whether an earlier table is served because the file is refused.
    package var isFallback: Bool

    /// Creates an entry.
    package init(
        id: String, version: String, hash: String, path: String, loadedAtMilliseconds: Int64, isFallback: Bool = false
    ) {
        self.id = id
        self.version = version
        self.hash = hash
        self.path = path
        self.loadedAtMilliseconds = loadedAtMilliseconds
        self.isFallback = isFallback
    }
}

/// The counters of the served tables.
package struct TableCounters: Sendable, Equatable {
    /// The number of the version that is served, which counts the changes since the start.
    package var version = 0
    /// Changes of the tables that were served.
    package var reloads: UInt64 = 0
    /// Changes of the tables that were refused.
    package var refusals: UInt64 = 0

    /// Creates counters that are zero.
    package init() {}
}
