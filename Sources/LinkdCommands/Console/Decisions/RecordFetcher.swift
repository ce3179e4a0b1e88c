internal import KafkaClient
internal import SystemThreads

/// Reads records at single offsets, for all endpoints of a console, one request after another.
final class RecordFetcher: Sendable {
    /// The greatest distance of two offsets that are read in one range.
    private static let gap: Int64 = 100
    /// The greatest length of a range.
    private static let length: Int64 = 2000
    /// The time limit of a request, in milliseconds.
    private static let timeout = 5000

    private struct Slot {
        var scan: TopicScan?
        var isTaken = false
    }

    private let connection: Connection
    private let slot = Monitor(Slot())

    /// Creates a fetcher, which connects on its first use.
    init(_ connection: Connection) { self.connection = connection }

    /// Passes the records at the offsets of partitions to a function, in any order.
    ///
    /// Records that no longer exist are left out.
    func read(
        _ offsets: [TopicPartition: [Int64]], _ body: (ScannedRecord) -> Void
    ) throws(ConsoleProblem) {
        var ranges = offsets.mapValues { Self.ranges($0) }
        let wanted = offsets.mapValues { Set($0) }
        try withScan { (scan, deadline) throws(CommandFailure) in
            while true {
                var plan = ScanPlan()
                for partition in Array(ranges.keys) {
                    guard let range = ranges[partition]?.popLast() else { continue }
                    plan.partitions[partition] = range
                }
                if plan.partitions.isEmpty { return }
                try Self.run(&scan, plan, deadline) { record in
                    let partition = TopicPartition(topic: record.topic, partition: record.partition)
                    if wanted[partition]?.contains(record.offset) == true { body(record) }
                    return true
                }
            }
        }
    }

    /// Calls a function with a scan of its own, and with the time on the monotonic clock at which it must end.
    func withScan<Result>(
        _ body: (inout TopicScan, Double) throws(CommandFailure) -> Result
    ) throws(ConsoleProblem) -> Result {
        let deadline = Platform.monotonicSeconds + Double(Self.timeout) / 1000
        let taken: Slot? = slot.wait(milliseconds: Self.timeout) { slot in
            guard !slot.isTaken else { return nil }
            let taken = slot
            slot = Slot(scan: nil, isTaken: true)
            return taken
        }
        guard let taken else {
            throw ConsoleProblem(
                status: 503, code: "busy", message: "other requests read from the broker",
                next: "try again in a few seconds")
        }
        var kept: TopicScan?
        defer { slot.signal { $0 = Slot(scan: kept) } }
        do throws(CommandFailure) {
            var scan = if let scan = taken.scan { scan } else { try TopicScan(connection, prefetch: .single) }
            let result = try body(&scan, deadline)
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

    /// Reads a plan to its end, or until a function returns false.
    ///
    /// A plan that takes longer than the deadline ends with exit code 69.
    static func run(
        _ scan: inout TopicScan, _ plan: ScanPlan, _ deadline: Double, _ body: (ScannedRecord) -> Bool
    ) throws(CommandFailure) {
        try scan.start(plan)
        while !scan.isDone {
            let more = try scan.next { (record) throws(CommandFailure) in body(record) }
            if !more { return }
            guard Platform.monotonicSeconds < deadline else {
                throw CommandFailure(
                    .unavailable, "the broker has not sent the records within \(timeout / 1000) s",
                    advice: "check the brokers, and try again")
            }
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
