internal import CPlatform
internal import DispatchWorker
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest

/// `linkd try-record`: resolves one record as the worker that started it would, and ends with 0 if it survives.
///
/// A worker starts it with its own flags and a record on standard input. It connects to nothing, and prints one byte
/// before it resolves the record. It asks the worker what the registry knows about the record's devices.
enum TryRecordCommand {
    /// The size limit of the input in bytes.
    private static let inputBytes = 128 << 20

    static let command = Command(
        path: [RecordTrial.command], summary: "Resolve a record in a child process of a worker",
        settings: .worker,
        examples: [
            "linkd \(RecordTrial.command)": "Resolves the record on standard input."
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let settings = try call.settings()
        guard case .success(let input?) = TrialPipe.field(from: 0, limit: inputBytes),
            let received = TriedRecord.read(input), let directory = settings.text("state.dir")
        else { throw CommandFailure(.usage, "no record", advice: "this command is started by a worker") }
        let tables = try received.tables.map { hash throws(CommandFailure) in try table(hash, in: directory) }
        var canary: CanaryPlan?
        if let candidate = received.candidate, let file = CanaryFile(settings) {
            canary = try file.plan(try table(candidate, in: directory), for: tables)
        }
        let vendors = try LoadedVendors(settings, ShippedFiles(environment: call.environment)) { _, _ in }
        let configuration = DeciderConfiguration(settings, tables, vendors, candidate: canary)
        let limits = configuration.limits
        var decider = Decider(configuration, devices: received.asksDevices ? AskedDevices() : nil)
        linkd_limit_process(
            RecordTrial.seconds,
            RecordTrial.memoryBytes(recordBytes: limits.recordBytes, outputBytes: limits.outputBytes))
        withUnsafeBytes(of: UInt8(ascii: ".")) { _ = Platform.write(1, $0) }
        received.record.resolve(with: &decider)
        return .success
    }

    /// Returns a table that the worker has checked and kept.
    private static func table(_ hash: String, in directory: String) throws(CommandFailure) -> RouteTable {
        if let table = TableArchive.table(hash: hash, in: directory).flatMap({ RouteTable.unchecked($0) }) {
            return table
        }
        throw CommandFailure(.configuration, "a table is not in state.dir", advice: "free space in state.dir")
    }
}
