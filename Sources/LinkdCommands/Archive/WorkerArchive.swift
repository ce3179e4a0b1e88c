internal import DispatchWorker
internal import KafkaClient
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import Synchronization

/// The archive of a worker, which has each configuration before the worker decides with it.
final class WorkerArchive: VersionArchive {
    /// The time between two attempts at the start, in milliseconds.
    private static let retryMilliseconds = 200

    private let connection: Connection
    private let writer: ArchiveWriter
    private let topic: String
    private let outputs: [String]
    /// The configuration of the worker's deciders without tables.
    private let decider: DeciderConfiguration
    private let vendors: LoadedVendors
    private let devices: DeviceMembers?

    private struct State {
        /// The configuration that is used, with its hash, or nil before the first one.
        var used: (hash: String, draft: ConfigurationDraft)?
        /// The smallest `max.message.bytes` of the outputs as it was at the start, which the lanes keep, or nil.
        var messageBytes: Int?
    }

    private let state = Mutex(State())

    /// Creates the archive of a worker's settings, or returns nil if they have none.
    init?(_ settings: Settings, _ vendors: LoadedVendors) throws(CommandFailure) {
        guard let topic = settings.text("tables.topic") else { return nil }
        let connection = try Connection(settings)
        self.connection = connection
        self.topic = topic
        writer = ArchiveWriter(connection, topic: topic)
        outputs = settings.outputs.names
        decider = DeciderConfiguration(settings, [], vendors)
        self.vendors = vendors
        devices = settings.text("devices.topic") == nil ? nil : try settings.deviceMembers
    }

    /// Stores the first version, within `start.timeout`.
    ///
    /// A cluster that does not answer ends with exit code 69, and a missing right with 77. Any other problem with the
    /// topic ends with 78. After a stop signal, the worker ends without a configuration.
    func storeFirst(_ version: ServedTables.Version, _ json: [[UInt8]]) throws(CommandFailure) {
        let deadline = Platform.monotonicSeconds + Double(connection.startTimeout) / 1000
        let limit = try messageLimit(deadline)
        state.withLock { $0.messageBytes = limit }
        var cause: CommandFailure?
        while StopSignals.request == .none {
            do throws(CommandFailure) {
                return try store(version, json, deadline: deadline)
            } catch {
                if error.code == .refused { throw error }
                // The last attempt often ends because the time is over, and not for the reason of those before it.
                if cause == nil || error.code != .unavailable { cause = error }
                guard Platform.monotonicSeconds < deadline else {
                    throw CommandFailure(
                        .configuration,
                        "the configuration was not archived in \(topic) (tables.topic) within start.timeout: "
                            + (cause ?? error).reason, advice: (cause ?? error).advice)
                }
            }
            Platform.sleep(milliseconds: Self.retryMilliseconds)
        }
    }

    /// Returns the smallest `max.message.bytes` of the outputs, or nil if this user is not allowed to read it.
    private func messageLimit(_ deadline: Double) throws(CommandFailure) -> Int? {
        while StopSignals.request == .none {
            do throws(CommandFailure) {
                let admin = try connection.makeAdmin(
                    within: min(1000, connection.startTimeout), of: connection.startTimeout)
                defer { admin.close() }
                return admin.messageLimits(of: outputs).values.min()
            } catch {
                guard error.code == .unavailable, Platform.monotonicSeconds < deadline else { throw error }
            }
        }
        return nil
    }

    func store(_ version: ServedTables.Version, _ json: [[UInt8]]) throws(CommandFailure) {
        try store(version, json, deadline: Platform.monotonicSeconds + Double(connection.startTimeout) / 1000)
    }

    private func store(
        _ version: ServedTables.Version, _ json: [[UInt8]], deadline: Double
    ) throws(CommandFailure) {
        var decider = decider
        decider.tables = version.tables
        decider.candidate = version.canary
        let before = state.withLock { $0 }
        let draft = ConfigurationDraft(
            decider, tables: json, vendors: vendors, devices: devices, messageBytes: before.messageBytes)
        let hash = try writer.store(draft, by: .worker, insteadOf: before.used?.draft, deadline: deadline)
        state.withLock { $0.used = (hash, draft) }
    }

    func keepUse() throws(CommandFailure) {
        guard let used = state.withLock({ $0.used }) else { return }
        try writer.keepUse(of: used.draft, deadline: Platform.monotonicSeconds + Double(connection.startTimeout) / 1000)
    }
}
