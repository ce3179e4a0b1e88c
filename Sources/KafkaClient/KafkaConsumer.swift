internal import CRdKafka
package import ByteStorage

/// A member of a consumer group: batches of records, rebalances, offsets.
///
/// All calls come from one thread; the rebalance handler runs on it too, inside `poll` or `close`. Group traffic is
/// librdkafka's own business on its own threads.
package final class KafkaConsumer {
    let handle: ClientHandle
    let context = RebalanceContext()
    private var queue: ConsumerQueue?
    private(set) var commits: CommitQueue?
    private var batch = MessageBatch()
    private var topics = TopicNames()
    private var inbox = ClientInbox()

    /// Makes a consumer; it connects on its own and joins its group with `subscribe`.
    ///
    /// - Parameters:
    ///   - configuration: librdkafka properties, with `group.id`.
    ///   - watch: Where its calls stand while they last.
    ///   - rebalance: Gets every rebalance and answers it by assign, unassign or the incremental form of them
    ///     (`rebalanceProtocol` says which); one that it leaves unanswered is answered as librdkafka would.
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

    /// Joins the group for these topics: names, or regular expressions that begin with `^`.
    package func subscribe(_ topics: [String]) throws(KafkaError) {
        let list = PartitionList(topics: topics)
        try KafkaError.check(handle.call(.subscribe) { rd_kafka_subscribe($0, list.pointer) })
    }

    /// Waits for the first record or event up to the timeout, then takes what is there at once, up to `max` messages.
    ///
    /// Releases the batch before. Not one call of the batch function with a timeout: that waits until the array is
    /// full or the whole time is over.
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
    package func topicName(at index: Int32) -> String { topics.name(at: index) }

    /// Bytes of the name of the topic with this index; they live as long as the consumer.
    package func topicNameBytes(at index: Int32) -> ByteView { topics.bytes(at: index) }

    /// Index of a topic, the same for as long as the consumer lives.
    package func topicIndex(of name: String) -> Int32 { name.withCString { topics.index(ofName: $0) } }

    /// How many topics have an index.
    package var topicCount: Int { topics.count }

    /// Takes over the log lines, statistics and errors that have come, oldest first.
    package func takeEvents() -> [ClientEvent] {
        serve()
        return inbox.takeEvents()
    }

    /// Events that were dropped because nobody took them.
    package var droppedEvents: Int { inbox.dropped }

    /// Log lines less severe than this syslog level are not kept; 6 (info) at first, 7 keeps debug lines.
    package var mostVerboseLogLevel: Int32 {
        get { inbox.mostVerboseLevel }
        set { inbox.mostVerboseLevel = newValue }
    }

    private func serve() {
        guard handle.isOpen else { return }
        handle.serveMain(timeoutMilliseconds: 0, into: &inbox)
        handle.drainLog(into: &inbox)
    }

    /// The fatal error that this consumer met, or nil.
    package var fatalError: KafkaError? { handle.isOpen ? handle.fatalError : nil }

    /// Whether `close` has not been called.
    package var isOpen: Bool { handle.isOpen }

    /// Leaves the group (the handler gets a last revoke) and destroys the instance; a second call does nothing.
    ///
    /// May hang with librdkafka before 2.6.1 (issues 4486, 4362, 4667): call it under a watchdog. What the instance
    /// said at last can still be had by `takeEvents`.
    package func close() throws(KafkaError) {
        guard handle.isOpen else { return }
        batch.release()
        releaseQueues()
        let code = handle.call(.consumerClose) { rd_kafka_consumer_close($0) }
        serve()
        handle.destroy()
        try KafkaError.check(code)
    }

    /// Destroys the instance without leaving the group: for a consumer that can do no more.
    package func abandon() {
        batch.release()
        releaseQueues()
        handle.destroy()
    }
}
