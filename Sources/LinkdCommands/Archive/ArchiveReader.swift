internal import ByteStorage
internal import KafkaClient
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest

/// A configuration of the archive with its files, ready to decide.
struct LoadedConfiguration: Sendable {
    var entry: ConfigurationArchive.Entry
    /// The configuration of a decider, which decides as the worker did.
    var decider: DeciderConfiguration
    /// The rules for push messages, with the bytes of their files.
    var vendors: LoadedVendors

    /// Returns the table with an identity, or nil if the configuration does not have it.
    func table(_ identity: String) -> RouteTable? {
        (decider.tables.tables + [decider.candidate?.candidate].compactMap(\.self)).first { $0.identity == identity }
    }
}

/// A reader of an archive's topic.
struct ArchiveReader {
    /// The limit of the bytes of files that are kept in memory.
    var maxBytes = 1 << 30
    /// The limit of compiled tables that are kept in memory.
    private static let maxTables = 64

    /// The contents without the bytes of files.
    private(set) var archive: ConfigurationArchive
    private var scan: TopicScan
    private var tail: TopicTail
    private var bytes: [String: [UInt8]] = [:]
    private var keptBytes = 0
    private var tables: [String: RouteTable] = [:]
    private var vendors: [[String]: LoadedVendors] = [:]

    /// Creates a reader that has read the topic up to its end.
    ///
    /// A topic that does not exist ends with exit code 78.
    init(_ connection: Connection, topic: String, deadline: Double = .infinity) throws(CommandFailure) {
        archive = ConfigurationArchive(topic: topic)
        tail = TopicTail(topic)
        scan = try TopicScan(connection, prefetch: .steady)
        scan.deadline = deadline
        try update()
    }

    /// The time on the monotonic clock after which every call ends with exit code 69.
    var deadline: Double {
        get { scan.deadline }
        set { scan.deadline = newValue }
    }

    /// Creates the reader of the settings, or returns nil if they have no archive.
    init?(_ settings: Settings, _ connection: Connection) throws(CommandFailure) {
        guard let topic = settings.text("tables.topic") else { return nil }
        try self.init(connection, topic: topic)
    }

    /// Reads the records that were added since the last call, and passes each one to `observe`.
    mutating func update(_ observe: (ScannedRecord) -> Void = { _ in }) throws(CommandFailure) {
        var read = archive
        try tail.read(&scan) { record throws(CommandFailure) in
            try read.add(record)
            observe(record)
        }
        archive = read
    }

    // MARK: Files

    /// Reads the files of configurations in one pass, so that `load` finds them in memory.
    ///
    /// Files that are missing or damaged are left out.
    mutating func fetch(_ configurations: some Sequence<ArchivedConfiguration>) throws(CommandFailure) {
        try fetch(configurations.flatMap(\.files), of: archive)
    }

    /// Reads files at the positions that an archive of the same topic had.
    mutating func fetch(
        _ all: [ArchivedConfiguration.File], of archive: ConfigurationArchive
    ) throws(CommandFailure) {
        var missing = self.missing(all, archive)
        if keptBytes + Self.size(missing) > maxBytes {
            (bytes, keptBytes) = ([:], 0)
            missing = self.missing(all, archive)
        }
        guard Self.size(missing) <= maxBytes else {
            throw CommandFailure(
                .configuration, "the files of these configurations have more than \(maxBytes >> 20) MiB",
                advice: "remove old configurations with `linkd tables prune`")
        }
        guard !missing.isEmpty else { return }
        var wanted: [ConfigurationArchive.Place: (hash: String, index: Int)] = [:]
        var parts: [String: [[UInt8]]] = [:]
        for (file, places) in missing {
            parts[file.hash] = Array(repeating: [], count: places.count)
            for (index, place) in places.enumerated() { wanted[place] = (file.hash, index) }
        }
        try read(Set(wanted.keys)) { place, value in
            guard let (hash, index) = wanted[place] else { return }
            parts[hash]?[index] = value.array
        }
        for (hash, pieces) in parts {
            let whole = Array(pieces.joined())
            guard SHA256.hex(whole) == hash else { continue }
            bytes[hash] = whole
            keptBytes += whole.count
        }
    }

    private typealias Missing = [ArchivedConfiguration.File: [ConfigurationArchive.Place]]

    /// Returns the positions of complete files that are not in memory.
    private func missing(_ files: [ArchivedConfiguration.File], _ archive: ConfigurationArchive) -> Missing {
        var result: Missing = [:]
        for file in files where bytes[file.hash] == nil && result[file] == nil {
            result[file] = archive.places(of: file)
        }
        return result
    }

