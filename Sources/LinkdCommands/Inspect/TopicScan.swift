internal import ByteStorage
internal import KafkaClient
internal import RouteTools

/// A scan of partitions without a consumer group, which reads committed records only.
struct TopicScan {
    /// The range of a partition that is read.
    private struct OpenSpan {
        var from: Int64 = 0
        /// The offset after the last one, 0 for a closed range, or the greatest number for a range without an end.
        var to: Int64 = 0
        /// A Boolean value that indicates whether the end of the partition was reached.
        var isAtEnd = false
    }

    /// The records that librdkafka fetches in advance.
    struct Prefetch {
        /// The bytes of the queue for one partition.
        ///
        /// All partitions share one queue. Older versions of librdkafka fetch nothing for up to a second once it is
        /// full.
        var queueBytes: Int
        /// The bytes of the queue for any number of partitions, at least, or nil for `queueBytes`.
        var leastBytes: Int?
        /// The bytes of a response for each partition.
        var fetchBytes: Int
        /// The records of the queue, at most.
        var records: Int
        /// The time that a broker waits for more records at the end of a partition, in milliseconds.
        var wait = 100

        /// As many as possible, for a scan of whole topics.
        static let whole = Prefetch(
            queueBytes: 1 << 30, leastBytes: 64 << 20, fetchBytes: 4 << 20, records: 1_000_000)
        /// A few megabytes, for a process that reads for as long as it runs.
        static let steady = Prefetch(queueBytes: 32 << 20, fetchBytes: 1 << 20, records: 100_000)
        /// As much as a scan of whole topics uses up in the second that older versions of librdkafka wait after a full
        /// queue.
        static let rounds = Prefetch(queueBytes: 256 << 20, fetchBytes: 1 << 20, records: 1_000_000)
        /// As much as a command needs that keeps much of what it reads, or sends it again.
        static let moderate = Prefetch(queueBytes: 64 << 20, fetchBytes: 1 << 20, records: 1_000_000)
        /// Few records at many offsets.
        ///
        /// The queue must not become full, because librdkafka then waits.
        static let single = Prefetch(queueBytes: 64 << 20, fetchBytes: 64 << 10, records: 100_000, wait: 10)

        /// Returns the limit of the queue for a number of partitions, in KiB.
        func queueKilobytes(partitions: Int) -> Int {
            max(leastBytes ?? queueBytes, queueBytes / max(1, partitions)) / 1024
        }
    }

    /// The time without a record after which a scan with an end gives up, in seconds.
    private static let patience = 60.0

    private let connection: Connection
    private let prefetch: Prefetch
    /// The reader for the descriptions of topics and partitions.
    private let describer: KafkaReader
    /// The reader of the records, from the first start on.
    private var reader: KafkaReader?
    /// The topics whose leaders the reader knows.
    private var described: Set<String> = []
    /// The ranges, by the reader's index of the topic and by partition.
    private var spans: [[OpenSpan]] = []
    /// The partitions that the reader fetches.
    private var started: [TopicPartition] = []
    private var openCount = 0
    private var lastTime = Int64.max
    private var headers: [HeaderView] = []
    /// The time of waiting since the last record, in seconds.
    private var waited = 0.0
    /// A Boolean value that indicates whether every range has an end.
    private var isFinite = true
    /// The number of records so far.
    private(set) var read: Int64 = 0
    /// The time on the monotonic clock after which every call ends with exit code 69.
    var deadline = Double.infinity

    /// Creates a scan, which connects on its own.
    init(_ connection: Connection, prefetch: Prefetch = .whole) throws(CommandFailure) {
        self.connection = connection
        self.prefetch = prefetch
        describer = try Self.reader(connection, prefetch, partitions: 16, reset: "error")
    }

    /// Starts to read topics from their start to the stable end or, with `follow`, without an end.
    init(_ connection: Connection, topics: [String], follow: Bool = false) throws(CommandFailure) {
        try self.init(connection)
        var plan = ScanPlan()
        for topic in topics { try plan.add(topic, try description(of: topic), ScanRange(follow: follow)) }
        try start(plan)
    }

    /// Returns a reader whose queue holds as many records as its limit allows.
    ///
    /// A full queue makes librdkafka wait. Version 2.0.2 then waits a second, later ones as long as the property says.
    private static func reader(
        _ connection: Connection, _ prefetch: Prefetch, partitions: Int, reset: String
    ) throws(CommandFailure) -> KafkaReader {
        var configuration = connection.configuration(
            .consumer,
            [
                "group.id": "linkd-inspect", "isolation.level": "read_committed", "enable.partition.eof": "true",
                "auto.offset.reset": reset, "fetch.wait.max.ms": "\(prefetch.wait)",
                "fetch.message.max.bytes": "\(prefetch.fetchBytes)",
                "queued.min.messages": "\(prefetch.records)",
                "queued.max.messages.kbytes": "\(prefetch.queueKilobytes(partitions: partitions))",
            ])
        if LibraryInfo.supportsFetchQueueBackoff, configuration["fetch.queue.backoff.ms"] == nil {
            configuration["fetch.queue.backoff.ms"] = "10"
        }
        return try connection.make(configuration) { config throws(ConfigurationError) in try KafkaReader(config) }
    }

