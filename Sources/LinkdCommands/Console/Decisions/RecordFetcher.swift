internal import KafkaClient
internal import SystemThreads

/// Reads records at single offsets, for all endpoints of a console, one request after another.
final class RecordFetcher: Sendable {
    /// The greatest distance of two offsets that are read in one range.
    private static let gap: Int64 = 100
    /// The greatest length of a range.
    private static let length: Int64 = 2000
    /// The time limit of a request, in seconds.
    private static let maxSeconds = 5.0
    /// The number of requests that wait while another one reads.
    ///
    /// A broker that does not answer so holds few of the server's threads, and links can still be tried.
    static let maxWaiting = 4

    private struct Slot {
        var scan: TopicScan?
        var archive: ArchiveReader?
        var isTaken = false
        var waiting = 0
    }

    private let connection: Connection
    private let slot = Monitor(Slot())

    /// Creates a fetcher, which connects on its first use.
    init(_ connection: Connection) { self.connection = connection }

    /// The time on the monotonic clock at which a request that begins now must end.
    static var deadline: Double { Platform.monotonicSeconds + maxSeconds }

    /// Passes the records at the offsets of partitions to a function, in any order.
    ///
    /// Records that no longer exist are left out.
    func read(
        _ offsets: [TopicPartition: [Int64]], _ body: (ScannedRecord) -> Void
    ) throws(ConsoleProblem) {
        var ranges = offsets.mapValues { Self.ranges($0) }
        let wanted = offsets.mapValues { Set($0) }
        try withScan { (scan) throws(CommandFailure) in
            while true {
                var plan = ScanPlan()
                for partition in Array(ranges.keys) {
                    guard let range = ranges[partition]?.popLast() else { continue }
                    plan.partitions[partition] = range
                }
                if plan.partitions.isEmpty { return }
                try Self.run(&scan, plan) { record in
                    let partition = TopicPartition(topic: record.topic, partition: record.partition)
                    if wanted[partition]?.contains(record.offset) == true { body(record) }
                    return true
                }
            }
        }
    }

    /// Calls a function with a scan of its own.
    ///
    /// If too many requests wait, the problem is thrown at once.
    ///
    /// - Parameters:
    ///   - deadline: The time on the monotonic clock after which the scan ends with exit code 69.
    ///   - body: The function.
    func withScan<Result>(
        until deadline: Double = RecordFetcher.deadline,
        _ body: (inout TopicScan) throws(CommandFailure) -> Result
    ) throws(ConsoleProblem) -> Result {
        try withArchive(nil, until: deadline) { (scan, _) throws(CommandFailure) in try body(&scan) }
    }

    /// The limit of the bytes of an archive's files that are kept in memory.
    private static let archiveBytes = 256 << 20

    /// Calls a function with a scan of its own, and with the archive of configurations in a topic, if one is given.
    ///
    /// It is otherwise as `withScan`.
    func withArchive<Result>(
        _ topic: String?, until deadline: Double = RecordFetcher.deadline,
        _ body: (inout TopicScan, inout ArchiveReader?) throws(CommandFailure) -> Result
    ) throws(ConsoleProblem) -> Result {
        guard let taken = take(until: deadline) else {
            throw ConsoleProblem(
                status: 503, code: "busy", message: "other requests read from the broker",
                next: "try again in a few seconds")
        }
        var kept: TopicScan?
        var archive = taken.archive
        defer {
            slot.signal { slot in
                slot.scan = kept
                slot.archive = kept == nil ? nil : archive
                slot.isTaken = false
            }
        }
        do throws(CommandFailure) {
            var scan = if let scan = taken.scan { scan } else { try TopicScan(connection, prefetch: .single) }
            scan.deadline = deadline
            if let topic, archive == nil {
                archive = try ArchiveReader(connection, topic: topic, deadline: deadline)
                archive?.maxBytes = Self.archiveBytes
            }
            archive?.deadline = deadline
            let result = try body(&scan, &archive)
            scan.stop()
            kept = scan
            return result
        } catch {
            let isMissing = error.code == .finding
            throw ConsoleProblem(
                status: isMissing ? 404 : 503, code: isMissing ? "decision" : "broker", message: error.reason,
                next: error.advice)
        }
    }

    /// Waits until no other request reads, and returns the slot as it was, or nil if that takes too long.
    private func take(until deadline: Double) -> Slot? {
        let isAdmitted = slot.withLock { slot in
            guard slot.waiting < Self.maxWaiting else { return false }
            slot.waiting += 1
            return true
        }
        guard isAdmitted else { return nil }
        defer { slot.withLock { $0.waiting -= 1 } }
        let milliseconds = max(0, deadline - Platform.monotonicSeconds) * 1000
        return slot.wait(milliseconds: Int(milliseconds)) { slot in
            guard !slot.isTaken else { return nil }
            let taken = slot
            (slot.scan, slot.archive, slot.isTaken) = (nil, nil, true)
            return taken
        }
    }

    /// Reads a plan to its end, or until a function returns false.
    static func run(
        _ scan: inout TopicScan, _ plan: ScanPlan, _ body: (ScannedRecord) -> Bool
    ) throws(CommandFailure) {
        try scan.start(plan)
        while !scan.isDone {
            let more = try scan.next { (record) throws(CommandFailure) in body(record) }
            if !more { return }
        }
    }

    /// Returns ranges that contain all offsets, the last one first.
    static func ranges(_ offsets: [Int64]) -> [ScanPlan.Span] {
        var ranges: [ScanPlan.Span] = []
        for offset in offsets.sorted(by: >) {
            if let last = ranges.last, last.from - offset <= gap, (last.to ?? 0) - offset <= length {
                ranges[ranges.count - 1].from = min(last.from, offset)
            } else {
                ranges.append(ScanPlan.Span(from: offset, to: offset + 1))
            }
        }
        return ranges
    }
}
