internal import CRdKafka

/// A member of a consumer group: batches of records, rebalances, and offsets.
///
/// All calls come from one thread. The rebalance handler also runs on it, inside `poll` or `close`. librdkafka handles
/// the group protocol on its own threads.
package final class KafkaConsumer: RecordReceiver {
    let context: RebalanceContext
    private var queue: ConsumerQueue?
    /// The partitions that were paused and not resumed.
    var paused: Set<TopicPartition> = []

    /// Creates a consumer, which connects on its own.
    ///
    /// It joins its group with `subscribe`.
    ///
    /// - Parameters:
    ///   - configuration: librdkafka properties, including `group.id`.
    ///   - watch: The watch that lists its calls.
    ///   - rebalance: Receives every rebalance and answers it by assign, unassign, or their incremental forms,
    ///     depending on `isCooperative`. An unanswered rebalance is answered as librdkafka does without a handler.
    package init(
        _ configuration: ClientConfiguration, watch: CallWatch = CallWatch(),
        rebalance: @escaping (KafkaConsumer, RebalanceEvent) -> Void
    ) throws(ConfigurationError) {
        let context = RebalanceContext(configuration)
        let native = try NativeConfiguration(configuration)
        native.setOpaque(Unmanaged.passUnretained(context).toOpaque())
        native.setRebalanceCallback(RebalanceContext.callback)
        let handle = try ClientHandle(.consumer, configuration: native, watch: watch, tokens: configuration.tokens)
        context.handle = handle
        self.context = context
        queue = ConsumerQueue(of: handle)
        super.init(handle)
        let wait = configuration["fetch.wait.max.ms"].flatMap { Int32($0) } ?? 500
        debugLog.maxFetchMilliseconds = Int32(clamping: Int(wait) + 1_000)
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
    /// The call may hang with librdkafka before 2.6.1 (issues 4486, 4362, and 4667), so use a watchdog. Version 2.0.2
    /// never destroys the consumer of a deleted topic. The group has been left then, so that the call leaks the
    /// instance after 2 s and throws an error. The last events of the instance are still available from `takeEvents`.
    package func close() throws(KafkaError) {
        guard handle.isOpen, !leaksInstead() else { return }
        releaseBatch()
        queue = nil
        let code = handle.call(.consumerClose) { rd_kafka_consumer_close($0) }
        serve()
        if !handle.destroy(withinMilliseconds: 2_000) {
            // The instance uses the context.
            _ = Unmanaged.passRetained(self)
            throw KafkaError(code: .timedOut, text: "the member has left the group, but its client does not end")
        }
        try KafkaError.check(code)
    }

    /// Destroys the instance without leaving the group and without a last revocation.
    package func abandon() {
        guard !leaksInstead() else { return }
        releaseBatch()
        queue = nil
        handle.destroy()
    }

    /// Leaks the consumer if it cannot be destroyed, and returns whether it did.
    ///
    /// Before 2.3.0, destroying a cooperative consumer that was never assigned a partition ends the process with a
    /// failed assertion (librdkafka issue 4312). Either the process ends soon, or the group goes on with another member
    /// of the same instance name.
    private func leaksInstead() -> Bool {
        guard isCooperative && !context.wasAssigned && !LibraryInfo.isAtLeast(2, 3, 0) else { return false }
        _ = Unmanaged.passRetained(self)
        return true
    }
}

// Group membership: the assignment and the answers to rebalances.
//
// A rebalance counts as answered when one of the assign functions has succeeded. If the handler's call throws, the
// rebalance is answered as librdkafka does without a handler, so that the group never waits for this member forever.
extension KafkaConsumer {
    /// A Boolean value that indicates whether only partitions that move are revoked and assigned.
    ///
    /// Otherwise each rebalance revokes all partitions and assigns all again.
    package var isCooperative: Bool { context.isCooperative }

    /// Returns the current assignment.
    package func assignment() throws(KafkaError) -> [TopicPartition] { try handle.assignment() }

    /// Assigns exactly these partitions at these offsets.
    package func assign(_ offsets: [PartitionOffset]) throws(KafkaError) {
        endPauses()
        let list = PartitionList(offsets)
        try KafkaError.check(handle.call(.assign) { rd_kafka_assign($0, list.pointer) })
        context.isAnswered = true
    }

    /// Removes the whole assignment.
    package func unassign() throws(KafkaError) {
        endPauses()
        try KafkaError.check(handle.call(.assign) { rd_kafka_assign($0, nil) })
        context.isAnswered = true
    }

    /// Adds these partitions at these offsets to the assignment (cooperative groups).
    package func incrementalAssign(_ offsets: [PartitionOffset]) throws(KafkaError) {
        // A revocation that was answered without this class has kept the pauses.
        endPauses { partition in offsets.contains { $0.partition == partition } }
        let list = PartitionList(offsets)
        try KafkaError.check(handle.call(.incrementalAssign) { rd_kafka_incremental_assign($0, list.pointer) })
        context.isAnswered = true
    }

    /// Removes these partitions from the assignment (cooperative groups).
    package func incrementalUnassign(_ partitions: [TopicPartition]) throws(KafkaError) {
        endPauses(partitions.contains)
        let list = PartitionList(partitions)
        try KafkaError.check(handle.call(.incrementalUnassign) { rd_kafka_incremental_unassign($0, list.pointer) })
        context.isAnswered = true
    }

    /// The id that the group's coordinator gave to this member, or nil before the first answer.
    package var memberID: String? {
        guard handle.isOpen, let native = handle.call(.memberID, { rd_kafka_memberid($0) }) else { return nil }
        defer { handle.callWithoutWaiting { rd_kafka_mem_free($0, native) } }
        return native.pointee == 0 ? nil : String(cString: native)
    }

    /// Returns the group metadata for `KafkaProducer.sendOffsets`, or nil outside of a group.
    package func groupMetadata() -> GroupMetadata? {
        guard let metadata = handle.call(.groupMetadata, { rd_kafka_consumer_group_metadata($0) }) else { return nil }
        return GroupMetadata(adopting: metadata)
    }
}

// Offsets: committed offsets, seeks, pauses, and watermarks.
extension KafkaConsumer {
    /// Fetches the group's committed offsets.
    ///
    /// With `isolation.level=read_committed`, only stable offsets are returned, and the library repeats
    /// UNSTABLE_OFFSET_COMMIT up to the timeout.
    ///
    /// - Returns: One result per partition. A result without offset and error means that nothing is committed.
    package func committed(
        _ partitions: [TopicPartition], timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [PartitionResult] {
        if partitions.isEmpty { return [] }
        let list = PartitionList(partitions)
        let code = handle.call(.committed) { rd_kafka_committed($0, list.pointer, timeoutMilliseconds) }
        try KafkaError.check(code)
        return list.results
    }

    /// The time that a seek may wait for the library's threads, in milliseconds.
    ///
    /// A seek sends no request to a broker.
    private static var seekMilliseconds: Int32 { 10_000 }

    /// Continues at these offsets and drops everything that was fetched before.
    ///
    /// - Returns: One result per partition. A partition with an error was not moved.
    package func seek(_ offsets: [PartitionOffset]) throws(KafkaError) -> [PartitionResult] {
        if offsets.isEmpty { return [] }
        let list = PartitionList(offsets)
        // Before 2.1.0 the timeout was interpreted in microseconds (librdkafka issue 4230).
        let timeout: Int32 = LibraryInfo.isAtLeast(2, 1, 0) ? Self.seekMilliseconds : Self.seekMilliseconds * 1_000
        try KafkaError.check(handle.call(.seek) { rd_kafka_seek_partitions($0, list.pointer, timeout) })
        return list.results
    }

    /// Pauses fetching of these partitions.
    ///
    /// Polling continues. The pause ends with the assignment of the partition.
    package func pause(_ partitions: [TopicPartition]) throws(KafkaError) -> [PartitionResult] {
        let list = PartitionList(partitions)
        try KafkaError.check(handle.call(.pause) { rd_kafka_pause_partitions($0, list.pointer) })
        paused.formUnion(partitions)
        return list.results
    }

    /// Resumes fetching of these partitions.
    package func resume(_ partitions: [TopicPartition]) throws(KafkaError) -> [PartitionResult] {
        let list = PartitionList(partitions)
        try KafkaError.check(handle.call(.resume) { rd_kafka_resume_partitions($0, list.pointer) })
        let results = list.results
        for result in results where result.error == nil { paused.remove(result.partition) }
        return results
    }

    /// Ends the pauses of partitions, by default of all.
    ///
    /// librdkafka keeps the pause of a partition that leaves the assignment. Without this call, it would return paused.
    package func endPauses(_ isLeaving: (TopicPartition) -> Bool = { _ in true }) {
        let leaving = paused.filter(isLeaving)
        guard !leaving.isEmpty else { return }
        let list = PartitionList(Array(leaving))
        // The call fails only for a partition that the client does not know, which is not paused either.
        _ = handle.call(.resume) { rd_kafka_resume_partitions($0, list.pointer) }
        paused.subtract(leaving)
    }

    /// Commits these offsets for the group and waits for the answer up to the timeout.
    ///
    /// This is for the guarantee at-least-once. With exactly-once, the producer sends the offsets (`sendOffsets`).
    ///
    /// `rd_kafka_commit` is not used because it waits as long as the coordinator is unavailable or does not answer.
    ///
    /// - Throws: The error of the commit or of a single partition. After `timedOut` the outcome is unknown, and the
    ///   commit may still take effect.
    package func commit(_ offsets: [PartitionOffset], timeoutMilliseconds: Int32) throws(KafkaError) {
        if offsets.isEmpty { return }
        // Each commit has a new queue, because a late answer to an earlier commit that timed out must not count as the
        // answer to this one.
        guard let answers = CommitQueue(of: handle) else { throw KafkaError(code: .state) }
        try answers.start(offsets)
        let answer = handle.call(.commit) { _ in answers.answer(timeoutMilliseconds: timeoutMilliseconds) }
        guard let answer else { throw KafkaError(code: .timedOut) }
        if let error = answer.error { throw error }
    }

    /// Fetches the low and high watermarks of a partition from its leader.
    ///
    /// With read_committed, `high` is the last stable offset.
    package func watermarks(
        of partition: TopicPartition, timeoutMilliseconds: Int32
    ) throws(KafkaError) -> Watermarks {
        try handle.watermarks(of: partition, timeoutMilliseconds: timeoutMilliseconds)
    }
}
