package import ByteStorage

/// Reads partitions from given offsets without being a member of a group: nothing is joined, nothing is committed, no
/// right on a group is needed.
///
/// All calls come from one thread.
package final class KafkaReader {
    let handle: ClientHandle
    let source: ReaderSource
    private var batch = MessageBatch()
    private var names = TopicNames()
    private var inbox = ClientInbox()

    /// Makes a reader; it connects on its own.
    ///
    /// Its calls stand in `watch` while they last.
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

    /// What a broker says of a topic; `exists` is false where it is missing.
    package func describe(topic: String, timeoutMilliseconds: Int32) throws(KafkaError) -> TopicDescription {
        defer { serve() }
        return try source.describe(topic, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// For each partition the offset of the first record whose timestamp is at least this one; no offset where there
    /// is none so late.
    ///
    /// - Parameters:
    ///   - times: Partitions with milliseconds since 1970 in place of an offset.
    ///   - timeoutMilliseconds: How long the brokers have for their answers.
    package func offsets(
        forTimes times: [PartitionOffset], timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [PartitionResult] {
        defer { serve() }
        return try source.offsets(forTimes: times, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// The two ends of a partition; `high` is the last stable offset for read_committed.
    package func watermarks(
        of partition: TopicPartition, timeoutMilliseconds: Int32
    ) throws(KafkaError) -> Watermarks {
        defer { serve() }
        return try handle.watermarks(of: partition, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Starts to read these partitions at these offsets, or at a `LogicalOffset`.
    package func start(_ offsets: [PartitionOffset]) throws(KafkaError) {
        for offset in offsets { try source.start(offset) }
    }

    /// Reads these partitions no more.
    package func stop(_ partitions: [TopicPartition]) throws(KafkaError) {
        for partition in partitions { try source.stop(partition) }
    }

    /// Waits for the first record or event up to the timeout, then takes what is there at once, up to `max` messages.
    ///
    /// Releases the batch before. With `enable.partition.eof` the end of each partition is an event.
    package func poll(max limit: Int, timeoutMilliseconds: Int32) -> PollOutcome {
        batch.release()
        let limit = Swift.max(1, limit)
        batch.reserve(limit)
        source.poll(into: &batch, limit: limit, timeoutMilliseconds: timeoutMilliseconds)
        batch.read(&names)
        serve()
        return PollOutcome(records: batch.records.count, events: batch.events.count, rebalanced: false)
    }

    /// The records of the last poll; they live until `releaseBatch` or the next poll.
    package var records: UnsafeBufferPointer<ConsumedRecord> { batch.records }

    /// What the last poll brought beside records.
    package var events: [ConsumerEvent] { batch.events }

    /// Gives the batch's messages back to librdkafka: all views into them end.
    package func releaseBatch() { batch.release() }

    /// Appends the headers of the record with this `index` as views that live as long as the batch.
    package func headerViews(of index: Int32, into views: inout [HeaderView]) {
        batch.headers(of: index, into: &views)
    }

    /// A copy of the headers of the record with this `index`, in their order, repeated names included.
    package func headers(of index: Int32) -> [RecordHeader] {
        var views: [HeaderView] = []
        batch.headers(of: index, into: &views)
        return views.map(\.copied)
    }

    /// Name of the topic with this index.
    package func topicName(at index: Int32) -> String { names.name(at: index) }

    /// Bytes of the name of the topic with this index; they live as long as the reader.
    package func topicNameBytes(at index: Int32) -> ByteView { names.bytes(at: index) }

    /// Takes over the log lines, statistics and errors that have come, oldest first.
    package func takeEvents() -> [ClientEvent] {
        serve()
        return inbox.takeEvents()
    }

    /// Stops reading and destroys the instance; a second call does nothing.
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
