internal import CRdKafka
package import ByteStorage

/// A member of a consumer group: batches of records, rebalances and offsets.
///
/// All calls come from one thread. The rebalance handler also runs on it, inside `poll` or `close`. librdkafka handles
/// the group protocol on its own threads.
package final class KafkaConsumer {
    let handle: ClientHandle
    let context = RebalanceContext()
    private var queue: ConsumerQueue?
    private(set) var commits: CommitQueue?
    private var batch = MessageBatch()
    private var topics = TopicNames()
    private var inbox = ClientInbox()

    /// Creates a consumer, which connects on its own.
    ///
    /// It joins its group with `subscribe`.
    ///
    /// - Parameters:
    ///   - configuration: librdkafka properties, including `group.id`.
    ///   - watch: The watch that lists its calls.
    ///   - rebalance: Receives every rebalance and answers it by assign, unassign, or their incremental forms,
    ///     depending on `rebalanceProtocol`. An unanswered rebalance is answered as librdkafka does without a handler.
    package init(
        _ configuration: ClientConfiguration, watch: CallWatch = CallWatch(),
        rebalance: @escaping (KafkaConsumer, RebalanceEvent) -> Void
    ) throws(ConfigurationError) {
        let native = try NativeConfiguration(configuration)
        native.setOpaque(Unmanaged.passUnretained(context).toOpaque())
        native.setRebalanceCallback(RebalanceContext.callback)
        handle = try ClientHandle(.consumer, configuration: native, watch: watch)
        context.handle = handle
        queue = ConsumerQueue(of: handle)
        commits = CommitQueue(of: handle)
        context.handler = { [weak self] event in
            if let self { rebalance(self, event) }
        }
    }

    deinit {
        batch.release()
        releaseQueues()
        handle.destroy()
    }

    private func releaseQueues() {
        queue = nil
        commits = nil
    }

    /// Joins the group for these topics.
    ///
    /// Names that begin with `^` are regular expressions.
    package func subscribe(_ topics: [String]) throws(KafkaError) {
        let list = PartitionList(topics: topics)
        try KafkaError.check(handle.call(.subscribe) { rd_kafka_subscribe($0, list.pointer) })
    }

    /// Waits for the first record or event up to the timeout, then returns everything that is available, up to `max`
    /// messages.
    ///
    /// Releases the previous batch.
    ///
    /// A single call of the batch function with a timeout would wait until the array is full or the time is over.
    package func poll(max limit: Int, timeoutMilliseconds: Int32) -> PollOutcome {
        batch.release()
        let limit = Swift.max(1, limit)
        batch.reserve(limit)
        let rebalances = context.count
        queue?.poll(handle, into: &batch, limit: limit, timeoutMilliseconds: timeoutMilliseconds)
        batch.read(&topics)
        serve()
        return PollOutcome(
            records: batch.records.count, events: batch.events.count, rebalanced: context.count != rebalances)
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
    package func topicName(at index: Int32) -> String { topics.name(at: index) }

    /// Returns the bytes of the name of the topic with this index, which are valid as long as the consumer.
    package func topicNameBytes(at index: Int32) -> ByteView { topics.bytes(at: index) }

    /// Returns the index of a topic, which never changes.
    package func topicIndex(of name: String) -> Int32 { name.withCString { topics.index(ofName: $0) } }

    /// The number of topics with an index.
    package var topicCount: Int { topics.count }

    /// Returns and removes the log lines, statistics and errors that have arrived, oldest first.
    package func takeEvents() -> [ClientEvent] {
        serve()
        return inbox.takeEvents()
    }

    /// The number of events that were dropped because `takeEvents` was not called.
    package var droppedEvents: Int { inbox.dropped }

    /// The least severe syslog level of log lines that are kept.
    ///
    /// The default is 6 (info). 7 keeps debug lines.
    package var mostVerboseLogLevel: Int32 {
        get { inbox.mostVerboseLevel }
        set { inbox.mostVerboseLevel = newValue }
    }

    private func serve() {
        guard handle.isOpen else { return }
        handle.serveMain(timeoutMilliseconds: 0, into: &inbox)
        handle.drainLog(into: &inbox)
    }

    /// The fatal error of this consumer, or nil.
    package var fatalError: KafkaError? { handle.isOpen ? handle.fatalError : nil }

    /// A Boolean value that indicates whether the instance exists, that is, `close` has not been called.
    package var isOpen: Bool { handle.isOpen }

    /// Leaves the group and destroys the instance.
    ///
    /// The handler receives a last revocation. A second call has no effect.
    ///
    /// May hang with librdkafka before 2.6.1 (issues 4486, 4362, 4667), so call it under a watchdog. The last events of
    /// the instance are still available from `takeEvents`.
    package func close() throws(KafkaError) {
        guard handle.isOpen else { return }
        batch.release()
        releaseQueues()
        let code = handle.call(.consumerClose) { rd_kafka_consumer_close($0) }
        serve()
        handle.destroy()
        try KafkaError.check(code)
    }

    /// Destroys the instance without leaving the group, for a consumer with a fatal error.
    package func abandon() {
        batch.release()
        releaseQueues()
        handle.destroy()
    }
}