    private static func size(_ files: Missing) -> Int { files.keys.reduce(0) { $0 + $1.bytes } }

    /// Passes the values of records to `body`.
    private mutating func read(
        _ places: Set<ConfigurationArchive.Place>, _ body: (ConfigurationArchive.Place, ByteView) -> Void
    ) throws(CommandFailure) {
        var plan = ScanPlan()
        for place in places {
            let partition = TopicPartition(topic: archive.topic, partition: place.partition)
            var span = plan.partitions[partition] ?? ScanPlan.Span(from: place.offset, to: place.offset + 1)
            span.from = min(span.from, place.offset)
            span.to = max(span.to ?? 0, place.offset + 1)
            plan.partitions[partition] = span
        }
        try scan.start(plan)
        try scan.forEach { record throws(CommandFailure) in
            guard let value = record.value, value.count <= ConfigurationArchive.pieceBytes else { return }
            let place = ConfigurationArchive.Place(
                partition: record.partition, offset: record.offset, bytes: value.count)
            if places.contains(place) { body(place, value) }
        }
    }

    /// Returns the bytes of a file, or throws a failure with exit code 65 if it is missing or damaged.
    private func file(
        _ file: ArchivedConfiguration.File, of entry: ConfigurationArchive.Entry
    ) throws(CommandFailure) -> [UInt8] {
        guard let found = bytes[file.hash], found.count == file.bytes else {
            throw damaged(entry, "the file \(file.hash.prefix(8)) is missing or damaged")
        }
        return found
    }

    private func damaged(_ entry: ConfigurationArchive.Entry, _ reason: String) -> CommandFailure {
        CommandFailure(
            .badData, "the configuration \(entry.hash.prefix(8)) of \(archive.topic) cannot be used: \(reason)",
            advice: "start a worker with these tables and this vendor table again, which archives them again")
    }

    // MARK: Configurations

    /// Returns a configuration with its files.
    ///
    /// One whose files are missing, damaged, or refused by this version ends with exit code 65.
    mutating func load(_ entry: ConfigurationArchive.Entry) throws(CommandFailure) -> LoadedConfiguration {
        let archived = entry.configuration
        try fetch([archived])
        var set: [RouteTable] = []
        for table in archived.tables { set.append(try self.table(table, of: entry)) }
        var plan: CanaryPlan?
        if let canary = archived.canary {
            let candidate = try table(canary.table, of: entry)
            guard let base = set.first(where: { $0.id == candidate.id }) else {
                throw damaged(entry, "no table has the id of the candidate")
            }
            plan = CanaryPlan(base: base, candidate: candidate, percent: canary.percent, compare: canary.compare)
        }
        let vendors = try vendors(of: entry)
        let decider = DeciderConfiguration(
            tables: TableSet(set), candidate: plan, limits: archived.limits, passthrough: archived.passthrough,
            contextQuery: archived.contextQuery, vendors: vendors.table, platforms: vendors.platforms)
        return LoadedConfiguration(entry: entry, decider: decider, vendors: vendors)
    }

    private mutating func table(
        _ table: ArchivedConfiguration.Table, of entry: ConfigurationArchive.Entry
    ) throws(CommandFailure) -> RouteTable {
        if let known = tables[table.file.hash] { return known }
        let json = try file(table.file, of: entry)
        // The worker that archived the table has proved it.
        guard let loaded = TableLoader(json).finish().table, loaded.identity == table.identity else {
            throw damaged(entry, "this version refuses the table \(table.identity)")
        }
        if tables.count >= Self.maxTables { tables.removeAll() }
        tables[table.file.hash] = loaded
        return loaded
    }

    private mutating func vendors(of entry: ConfigurationArchive.Entry) throws(CommandFailure) -> LoadedVendors {
        let archived = entry.configuration
        let key = archived.vendors.map(\.hash) + ["/"] + [archived.platforms?.hash].compactMap(\.self)
        if let known = vendors[key] { return known }
        var files: [[UInt8]] = []
        for vendor in archived.vendors { files.append(try file(vendor, of: entry)) }
        var platforms: [UInt8]?
        if let file = archived.platforms { platforms = try self.file(file, of: entry) }
        guard let loaded = LoadedVendors(vendorFiles: files, platformFile: platforms) else {
            throw damaged(entry, "this version refuses its vendor tables or link platforms")
        }
        if vendors.count >= Self.maxTables { vendors.removeAll() }
        vendors[key] = loaded
        return loaded
    }

    /// Returns the bytes of a file of a configuration that was loaded, or nil.
    func contents(of file: ArchivedConfiguration.File) -> [UInt8]? { bytes[file.hash] }
}
