internal import ByteStorage
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import ShortLinks

/// A configuration that can have made decisions with the wrong table, and the same one with the new table.
final class RecallConfiguration {
    /// The wrong table.
    let table: RouteTable
    /// The member of a decision with the name of the wrong table.
    let member: [UInt8]
    /// The configuration with the new table, which has no candidate.
    let corrected: DeciderConfiguration
    /// The rules for push messages.
    let vendors: LoadedVendors
    /// The facts of the registry that were joined, or nil without a registry.
    let members: DeviceMembers?
    /// The version of linkd that used it, or nil if that is unknown.
    let version: String?
    /// The hash in the archive, or nil if it is not from there.
    let hash: String?
    /// The short links of the decision that is decided again, or nil if it has none.
    var shortLinks: ShortLinkFile?
    private let device = DecidedDevice()
    private let old: DeciderBox
    private let new: DeciderBox

    /// Creates a pair of configurations.
    ///
    /// - Parameters:
    ///   - hash: The hash in the archive, or nil.
    ///   - table: The wrong table, which is a table or the candidate of `configuration`.
    ///   - replacement: The new table.
    init(
        _ hash: String?, _ version: String?, _ configuration: DeciderConfiguration, _ vendors: LoadedVendors,
        _ members: DeviceMembers?, table: RouteTable, replacement: RouteTable
    ) {
        self.hash = hash
        self.version = version
        self.vendors = vendors
        self.members = members
        self.table = table
        member = table.decisionMember
        var configuration = configuration
        configuration.shortLinks = .decided(nil)
        var corrected = configuration
        // Two tables can have one id.
        let served = configuration.tables.tables
        let replaced = served.contains { $0.hash == table.hash } ? table : configuration.candidate?.base
        corrected.tables = TableSet(served.map { $0.hash == replaced?.hash ? replacement : $0 })
        corrected.candidate = nil
        self.corrected = corrected
        let devices: DecidedDevice? = members == nil ? nil : device
        old = DeciderBox(configuration, devices)
        new = DeciderBox(corrected, devices)
    }

    /// The result of deciding an event again for one device.
    enum Outcome {
        case decision([UInt8])
        /// The event becomes a dead letter with this reason, or has no such decision.
        case none(String)
    }

    /// Decides an event with the wrong table, or with the new one.
    ///
    /// - Parameters:
    ///   - id: The id under which the decision is published.
    ///   - device: The device of the decision and the facts that it had from the registry.
    func decide(
        _ record: ScannedRecord, _ id: DecisionID, _ device: (id: [UInt8]?, facts: [UInt8]?), isNew: Bool
    ) -> Outcome {
        if members != nil { self.device.set(device.id, device.facts, index: id.place.index) }
        return (isNew ? new : old).decide(record, id, shortLinks)
    }

    /// Returns a Boolean value that indicates whether the event that was decided last with the new table is over.
    func hasExpired(at time: Int64) -> Bool { new.decider.hasExpired(at: time) }
}

/// A decider with its memory.
private final class DeciderBox {
    var decider: Decider
    private var arena = OutputArena(chunkBytes: 1 << 16)

    init(_ configuration: DeciderConfiguration, _ devices: DecidedDevice?) {
        decider = Decider(configuration, devices: devices)
    }

    func decide(
        _ record: ScannedRecord, _ id: DecisionID, _ shortLinks: ShortLinkFile?
    ) -> RecallConfiguration.Outcome {
        decider.use(shortLinks ?? .empty)
        arena.reset()
        var decisions: [ProducedDecision] = []
        let cause = decider.decide(record, only: id.place, into: &arena, decisions: &decisions)
        if let cause { return .none(cause.reason.rawValue) }
        for decision in decisions {
            if let bytes = id.published(decision.value.buffer) { return .decision(bytes) }
        }
        return .none("no_such_device")
    }
}

/// The configurations that can have made the decisions of a table.
struct RecallConfigurations {
    private var list: [RecallConfiguration]
    /// The archive, or nil.
    private var archive: ConfigurationArchive?
    private var identity: String?
    /// The times at which the order can change.
    private var times: [Int64] = []
    private var orders: [Int: [RecallConfiguration]] = [:]
    /// The reasons for which configurations of the archive cannot be used.
    private(set) var failures: [String] = []

    /// Creates a list, by default an empty one without an archive.
    init(_ list: [RecallConfiguration] = [], archive: ConfigurationArchive? = nil) {
        (self.list, self.archive) = (list, archive)
    }

    /// All configurations.
    var all: [RecallConfiguration] { list }

    /// Loads the configurations of the archive with a table.
    ///
    /// - Parameters:
    ///   - hash: The beginning of the table's SHA-256.
    ///   - identities: The names of the table in the decisions.
    mutating func add(
        _ reader: inout ArchiveReader, hash: String, _ identities: Set<String>, replacement: RouteTable
    ) throws(CommandFailure) {
        let entries = reader.archive.entries.filter { entry in
            let tables = entry.configuration.tables + [entry.configuration.canary?.table].compactMap(\.self)
            return tables.contains { $0.file.hash.hasPrefix(hash) && identities.contains($0.identity) }
        }
        try reader.fetch(entries.map(\.configuration))
        for entry in entries {
            do throws(CommandFailure) {
                let loaded = try reader.load(entry)
                guard let table = identities.lazy.compactMap({ loaded.table($0) }).first else { continue }
                list.append(
                    RecallConfiguration(
                        entry.hash, entry.configuration.version, loaded.decider, loaded.vendors,
                        entry.configuration.devices, table: table, replacement: replacement))
                identity = identity ?? table.identity
            } catch {
                failures.append(error.reason)
            }
        }
        archive = reader.archive
        times = entries.flatMap { $0.uses.map(\.first) }.sorted()
    }

    /// Adds a table that is at hand, with the settings of this call: once without, and once with a registry.
    mutating func add(_ table: RouteTable, _ settings: Settings, _ vendors: LoadedVendors, replacement: RouteTable) {
        for members in [nil, DeviceMembers.all] {
            list.append(
                RecallConfiguration(
                    nil, nil, DeciderConfiguration(settings, [table], vendors), vendors, members, table: table,
                    replacement: replacement))
        }
    }

    /// Returns a Boolean value that indicates whether one of the configurations was in use by another version of linkd.
    ///
    /// One that this version had used beside it would give the bytes of its decisions.
    func hadOtherVersion(at time: Int64) -> Bool {
        list.contains { configuration in
            guard let version = configuration.version, version != LinkdVersion.text else { return false }
            guard let archive, let hash = configuration.hash else { return true }
            return archive.entry(hash)?.isUsed(at: time) == true
        }
    }

    /// Returns the configurations for a decision, the most probable one first.
    mutating func order(at time: Int64) -> [RecallConfiguration] {
        guard let archive, let identity else { return list }
        let slot = times.partitioningIndex { $0 > time }
        if let known = orders[slot] { return known }
        let hashes = archive.candidates(for: identity, at: time).map(\.hash)
        let order = hashes.compactMap { hash in list.first { $0.hash == hash } } + list.filter { $0.hash == nil }
        orders[slot] = order
        return order
    }
}
