internal import ByteStorage
internal import LinkCoordinator
internal import RouteTools
internal import StrictJSON

/// The contents of an archive's topic, without the bytes of its files.
///
/// A file is in pieces, under its SHA-256: the key of a piece is `HASH/INDEX`. A configuration is a file with one
/// piece, whose uses are a record with the key `HASH/use`. Whoever can write to the topic can write any bytes, so a
/// document counts only if it has its hash, and what is kept of all records is bounded.
struct ConfigurationArchive: Sendable {
    /// The size of a piece in bytes, which the last one of a file can fall short of.
    static let pieceBytes = 512 << 10
    /// The limit of pieces and records of uses.
    static let maxRecords = 200_000
    /// The limit of uses of all configurations.
    static let maxUses = 500_000
    /// The size limit of all documents in bytes.
    static let maxDocumentBytes = 64 << 20

    /// The position of a piece.
    struct Place: Sendable, Hashable {
        var partition: Int32
        var offset: Int64
        var bytes: Int
    }

    /// A configuration of the archive.
    struct Entry: Sendable {
        /// The SHA-256 of the document.
        var hash: String
        var configuration: ArchivedConfiguration
        /// The uses in the order of their beginnings.
        var uses: [ConfigurationUse]
        /// The time of the first use, in milliseconds since 1970.
        var first: Int64 { uses.first?.first ?? 0 }
        /// The time of the last use, in milliseconds since 1970.
        var last: Int64 { uses.map(\.last).max() ?? 0 }

        /// Returns a Boolean value that indicates whether the configuration was known to be in use at a time.
        ///
        /// A use that goes on is recorded once an hour, and clocks differ by up to a minute.
        func isUsed(at time: Int64) -> Bool {
            // Whoever writes a decision can write any time.
            uses.contains { $0.first - 60_000 <= time && max(time, 0) - 3_660_000 <= $0.last }
        }
    }

    /// A part of the topic's keys after the hash.
    enum Part: Equatable {
        case piece(Int)
        case use
    }

    /// The name of the topic.
    let topic: String
    /// The positions of pieces by hash and index.
    private var pieces: [String: [Int: Place]] = [:]
    /// The documents by hash, with those that have no use.
    private(set) var documents: [String: ArchivedConfiguration] = [:]
    /// The hashes of documents that another version of linkd has written, whose files are not known here.
    private(set) var foreign: Set<String> = []
    private var documentBytes = 0
    private var uses: [String: [ConfigurationUse]] = [:]
    private var count = 0
    private var useCount = 0
    /// The records that are neither pieces nor uses.
    private(set) var unreadable = 0

    /// Creates an empty archive.
    init(topic: String) { self.topic = topic }

    /// Adds a record of the topic.
    ///
    /// More records than the limit end with exit code 78.
    mutating func add(_ record: ScannedRecord) throws(CommandFailure) {
        guard let key = record.key, let (hash, part) = Self.parse(key) else {
            unreadable += 1
            return
        }
        switch part {
        case .piece(let index):
            remove(index, of: hash)
            guard let value = record.value else { return }
            guard value.count <= Self.pieceBytes else {
                unreadable += 1
                return
            }
            try countRecord()
            pieces[hash, default: [:]][index] = Place(
                partition: record.partition, offset: record.offset, bytes: value.count)
            if index == 0 { try addDocument(value, hash) }
        case .use:
            if let before = uses.removeValue(forKey: hash) {
                count -= 1
                useCount -= before.count
            }
            guard let value = record.value else { return }
            guard let list = ConfigurationUse.read(value) else {
                unreadable += 1
                return
            }
            try countRecord()
            useCount += list.count
            guard useCount <= Self.maxUses else { throw tooLarge("\(Counts.grouped(Int64(Self.maxUses))) uses") }
            uses[hash] = list
        }
    }

    private mutating func remove(_ index: Int, of hash: String) {
        guard pieces[hash]?.removeValue(forKey: index) != nil else { return }
        count -= 1
        if pieces[hash]?.isEmpty == true { pieces[hash] = nil }
        if index == 0 { foreign.remove(hash) }
        if index == 0, let document = documents.removeValue(forKey: hash) { documentBytes -= document.document.count }
    }

    private mutating func addDocument(_ value: ByteView, _ hash: String) throws(CommandFailure) {
        guard value.buffer.starts(with: ArchivedConfiguration.startOfAll) else { return }
        let bytes = value.array
        // The first piece of a longer document does not have its hash.
        let isWhole = value.count == Self.pieceBytes || SHA256.hex(bytes) == hash
        guard isWhole, let document = ArchivedConfiguration(document: bytes),
            // A document in another form than this one could have two hashes.
            document.document == bytes
        else {
            unreadable += 1
            if isWhole { foreign.insert(hash) }
            return
        }
        documentBytes += bytes.count
        guard documentBytes <= Self.maxDocumentBytes else { throw tooLarge("\(Self.maxDocumentBytes >> 20) MiB") }
        documents[hash] = document
    }

    private mutating func countRecord() throws(CommandFailure) {
        count += 1
        guard count <= Self.maxRecords else { throw tooLarge("\(Counts.grouped(Int64(Self.maxRecords))) records") }
    }

