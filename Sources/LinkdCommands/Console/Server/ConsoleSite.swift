internal import LinkCoordinator
internal import LinkIngest
internal import RouteAnalysis
internal import RouteTools
internal import LinkDecider

/// The state that the endpoints of a console share, from its start to its end.
final class ConsoleSite: Sendable {
    /// A table and its file.
    struct Table: Sendable {
        /// The table.
        let table: RouteTable
        /// The path of the file.
        let path: String
        /// The bytes of the file.
        let json: [UInt8]
    }

    /// The tables of the settings, or those that come with linkd.
    let tables: [Table]
    /// The settings.
    let settings: Settings
    /// The shipped files.
    let shipped: ShippedFiles
    /// The vendors and link platforms.
    let vendors: LoadedVendors
    /// The cluster, or nil without a broker.
    let connection: Connection?
    /// A Boolean value that indicates whether device ids and link parameters of records are masked.
    let masks: Bool
    /// A Boolean value that indicates whether dead letters can be replayed.
    let allowsReplay: Bool
    /// The worker whose state is shown, or nil.
    let worker: WorkerAddress?

    /// The census of the registry of devices for all tables, or nil.
    let census: DeviceCensus?

    /// The configuration by which a worker with these settings decides.
    var decider: DeciderConfiguration { DeciderConfiguration(settings, tables.map(\.table), vendors) }

    /// Creates the shared state of a console.
    init(_ call: Invocation, _ settings: Settings, _ connection: Connection?) throws(CommandFailure) {
        self.settings = settings
        shipped = ShippedFiles(environment: call.environment)
        let isDirectory = settings.text("table.directory") != nil
        let paths = try isDirectory ? TableFiles(settings).paths() : TablePaths.of(settings, shipped)
        let loaded = try LoadedTables(paths: paths) { file, problem in
            guard problem.severity == .error else { return }
            call.console.warn(problem.text(file: file))
        }
        tables = loaded.files.compactMap { file in
            file.table.map { Table(table: $0, path: file.path, json: file.json) }
        }
        vendors = try LoadedVendors(settings, shipped, on: call.console)
        self.connection = connection
        masks = call.isOn("mask")
        allowsReplay = call.isOn("allow-replay")
        let kinds = DeviceKinds(tables.map(\.table), platforms: DeviceClass.platforms)
        census = try call.text("census").map { path throws(CommandFailure) in
            try CensusFile(path: path, for: kinds).census
        }
        worker = try call.text("worker").map { text throws(CommandFailure) in try WorkerAddress(text) }
    }

    /// Returns the table with an id.
    func table(_ id: String?) throws(ConsoleProblem) -> Table {
        guard let id else {
            guard let first = tables.first, tables.count == 1 else {
                throw ConsoleProblem(
                    code: "table", message: "the parameter `table` is missing", next: "pass one of \(ids)")
            }
            return first
        }
        guard let found = tables.first(where: { $0.table.id == id }) else {
            throw ConsoleProblem(
                status: 404, code: "table", message: "no table has this id", next: "pass one of \(ids)")
        }
        return found
    }

    private var ids: String { tables.map { "`\($0.table.id)`" }.joined(separator: ", ") }
}

/// The files of the page, which are read once, when the console starts.
struct ConsoleFiles: Sendable {
    /// A file.
    struct File: Sendable {
        /// The name in the directory.
        var name: String
        /// The value of the `Content-Type` header.
        var contentType: String
        /// The contents.
        var bytes: [UInt8]

        /// The paths of the file: its name, and for the page itself also the root.
        var paths: [String] { name == "index.html" ? ["/", "/index.html"] : ["/" + name] }
    }

    /// The maximum size of a file in bytes.
    private static let limitBytes = 1 << 20
    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml",
    ]

    /// The files.
    let all: [File]

    /// Reads the files of the directory `console` that comes with linkd.
    ///
    /// A directory or a file that cannot be read ends with exit code 78.
    init(_ shipped: ShippedFiles) throws(CommandFailure) {
        let directory = try shipped.path("console")
        var files: [File] = []
        for name in Platform.names(in: directory).sorted() {
            guard let dot = name.lastIndex(of: "."), let type = Self.types[String(name[name.index(after: dot)...])]
            else { continue }
            let bytes = try Platform.required(
                directory + "/" + name, limit: Self.limitBytes,
                as: "\(directory)/\(name), a file of the console's page,",
                advice: "install linkd again, or set LINKD_HOME to its directory `config`")
            files.append(File(name: name, contentType: type, bytes: bytes))
        }
        guard files.contains(where: { $0.name == "index.html" }) else {
            throw CommandFailure(
                .configuration, "\(directory) has no file index.html, the console's page",
                advice: "install linkd again, or set LINKD_HOME to its directory `config`")
        }
        all = files
    }
}
