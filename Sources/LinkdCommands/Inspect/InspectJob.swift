internal import ByteStorage
internal import KafkaClient
internal import RouteTools

/// A run of `linkd inspect`: the choice of records, and their output.
final class InspectJob {
    private let call: Invocation
    private let filter: RecordFilter
    private var printer: RecordPrinter
    private let key: RecordGroup?
    private var groups: GroupCounts
    private var decision = DecisionTape()
    private var remaining: Int64
    private var matched: Int64 = 0
    private var seen = SeenRoutes()
    private var progress: ProgressLine
    /// The number of records of all ranges, or nil without an end.
    private var total: Int64?

    /// Creates a run with the flags of a call.
    init(_ call: Invocation, _ filter: RecordFilter, _ mode: RecordPrinter.Mode) {
        self.call = call
        self.filter = filter
        printer = RecordPrinter(mode, on: call.console.out, local: call.isOn("local"))
        key = call.text("group-by").flatMap(RecordGroup.init)
        groups = GroupCounts(call.text("group-by") ?? "")
        remaining = call.number("count") ?? .max
        progress = ProgressLine(call.console)
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
        progress.clear()
        if let key { printGroups(key) }
        call.console.out.flush()
        guard !range.follow else { return }
        if let route = filter.route, matched == 0, scan.read > 0 { call.console.note(seen.text(route)) }
        let read = scan.read
        // A search for the last records ends before it has counted all matches, unless there are fewer than requested.
        let isCounted = matched < call.number("last") ?? .max
        if isCounted, filter.isActive || read == 0 {
            call.console.note("\(Counts.grouped(matched)) of \(Counts.grouped(read)) matched")
        }
    }

    private func plan(
        _ topics: [String], _ range: ScanRange, _ scan: TopicScan
    ) throws(CommandFailure) -> ScanPlan {
        var plan = ScanPlan()
        // The clock of a worker sets the times of its decisions, so the times in a partition are nearly in order.
        if let until = filter.until, !filter.isDeadLetters { plan.lastTime = until + 60_000 }
        for topic in topics {
            let ends = try scan.description(of: topic)
            var since: [TopicPartition: Int64] = [:]
            if let time = range.since {
                since = try scan.offsets(of: topic, ends.keys.filter(range.includes), atOrAfter: time)
            }
            try plan.add(topic, ends, range, since: since)
        }
        total = range.follow ? nil : plan.recordCount
        return plan
    }

