internal import KafkaClient
internal import RouteTools

/// A run of `linkd inspect`: the choice of records, and their output.
final class InspectJob {
    private let call: Invocation
    private let filter: RecordFilter
    private var printer: RecordPrinter
    private let key: GroupKey?
    private var groups: GroupCounts
    private var decision = DecisionTape()
    private var remaining: Int64
    private var matched: Int64 = 0

    /// Creates a run with the flags of a call.
    init(_ call: Invocation, _ filter: RecordFilter, _ mode: RecordPrinter.Mode) {
        self.call = call
        self.filter = filter
        printer = RecordPrinter(mode, on: call.console.out, local: call.isOn("local"))
        key = call.text("group-by").flatMap(GroupKey.init)
        groups = GroupCounts(call.text("group-by") ?? "")
        remaining = call.number("count") ?? .max
    }

    /// Reads the topics and prints the records that match.
    func run(_ connection: Connection, _ topics: [String], _ range: ScanRange) throws(CommandFailure) {
        var scan = try TopicScan(connection)
        if key == nil { printer.printHeader() }
        if let last = call.number("last") {
            let plan = try printLast(Int(last), topics, range, &scan)
            if range.follow { try follow(plan, &scan) }
        } else {
            let plan = try plan(topics, range, scan)
            try scan.start(plan)
            try print(&scan, until: range.follow ? filter.until : nil)
        }
        if let key { printGroups(key) }
        call.console.out.flush()
        guard !range.follow else { return }
        let read = scan.read
        // A search for the last records ends before it has counted those that match, unless there are fewer.
        let isCounted = matched < call.number("last") ?? .max
        if isCounted, filter.isActive || read == 0 {
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
                decision.begin(record.value)
                if filter.matches(record, &decision) { emit(record) }
                return remaining > 0
            }
            try call.console.out.finish()
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
                    decision.begin(record.value)
                    try last.add(
                        record, time: filter.time(of: record), matches: filter.matches(record, &decision))
                    return true
                }
            }
        }
        for record in last.records where remaining > 0 {
            record.withViews { record in
                decision.begin(record.value)
                emit(record)
            }
        }
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

    /// Prints or counts a record that matches.
    private func emit(_ record: ScannedRecord) {
        if let key {
            groups.add(key.value(of: record, &decision))
        } else {
            printer.print(record, &decision)
        }
        matched += 1
        remaining -= 1
    }

    private func printGroups(_ key: GroupKey) {
        let out = call.console.out
        if call.json {
            groups.printJSON(on: out)
        } else if call.isOn("csv") {
            groups.printCSV(on: out)
        } else if matched > 0 {
            groups.printTable(on: out, bars: out.isTerminal && Self.isUTF8(call.environment))
        }
        if key == .application, matched > 0, groups.hasNoValues {
            call.console.note("decisions have an application only with `passthrough: application`; group by table")
        }
    }

    /// Returns a Boolean value that indicates whether the locale of a terminal has UTF-8.
    static func isUTF8(_ environment: [String: String]) -> Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.filter { !$0.isEmpty }
        let name = names.first?.uppercased() ?? ""
        return name.contains("UTF-8") || name.contains("UTF8")
    }
}
