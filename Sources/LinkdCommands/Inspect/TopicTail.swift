internal import KafkaClient

/// The committed records of a topic that were added since the last look.
struct TopicTail {
    /// The topic.
    let topic: String
    /// The offset after the last one that was read, by partition.
    private(set) var next: [Int32: Int64] = [:]

    /// Creates a tail that begins at the first record, or at known offsets.
    init(_ topic: String, from next: [Int32: Int64] = [:]) {
        self.topic = topic
        self.next = next
    }

    /// Passes each record up to the stable end to `body`.
    ///
    /// - Parameter scan: A scan, which is started again.
    mutating func read(
        _ scan: inout TopicScan, progress: (_ done: Int64, _ all: Int64) -> Void = { _, _ in },
        _ body: (ScannedRecord) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        var plan = ScanPlan()
        let ends = try scan.description(of: topic)
        for (number, end) in ends {
            let from = max(next[number] ?? end.low, end.low)
            guard from < end.high else { continue }
            plan.partitions[TopicPartition(topic: topic, partition: number)] = ScanPlan.Span(from: from, to: end.high)
        }
        if !plan.partitions.isEmpty {
            let all = plan.recordCount
            try scan.start(plan)
            try scan.forEach {
                progress($0, all)
            } _: { record throws(CommandFailure) in
                try body(record)
            }
        }
        for (number, end) in ends { next[number] = max(next[number] ?? 0, end.high) }
    }
}
