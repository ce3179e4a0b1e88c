internal import DecisionIndex
internal import KafkaClient
internal import LinkDecider

/// The offsets at which the reader starts or continues.
struct FeedStart {
    /// The greatest number of offsets of all topics of dead letters that are read.
    private static let letterLimit: Int64 = 200_000

    private let options: FeedOptions
    private let next: [RowSource: Int64]
    /// The topics.
    private(set) var topics: FeedTopics
    /// The ranges, which have no end.
    private(set) var plan = ScanPlan()
    private var total: Int64 = 0
    private var from: Int64
    private var isShortened = false
    /// A Boolean value that indicates whether the rows so far belong to other records.
    private var isNew = true

    /// Creates the start of a reader that has read up to the given offsets.
    init(_ options: FeedOptions, _ known: (topics: FeedTopics, next: [RowSource: Int64])) {
        self.options = options
        topics = known.topics
        next = known.next
        from = options.since
    }

    /// Determines the topics and the offsets.
    mutating func determine(_ scan: TopicScan, timeout: Int32) throws(CommandFailure) {
        var ends: [TopicPartition: Watermarks] = [:]
        for name in topics.outputs.names {
            for (number, end) in try scan.description(of: name, timeout: timeout) {
                ends[TopicPartition(topic: name, partition: number)] = end
            }
        }
        let names = try ClusterTopics(options.settings, options.connection.makeAdmin())
        let found = FeedTopics(names.outputs, deadLetters: names.deadLetters, inputs: names.inputs)
        // Numbers of topics are part of the rows, so that other topics need other rows.
        isNew = next.isEmpty || found != topics
        topics = found
        if !isNew, !continues(ends) { isNew = true }
        try addDecisions(ends, scan)
        for name in topics.names.dropFirst(topics.outputs.names.count) {
            do throws(CommandFailure) {
                addLetters(name, try scan.description(of: name, timeout: timeout))
            } catch  where error.code == .configuration {
                // A topic of dead letters is often created with the first of them.
                continue
            }
        }
    }

    /// Returns a Boolean value that indicates whether the known offsets are in their partitions, and few are missing.
    private func continues(_ ends: [TopicPartition: Watermarks]) -> Bool {
        var missing: Int64 = 0
        for (partition, end) in ends {
            guard let source = topics.source(partition) else { continue }
            let offset = next[source] ?? end.low
            if offset > end.high { return false }
            missing += end.high - max(offset, end.low)
        }
        return missing <= Int64(options.capacity)
    }

    private mutating func addDecisions(
        _ ends: [TopicPartition: Watermarks], _ scan: TopicScan
    ) throws(CommandFailure) {
        let starts = isNew ? try firstOffsets(ends, scan) : [:]
        for (partition, end) in ends {
            let known = topics.source(partition).flatMap { next[$0] }
            add(partition, isNew ? starts[partition] ?? end.high : known ?? end.low, end)
        }
    }

    private mutating func add(_ partition: TopicPartition, _ offset: Int64, _ end: Watermarks) {
        let first = min(max(offset, end.low), end.high)
        plan.partitions[partition] = ScanPlan.Span(from: first, to: nil)
        total += end.high - first
    }

    /// Returns the offsets of the look-back, or of a later time whose records fill the index.
    private mutating func firstOffsets(
        _ ends: [TopicPartition: Watermarks], _ scan: TopicScan
    ) throws(CommandFailure) -> [TopicPartition: Int64] {
        func offsets(_ time: Int64) throws(CommandFailure) -> (count: Int64, starts: [TopicPartition: Int64]) {
            var starts: [TopicPartition: Int64] = [:]
            for name in topics.outputs.names {
                let numbers = ends.keys.filter { $0.topic == name }.map(\.partition)
                starts.merge(try scan.offsets(of: name, numbers, atOrAfter: time)) { $1 }
            }
            let count = starts.reduce(Int64(0)) { $0 + max(0, (ends[$1.key]?.high ?? 0) - $1.value) }
            return (count, starts)
        }
        let limit = Int64(options.capacity)
        var best = try offsets(from)
        guard best.count > limit else { return best.starts }
        isShortened = true
        var high = Platform.nowMilliseconds
        // The latest time with too many records. Those beyond the limit fall out of the index.
        for _ in 0..<40 where high - from > 1 && best.count > limit + limit / 16 {
            let middle = from + (high - from) / 2
            let found = try offsets(middle)
            if found.count < limit {
                high = middle
            } else {
                (from, best) = (middle, found)
            }
        }
        return best.starts
    }

    private mutating func addLetters(_ name: String, _ ends: [Int32: Watermarks]) {
        let letters = topics.names.count - topics.outputs.names.count
        let share = Self.letterLimit / Int64(max(1, letters)) / Int64(max(1, ends.count))
        for (number, end) in ends {
            let partition = TopicPartition(topic: name, partition: number)
            let known = isNew ? nil : topics.source(partition).flatMap { next[$0] }
            add(partition, known ?? end.high - max(1, share), end)
        }
    }

    /// Applies the start to the shared state.
    func apply(to state: inout FeedState, now: Int64) {
        if isNew {
            state.index.removeAll()
            state.next = [:]
            state.epoch += 1
            state.status.isShortened = isShortened
            state.status.from = from
        }
        state.topics = topics
        for (partition, span) in plan.partitions {
            if let source = topics.source(partition) { state.next[source] = span.from }
        }
        state.status.progress = (0, total)
        state.status.enter(.loading, now: now)
    }
}
