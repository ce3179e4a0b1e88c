internal import KafkaClient
internal import ByteStorage
internal import RouteTools

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