    /// Returns the first offset and the stable end of each partition of a topic.
    ///
    /// A topic that does not exist ends with exit code 78.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - timeout: The time limit of each request, in milliseconds.
    func description(
        of topic: String, timeout: Int32 = 10_000
    ) throws(CommandFailure) -> [Int32: Watermarks] {
        try reading(topic) { () throws(KafkaError) in
            let description = try describer.describe(topic: topic, timeoutMilliseconds: left(timeout))
            if let error = description.error { throw error }
            let partitions = description.partitions.map { TopicPartition(topic: topic, partition: $0.id) }
            guard !partitions.isEmpty else { throw KafkaError(code: .unknownTopicOrPartition) }
            let low = try offsets(partitions, LogicalOffset.beginning, timeout)
            let high = try offsets(partitions, LogicalOffset.end, timeout)
            var ends: [Int32: Watermarks] = [:]
            for partition in partitions {
                // Without an answer, the request is returned unchanged.
                guard let low = low[partition], let high = high[partition] else { throw KafkaError(code: .timedOut) }
                ends[partition.partition] = Watermarks(low: low, high: high)
            }
            return ends
        }
    }

    /// Returns the first offset at or after a time in each partition of a topic that has one.
    ///
    /// Brokers take times before 1970 for the names of offsets, so these times count as 1970.
    func offsets(
        of topic: String, _ numbers: some Sequence<Int32>, atOrAfter time: Int64
    ) throws(CommandFailure) -> [TopicPartition: Int64] {
        try reading(topic) { () throws(KafkaError) in
            try offsets(numbers.map { TopicPartition(topic: topic, partition: $0) }, max(0, time))
        }
    }

    private func offsets(
        _ partitions: [TopicPartition], _ time: Int64, _ timeout: Int32 = 10_000
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        try describer.offsets(of: partitions.sorted(), atOrAfter: time, timeoutMilliseconds: left(timeout))
    }

    /// Returns the time limit of a request, in milliseconds, which is at most the time until the deadline.
    private func left(_ timeout: Int32) throws(KafkaError) -> Int32 {
        let milliseconds = (deadline - Platform.monotonicSeconds) * 1000
        guard milliseconds > 0 else { throw KafkaError(code: .timedOut) }
        return milliseconds < Double(timeout) ? Int32(milliseconds) + 1 : timeout
    }

    private func reading<Value>(
        _ topic: String, _ body: () throws(KafkaError) -> Value
    ) throws(CommandFailure) -> Value {
        try attempt(
            "reading \(topic)", needing: AccessRight("Read", on: .topic, topic), as: connection.principal, body)
    }

    /// Starts to read the ranges of a plan, instead of the ranges of an earlier plan.
    mutating func start(_ plan: ScanPlan) throws(CommandFailure) {
        let reader: KafkaReader
        if let known = self.reader {
            reader = known
        } else {
            // Retention can delete the first records of a range before they are read. The others are read then.
            let isFollowing = plan.partitions.values.contains { $0.to == nil }
            reader = try Self.reader(
                connection, prefetch, partitions: plan.partitions.count, reset: isFollowing ? "error" : "earliest")
            self.reader = reader
        }
        stop(started)
        started = []
        spans = []
        openCount = 0
        lastTime = plan.lastTime ?? .max
        waited = 0
        isAtEnd = plan.partitions.isEmpty
        isFinite = plan.partitions.values.allSatisfy { $0.to != nil }
        for (partition, span) in plan.partitions.sorted(by: { $0.key < $1.key }) {
            let end = span.to ?? .max
            guard span.from < end else { continue }
            if !described.contains(partition.topic) {
                // Otherwise, librdkafka starts to read a topic only after up to a second, when it looks for topics.
                try reading(partition.topic) { () throws(KafkaError) in
                    _ = try reader.describe(topic: partition.topic, timeoutMilliseconds: left(10_000))
                }
                described.insert(partition.topic)
            }
            let topic = Int(reader.topicIndex(of: partition.topic))
            let number = Int(partition.partition)
            while spans.count <= topic { spans.append([]) }
            while spans[topic].count <= number { spans[topic].append(OpenSpan()) }
            spans[topic][number] = OpenSpan(from: span.from, to: end)
            openCount += 1
            try reading(partition.topic) { () throws(KafkaError) in
                try reader.start([PartitionOffset(partition, offset: span.from)])
            }
            started.append(partition)
        }
    }

    /// Stops to read.
    mutating func stop() {
        stop(started)
        started = []
        spans = []
        openCount = 0
    }

    /// A partition that cannot be stopped is fetched in vain, because its records are outside of the ranges.
    private func stop(_ partitions: [TopicPartition]) { try? reader?.stop(partitions) }

