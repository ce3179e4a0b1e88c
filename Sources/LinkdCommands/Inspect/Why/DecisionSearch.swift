internal import ByteStorage
internal import KafkaClient

/// A search for the record of a decision in a topic of decisions.
struct DecisionSearch {
    /// A record that was found.
    struct Found {
        /// The last record with the id.
        var record: InspectedRecord
        /// The number of records with the id.
        ///
        /// There are several if a worker delivered at least once, or if the input topic was created again.
        var count = 1
    }

    /// The tolerance for clocks that differ, in milliseconds.
    ///
    /// A decision can be so much older than its event, and another decision with its id can follow so much later.
    private static let tolerance: Int64 = 60_000

    private let topic: String
    /// The first bytes of the decision.
    private let prefix: [UInt8]

    /// Creates a search in a topic.
    init(_ id: DecisionID, in topic: String) {
        self.topic = topic
        prefix = id.decisionStart
    }

    /// The ranges of a topic in the order in which they are searched.
    enum Range: CaseIterable {
        /// The partition of the device, from the time of the event on.
        case ofEvent
        /// The partition of the device.
        case ofDevice
        /// All partitions.
        case all
    }

    /// Returns the decision, or nil if the range has none.
    ///
    /// - Parameters:
    ///   - range: The range to search. If the device or the time is unknown, a range can be empty or larger.
    ///   - device: The id of the device, or nil if it is unknown.
    ///   - time: The time of the event in milliseconds since 1970, or nil if it is unknown.
    func run(
        _ range: Range, device: [UInt8]?, time: Int64?, _ scan: inout TopicScan,
        progress: (Int64) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> Found? {
        let ends = try scan.description(of: topic)
        let own = device.map { device in
            device.withUnsafeBufferPointer { Murmur2.partition(of: ByteView($0), among: Int32(ends.count)) }
        }
        switch range {
        case .ofEvent:
            guard let time, time >= 0 else { return nil }
            let since = try scan.offsets(of: topic, ends.keys, atOrAfter: time - Self.tolerance)
            return try search(ends, ScanRange(partition: own, since: time), since, &scan, progress)
        case .ofDevice:
            guard let own else { return nil }
            return try search(ends, ScanRange(partition: own), [:], &scan, progress)
        case .all: return try search(ends, ScanRange(), [:], &scan, progress)
        }
    }

    /// Searches a range, and reads on after the first record with the id for as long as another one can follow.
    private func search(
        _ ends: [Int32: Watermarks], _ range: ScanRange, _ since: [TopicPartition: Int64], _ scan: inout TopicScan,
        _ progress: (Int64) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> Found? {
        var plan = ScanPlan()
        try plan.add(topic, ends, range, since: since)
        guard let first = try records(plan, &scan, limit: 1, progress).first else { return nil }
        let partition = TopicPartition(topic: topic, partition: first.partition)
        guard let end = plan.partitions[partition]?.to else { return Found(record: first) }
        var rest = ScanPlan()
        rest.partitions[partition] = ScanPlan.Span(from: first.offset + 1, to: end)
        rest.lastTime = min(first.timestamp, .max - Self.tolerance) + Self.tolerance
        let others = try records(rest, &scan, limit: 1000, progress)
        return Found(record: others.last ?? first, count: 1 + others.count)
    }

    private func records(
        _ plan: ScanPlan, _ scan: inout TopicScan, limit: Int, _ progress: (Int64) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> [InspectedRecord] {
        var found: [InspectedRecord] = []
        try scan.start(plan)
        while !scan.isDone, found.count < limit {
            try progress(scan.read)
            _ = try scan.next { record in
                if let value = record.value, isMatch(value) { found.append(record.copy()) }
                return found.count < limit
            }
        }
        return found
    }

    private func isMatch(_ value: ByteView) -> Bool {
        prefix.withUnsafeBufferPointer { value.hasPrefix(ByteView($0)) }
    }
}
