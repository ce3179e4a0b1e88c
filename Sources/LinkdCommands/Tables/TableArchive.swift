internal import DispatchWorker
internal import LinkCoordinator
internal import RouteAnalysis
internal import StrictJSON

/// The tables that a worker has served, kept in its state directory under their hashes, and the list of the last ones.
///
/// A candidate is kept like them, because it decides for some devices. If a table is refused at the start, the tables
/// of the list are served. A file is ignored if its name is not the hash of its contents.
struct TableArchive: Sendable {
    /// The maximum number of tables.
    static let limit = 100
    /// The maximum size of all tables in bytes, unless the served ones are larger.
    static let limitBytes: Int64 = 1 << 30
    /// The size limit of the list in bytes.
    private static let listBytes = 1 << 20

    private let state: StateDirectory

    /// Opens the archive in a state directory.
    init(_ state: StateDirectory) {
        self.state = state
        Platform.makeDirectory(state.file("tables"))
    }

    /// Returns the bytes of a table, or nil if there is no valid file with this hash.
    func table(hash: String) -> [UInt8]? { Self.table(hash: hash, in: state.path) }

    /// Returns the bytes of a table in the archive of a state directory that another process may have taken.
    static func table(hash: String, in directory: String) -> [UInt8]? {
        guard isHash(hash),
            case .success(let bytes) = Platform.contents(
                of: "\(directory)/tables/\(hash).json", limit: CheckedTable.limitBytes, followsLinks: false),
            SHA256.hex(bytes) == hash
        else { return nil }
        return bytes
    }

    /// Returns the bytes and paths of the tables whose hash has a prefix, in the archive of a state directory that
    /// another process may have taken.
    static func tables(hashPrefix: String, in directory: String) -> [(json: [UInt8], path: String)] {
        guard !hashPrefix.isEmpty else { return [] }
        let names = Platform.names(in: directory + "/tables").filter {
            $0.hasPrefix(hashPrefix) && $0.hasSuffix(".json")
        }
        return names.prefix(limit).compactMap { name in
            table(hash: String(name.dropLast(5)), in: directory).map { ($0, "\(directory)/tables/\(name)") }
        }
    }

    /// Keeps the bytes of a table.
    ///
    /// Returns the error of the system if they cannot be written.
    func keep(_ json: [UInt8], hash: String) -> SystemError? {
        table(hash: hash) == nil ? Platform.replaceFile(path(hash), with: json) : nil
    }

    /// Returns the tables that were served last, or an empty list if the list is missing or not valid.
    func lastServed() -> [ServedTable] {
        guard let list = list?["served"]?.array, list.count <= 2 * TableFiles.limit else { return [] }
        let entries = list.compactMap(Self.entry)
        return entries.count == list.count ? entries : []
    }

    /// Returns the candidate that was served last, or nil if there was none.
    func lastCanary() -> ServedTable? { list?["canary"].flatMap(Self.entry) }

    private var list: JSONValue? {
        guard
            case .success(let bytes) = Platform.contents(
                of: state.file("served.json"), limit: Self.listBytes, followsLinks: false)
        else { return nil }
        return try? JSONValue.parse(bytes)
    }

    private static func entry(_ value: JSONValue) -> ServedTable? {
        guard let id = value["id"]?.string, let version = value["version"]?.string,
            let hash = value["hash"]?.string, isHash(hash), let path = value["path"]?.string,
            let loaded = value["loaded_ms"]?.integer, loaded >= 0
        else { return nil }
        return ServedTable(id: id, version: version, hash: hash, path: path, loadedAtMilliseconds: loaded)
    }

    /// Writes the list of the served tables, and removes the oldest tables beyond the limits.
    ///
    /// Returns the error of the system if the list cannot be written.
    func served(_ entries: [ServedTable], canary: ServedTable? = nil) -> SystemError? {
        removeOldest(except: Set(entries.map(\.hash) + [canary?.hash].compactMap(\.self)))
        let text = JSONText.object { json in
            json.objects("served", of: entries, Self.write)
            if let canary { json.object("canary") { Self.write(&$0, canary) } }
        }
        return Platform.replaceFile(state.file("served.json"), with: Array(text.utf8))
    }

