internal import CPlatform
internal import LinkDecider
internal import DispatchWorker
internal import LinkCoordinator
internal import SystemThreads

/// A place that has the tables and the rest of a worker's configuration before the worker decides with them.
protocol VersionArchive: Sendable {
    /// Stores the tables that are served first, and tries again until the time for the start is over.
    ///
    /// - Parameters:
    ///   - version: The tables.
    ///   - json: The bytes of the tables, and of the candidate after them.
    func storeFirst(_ version: ServedTables.Version, _ json: [[UInt8]]) throws(CommandFailure)

    /// Stores tables that are served after this call, or throws a failure.
    func store(_ version: ServedTables.Version, _ json: [[UInt8]]) throws(CommandFailure)

    /// Records that the tables that were stored last are still served.
    func keepUse() throws(CommandFailure)
}

/// The owner of a worker's tables, which loads them at the start and again when an operator asks for it or their files
/// change.
///
/// Loading is all or nothing: if one file is refused, all tables that are served stay. A thread with a low priority
/// reads and proves the files, so that the lanes never wait for it. It looks at the files from time to time, which also
/// works for network file systems and for a directory that is replaced by a symbolic link.
final class TableReloader: Sendable {
    /// The reason for loading the tables again.
    enum Trigger: String {
        case signal
        case file
    }

    /// The time between two checks for a request, in milliseconds.
    private static let checkMilliseconds = 200
    /// The time between two looks at the files, in milliseconds.
    static let lookMilliseconds = 2_000

    /// The time between two attempts to store tables in the topic, in nanoseconds.
    private static let storeNanoseconds: UInt64 = 30_000_000_000
    /// The time between two records of the use of the tables, in nanoseconds.
    private static let useNanoseconds: UInt64 = 3_600_000_000_000

    /// The tables that are served.
    let served: ServedTables
    private let files: TableFiles
    private let archive: TableArchive?
    private let topic: (any VersionArchive)?
    private let log: Log
    private let requests: @Sendable () -> Int
    private let requestsAtStart: Int
    private let notifier: SystemdNotifier?
    private let stampsAtStart: [TableFiles.Stamp]
    private let lookNanoseconds: UInt64
    private let thread = StoppableThread(name: "tables")

    /// Loads the tables.
    ///
    /// If they are refused, the tables of the archive are served. Without an archive, a table that is refused ends with
    /// exit code 65, and a file that cannot be read with 78.
    ///
    /// - Parameters:
    ///   - files: The files of the tables.
    ///   - archive: The archive of the tables that were served, or nil.
    ///   - topic: The archive that has tables before they are served, or nil.
    ///   - log: The log.
    ///   - notifier: The sender of messages to systemd, or nil for none.
    ///   - lookMilliseconds: The time between two looks at the files.
    ///   - requests: A function that returns the number of requests to load the tables again.
    init(
        _ files: TableFiles, archive: TableArchive? = nil, topic: (any VersionArchive)? = nil, log: Log,
        notifier: SystemdNotifier? = nil,
        lookMilliseconds: Int = TableReloader.lookMilliseconds,
        requests: @escaping @Sendable () -> Int
    ) throws(CommandFailure) {
        requestsAtStart = requests()
        stampsAtStart = files.stamps()
        lookNanoseconds = UInt64(lookMilliseconds) * 1_000_000
        self.files = files
        self.archive = archive
        self.topic = topic
        self.log = log
        self.requests = requests
        self.notifier = notifier
        let first: (version: ServedTables.Version, json: [[UInt8]], files: (LoadedTables, LoadedCanary?)?)
        do throws(CommandFailure) {
            let loaded = try LoadedTables(files.contents(), log: log)
            let canary = try files.canary?.load(for: loaded.tables, known: loaded.tables, after: nil, log: log)
            try files.prove(loaded.tables + [canary?.plan.candidate].compactMap(\.self), log: log)
            let version = loaded.version(after: [], canary: canary)
            first = (version, loaded.json(canary), (loaded, canary))
            served = ServedTables(version)
            log.logSharedLinks(of: loaded)
            log.log(.info, "table.loaded", "tables loaded", version.fields)
        } catch {
            guard let archive, let last = archive.lastVersion(of: files) else { throw error }
            first = (last, archive.json(of: last), nil)
            served = ServedTables(last)
            markFallbacks(last)
            log.log(
                .error, "tables.fallback", "the files are refused, and the tables that were served last are served",
                last.fields + ["reason": .text(error.reason), "advice": .text(error.advice)])
        }
        try topic?.storeFirst(first.version, first.json)
        if let (loaded, canary) = first.files { archive?.keep(loaded, canary, as: first.version, log: log) }
    }

    /// Starts the thread.
    ///
    /// If the system cannot create it, the tables are not loaded again.
    func start() { thread.start { [self] in run() } }

    /// Stops the thread, which may still finish loading.
    func stop() { thread.stop() }

    private func run() {
        linkd_lower_thread_priority()
        var answered = requestsAtStart
        var watch = FileWatch(read: stampsAtStart)
        var lookedAt: UInt64 = 0
        var usedAt = SystemClock.monotonicNanoseconds()
        var failedAt: UInt64?
        while thread.sleep(milliseconds: Self.checkMilliseconds) {
            let now = SystemClock.monotonicNanoseconds()
            let count = requests()
            if now - usedAt >= Self.useNanoseconds {
                usedAt = now
                keepUse()
            }
            let isAgain = failedAt.map { now - $0 >= Self.storeNanoseconds } ?? false
            if count == answered && !isAgain && now - lookedAt < lookNanoseconds { continue }
            lookedAt = now
            let stamps = files.stamps()
            let isDue = watch.isDue(stamps)
            if count == answered && !isDue && !isAgain { continue }
            watch.markRead(stamps)
            let isStored = reload(count == answered ? .file : .signal)
            failedAt = isStored ? nil : SystemClock.monotonicNanoseconds()
            answered = count
        }
    }

