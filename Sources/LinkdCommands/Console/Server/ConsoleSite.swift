internal import DispatchWorker
internal import KafkaClient
internal import LinkCoordinator
internal import RouteTools

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

    /// Creates the shared state of a console.
    init(_ call: Invocation, _ settings: Settings, _ connection: Connection?) throws(CommandFailure) {
        self.settings = settings
        shipped = ShippedFiles(environment: call.environment)
        let isDirectory = settings.text("table.directory") != nil
        let paths = try isDirectory ? TableFiles(settings).paths() : LoadedTables.paths(settings, shipped)
        let loaded = try LoadedTables(paths: paths) { file, problem in
            guard problem.severity == .error else { return }
            call.console.warn(Escaping.visible(problem.text(file: file)))
        }
        tables = loaded.files.compactMap { file in
            file.table.map { Table(table: $0, path: file.path, json: file.json) }
        }
        vendors = try LoadedVendors(settings, shipped, on: call.console)
        self.connection = connection
        masks = call.isOn("mask")
        allowsReplay = call.isOn("allow-replay")
        worker = try call.text("worker").map { text throws(CommandFailure) in try WorkerAddress(text) }
    }

    /// The topic of the decisions.
    var decisionTopic: String { settings.text("output") ?? "link-decisions" }

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
