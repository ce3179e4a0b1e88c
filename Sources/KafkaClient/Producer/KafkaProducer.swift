package import ByteStorage
internal import CRdKafka

/// A producer's handle of a topic.
package struct ProducerTopic: Hashable, Sendable {
    let index: Int
}

/// An idempotent or transactional producer.
///
/// All calls come from one thread. Delivery reports are counted on it, inside `poll`, `flush`, and the transaction
/// calls.
///
/// With `transactional.id` in its configuration, the producer is transactional (`KafkaProducer+Transactions.swift`).
/// Without it, records can be produced at any time.
package final class KafkaProducer {
    let handle: ClientHandle
    let counter: UnsafeMutablePointer<DeliveryCounter>
    private var topics = TopicHandles()
    private var scratch = ProduceScratch()
    private var inbox = ClientInbox()

    /// Creates a producer, which connects on its own.
    ///
    /// `watch` lists its calls.
    package init(_ configuration: ClientConfiguration, watch: CallWatch = CallWatch()) throws(ConfigurationError) {
        let native = try NativeConfiguration(configuration)
        let counter = UnsafeMutablePointer<DeliveryCounter>.allocate(capacity: 1)
        counter.initialize(to: DeliveryCounter())
        native.setOpaque(UnsafeMutableRawPointer(counter))
        // A callback per message wakes up a flush. Without it, a flush checks only every 10 ms.
        native.setDeliveryCallback { _, message, opaque in
            guard let message, let opaque else { return }
            opaque.assumingMemoryBound(to: DeliveryCounter.self).pointee.count(message)
        }
        do {
            handle = try ClientHandle(.producer, configuration: native, watch: watch, tokens: configuration.tokens)
        } catch {
            counter.deinitialize(count: 1)
            counter.deallocate()
            throw error
        }
        self.counter = counter
        inbox.deliveries = counter
    }

    deinit {
        close()
        counter.deinitialize(count: 1)
        counter.deallocate()
    }

    /// Destroys the instance.
    ///
    /// Queued records are lost, and an open transaction ends with the next `initTransactions` or its timeout.
    ///
    /// A second call has no effect.
    package func close() {
        guard handle.isOpen else { return }
        serve(timeoutMilliseconds: 0)
        topics.release()
        handle.destroy()
    }

    // MARK: Topics

    /// Returns the handle of a topic, which the first call creates.
    package func topic(_ name: String) throws(KafkaError) -> ProducerTopic {
        ProducerTopic(index: try topics.add(name, to: handle))
    }

    /// Fetches the current number of partitions of a topic from a broker.
    package func partitionCount(of topic: ProducerTopic, timeoutMilliseconds: Int32) throws(KafkaError) -> Int32 {
        let metadata = try ClusterMetadata(
            from: handle, topic: topics[topic.index], timeoutMilliseconds: timeoutMilliseconds)
        guard let description = metadata.topics.first else { throw KafkaError(code: .unknownTopic) }
        if let error = description.error { throw error }
        return Int32(clamping: description.partitions.count)
    }

    // MARK: Producing

    /// Produces records without headers to one partition, in order.
    ///
    /// Values are **not** copied.
    ///
    /// The values' bytes must be valid until the transaction has ended, or until every delivery was reported. Keys are
    /// copied. `accepted` is the index of the first rejected record, or the count. After `.queueFull` no later record
    /// was accepted, so poll and continue there. After any other error, later records of the call may have been
    /// accepted. Then abort the transaction, or with at-least-once create a new producer.
    package func produceBatch(
        _ topic: ProducerTopic, partition: Int32, _ records: UnsafeBufferPointer<OutboundRecord>
    ) -> (accepted: Int, error: KafkaError?) {
        if records.isEmpty { return (0, nil) }
        return scratch.produce(topics[topic.index], partition: partition, records)
    }

    /// Produces one record with headers and a timestamp.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - partition: The partition, or nil for the partitioner's choice.
    ///   - key: The key, or nil for none. It is copied.
    ///   - value: The value, or nil for a tombstone.
    ///   - headers: The headers in order. They are copied.
    ///   - timestamp: Milliseconds since 1970, or nil for the current time.
    ///   - copy: A Boolean value that indicates whether the value is copied. Otherwise its bytes must be valid as
    ///     described for `produceBatch`.
    package func produce(
        _ topic: ProducerTopic, partition: Int32?, key: ByteView?, value: ByteView?, headers: [HeaderView] = [],
        timestamp: Int64? = nil, copy: Bool = true
    ) throws(KafkaError) {
        let request = ProduceRequest(
            partition: partition, key: key, value: value, headers: headers, timestamp: timestamp, copiesValue: copy)
        try produce(request, to: topic)
    }

    func produce(_ request: borrowing ProduceRequest, to topic: ProducerTopic) throws(KafkaError) {
        let error = handle.callWithoutWaiting { produceOne($0, topics[topic.index], request) }
        if let error { throw error }
    }

    /// Serves delivery reports, statistics, and errors.
    ///
    /// Waits for the first one up to the timeout.
    package func poll(timeoutMilliseconds: Int32) { serve(timeoutMilliseconds: timeoutMilliseconds) }

    /// Sends queued records without linger and waits until every delivery was reported.
    ///
    /// The call can be repeated after `.timedOut`.
    package func flush(timeoutMilliseconds: Int32) throws(KafkaError) {
        let code = handle.call(.flush) { rd_kafka_flush($0, timeoutMilliseconds) }
        serve(timeoutMilliseconds: 0)
        try KafkaError.check(code)
    }

    /// Purges all records that are queued or in flight.
    ///
    /// They are reported as purged.
    package func purge() throws(KafkaError) {
        try KafkaError.check(
            handle.call(.purge) { rd_kafka_purge($0, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT) })
        serve(timeoutMilliseconds: 0)
    }

    /// The number of records and events that wait to be sent, answered, or served.
    package var outstanding: Int { Int(handle.callWithoutWaiting { rd_kafka_outq_len($0) }) }

    // MARK: Delivery reports and events

    /// The counts of delivery reports.
    package var deliveries: DeliveryCounts { counter.pointee.counts }

    /// Resets the failures by code and the last errors, but not the counts.
    package func forgetDeliveryErrors() { counter.pointee.forgetErrors() }

    /// The information from debug lines: drops of the transaction coordinator's connection (`debug=eos`), and versions
    /// of the brokers' requests (`debug=feature`).
    package var debugLog: DebugLogWatch { inbox.watch }

    /// Returns and removes the log lines, statistics, and errors that have arrived, oldest first.
    package func takeEvents() -> [ClientEvent] {
        serve(timeoutMilliseconds: 0)
        return inbox.takeEvents()
    }

    /// The fatal error of this producer, or nil.
    package var fatalError: KafkaError? { handle.isOpen ? handle.fatalError : nil }

    func serve(timeoutMilliseconds: Int32) {
        guard handle.isOpen else { return }
        handle.serveMain(timeoutMilliseconds: timeoutMilliseconds, into: &inbox)
        handle.drainLog(into: &inbox)
    }
}

