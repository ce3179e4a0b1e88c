internal import KafkaClient
internal import RouteTools

/// The choice of records by their positions and times.
struct ScanRange {
    /// The only partition to read, or nil for all.
    var partition: Int32?
    /// The first offsets of the only partitions to read, or empty for all partitions.
    var offsets: [Int32: Int64] = [:]
    /// The first timestamp, in milliseconds since 1970, or nil.
    var since: Int64?
    /// A Boolean value that indicates whether to continue after the end.
    var follow = false
    /// A Boolean value that indicates whether to begin at the end.
    var fromEnd = false

    /// Returns a Boolean value that indicates whether a partition is read.
    func includes(_ number: Int32) -> Bool {
        (partition == nil || partition == number) && (offsets.isEmpty || offsets[number] != nil)
    }
}

/// The offsets that a scan reads.
struct ScanPlan {
    /// A range of offsets.
    struct Span: Equatable {
        /// The first offset.
        var from: Int64
        /// The offset after the last one, or nil for no end.
        var to: Int64?
    }

    /// The range of each partition.
    var partitions: [TopicPartition: Span] = [:]
    /// The timestamp whose first later record ends its partition, in milliseconds since 1970, or nil.
    var lastTime: Int64?

    /// Adds the partitions of a topic that a range includes.
    ///
    /// A partition that does not exist, or an offset outside its partition, ends with exit code 64.
    ///
    /// - Parameters:
    ///   - ends: The first and the stable end offsets of all partitions.
    ///   - since: The first offsets at or after `range.since`, without the partitions that have none.
    mutating func add(
        _ topic: String, _ ends: [Int32: Watermarks], _ range: ScanRange, since: [TopicPartition: Int64] = [:]
    ) throws(CommandFailure) {
        for number in [range.partition].compactMap(\.self) + range.offsets.keys.sorted() where ends[number] == nil {
            throw CommandFailure.noPartition(number, of: topic, among: ends.keys.sorted())
        }
        for (number, end) in ends where range.includes(number) {
            let partition = TopicPartition(topic: topic, partition: number)
            var from = range.fromEnd ? end.high : end.low
            if let offset = range.offsets[number] {
                guard offset >= end.low, offset <= end.high else {
                    throw CommandFailure(
                        .usage,
                        "partition \(number) of \(topic) has the offsets \(end.low) to \(end.high); \(offset) is not "
                            + "one of them",
                        advice: "pass an offset in this range")
                }
                from = offset
            } else if range.since != nil {
                from = min(max(since[partition] ?? end.high, end.low), end.high)
            }
            partitions[partition] = Span(from: from, to: range.follow ? nil : end.high)
        }
    }
}

extension CommandFailure {
    /// Returns the failure for a partition that a topic does not have (exit code 64).
    static func noPartition(_ number: Int32, of topic: String, among partitions: [Int32]) -> CommandFailure {
        let last = partitions.last ?? 0
        let range = last == 0 ? "0" : "0 to \(last)"
        return CommandFailure(
            .usage,
            "\(topic) has \(Counts.text(partitions.count, "partition")), \(range); \(number) is not one of them",
            advice: "pass a number in this range")
    }
}

extension ScanPlan {
    /// The number of offsets of the ranges that have an end.
    var recordCount: Int64 { partitions.values.reduce(0) { $0 + max(0, ($1.to ?? $1.from) - $1.from) } }
}
