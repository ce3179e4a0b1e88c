internal import KafkaClient
internal import RouteTools
internal import StrictJSON

/// A run of `linkd inspect`: the choice of records, and their output.
final class InspectJob {
    private let call: Invocation
    private let filter: RecordFilter
    private let printer: RecordPrinter
    private var remaining: Int64
    private var matched: Int64 = 0

    /// Creates a run with the flags of a call.
    init(_ call: Invocation, _ filter: RecordFilter, _ printer: RecordPrinter) {
        self.call = call
        self.filter = filter
        self.printer = printer
        remaining = call.number("count") ?? .max
    }

    /// Reads the topics and prints the records that match.
    func run(_ connection: Connection, _ topics: [String], _ range: ScanRange) throws(CommandFailure) {
        var scan = try TopicScan(connection)
        if let last = call.number("last") {
            let plan = try printLast(Int(last), topics, range, &scan)
            if range.follow { try follow(plan, &scan) }
        } else {
            let plan = try plan(topics, range, scan)
            try scan.start(plan)
            try print(&scan, until: range.follow ? filter.until : nil)
        }
        call.console.out.flush()
        guard !range.follow else { return }
        let read = scan.read
        if filter.isActive || read == 0 {
            call.console.note("\(Counts.grouped(matched)) of \(Counts.grouped(read)) matched")
        }
    }

    private func plan(
        _ topics: [String], _ range: ScanRange, _ scan: TopicScan
    ) throws(CommandFailure) -> ScanPlan {
        var plan = ScanPlan()
        // The clock of a worker sets the times of its decisions, so those of a partition are nearly in order.
        if let until = filter.until, !filter.isDeadLetters { plan.lastTime = until + 60_000 }
        for topic in topics {
            let ends = try scan.description(of: topic)
            var since: [TopicPartition: Int64] = [:]
            if let time = range.since {
                since = try scan.offsets(of: topic, ends.keys.filter(range.includes), atOrAfter: time)
            }
            try plan.add(topic, ends, range, since: since)
        }
        return plan
    }

    /// Prints the records of a scan.
    ///
    /// A scan without an end ends 5 s after `until`.
    private func print(_ scan: inout TopicScan, until: Int64?) throws(CommandFailure) {
        while remaining > 0, !scan.isDone {
            let before = scan.read
            let more = try scan.next { record in
                if take(record) { emit(record) }
                return remaining > 0
            }
            call.console.out.flush()
            if !more { break }
            if let until, scan.read == before, Platform.nowMilliseconds > until + 5000 { break }
        }
    }

    private func printLast(
        _ count: Int, _ topics: [String], _ range: ScanRange, _ scan: inout TopicScan
    ) throws(CommandFailure) -> ScanPlan {
        var finite = range
        finite.follow = false
        let whole = try plan(topics, finite, scan)
        var last = LastRecords(count, in: whole)
        while let windows = last.nextWindows() {
            try scan.start(windows)
            while !scan.isDone {
                _ = try scan.next { (record) throws(CommandFailure) in
                    try last.add(record, matches: take(record))
                    return true
                }
            }
        }
        for record in last.records where remaining > 0 { record.withViews(emit) }
        call.console.out.flush()
        return whole
    }

    /// Prints the records after the ranges of a plan.
    private func follow(_ plan: ScanPlan, _ scan: inout TopicScan) throws(CommandFailure) {
        var next = plan
        next.partitions = plan.partitions.mapValues { ScanPlan.Span(from: $0.to ?? $0.from, to: nil) }
        try scan.start(next)
        try print(&scan, until: filter.until)
    }

    private func take(_ record: ScannedRecord) -> Bool {
        let copy = record.copy()
        return filter.matches(copy, copy.json)
    }

    private func emit(_ record: ScannedRecord) {
        let copy = record.copy()
        printer.print(copy, copy.json)
        matched += 1
        remaining -= 1
    }
}
