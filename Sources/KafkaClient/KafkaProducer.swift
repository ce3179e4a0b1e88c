internal import CRdKafka
package import ByteStorage

/// A topic that a producer has a handle of.
package struct ProducerTopic: Hashable, Sendable {
    let index: Int
}

/// An idempotent or transactional producer.
///
/// All calls come from one thread; delivery reports are counted on it, inside `poll`, `flush` and the transaction
/// calls.
///
/// With `transactional.id` in its configuration it is transactional (`KafkaProducer+Transactions.swift`), without one
/// it takes records at any time.
package final class KafkaProducer {
    let handle: ClientHandle
    private let tally: UnsafeMutablePointer<DeliveryTally>
    private var topics = TopicHandles()
    private var scratch = ProduceScratch()
    private var inbox = ClientInbox()

    /// Makes a producer; it connects on its own.
    ///
    /// Its calls stand in `watch` while they last.
    package init(_ configuration: ClientConfiguration, watch: CallWatch = CallWatch()) throws(ConfigurationError) {
        let native = try NativeConfiguration(configuration)
        let tally = UnsafeMutablePointer<DeliveryTally>.allocate(capacity: 1)
        tally.initialize(to: DeliveryTally())
        native.setOpaque(UnsafeMutableRawPointer(tally))
        // A callback per message wakes a flush: without one it looks only every 10 ms.
        native.setDeliveryCallback { _, message, opaque in
            guard let message, let opaque else { return }
            opaque.assumingMemoryBound(to: DeliveryTally.self).pointee.count(message)
        }
        do {
            handle = try ClientHandle(.producer, configuration: native, watch: watch)
        } catch {
            tally.deinitialize(count: 1)
            tally.deallocate()
            throw error
        }
        self.tally = tally
        inbox.deliveries = tally
    }

    deinit {
        close()
        tally.deinitialize(count: 1)
        tally.deallocate()
    }

    /// Destroys the instance; records that are still queued are lost, an open transaction is left to the next
    /// `initTransactions` or to its timeout.
    ///
    /// A second call does nothing.
    package func close() {
        guard handle.isOpen else { return }
        serve(timeoutMilliseconds: 0)
        topics.release()
        handle.destroy()
    }

    /// Whether `close` has not been called.
    package var isOpen: Bool { handle.isOpen }

    // MARK: Topics

    /// The handle of a topic, made at the first call.
    package func topic(_ name: String) throws(KafkaError) -> ProducerTopic {
        ProducerTopic(index: try topics.add(name, to: handle))
    }

    /// The number of partitions that a topic has now, asked from a broker.
    package func partitionCount(of topic: ProducerTopic, timeoutMilliseconds: Int32) throws(KafkaError) -> Int32 {
        let metadata = try ClusterMetadata(
            asking: handle, topic: topics[topic.index], timeoutMilliseconds: timeoutMilliseconds)
        guard let description = metadata.topics.first else { throw KafkaError(code: .unknownTopic) }
        if let error = description.error { throw error }
        return Int32(clamping: description.partitions.count)
    }

    // MARK: Producing

    /// Offers records without headers to one partition, in their order; values are **not** copied.
    ///
    /// The values' bytes must live until the transaction has ended, or until every delivery was reported; keys are
    /// copied. `accepted` is the index of the first record that was refused, or the count: with `.queueFull` nothing
    /// behind it was taken either, so poll and go on from there. After any other error later records of the call may
    /// have been taken: abort the transaction (at least once: make a new producer).
    package func produceBatch(
        _ topic: ProducerTopic, partition: Int32, _ records: UnsafeBufferPointer<OutboundRecord>
    ) -> (accepted: Int, error: KafkaError?) {
        if records.isEmpty { return (0, nil) }
        return scratch.produce(topics[topic.index], partition: partition, records)
    }

    /// Offers one record, with headers and a timestamp.
    ///
    /// - Parameters:
    ///   - topic: Where to.
    ///   - partition: Which partition, or nil for the partitioner's choice.
    ///   - key: The key, or nil for none. Copied.
    ///   - value: The value, or nil for a tombstone.
    ///   - headers: Headers in their order. Copied.
    ///   - timestamp: Milliseconds since 1970, or nil for now.
    ///   - copy: Whether the value is copied; if not, its bytes must live as `produceBatch` says.
    package func produce(
        _ topic: ProducerTopic, partition: Int32?, key: ByteView?, value: ByteView?, headers: [HeaderView] = [],
        timestamp: Int64? = nil, copy: Bool = true
    ) throws(KafkaError) {
        let request = ProduceRequest(
            partition: partition, key: key, value: value, headers: headers, timestamp: timestamp, copiesValue: copy)
        let error = handle.quickly { produceOne($0, topics[topic.index], request) }
        if let error { throw error }
    }

    /// Serves delivery reports, statistics and errors; waits up to the timeout for the first.
    package func poll(timeoutMilliseconds: Int32) { serve(timeoutMilliseconds: timeoutMilliseconds) }

    /// Sends what is queued without linger and waits until every delivery was reported; `.timedOut` may be repeated.
    package func flush(timeoutMilliseconds: Int32) throws(KafkaError) {
        let code = handle.call(.flush) { rd_kafka_flush($0, timeoutMilliseconds) }
        serve(timeoutMilliseconds: 0)
        try KafkaError.check(code)
    }

    /// Gives up all records that are queued or on their way; their reports come as purged.
    package func purge() throws(KafkaError) {
        try KafkaError.check(
            handle.call(.purge) { rd_kafka_purge($0, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT) })
        serve(timeoutMilliseconds: 0)
    }

    /// Records and events that wait to be sent, answered or served.
    package var outstanding: Int { Int(handle.quickly { rd_kafka_outq_len($0) }) }

    // MARK: What was delivered, what was said

    /// Delivery reports so far.
    package var deliveries: DeliveryCounts { tally.pointee.counts }

    /// Forgets the failures by code and the last errors; the counts go on.
    package func forgetDeliveryErrors() { tally.pointee.forgetErrors() }

    /// What the debug lines told: drops of the transaction coordinator's connection (`debug=eos`), versions of the
    /// brokers' requests (`debug=feature`).
    package var debugLog: DebugLogWatch { inbox.watch }

    /// Takes over the log lines, statistics and errors that have come, oldest first.
    package func takeEvents() -> [ClientEvent] {
        serve(timeoutMilliseconds: 0)
        return inbox.takeEvents()
    }

    /// Events that were dropped because nobody took them.
    package var droppedEvents: Int { inbox.dropped }

    /// Log lines less severe than this syslog level are not kept; 6 (info) at first, 7 keeps debug lines.
    package var mostVerboseLogLevel: Int32 {
        get { inbox.mostVerboseLevel }
        set { inbox.mostVerboseLevel = newValue }
    }

    /// The fatal error that this producer met, or nil.
    package var fatalError: KafkaError? { handle.isOpen ? handle.fatalError : nil }

    func serve(timeoutMilliseconds: Int32) {
        guard handle.isOpen else { return }
        handle.serveMain(timeoutMilliseconds: timeoutMilliseconds, into: &inbox)
        handle.drainLog(into: &inbox)
    }
}
