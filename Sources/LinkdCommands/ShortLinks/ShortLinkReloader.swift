internal import ByteStorage
internal import CPlatform
internal import DispatchWorker
internal import RouteTools
internal import ShortLinks
internal import SystemThreads

/// The owner of a worker's file of short links, which opens the file again when an operator asks for it or it was
/// replaced.
///
/// The new file is read to its end beside the old one before deciders take it. A file that is refused changes nothing.
final class ShortLinkReloader: Sendable {
    private let path: String
    private let source: ShortLinkSource
    private let log: Log
    private let requests: @Sendable () -> Int
    private let requestsAtStart: Int
    private let stampsAtStart: [TableFiles.Stamp]
    private let lookNanoseconds: UInt64
    private let thread = StoppableThread(name: "short-links")

    /// The time between two checks for a request, in milliseconds.
    private static let checkMilliseconds = 200

    /// Opens the file of a worker, or returns nil if the settings name none.
    ///
    /// A file that cannot be read ends with exit code 78, and one that is damaged with 65.
    init?(
        path: String?, log: Log, lookMilliseconds: Int = TableReloader.lookMilliseconds,
        requests: @escaping @Sendable () -> Int
    ) throws(CommandFailure) {
        guard let path else { return nil }
        self.path = path
        self.log = log
        self.requests = requests
        requestsAtStart = requests()
        lookNanoseconds = UInt64(lookMilliseconds) * 1_000_000
        stampsAtStart = [TableFiles.Stamp(path: path, file: FileStamp(of: path))]
        source = ShortLinkSource(try ShortLinkFile.ofSetting(path))
        log.log(.info, "short_links.loaded", "short links loaded", Self.fields(path, source.file))
    }

    /// The file for deciders.
    var shortLinks: ShortLinkSource { source }

    private static func fields(_ path: String, _ file: ShortLinkFile) -> LogFields {
        ["file": .text(path), "hash": .text(file.hash.string), "links": .count(file.count)]
    }

    /// Starts the thread.
    ///
    /// If the system cannot create it, the file is not opened again.
    func start() { thread.start { [self] in run() } }

    /// Stops the thread, which may still finish reading.
    func stop() { thread.stop() }

    private func run() {
        // Reading a large file takes seconds, in which the lanes must not wait.
        linkd_lower_thread_priority()
        var answered = requestsAtStart
        var watch = FileWatch(read: stampsAtStart)
        var lookedAt: UInt64 = 0
        while thread.sleep(milliseconds: Self.checkMilliseconds) {
            let now = SystemClock.monotonicNanoseconds()
            let count = requests()
            if count == answered && now - lookedAt < lookNanoseconds { continue }
            lookedAt = now
            let stamps = [TableFiles.Stamp(path: path, file: FileStamp(of: path))]
            if !watch.isDue(stamps) && count == answered { continue }
            watch.markRead(stamps)
            answered = count
            reload()
        }
    }

    /// Opens the file again, and replaces the old one if it is another one.
    func reload() {
        let old = source.file
        do throws(CommandFailure) {
            let new = try ShortLinkFile.ofSetting(path)
            guard new.fullHash != old.fullHash else { return }
            source.replace(new)
            log.log(
                .info, "short_links.reloaded", "other short links are used from the next batch of each lane on",
                Self.fields(path, new))
        } catch {
            log.log(
                .error, "short_links.kept", "the file is refused, and the short links before are still used",
                Self.fields(path, old) + ["reason": .text(error.reason), "advice": .text(error.advice)])
        }
    }
}
