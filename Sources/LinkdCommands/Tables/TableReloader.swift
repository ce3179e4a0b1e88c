internal import CPlatform
internal import LinkDecider
internal import DispatchWorker
internal import LinkCoordinator
internal import RouteAnalysis
internal import StrictJSON
internal import SystemThreads

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

    /// The tables that are served.
    let served: ServedTables
    private let files: TableFiles
    private let archive: TableArchive?
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
    ///   - log: The log.
    ///   - notifier: The sender of messages to systemd, or nil for none.
    ///   - lookMilliseconds: The time between two looks at the files.
    ///   - requests: A function that returns the number of requests to load the tables again.
    init(
        _ files: TableFiles, archive: TableArchive? = nil, log: Log, notifier: SystemdNotifier? = nil,
        lookMilliseconds: Int = TableReloader.lookMilliseconds,
        requests: @escaping @Sendable () -> Int
    ) throws(CommandFailure) {
        requestsAtStart = requests()
        stampsAtStart = files.stamps()
        lookNanoseconds = UInt64(lookMilliseconds) * 1_000_000
        self.files = files
        self.archive = archive
        self.log = log
        self.requests = requests
        self.notifier = notifier
        do throws(CommandFailure) {
            let loaded = try LoadedTables(files.contents(), log: log)
            let canary = try files.canary?.load(for: loaded.tables, known: loaded.tables, after: nil, log: log)
            let version = loaded.version(after: [], canary: canary)
            served = ServedTables(version)
            log.logSharedLinks(of: loaded)
            log.log(LogEntry(.info, "table.loaded", "tables loaded", version.fields))
            archive?.keep(loaded, canary, as: version, log: log)
        } catch {
            guard let last = archive?.lastVersion(of: files) else { throw error }
            served = ServedTables(last)
            markFallbacks(last)
            log.log(
                LogEntry(
                    .error, "tables.fallback", "the files are refused, and the tables that were served last are served",
                    last.fields + [
                        LogField("reason", .text(error.reason)), LogField("advice", .text(error.advice)),
                    ]))
        }
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
        while thread.sleep(milliseconds: Self.checkMilliseconds) {
            let now = SystemClock.monotonicNanoseconds()
            let count = requests()
            if count == answered && now - lookedAt < lookNanoseconds { continue }
            lookedAt = now
            let stamps = files.stamps()
            let isDue = watch.isDue(stamps)
            if count == answered && !isDue { continue }
            watch.markRead(stamps)
            reload(count == answered ? .file : .signal)
            answered = count
        }
    }

    /// Loads the tables again and serves them if all are valid.
    func reload(_ trigger: Trigger) {
        guard let notifier else { return load(trigger) }
        notifier.reload { load(trigger) }
    }

    private func load(_ trigger: Trigger) {
        let began = SystemClock.monotonicNanoseconds()
        let before = served.current()
        do throws(CommandFailure) {
            let known = before.tables.tables + [before.canary?.candidate].compactMap(\.self)
            let loaded = try LoadedTables(files.contents(), known: known, log: log)
            let canary = try files.canary?.load(
                for: loaded.tables, known: known + loaded.tables, after: before.canaryEntry, log: log)
            let next = loaded.version(after: before.entries, canary: canary)
            let milliseconds = (SystemClock.monotonicNanoseconds() - began) / 1_000_000
            if serve(next, insteadOf: before, trigger, Int64(milliseconds)) {
                log.logSharedLinks(of: loaded)
                archive?.keep(loaded, canary, as: next, log: log)
            }
        } catch {
            keep(before, trigger, error)
        }
    }

    /// Serves other tables, and returns a Boolean value that indicates whether they differ from the tables before.
    private func serve(
        _ next: ServedTables.Version, insteadOf before: ServedTables.Version, _ trigger: Trigger, _ milliseconds: Int64
    ) -> Bool {
        if next.isSame(as: before) {
            served.setFallbacks { _ in false }
            guard trigger == .signal || before.entries.contains(where: \.isFallback) else { return false }
            log.log(
                LogEntry(
                    .info, "tables.unchanged", "the files have the tables that are served",
                    before.fields))
            return false
        }
        served.replace(next)
        log.log(
            LogEntry(
                .info, "tables.reloaded", "other tables are served from the next batch of each lane on",
                next.fields + [
                    LogField("ms", .number(milliseconds)), LogField("trigger", .text(trigger.rawValue)),
                ]))
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

    private func keep(_ before: ServedTables.Version, _ trigger: Trigger, _ error: CommandFailure) {
        served.refused()
        markFallbacks(before)
        log.log(
            LogEntry(
                .error, "tables.kept", "the files are refused, and the tables before are still served",
                before.fields + [
                    LogField("trigger", .text(trigger.rawValue)),
                    LogField("reason", .text(error.reason)), LogField("advice", .text(error.advice)),
                ]))
    }
}

extension LoadedTables {
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
