internal import ByteStorage
internal import KafkaClient
internal import StrictJSON

/// A scan of topics up to the stable end at the time when the scan was created, or without an end.
struct TopicScan {
    private let reader: KafkaReader
    private let follow: Bool
    private let principal: String
    /// The end offsets of the partitions that have records left.
    private var open: [TopicPartition: Int64] = [:]

    /// Fetches the ends of the partitions and starts to read.
    ///
    /// - Parameters:
    ///   - connection: The connection to the cluster.
    ///   - topics: The topics, which must exist.
    ///   - partition: The only partition to read, or nil for all.
    ///   - since: The first timestamp, in milliseconds since 1970, or nil.
    ///   - follow: A Boolean value that indicates whether to continue after the end.
    init(
        _ connection: Connection, topics: [String], partition: Int32?, since: Int64?, follow: Bool
    ) throws(CommandFailure) {
        self.follow = follow
        principal = connection.principal
        do {
            reader = try KafkaReader(
                connection.configuration(
                    .consumer,
                    [
                        "group.id": "linkd-inspect", "isolation.level": "read_committed",
                        "enable.partition.eof": "true", "auto.offset.reset": "error", "fetch.wait.max.ms": "100",
                    ]))
        } catch {
            throw connection.configurationFailure(error)
        }
        for topic in topics {
            do throws(KafkaError) {
                try start(topic, partition, since)
            } catch {
                throw CommandFailure(
                    error, while: "reading \(topic)", needing: AccessRight("Read", on: .topic, topic),
                    as: connection.principal)
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
            let partition = TopicPartition(topic: topic, partition: id)
            let ends = try reader.watermarks(of: partition, timeoutMilliseconds: 10_000)
            starts[partition] = ends.low
            if ends.high > ends.low { open[partition] = ends.high }
        }
        if let since { try moveStarts(&starts, since) }
        let reading = follow ? starts.keys.sorted() : starts.keys.filter { open[$0] != nil }.sorted()
        try reader.start(reading.map { PartitionOffset($0, offset: starts[$0] ?? LogicalOffset.beginning) })
    }

    /// Starts each partition at its first record of that time or later.
    ///
    /// A partition without one is at its end.
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

    /// A Boolean value that indicates whether the scan has read all records.
    var isDone: Bool { !follow && open.isEmpty }

    /// Waits for records and passes each one to `body` until it returns false.
    ///
    /// - Returns: False if `body` returned false.
    mutating func next(_ body: (InspectedRecord) -> Bool) throws(CommandFailure) -> Bool {
        _ = reader.poll(max: 1000, timeoutMilliseconds: 200)
        for record in reader.records {
            let topic = reader.topicName(at: record.topic)
            let partition = TopicPartition(topic: topic, partition: record.partition)
            if !follow {
                guard let end = open[partition], record.offset < end else {
                    open[partition] = nil
                    continue
                }
                if record.offset == end - 1 { open[partition] = nil }
            }
            let copy = InspectedRecord(
                topic: topic, partition: record.partition, offset: record.offset, timestamp: record.timestamp,
                key: record.key?.array, value: record.value?.array,
                headers: record.hasHeaders ? reader.headers(of: record.index) : [])
            if !body(copy) { return false }
        }
        for event in reader.events { try handle(event) }
        return true
    }

    private mutating func handle(_ event: ConsumerEvent) throws(CommandFailure) {
        switch event.kind {
        case .endOfPartition:
            open[TopicPartition(topic: reader.topicName(at: event.topic), partition: event.partition)] = nil
        case .other: return
        default:
            guard let error = event.error else { return }
            let topic = event.topic < 0 ? nil : reader.topicName(at: event.topic)
            throw CommandFailure(
                error, while: "reading \(topic ?? "the topic")",
                needing: topic.map { AccessRight("Read", on: .topic, $0) }, as: principal)
        }
    }
}
