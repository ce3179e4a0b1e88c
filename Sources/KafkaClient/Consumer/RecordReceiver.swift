package import ByteStorage

/// The common part of `KafkaConsumer` and `KafkaReader`: the batch of the last poll, the topics' indices, and events.
///
/// All calls come from one thread.
package class RecordReceiver {
    final let handle: ClientHandle
    private final var batch = MessageBatch()
    private final var topics = TopicNames()
    private final var inbox = ClientInbox()

    init(_ handle: ClientHandle) { self.handle = handle }

    /// Releases the previous batch and receives a new one of at most `max` messages, which `poll` appends.
    ///
    /// Returns the number of records and events.
    final func receive(max limit: Int, _ poll: (inout MessageBatch, Int) -> Void) -> (records: Int, events: Int) {
        batch.release()
        let limit = Swift.max(1, limit)
        batch.reserve(limit)
        poll(&batch, limit)
        batch.read(&topics)
        serve()
        return (batch.records.count, batch.events.count)
    }

    /// The records of the last poll, which are valid until `releaseBatch` or the next poll.
    package final var records: UnsafeBufferPointer<ConsumedRecord> { batch.records }

    /// The events of the last poll.
    package final var events: [ConsumerEvent] { batch.events }

    /// Returns the batch's messages to librdkafka and invalidates all views into them.
    package final func releaseBatch() { batch.release() }

    /// Appends the headers of the record with this `index` as views that are valid as long as the batch.
    package final func headerViews(of index: Int32, into views: inout [HeaderView]) {
        batch.headers(of: index, into: &views)
    }

    /// Returns a Boolean value that indicates whether a broker has set the timestamp of the record with this `index`.
    ///
    /// It sets the timestamps of a topic with `message.timestamp.type=LogAppendTime`.
    package final func hasBrokerTimestamp(_ index: Int32) -> Bool { batch.hasBrokerTimestamp(index) }

    /// Returns a copy of the headers of the record with this `index`, in order and including repeated names.
    package final func headers(of index: Int32) -> [RecordHeader] {
        var views: [HeaderView] = []
        batch.headers(of: index, into: &views)
        return views.map(\.copied)
    }

    /// Returns the name of the topic with this index.
    package final func topicName(at index: Int32) -> String { topics.name(at: index) }

    /// Returns the bytes of the name of the topic with this index, which are valid as long as this object.
    package final func topicNameBytes(at index: Int32) -> ByteView { topics.bytes(at: index) }

    /// Returns the index of a topic, which never changes.
    package final func topicIndex(of name: String) -> Int32 { name.withCString { topics.index(ofName: $0) } }

    /// Returns the watermarks from the last fetch responses without a request, or nil before the first response.
    ///
    /// `high` is the high watermark regardless of the isolation level. A reader of committed records does not reach it
    /// after a transaction, because control records are not returned. `low` may be outdated or -1.
    package final func cachedWatermarks(of partition: TopicPartition) -> Watermarks? {
        handle.cachedWatermarks(of: partition)
    }

    /// Returns and removes the log lines, statistics, and errors that have arrived, oldest first.
    package final func takeEvents() -> [ClientEvent] {
        serve()
        return inbox.takeEvents()
    }

    /// The information from debug lines.
    final var debugLog: DebugLogWatch {
        get { inbox.watch }
        set { inbox.watch = newValue }
    }

    /// Returns and removes what has interrupted the fetches of this client since the last call.
    ///
    /// This requires `debug=broker,topic,protocol`. After a poll, it includes everything that happened before the
    /// records of the poll were fetched.
    package final func takeInterruptions() -> FetchInterruptions { debugLog.takeInterruptions() }

    /// Fetches the ids of topics by their names.
    ///
    /// A topic that could not be described is absent. Throws `.unsupportedFeature` if `LibraryInfo.hasTopicIDs` is
    /// false.
    package final func topicIDs(
        of names: [String], timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [String: String] {
        if names.isEmpty { return [:] }
        return try AdminCall(handle, .describeTopics, timeoutMilliseconds: timeoutMilliseconds).topicIDs(of: names)
    }

    final func serve() {
        guard handle.isOpen else { return }
        handle.serveMain(timeoutMilliseconds: 0, into: &inbox)
        handle.drainLog(into: &inbox)
    }
}

/// A reader of partitions at given offsets.
///
/// It does not join a group, commits nothing, and needs no rights on a group.
///
/// All calls come from one thread.
package final class KafkaReader: RecordReceiver {
    let source: ReaderSource

    /// Creates a reader, which connects on its own.
    ///
    /// `watch` lists its calls.
    package init(_ configuration: ClientConfiguration, watch: CallWatch = CallWatch()) throws(ConfigurationError) {
        var configuration = configuration
        configuration["enable.auto.commit"] = "false"
        configuration["enable.auto.offset.store"] = "false"
        configuration["allow.auto.create.topics"] = "false"
        let handle = try ClientHandle(
            .consumer, configuration: try NativeConfiguration(configuration), watch: watch,
            tokens: configuration.tokens)
        source = ReaderSource(handle)
        super.init(handle)
    }

    deinit { close() }

    /// Fetches the description of a topic.
    ///
    /// `exists` is false for a missing topic.
    package func describe(topic: String, timeoutMilliseconds: Int32) throws(KafkaError) -> TopicDescription {
        defer { serve() }
        return try source.describe(topic, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Fetches the offset of the first record at or after a time in each partition that has one.
    ///
    /// - Parameters:
    ///   - partitions: The partitions.
    ///   - time: The milliseconds since 1970, or a `LogicalOffset`.
    ///   - timeoutMilliseconds: The time limit of the request.
    package func offsets(
        of partitions: [TopicPartition], atOrAfter time: Int64, timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        defer { serve() }
        let times = partitions.map { PartitionOffset($0, offset: time) }
        var found: [TopicPartition: Int64] = [:]
        for result in try handle.offsets(forTimes: times, timeoutMilliseconds: timeoutMilliseconds) {
            if let error = result.error { throw error }
            // Without an answer, a request for a logical offset is returned unchanged, which is no offset.
            if let offset = result.offset { found[result.partition] = offset }
        }
        return found
    }

    /// Fetches the low and high watermarks of a partition.
    ///
    /// With read_committed, `high` is the last stable offset.
    package func watermarks(
        of partition: TopicPartition, timeoutMilliseconds: Int32
    ) throws(KafkaError) -> Watermarks {
        defer { serve() }
        return try handle.watermarks(of: partition, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Starts reading these partitions at these offsets, or at a `LogicalOffset`.
    package func start(_ offsets: [PartitionOffset]) throws(KafkaError) {
        for offset in offsets { try source.start(offset) }
    }

    /// Stops reading these partitions.
    package func stop(_ partitions: [TopicPartition]) throws(KafkaError) {
        for partition in partitions { try source.stop(partition) }
    }

    /// Waits for the first record or event up to the timeout, then returns everything that is available, up to `max`
    /// messages.
    ///
    /// Releases the previous batch. With `enable.partition.eof`, the end of each partition is an event.
    package func poll(max limit: Int, timeoutMilliseconds: Int32) -> PollOutcome {
        let (records, events) = receive(max: limit) { batch, limit in
            source.poll(into: &batch, limit: limit, timeoutMilliseconds: timeoutMilliseconds)
        }
        return PollOutcome(records: records, events: events, rebalanced: false)
    }

    /// Stops reading and destroys the instance.
    ///
    /// A second call has no effect.
    package func close() {
        guard handle.isOpen else { return }
        releaseBatch()
        source.release()
        serve()
        handle.destroy()
    }
}
