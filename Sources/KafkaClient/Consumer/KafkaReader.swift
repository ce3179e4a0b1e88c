package import ByteStorage

/// A reader of partitions at given offsets.
///
/// It does not join a group, commits nothing, and needs no rights on a group.
///
/// All calls come from one thread.
package final class KafkaReader {
    let handle: ClientHandle
    let source: ReaderSource
    private var batch = MessageBatch()
    private var names = TopicNames()
    private var inbox = ClientInbox()

    /// Creates a reader, which connects on its own.
    ///
    /// `watch` lists its calls.
    package init(_ configuration: ClientConfiguration, watch: CallWatch = CallWatch()) throws(ConfigurationError) {
        var configuration = configuration
        configuration["enable.auto.commit"] = "false"
        configuration["enable.auto.offset.store"] = "false"
        configuration["allow.auto.create.topics"] = "false"
        handle = try ClientHandle(
            .consumer, configuration: try NativeConfiguration(configuration), watch: watch)
        source = ReaderSource(handle)
    }

    deinit { close() }

    /// Fetches the description of a topic.
    ///
    /// `exists` is false for a missing topic.
    package func describe(topic: String, timeoutMilliseconds: Int32) throws(KafkaError) -> TopicDescription {
        defer { serve() }
        return try source.describe(topic, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Fetches, for each partition, the offset of the first record whose timestamp is at least the given one.
    ///
    /// A partition without such a record has no offset.
    ///
    /// - Parameters:
    ///   - times: Partitions with milliseconds since 1970 in place of an offset.
    ///   - timeoutMilliseconds: The time limit of the request.
    package func offsets(
        forTimes times: [PartitionOffset], timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [PartitionResult] {
        defer { serve() }
        return try source.offsets(forTimes: times, timeoutMilliseconds: timeoutMilliseconds)
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
        batch.release()
        let limit = Swift.max(1, limit)
        batch.reserve(limit)
        source.poll(into: &batch, limit: limit, timeoutMilliseconds: timeoutMilliseconds)
        batch.read(&names)
        serve()
        return PollOutcome(records: batch.records.count, events: batch.events.count, rebalanced: false)
    }

    /// The records of the last poll, which are valid until `releaseBatch` or the next poll.
    package var records: UnsafeBufferPointer<ConsumedRecord> { batch.records }

    /// The events of the last poll.
    package var events: [ConsumerEvent] { batch.events }

    /// Returns the batch's messages to librdkafka and invalidates all views into them.
    package func releaseBatch() { batch.release() }

    /// Appends the headers of the record with this `index` as views that are valid as long as the batch.
    package func headerViews(of index: Int32, into views: inout [HeaderView]) {
        batch.headers(of: index, into: &views)
    }

    /// Returns a copy of the headers of the record with this `index`, in order and including repeated names.
    package func headers(of index: Int32) -> [RecordHeader] {
        var views: [HeaderView] = []
        batch.headers(of: index, into: &views)
        return views.map(\.copied)
    }

    /// Returns the name of the topic with this index.
    package func topicName(at index: Int32) -> String { names.name(at: index) }

    /// Returns the bytes of the name of the topic with this index, which are valid as long as the reader.
    package func topicNameBytes(at index: Int32) -> ByteView { names.bytes(at: index) }

    /// Returns and removes the log lines, statistics and errors that have arrived, oldest first.
    package func takeEvents() -> [ClientEvent] {
        serve()
        return inbox.takeEvents()
    }

    /// Stops reading and destroys the instance.
    ///
    /// A second call has no effect.
    package func close() {
        guard handle.isOpen else { return }
        batch.release()
        source.release()
        serve()
        handle.destroy()
    }

    private func serve() {
        guard handle.isOpen else { return }
        handle.serveMain(timeoutMilliseconds: 0, into: &inbox)
        handle.drainLog(into: &inbox)
    }
}
