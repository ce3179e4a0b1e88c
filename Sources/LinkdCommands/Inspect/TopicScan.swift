internal import ByteStorage
internal import KafkaClient
internal import StrictJSON

/// Reads topics from a start to their stable end as it was when the scan began, or on and on.
struct TopicScan {
    private let reader: KafkaReader
    private let follow: Bool
    /// Partitions that are not at their end yet, with the offset behind their last record.
    private var open: [TopicPartition: Int64] = [:]

    /// Finds the partitions' ends and starts to read.
    ///
    /// - Parameters:
    ///   - connection: How to reach the cluster.
    ///   - topics: The topics; each must exist.
    ///   - partition: The only partition to read, or nil for all.
    ///   - since: The first timestamp, in milliseconds since 1970, or nil.
    ///   - follow: Whether to go on behind the end.
    init(
        _ connection: Connection, topics: [String], partition: Int32?, since: Int64?, follow: Bool
    ) throws(CommandFailure) {
        self.follow = follow
        do {
            reader = try KafkaReader(
                connection.configuration(
                    .consumer,
                    [
                        "group.id": "linkd-inspect", "isolation.level": "read_committed",
                        "enable.partition.eof": "true", "auto.offset.reset": "error", "fetch.wait.max.ms": "100",
                    ]))
        } catch {
            throw connection.refused(error)
        }
        for topic in topics {
            do throws(KafkaError) {
                try start(topic, partition, since)
            } catch {
                throw CommandFailure(error, while: "reading \(topic)")
            }
        }
    }

    private mutating func start(_ topic: String, _ only: Int32?, _ since: Int64?) throws(KafkaError) {
        let description = try reader.describe(topic: topic, timeoutMilliseconds: 10_000)
        if let error = description.error { throw error }
        let partitions = description.partitions.map(\.id).filter { only == nil || $0 == only }
        guard !partitions.isEmpty else { throw KafkaError(code: .unknownPartition) }
        var starts: [TopicPartition: Int64] = [:]
        for id in partitions {
            let place = TopicPartition(topic: topic, partition: id)
            let ends = try reader.watermarks(of: place, timeoutMilliseconds: 10_000)
            starts[place] = ends.low
            if ends.high > ends.low { open[place] = ends.high }
        }
        if let since { try moveStarts(&starts, since) }
        let reading = follow ? starts.keys.sorted() : starts.keys.filter { open[$0] != nil }.sorted()
        try reader.start(reading.map { PartitionOffset($0, offset: starts[$0] ?? LogicalOffset.beginning) })
    }

    /// Starts at the first record of that time; a partition without one is at its end.
    private mutating func moveStarts(_ starts: inout [TopicPartition: Int64], _ since: Int64) throws(KafkaError) {
        let times = starts.keys.sorted().map { PartitionOffset($0, offset: since) }
        for result in try reader.offsets(forTimes: times, timeoutMilliseconds: 10_000) {
            if let offset = result.offset, offset >= 0 {
                starts[result.partition] = max(offset, starts[result.partition] ?? 0)
            } else {
                starts[result.partition] = follow ? LogicalOffset.end : open[result.partition] ?? 0
                open[result.partition] = nil
            }
        }
    }

    /// Whether everything that was there at the start has been read.
    var isDone: Bool { !follow && open.isEmpty }

    /// Waits for records and hands each to `body` until it says false; false when it did.
    mutating func next(_ body: (InspectedRecord) -> Bool) throws(CommandFailure) -> Bool {
        _ = reader.poll(max: 1000, timeoutMilliseconds: 200)
        for record in reader.records {
            let topic = reader.topicName(at: record.topic)
            let place = TopicPartition(topic: topic, partition: record.partition)
            if !follow {
                guard let end = open[place], record.offset < end else {
                    open[place] = nil
                    continue
                }
                if record.offset == end - 1 { open[place] = nil }
            }
            let copy = InspectedRecord(
                topic: topic, partition: record.partition, offset: record.offset, timestamp: record.timestamp,
                key: record.key?.array, value: record.value?.array,
                headers: record.hasHeaders ? reader.headers(of: record.index) : [])
            if !body(copy) { return false }
        }
        for event in reader.events { try take(event) }
        return true
    }

    private mutating func take(_ event: ConsumerEvent) throws(CommandFailure) {
        switch event.kind {
        case .endOfPartition:
            open[TopicPartition(topic: reader.topicName(at: event.topic), partition: event.partition)] = nil
        case .other: return
        default:
            guard let error = event.error else { return }
            throw CommandFailure(
                error, while: "reading \(event.topic < 0 ? "the topic" : reader.topicName(at: event.topic))")
        }
    }
}