    /// Prints the records of a scan.
    ///
    /// A scan without an end ends 5 s after `until`, if it has read everything by then.
    private func print(_ scan: inout TopicScan, until: Int64?) throws(CommandFailure) {
        while remaining > 0, !scan.isDone {
            let before = scan.read
            let more = try scan.next { record in
                if matches(record) { emit(record) }
                return remaining > 0
            }
            showProgress(scan.read)
            try call.console.out.finish()
            if !more { break }
            if let until, scan.isAtEnd, scan.read == before, Platform.nowMilliseconds > until + 5000 { break }
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
            let before = scan.read
            try scan.forEach { read in
                showProgress(before + read)
            } _: { record throws(CommandFailure) in
                try last.add(record, time: filter.time(of: record), matches: matches(record))
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

    /// Returns a Boolean value that indicates whether a record matches the filter.
    private func matches(_ record: ScannedRecord) -> Bool {
        decision.begin(record.value)
        if filter.route != nil { seen.add(decision.string("route")) }
        return filter.matches(record, &decision)
    }

    /// Shows how many records of a scan with an end were read.
    private func showProgress(_ read: Int64) {
        guard let total, total > 0 else { return }
        progress.show(
            "read \(Counts.grouped(read)) of at most \(Counts.grouped(total)), matched \(Counts.grouped(matched))")
    }

    /// Prints or counts a record that matches.
    private func emit(_ record: ScannedRecord) {
        if key == nil { progress.clear() }
        if let key {
            groups.add(key.value(of: record, &decision))
        } else {
            printer.print(record, &decision)
        }
        matched += 1
        remaining -= 1
    }

    private func printGroups(_ key: RecordGroup) {
        groups.print(call)
        if matched > 0, groups.hasNoValues, let reason = key.reasonWithoutValues { call.console.note(reason) }
    }
}

/// A search for the last matching records of several partitions, in windows of offsets from the end backwards.
///
/// Filters and control records make windows yield fewer records than offsets, so each window is larger than the one
/// after it. The records are ordered by time, topic, partition, and offset.
struct LastRecords {
    /// The range of a partition that was not read yet.
    private struct Part {
        /// The first offset to read.
        let low: Int64
        /// The offset after the last one that was not read.
        var high: Int64
        /// The number of matching records.
        var matches = 0
        /// The least time of the records read, or nil.
        var oldest: Int64?
    }

    private let count: Int
    private let byteLimit: Int
    private var parts: [TopicPartition: Part]
    private var width: Int64
    private var found: [(time: Int64, record: InspectedRecord)] = []
    private var bytes = 0

    /// Creates a search for the last `count` records in the ranges of a plan.
    ///
    /// - Parameter byteLimit: The limit of bytes of the records that are kept.
    init(_ count: Int, in plan: ScanPlan, byteLimit: Int = 256 << 20) {
        self.count = count
        self.byteLimit = byteLimit
        parts = plan.partitions.mapValues { Part(low: $0.from, high: $0.to ?? $0.from) }
        width = max(64, 2 * Int64(count) / Int64(max(1, parts.count)))
    }

    /// The records that were found, in order.
    var records: [InspectedRecord] { found.map(\.record) }

    /// Returns the next windows, or nil if the last records were found.
    mutating func nextWindows() -> ScanPlan? {
        prune()
        let cut = found.count == count ? found.first?.time : nil
        var plan = ScanPlan()
        for (partition, part) in parts where part.low < part.high && part.matches < count {
            if let cut, let oldest = part.oldest, oldest < cut { continue }
            let from = max(part.low, part.high - width)
            plan.partitions[partition] = ScanPlan.Span(from: from, to: part.high)
            parts[partition]?.high = from
        }
        width *= 4
        return plan.partitions.isEmpty ? nil : plan
    }

    /// Adds a record of a window with its time.
    ///
    /// Records that need more memory than the limit end with exit code 64.
    mutating func add(_ record: ScannedRecord, time: Int64, matches: Bool) throws(CommandFailure) {
        let partition = TopicPartition(topic: record.topic, partition: record.partition)
        guard var part = parts[partition] else { return }
        part.oldest = min(part.oldest ?? .max, time)
        if matches { part.matches += 1 }
        parts[partition] = part
        guard matches else { return }
        let copy = record.copy()
        bytes += Self.bytes(of: copy)
        found.append((time, copy))
        if bytes > byteLimit || found.count >= 2 * count + 1024 { prune() }
        guard bytes <= byteLimit else {
            throw CommandFailure(
                .usage, "the last \(Counts.text(count, "record")) need more than \(byteLimit >> 20) MiB of memory",
                advice: "pass a smaller number to --last")
        }
    }

    /// Removes the records before the last ones.
    private mutating func prune() {
        found.sort { a, b in
            (a.time, a.record.topic, a.record.partition, a.record.offset)
                < (b.time, b.record.topic, b.record.partition, b.record.offset)
        }
        guard found.count > count else { return }
        for dropped in found.dropLast(count) { bytes -= Self.bytes(of: dropped.record) }
        found.removeFirst(found.count - count)
    }

    private static func bytes(of record: InspectedRecord) -> Int {
        var bytes = 128 + (record.key?.count ?? 0) + (record.value?.count ?? 0)
        for header in record.headers { bytes += 64 + header.name.count + (header.value?.count ?? 0) }
        return bytes
    }
}
