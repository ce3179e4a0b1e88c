internal import LinkCoordinator
internal import RouteTools
internal import LinkDecider

/// The files of a worker's route tables: files that are named one by one, and the files in a directory.
struct TableFiles {
    /// The maximum number of files in the directory.
    static let limit = 64

    /// The files that are named one by one.
    let named: [String]
    /// The directory, or nil.
    let directory: String?
    /// The candidate for one of the tables, or nil.
    let canary: CanaryFile?
    /// The files of the tables' properties.
    let properties: [String]

    /// Creates the list of the files in the settings.
    ///
    /// Settings without a file or directory end with exit code 64.
    init(_ settings: Settings) throws(CommandFailure) {
        directory = settings.text("table.directory")
        canary = CanaryFile(settings)
        properties = settings.list("properties")
        named = try directory == nil ? TablePaths.of(settings, nil) : settings.list("tables")
        guard !named.contains("-"), canary?.path != "-", !properties.contains("-") else {
            throw CommandFailure(
                .usage, "a table cannot be standard input, because it is read again when it changes",
                advice: "specify the file of the table")
        }
    }

    /// Creates a list.
    init(
        named: [String], directory: String? = nil, canary: CanaryFile? = nil, properties: [String] = []
    ) {
        self.properties = properties
        self.named = named
        self.directory = directory
        self.canary = canary
    }

    /// Returns the paths of the files: the named ones, then the files in the directory by name.
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

    /// A file with its contents.
    struct Content {
        var path: String
        /// The bytes.
        var json: [UInt8]
    }

    /// The number of times that the files are read before they count as files that change all the time.
    private static let tries = 10

    /// Reads all files in one state.
    ///
    /// If one of them changes in the meantime, all are read again, so that tables of two versions are not mixed. Files
    /// that change each time, or cannot be read, end with exit code 78.
    ///
    /// - Parameter read: A function that reads a file.
    func contents(
        _ read: (_ path: String) throws(CommandFailure) -> [UInt8] = CheckedTable.bytes
    ) throws(CommandFailure) -> [Content] {
        for _ in 0..<Self.tries {
            let before = stamps()
            let result = Result { () throws(CommandFailure) in
                try paths().map { path throws(CommandFailure) in
                    Content(path: path, json: try read(path))
                }
            }
            if stamps() == before { return try result.get() }
        }
        throw CommandFailure(
            .configuration,
            "the route tables change all the time: each of \(Self.tries) attempts to read them in one "
                + "state failed",
            advice: "find the program that writes them, and let it write only new versions")
    }

    /// Returns a Boolean value that indicates whether a path is one of the named files or in the directory.
    func contains(_ path: String) -> Bool {
        named.contains(path) || directory.map { path.hasPrefix($0 + "/") } ?? false
    }

    /// Returns the paths of all files with their stamps, or an empty list if the directory has no tables.
    func stamps() -> [Stamp] {
        guard let paths = try? paths() else { return [] }
        return (paths + [canary?.path].compactMap(\.self) + properties).map { Stamp(path: $0, file: FileStamp(of: $0)) }
    }

    /// The state of a file.
    struct Stamp: Equatable {
        var path: String
        /// The stamp, or nil if there is no such file.
        var file: FileStamp?
    }
}

/// The decision when files have changed and are complete.
///
/// Files are complete when two checks in a row find the same state, because a program may still be writing at the
/// first one. Files that change between all checks are read nevertheless after some of them.
struct FileWatch {
    /// The number of checks in a row that find another state before the files are read nevertheless.
    static let limit = 5

    private var read: [TableFiles.Stamp]
    private var seen: [TableFiles.Stamp]?
    private var changes = 0

    /// Creates a watch of files that were read in this state.
    init(read: [TableFiles.Stamp]) { self.read = read }

    /// Returns a Boolean value that indicates whether the files are to be read.
    mutating func isDue(_ now: [TableFiles.Stamp]) -> Bool {
        defer { seen = now }
        if now == seen ?? read {
            changes = 0
            return now != read
        }
        changes += 1
        return changes >= Self.limit
    }

    /// Records that the files are read in this state, also if they are then refused.
    mutating func markRead(_ now: [TableFiles.Stamp]) {
        read = now
        changes = 0
    }
}

/// The file of a candidate for a served table, and the shares of devices.
struct CanaryFile: Sendable {
    /// The path of the file.
    let path: String
    /// The share of devices for which the candidate decides, in hundredths of a percent.
    let percent: Int
    /// The share of the other devices that are compared, in hundredths of a percent.
    let compare: Int
}

extension CanaryFile {
    /// Creates the file in the settings, or returns nil if they have none.
    init?(_ settings: Settings) {
        guard let path = settings.text("canary.table") else { return nil }
        self.init(
            path: path, percent: Int(settings.number("canary.percent")),
            compare: Int(settings.number("canary.compare")))
    }

    /// Returns the plan with a candidate.
    ///
    /// A candidate whose id not exactly one of the served tables has ends with exit code 65.
    func plan(_ candidate: RouteTable, for served: [RouteTable]) throws(CommandFailure) -> CanaryPlan {
        let bases = served.filter { $0.id == candidate.id }
        guard bases.count == 1 else {
            let found = bases.isEmpty ? "no served table has" : "\(bases.count) served tables have"
            throw CommandFailure(
                .badData,
                "canary.table \(Escaping.visible(path)) has the id `\(Escaping.visible(candidate.id))`, which \(found)",
                advice: "set canary.table to a candidate for one of the served tables, with its `table.id`")
        }
        return CanaryPlan(base: bases[0], candidate: candidate, percent: percent, compare: compare)
    }
}