/// Numbered records, whose delivery reports can be attributed.
extension KafkaProducer {
    /// Produces one record with a number, which its delivery report returns.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - partition: The partition, or nil for the partitioner's choice.
    ///   - key: The key, or nil for none. It is copied.
    ///   - value: The value, or nil for a tombstone. It is copied.
    ///   - headers: The headers in order. They are copied.
    ///   - number: The number, greater than 0.
    package func produce(
        _ topic: ProducerTopic, partition: Int32?, key: ByteView?, value: ByteView?, headers: [HeaderView] = [],
        number: UInt
    ) throws(KafkaError) {
        let request = ProduceRequest(
            partition: partition, key: key, value: value, headers: headers, timestamp: nil, copiesValue: true,
            number: number)
        try produce(request, to: topic)
    }

    /// The numbered records that were reported as not delivered, in the order of their reports.
    ///
    /// There are at most 1,000,000. Further ones are only counted, in `deliveries`.
    package var undelivered: [UndeliveredRecord] { counter.pointee.undelivered }

    /// The greatest number of a record that a broker has stored, or 0.
    package var lastDelivered: UInt { counter.pointee.lastDelivered }
}

// The transaction calls. Each one drains the log at its end, so `debugLog` is up to date when it returns or throws.
//
// Timeouts are in milliseconds. -1 means twice `transaction.timeout.ms` for `initTransactions` and the remaining time
// of the transaction for the others.
extension KafkaProducer {
    /// Initializes transactions: ends the open transaction of a predecessor and gets a new epoch, which fences the
    /// predecessor.
    ///
    /// `.timedOut` and other retriable errors can be repeated. The call continues where it stopped.
    package func initTransactions(timeoutMilliseconds: Int32) throws(KafkaError) {
        try finishTransactionCall(
            .adopting(handle.call(.initTransactions) { rd_kafka_init_transactions($0, timeoutMilliseconds) }))
    }

