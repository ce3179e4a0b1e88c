internal import RouteTools

/// The removal of configurations that were not used for a time, with the files that no other configuration names.
struct ArchivePruning {
    private let connection: Connection
    private var reader: ArchiveReader
    /// The configurations to remove, and after `run` those that were removed.
    private(set) var entries: [ConfigurationArchive.Entry]

    /// Chooses the configurations whose last use was before a time, in milliseconds since 1970.
    ///
    /// It ends with exit code 65 if the files of a configuration are not known that must stay: one that another version
    /// of linkd has written, or a damaged one that was used since then.
    init(_ connection: Connection, topic: String, unusedSince time: Int64) throws(CommandFailure) {
        self.connection = connection
        reader = try ArchiveReader(connection, topic: topic)
        entries = reader.archive.entries.filter { $0.last < time }
        if let hash = reader.archive.damaged.filter({ $0.value >= time }).keys.min() {
            throw CommandFailure(
                .badData, "the configuration \(hash.prefix(8)) in \(topic) is damaged, so its files are not known",
                advice: "start a worker with its tables and vendor table, which archives it again")
        }
        guard let hash = reader.archive.foreign.min() else { return }
        let count = Counts.text(reader.archive.foreign.count, "configuration")
        throw CommandFailure(
            .badData, "\(topic) has \(count) that another version of linkd has written, for example \(hash.prefix(8))",
            advice: "prune with the newest version of linkd that uses the topic")
    }

    /// A step of the removal.
    enum Step {
        /// The topic was read once more.
        case read
        /// The configurations are removed, and those that are in use not yet stored again.
        case removed
    }

    /// The number of all configurations.
    var count: Int { reader.archive.entries.count }

    /// The hashes of the files that are removed with the configurations.
    var files: Set<String> { Self.unnamed(reader.archive, without: Set(entries.map(\.hash))) }

    /// The bytes of everything that is removed.
    var bytes: Int { files.union(entries.map(\.hash)).reduce(0) { $0 + reader.archive.bytes(of: $1) } }

    /// Returns the hashes of what no remaining document names.
    private static func unnamed(_ archive: ConfigurationArchive, without removed: Set<String>) -> Set<String> {
        var named: Set<String> = []
        for (hash, document) in archive.documents where !removed.contains(hash) {
            named.insert(hash)
            named.formUnion(document.files.map(\.hash))
        }
        return archive.hashes.subtracting(named).subtracting(removed)
    }

    /// Removes the configurations, then their files.
    ///
    /// A configuration that a worker stores or uses at the same time keeps its files: what is missing of it is written
    /// again.
    ///
    /// - Parameter observe: A function that is called after each step that the records of others can follow.
    mutating func run(observe: (Step) throws(CommandFailure) -> Void = { _ in }) throws(CommandFailure) {
        let writer = ArchiveWriter(connection, topic: reader.archive.topic)
        // Much time can have passed since the choice.
        try reader.update()
        entries = entries.filter { reader.archive.entry($0.hash)?.last == $0.last }
        let chosen = files
        let before = reader.archive
        try observe(.read)
        try writer.remove(keys: entries.flatMap { before.keys(of: $0.hash) }, deadline: Self.deadline)
        try observe(.removed)
        try restoreUsed(writer)
        let removed = Self.unnamed(reader.archive, without: []).intersection(chosen)
        try writer.remove(keys: removed.sorted().flatMap(before.keys), deadline: Self.deadline)
        try reader.update()
        // Another `prune` can have removed files of the configurations that this one has stored again.
        let lost = reader.archive.documents.values.flatMap(\.files).filter { reader.archive.places(of: $0) == nil }
        try reader.fetch(lost, of: before)
        let contents = Set(lost.compactMap(reader.contents))
        if !contents.isEmpty { try writer.store(files: Array(contents), deadline: Self.deadline) }
    }

    /// Stores the configurations again that a worker has begun to use since they were chosen.
    private mutating func restoreUsed(_ writer: ArchiveWriter) throws(CommandFailure) {
        var uses: [String: [ConfigurationUse]] = [:]
        try reader.update { record in
            guard let key = record.key, let value = record.value, let (hash, part) = ConfigurationArchive.parse(key),
                part == .use
            else { return }
            uses[hash, default: []] += ConfigurationUse.read(value) ?? []
        }
        for index in entries.indices { entries[index].uses += uses[entries[index].hash] ?? [] }
        let used = entries.filter { uses[$0.hash] != nil }
        entries.removeAll { uses[$0.hash] != nil }
        for entry in used { try writer.store(again: entry, beside: reader.archive, deadline: Self.deadline) }
        try reader.update()
    }

    /// The time on the monotonic clock at which a request that begins now must end.
    private static var deadline: Double { Platform.monotonicSeconds + 60 }
}