    private func keepUse() {
        do throws(CommandFailure) {
            try topic?.keepUse()
        } catch {
            log.log(
                .warning, "tables.unrecorded", "the archive does not say that the tables are still served",
                ["reason": .text(error.reason), "advice": .text(error.advice)])
        }
    }

    /// Loads the tables again and serves them if all are valid.
    ///
    /// Returns false if valid ones could not be archived, and are therefore not served.
    @discardableResult
    func reload(_ trigger: Trigger) -> Bool {
        guard let notifier else { return load(trigger) }
        var isStored = true
        notifier.reload { isStored = load(trigger) }
        return isStored
    }

    private func load(_ trigger: Trigger) -> Bool {
        let began = SystemClock.monotonicNanoseconds()
        let before = served.current()
        do throws(CommandFailure) {
            let known = before.tables.tables + [before.canary?.candidate].compactMap(\.self)
            let loaded = try LoadedTables(files.contents(), known: known, log: log)
            let canary = try files.canary?.load(
                for: loaded.tables, known: known + loaded.tables, after: before.canaryEntry, log: log)
            try files.prove(loaded.tables + [canary?.plan.candidate].compactMap(\.self), log: log)
            let next = loaded.version(after: before.entries, canary: canary)
            let milliseconds = (SystemClock.monotonicNanoseconds() - began) / 1_000_000
            if let topic, !next.isSame(as: before) {
                guard store(next, loaded.json(canary), in: topic, insteadOf: before, trigger) else { return false }
            }
            if serve(next, insteadOf: before, trigger, Int64(milliseconds)) {
                log.logSharedLinks(of: loaded)
                archive?.keep(loaded, canary, as: next, log: log)
            }
        } catch {
            keep(before, trigger, error)
        }
        return true
    }

    /// Archives tables, and returns a Boolean value that indicates whether they may be served.
    private func store(
        _ next: ServedTables.Version, _ json: [[UInt8]], in topic: any VersionArchive,
        insteadOf before: ServedTables.Version, _ trigger: Trigger
    ) -> Bool {
        do throws(CommandFailure) {
            try topic.store(next, json)
            return true
        } catch {
            keep(before, trigger, error, isRefused: false)
            return false
        }
    }

    /// Serves other tables, and returns a Boolean value that indicates whether they differ from the tables before.
    private func serve(
        _ next: ServedTables.Version, insteadOf before: ServedTables.Version, _ trigger: Trigger, _ milliseconds: Int64
    ) -> Bool {
        if next.isSame(as: before) {
            served.setFallbacks { _ in false }
            guard trigger == .signal || before.entries.contains(where: \.isFallback) else { return false }
            log.log(.info, "tables.unchanged", "the files have the tables that are served", before.fields)
            return false
        }
        served.replace(next)
        log.log(
            .info, "tables.reloaded", "other tables are served from the next batch of each lane on",
            next.fields + ["ms": .number(milliseconds), "trigger": .text(trigger.rawValue)])
        return true
    }

    /// Marks the tables whose files have other contents, or all tables if only other files are refused.
    private func markFallbacks(_ version: ServedTables.Version) {
        let current = Dictionary(version.entries.map { ($0.path, CheckedTable.hash(ofFile: $0.path)) }) { first, _ in
            first
        }
        let hasChange = version.entries.contains { current[$0.path] != $0.hash }
        served.setFallbacks { !hasChange || current[$0.path] != $0.hash }
    }

    /// Goes on with the tables before, because the files are refused or other tables cannot be archived.
    private func keep(
        _ before: ServedTables.Version, _ trigger: Trigger, _ error: CommandFailure, isRefused: Bool = true
    ) {
        served.refused()
        markFallbacks(before)
        let fields =
            before.fields + [
                "trigger": .text(trigger.rawValue), "reason": .text(error.reason), "advice": .text(error.advice),
            ]
        if isRefused {
            log.log(.error, "tables.kept", "the files are refused, and the tables before are still served", fields)
        } else {
            log.log(
                .error, "tables.unarchived",
                "other tables cannot be archived, and the tables before are still served", fields)
        }
    }
}

extension LoadedTables {
    /// Returns the bytes of the tables, and of a candidate after them.
    func json(_ canary: LoadedCanary?) -> [[UInt8]] { files.map(\.json) + [canary?.json].compactMap(\.self) }

    /// Returns the tables to serve, with their descriptions.
    ///
    /// A table that is among `entries` keeps its time of loading.
    func version(after entries: [ServedTable], canary: LoadedCanary? = nil) -> ServedTables.Version {
        let now = SystemClock.wallMilliseconds()
        let described = zip(tables, files).map { table, file in
            let known = entries.first { $0.path == file.path && $0.hash == table.hash }
            return ServedTable(
                id: table.id, version: table.version, hash: table.hash, path: file.path,
                loadedAtMilliseconds: known?.loadedAtMilliseconds ?? now)
        }
        return ServedTables.Version(
            TableSet(tables), described, canary: canary?.plan, canaryEntry: canary?.entry)
    }
}

extension LoadedTables {
    /// Loads the tables of a worker, which all have to be valid, and logs their problems.
    ///
    /// A refused table, or an application that two tables list, ends with exit code 65. A file with the contents of one
    /// of the `known` tables is not checked again.
    init(_ contents: [TableFiles.Content], known: [RouteTable] = [], log: Log) throws(CommandFailure) {
        try self.init(contents, known: known) { file, problem in log.log(problem, of: file) }
        let shared = sharedApplications
        for problem in shared { log.log(problem) }
        if let first = shared.first { throw first.failure }
    }
}
