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
