internal import CRdKafka

/// A member of a consumer group: batches of records, rebalances, and offsets.
///
/// All calls come from one thread. The rebalance handler also runs on it, inside `poll` or `close`. librdkafka handles
/// the group protocol on its own threads.
package final class KafkaConsumer: RecordReceiver {
    let context: RebalanceContext
    private var queue: ConsumerQueue?

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
        let context = RebalanceContext()
        let native = try NativeConfiguration(configuration)
        native.setOpaque(Unmanaged.passUnretained(context).toOpaque())
        native.setRebalanceCallback(RebalanceContext.callback)
        let handle = try ClientHandle(.consumer, configuration: native, watch: watch, tokens: configuration.tokens)
        context.handle = handle
        self.context = context
        queue = ConsumerQueue(of: handle)
        super.init(handle)
        context.handler = { [weak self] event in
            if let self { rebalance(self, event) }
        }
    }

    deinit {
        releaseBatch()
        queue = nil
        handle.destroy()
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
        let rebalances = context.count
        let (records, events) = receive(max: limit) { batch, limit in
            queue?.poll(handle, into: &batch, limit: limit, timeoutMilliseconds: timeoutMilliseconds)
        }
        return PollOutcome(records: records, events: events, rebalanced: context.count != rebalances)
    }

    /// The fatal error of this consumer, or nil.
    package var fatalError: KafkaError? { handle.isOpen ? handle.fatalError : nil }

    /// A Boolean value that indicates whether the instance exists, that is, `close` has not been called.
    package var isOpen: Bool { handle.isOpen }

    /// Leaves the group and destroys the instance.
    ///
    /// The handler receives a last revocation. A second call has no effect.
    ///
    /// The call may hang with librdkafka before 2.6.1 (issues 4486, 4362, and 4667), so use a watchdog. The last events
    /// of the instance are still available from `takeEvents`.
    package func close() throws(KafkaError) {
        guard handle.isOpen else { return }
        releaseBatch()
        queue = nil
        let code = handle.call(.consumerClose) { rd_kafka_consumer_close($0) }
        serve()
        handle.destroy()
        try KafkaError.check(code)
    }

    /// Destroys the instance without leaving the group, for a consumer with a fatal error.
    package func abandon() {
        releaseBatch()
        queue = nil
        handle.destroy()
    }
}