    private static func write(_ json: inout JSONText, _ entry: ServedTable) {
        json.text("id", entry.id)
        json.text("version", entry.version)
        json.text("hash", entry.hash)
        json.text("path", entry.path)
        json.number("loaded_ms", entry.loadedAtMilliseconds)
    }

    private func removeOldest(except served: Set<String>) {
        let names = Platform.names(in: state.file("tables"))
        // A process that was killed may have left files that it had not renamed.
        for name in names where Self.isHash(String(name.prefix(64))) && name.dropFirst(64).hasPrefix(".json.") {
            Platform.remove(state.file("tables/" + name))
        }
        let kept = names.compactMap { name -> (hash: String, stamp: FileStamp)? in
            guard name.hasSuffix(".json"), Self.isHash(String(name.dropLast(5))),
                let stamp = FileStamp(of: state.file("tables/" + name))
            else { return nil }
            return (String(name.dropLast(5)), stamp)
        }
        // The size of a sparse file can be near the maximum of its type.
        func size(of stamp: FileStamp) -> Int64 { min(stamp.size, Self.limitBytes + 1) }
        var count = kept.count
        var bytes = kept.reduce(0) { $0 + size(of: $1.stamp) }
        for (hash, stamp) in kept.sorted(by: { $0.stamp.modified.lexicographicallyPrecedes($1.stamp.modified) })
        where !served.contains(hash) {
            guard count > Self.limit || bytes > Self.limitBytes else { return }
            Platform.remove(path(hash))
            count -= 1
            bytes -= size(of: stamp)
        }
    }

    private func path(_ hash: String) -> String { state.file("tables/\(hash).json") }

    /// Returns a Boolean value that indicates whether a text is a SHA-256 in lowercase hexadecimal digits.
    static func isHash(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Keeps the tables that are served from now on.
    ///
    /// A failure is a warning, because the worker needs the archive only at its next start.
    func keep(
        _ loaded: LoadedTables, _ canary: LoadedCanary? = nil, as version: ServedTables.Version, log: Log
    ) {
        var error: SystemError?
        for (entry, file) in zip(version.entries, loaded.files) where error == nil {
            error = keep(file.json, hash: entry.hash)
        }
        if error == nil, let canary { error = keep(canary.json, hash: canary.entry.hash) }
        if error == nil { error = served(version.entries, canary: canary?.entry) }
        guard let error else { return }
        log.log(
            .warning, "tables.unsaved", "the served tables cannot be kept in state.dir",
            ["reason": .text(error.text), "advice": "free space in state.dir, or allow this user to write there"])
    }

    /// Returns the bytes of a version's tables, and of its candidate after them.
    func json(of version: ServedTables.Version) -> [[UInt8]] {
        (version.entries + [version.canaryEntry].compactMap(\.self)).compactMap { table(hash: $0.hash) }
    }

    /// Returns the tables that were served last, or nil if they are not complete or belong to other files.
    func lastVersion(of files: TableFiles) -> ServedTables.Version? {
        let entries = lastServed()
        let paths = entries.map(\.path)
        guard !entries.isEmpty, paths.allSatisfy(files.contains), files.named.allSatisfy(paths.contains) else {
            return nil
        }
        let tables = entries.compactMap { table(hash: $0.hash).flatMap { RouteTable.check($0).table } }
        let set = TableSet(tables)
        guard tables.count == entries.count, set.conflicts.allSatisfy({ $0.offsets == nil }) else { return nil }
        guard let file = files.canary else { return ServedTables.Version(set, entries) }
        guard let canary = lastCanary(), canary.path == file.path,
            let candidate = table(hash: canary.hash).flatMap({ RouteTable.check($0).table }),
            let plan = try? file.plan(candidate, for: tables)
        else { return nil }
        return ServedTables.Version(set, entries, canary: plan, canaryEntry: canary)
    }
}