    private func tooLarge(_ limit: String) -> CommandFailure {
        CommandFailure(
            .configuration, "\(topic) has more configurations than an archive can have (\(limit))",
            advice: "set tables.topic to a new topic, let only workers write to it, and remove old configurations in "
                + "time with `linkd tables prune`, which cannot read so many either")
    }

    // MARK: Keys

    /// Returns the key of a record.
    static func key(_ hash: String, _ part: Part) -> [UInt8] {
        switch part {
        case .piece(let index): Array("\(hash)/\(index)".utf8)
        case .use: Array("\(hash)/use".utf8)
        }
    }

    /// Returns the parts of a key, or nil if it is not the key of an archive's record.
    static func parse(_ key: ByteView) -> (hash: String, part: Part)? {
        guard (66...68).contains(key.count), key.slice(64, 65).equals("/") else { return nil }
        let hash = key.slice(0, 64).string
        guard TableArchive.isHash(hash) else { return nil }
        let rest = key.dropFirst(65).string
        if rest == "use" { return (hash, .use) }
        guard let index = Int(rest), String(index) == rest,
            (0..<CheckedTable.limitBytes / pieceBytes).contains(index)
        else { return nil }
        return (hash, .piece(index))
    }

    /// Returns the number of pieces of a file.
    ///
    /// An empty file has one.
    static func pieceCount(_ bytes: Int) -> Int { max(1, (bytes + pieceBytes - 1) / pieceBytes) }

    /// The configurations, in the order of their first uses.
    var entries: [Entry] {
        documents.compactMap { hash, document in
            uses[hash].map { Entry(hash: hash, configuration: document, uses: $0) }
        }.sorted { ($0.first, $0.hash) < ($1.first, $1.hash) }
    }

    /// Returns the configuration with a hash, or nil.
    func entry(_ hash: String) -> Entry? {
        guard let document = documents[hash], let list = uses[hash] else { return nil }
        return Entry(hash: hash, configuration: document, uses: list)
    }

    /// The hashes of configurations that were used and whose document is missing or damaged, with their last uses.
    var damaged: [String: Int64] {
        uses.filter { documents[$0.key] == nil && !foreign.contains($0.key) }
            .mapValues { uses in uses.reduce(0) { max($0, $1.last) } }
    }

    /// Returns the uses of a configuration, or an empty array.
    func uses(of hash: String) -> [ConfigurationUse] { uses[hash] ?? [] }

    /// Returns the times at which workers began to use other configurations, in ascending order.
    func beginnings(except hash: String) -> [Int64] {
        uses.lazy.filter { $0.key != hash }
            .flatMap { $0.value.lazy.filter { $0.program == .worker }.map(\.first) }.sorted()
    }

    /// Returns the configurations that can have made a decision, the most probable one first.
    ///
    /// They are those that were in use at a time, beginning with the one that was begun last, then those that had been
    /// in use before it, and then those that began later: the clocks of workers differ, and workers that are replaced
    /// one after the other use two configurations for a while. The bytes of the decision tell which one it was.
    ///
    /// - Parameters:
    ///   - table: The identity of the table in the decision, or nil if it has none.
    ///   - time: The time of the decision's record, in milliseconds since 1970.
    func candidates(for table: String?, at time: Int64) -> [Entry] {
        func rank(_ entry: Entry) -> (Int, Int64, String) {
            guard let before = entry.uses.last(where: { $0.first <= time }) else { return (1, entry.first, entry.hash) }
            return (0, -before.first, entry.hash)
        }
        return entries.filter { entry in table.map(entry.configuration.identities.contains) ?? true }
            .map { (entry: $0, rank: rank($0)) }.sorted { $0.rank < $1.rank }.map(\.entry)
    }

    /// Returns the positions of a file's pieces in order, or nil if one is missing or has another size.
    func places(of file: ArchivedConfiguration.File) -> [Place]? {
        guard let known = pieces[file.hash] else { return nil }
        var places: [Place] = []
        for index in 0..<Self.pieceCount(file.bytes) {
            let size = min(Self.pieceBytes, file.bytes - index * Self.pieceBytes)
            guard let place = known[index], place.bytes == size else { return nil }
            places.append(place)
        }
        return places
    }

    /// Returns the keys of everything that is stored under a hash.
    func keys(of hash: String) -> [[UInt8]] {
        (pieces[hash] ?? [:]).keys.sorted().map { Self.key(hash, .piece($0)) }
            + (uses[hash] == nil ? [] : [Self.key(hash, .use)])
    }

    /// The hashes of everything that is stored.
    var hashes: Set<String> { Set(pieces.keys).union(uses.keys) }

    /// Returns the bytes that are stored under a hash.
    func bytes(of hash: String) -> Int { (pieces[hash] ?? [:]).values.reduce(0) { $0 + $1.bytes } }
}

extension ConfigurationArchive.Entry {
    /// The tables in messages, such as `shop@1+d1ec0520, candidate shop@2+0a1b2c3d 10 %`.
    var tablesText: String {
        let tables = configuration.tables.map(\.identity)
        let canary = configuration.canary.map {
            "candidate \($0.table.identity) \(Decimals.text(Double($0.percent) / 100)) %"
        }
        return Escaping.visible((tables + [canary].compactMap(\.self)).joined(separator: ", "))
    }
}