    /// Opens a transaction.
    ///
    /// No request is sent.
    package func beginTransaction() throws(KafkaError) {
        try finishTransactionCall(.adopting(handle.call(.beginTransaction) { rd_kafka_begin_transaction($0) }))
    }

    /// Adds the group's new offsets to the transaction.
    ///
    /// They are the offsets of the *next* records.
    ///
    /// After a retriable error, repeat the call with the same arguments. Never commit a transaction for which this call
    /// did not succeed. An empty list succeeds without checking the generation.
    package func sendOffsets(
        _ offsets: [PartitionOffset], _ group: GroupMetadata, timeoutMilliseconds: Int32
    ) throws(KafkaError) {
        let list = PartitionList(offsets)
        try finishTransactionCall(
            .adopting(
                handle.call(.sendOffsets) {
                    rd_kafka_send_offsets_to_transaction($0, list.pointer, group.pointer, timeoutMilliseconds)
                }))
    }

    /// Flushes and commits.
    ///
    /// After a retriable error, repeat the call. No other call is allowed before it succeeds.
    package func commitTransaction(timeoutMilliseconds: Int32) throws(KafkaError) {
        try finishTransactionCall(
            .adopting(handle.call(.commitTransaction) { rd_kafka_commit_transaction($0, timeoutMilliseconds) }))
    }

    /// Purges queued records, which are reported as purged, and aborts.
    ///
    /// After a broker has rejected a record (too large, invalid), librdkafka 2.0.2 continues with that record's
    /// sequence number. The next transaction of this instance fails with an abortable OUT_OF_ORDER_SEQUENCE_NUMBER, and
    /// the one after it succeeds. A new producer avoids this.
    package func abortTransaction(timeoutMilliseconds: Int32) throws(KafkaError) {
        try finishTransactionCall(
            .adopting(handle.call(.abortTransaction) { rd_kafka_abort_transaction($0, timeoutMilliseconds) }))
    }

    /// Ends a transaction call: serves delivery reports and log lines, and throws the error.
    private func finishTransactionCall(_ error: KafkaError?) throws(KafkaError) {
        serve(timeoutMilliseconds: 0)
        if let error { throw error }
    }
}

/// The default partitioner of the Java client for records with a key, named `murmur2_random` in librdkafka.
///
/// All clients that use it put the records of a key in the same partition.
package enum Murmur2 {
    /// Returns the hash of Kafka's `Utils.murmur2` (MurmurHash2, 32 bit, seed 0x9747b28c).
    @inlinable
    package static func hash(_ key: ByteView) -> UInt32 {
        let multiplier: UInt32 = 0x5bd1_e995
        var hash: UInt32 = 0x9747_b28c ^ UInt32(truncatingIfNeeded: key.count)
        let base = UnsafeRawPointer(key.start)
        var index = 0
        while index &+ 4 <= key.count {
            var word = UInt32(littleEndian: (base + index).loadUnaligned(as: UInt32.self))
            word = word &* multiplier
            word ^= word &>> 24
            word = word &* multiplier
            hash = (hash &* multiplier) ^ word
            index &+= 4
        }
        if index < key.count {
            var rest: UInt32 = 0
            var shift: UInt32 = 0
            while index < key.count {
                rest |= UInt32(key.start[index]) &<< shift
                shift &+= 8
                index &+= 1
            }
            hash = (hash ^ rest) &* multiplier
        }
        hash ^= hash &>> 13
        hash = hash &* multiplier
        return hash ^ (hash &>> 15)
    }

    /// Returns the partition of a key among `count` partitions, which must be at least 1.
    @inlinable
    package static func partition(of key: ByteView, among count: Int32) -> Int32 {
        assert(count > 0)
        return Int32(truncatingIfNeeded: (hash(key) & 0x7fff_ffff) % UInt32(truncatingIfNeeded: count))
    }
}
