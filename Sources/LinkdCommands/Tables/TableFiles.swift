internal import RouteTools

/// The files of a worker's route tables: files that are named one by one, and those in a directory.
struct TableFiles {
    /// The maximum number of files in the directory.
    static let limit = 64

    /// The files that are named one by one.
    let named: [String]
    /// The directory, or nil.
    let directory: String?
    /// The candidate for one of the tables, or nil.
    let canary: CanaryFile?

    /// Creates the list of the files in the settings.
    ///
    /// Settings without a file or directory end with exit code 64.
    init(_ settings: Settings) throws(CommandFailure) {
        directory = settings.text("table.directory")
        canary = CanaryFile(settings)
        named = try directory == nil ? LoadedTables.paths(settings, nil) : settings.list("tables")
    }

    /// Creates a list.
    init(named: [String], directory: String? = nil, canary: CanaryFile? = nil) {
        self.named = named
        self.directory = directory
        self.canary = canary
    }

    /// Returns the paths of the files: the named ones, then those in the directory by name.
    ///
    /// Names that begin with a period are skipped: a mounted ConfigMap has its versions in directories with such names.
    /// A directory without a table, with too many, or with one that is not a regular file ends with exit code 78.
    func paths() throws(CommandFailure) -> [String] {
        guard let directory else { return named }
        let names = Platform.names(in: directory).filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }
        guard !names.isEmpty else {
            throw CommandFailure(
                .configuration,
                "the directory \(Escaping.visible(directory)) cannot be read or has no file whose name ends with .json",
                advice: "copy the route tables into it, and allow this user to read it")
        }
        guard names.count <= Self.limit else {
            throw CommandFailure(
                .configuration, "the directory \(Escaping.visible(directory)) has \(names.count) route tables",
                advice: "remove some: at most \(Self.limit) are served")
        }
        let paths = names.map { directory + "/" + $0 }
        if let other = paths.first(where: { FileStamp(of: $0)?.isRegular == false }) {
            throw CommandFailure(
                .configuration, "table \(Escaping.visible(other)) is not a regular file",
                advice: "remove it from the directory, because reading a named pipe can wait forever")
        }
        return named + paths
    }

    /// Returns a Boolean value that indicates whether a path is one of the named files or in the directory.
    func contains(_ path: String) -> Bool {
        named.contains(path) || directory.map { path.hasPrefix($0 + "/") } ?? false
    }

    /// Returns the paths of all files with their stamps, or an empty list if the directory has no tables.
    func stamps() -> [Stamp] {
        guard let paths = try? paths() else { return [] }
        return (paths + [canary?.path].compactMap(\.self)).map { Stamp(path: $0, file: FileStamp(of: $0)) }
    }

    /// The state of a file.
    struct Stamp: Equatable {
        /// The path.
        var path: String
        /// The stamp, or nil if there is no such file.
        var file: FileStamp?
    }
}

/// The decision when files have changed and are complete.
///
/// Files are complete when two checks in a row find the same state, because a program may still be writing at the
/// first one.
struct FileWatch {
    private var read: [TableFiles.Stamp]
    private var seen: [TableFiles.Stamp]?

    /// Creates a watch of files that were read in this state.
    init(read: [TableFiles.Stamp]) { self.read = read }

    /// Returns a Boolean value that indicates whether the files are to be read.
    mutating func isDue(_ now: [TableFiles.Stamp]) -> Bool {
        defer { seen = now }
        return now != read && now == seen
    }

    /// Records that the files are read in this state, also if they are then refused.
    mutating func markRead(_ now: [TableFiles.Stamp]) { read = now }
}