    /// A Boolean value that indicates whether the scan has read all records.
    var isDone: Bool { openCount == 0 }

    /// A Boolean value that indicates whether the scan has reached the end of every partition at least once.
    private(set) var isAtEnd = false

    private mutating func reachEnd(_ topic: Int, _ number: Int) {
        guard !spans[topic][number].isAtEnd else { return }
        spans[topic][number].isAtEnd = true
        isAtEnd = spans.allSatisfy { $0.allSatisfy { $0.to != .max || $0.isAtEnd } }
    }

    /// Passes each record that is left to `body`, and calls `before` again and again.
    mutating func forEach(
        before: (_ read: Int64) throws(CommandFailure) -> Void = { _ in },
        _ body: (ScannedRecord) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        let start = read
        while !isDone {
            try before(read - start)
            _ = try next { record throws(CommandFailure) in
                try body(record)
                return true
            }
        }
    }

    /// Returns a Boolean value that indicates whether a range has no more records when the end of its partition is
    /// reported.
    ///
    /// A partition can end before its range, because it was created again or has lost records. A new leader, however,
    /// reports an end too early until it knows up to which offset the records are replicated. It does not answer this
    /// request before that.
    private func isEnd(_ event: ConsumerEvent, of span: OpenSpan) throws(CommandFailure) -> Bool {
        guard event.offset < span.to else { return true }
        guard let topic = reader?.topicName(at: event.topic) else { return false }
        let partition = TopicPartition(topic: topic, partition: event.partition)
        let end = try reading(topic) { () throws(KafkaError) in
            try offsets([partition], LogicalOffset.end)[partition]
        }
        return end.map { $0 <= event.offset } ?? false
    }

    /// Waits for records and passes each one to `body` until it returns false.
    ///
    /// A scan with an end that gets no record for a minute ends with exit code 69, because librdkafka waits forever for
    /// brokers that are gone.
    ///
    /// - Returns: False if `body` returned false.
    mutating func next(
        _ body: (ScannedRecord) throws(CommandFailure) -> Bool
    ) throws(CommandFailure) -> Bool {
        guard let reader else { return true }
        let start = Platform.monotonicSeconds
        guard start < deadline else {
            throw CommandFailure(
                .unavailable, "the broker has not sent the records in time", advice: "check the brokers, and try again")
        }
        let outcome = reader.poll(max: 1000, timeoutMilliseconds: 200)
        waited = outcome.records > 0 ? 0 : waited + Platform.monotonicSeconds - start
        for record in reader.records {
            guard includes(record) else { continue }
            read += 1
            headers.removeAll(keepingCapacity: true)
            if record.hasHeaders { reader.headerViews(of: record.index, into: &headers) }
            let scanned = ScannedRecord(
                topic: reader.topicName(at: record.topic), partition: record.partition, offset: record.offset,
                timestamp: record.timestamp, key: record.key, value: record.value, headers: headers)
            if try !body(scanned) { return false }
        }
        for event in reader.events { try handle(event) }
        if isFinite, !isDone, waited > Self.patience {
            throw CommandFailure(
                .unavailable,
                "no broker sent a record for \(Int(Self.patience)) s, after \(Counts.text(Int(read), "record"))",
                advice: "check that all brokers can be reached and try again")
        }
        return true
    }

    /// Returns a Boolean value that indicates whether a record is in the range of its partition, and closes the range
    /// at its end.
    private mutating func includes(_ record: ConsumedRecord) -> Bool {
        let (topic, number) = (Int(record.topic), Int(record.partition))
        guard topic < spans.count, number < spans[topic].count else { return false }
        let span = spans[topic][number]
        if record.timestamp > lastTime, record.offset < span.to {
            close(topic, number)
            return false
        }
        if record.offset >= span.to - 1 { close(topic, number) }
        return record.offset >= span.from && record.offset < span.to
    }

    private mutating func close(_ topic: Int, _ number: Int) {
        guard topic < spans.count, number < spans[topic].count, spans[topic][number].to > 0 else { return }
        spans[topic][number].to = 0
        openCount -= 1
    }

    /// Handles an event of a poll.
    mutating func handle(_ event: ConsumerEvent) throws(CommandFailure) {
        switch event.kind {
        case .endOfPartition:
            let (topic, number) = (Int(event.topic), Int(event.partition))
            guard topic >= 0, topic < spans.count, number >= 0, number < spans[topic].count else { return }
            if spans[topic][number].to == .max {
                reachEnd(topic, number)
            } else if try isEnd(event, of: spans[topic][number]) {
                close(topic, number)
            }
        case .other: return
        default:
            guard let error = event.error else { return }
            let topic = event.topic < 0 ? nil : reader?.topicName(at: event.topic)
            throw CommandFailure(
                error, while: "reading \(topic ?? "the topic")",
                needing: topic.map { AccessRight("Read", on: .topic, $0) }, as: connection.principal)
        }
    }
}

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
