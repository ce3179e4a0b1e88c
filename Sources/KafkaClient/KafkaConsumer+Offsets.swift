internal import CRdKafka

// Places in partitions: committed offsets, seeks, pauses, watermarks.
extension KafkaConsumer {
    /// The group's committed offsets; with `isolation.level=read_committed` only stable ones (UNSTABLE_OFFSET_COMMIT
    /// is repeated inside, up to the timeout).
    ///
    /// - Returns: One result per partition; no offset and no error means that nothing is committed.
    package func committed(
        _ partitions: [TopicPartition], timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [PartitionResult] {
        if partitions.isEmpty { return [] }
        let list = PartitionList(partitions)
        let code = handle.call(.committed) { rd_kafka_committed($0, list.pointer, timeoutMilliseconds) }
        try KafkaError.check(code)
        return list.results
    }

    /// How long a seek may wait for the library's own threads, in milliseconds; no broker is asked.
    private static var seekMilliseconds: Int32 { 10_000 }

    /// Goes on from these offsets.
    ///
    /// Everything that was fetched before is dropped.
    ///
    /// - Returns: One result per partition; one with an error was not moved.
    package func seek(_ offsets: [PartitionOffset]) throws(KafkaError) -> [PartitionResult] {
        if offsets.isEmpty { return [] }
        let list = PartitionList(offsets)
        // Before 2.1.0 a timeout was taken as microseconds (librdkafka issue 4230).
        let timeout: Int32 = LibraryInfo.isAtLeast(2, 1, 0) ? Self.seekMilliseconds : Self.seekMilliseconds * 1_000
        try KafkaError.check(handle.call(.seek) { rd_kafka_seek_partitions($0, list.pointer, timeout) })
        return list.results
    }

    /// Stops fetching these partitions; polling goes on.
    package func pause(_ partitions: [TopicPartition]) throws(KafkaError) -> [PartitionResult] {
        let list = PartitionList(partitions)
        try KafkaError.check(handle.call(.pause) { rd_kafka_pause_partitions($0, list.pointer) })
        return list.results
    }

    /// Fetches these partitions again.
    package func resume(_ partitions: [TopicPartition]) throws(KafkaError) -> [PartitionResult] {
        let list = PartitionList(partitions)
        try KafkaError.check(handle.call(.resume) { rd_kafka_resume_partitions($0, list.pointer) })
        return list.results
    }

    /// Commits these offsets for the group and waits for the answer up to the timeout (at least once; a transaction's
    /// offsets go with the producer).
    ///
    /// Not `rd_kafka_commit`, which waits as long as the coordinator is away, and as long as it does not answer.
    ///
    /// - Throws: A partition's error, too; `timedOut` says that nobody knows what came of it: the commit may still take
    ///   effect.
    package func commit(_ offsets: [PartitionOffset], timeoutMilliseconds: Int32) throws(KafkaError) {
        if offsets.isEmpty { return }
        // A queue of its own: the answer to a commit that was given up is not taken for this one's.
        guard let answers = CommitQueue(of: handle) else { throw KafkaError(code: .state) }
        try answers.start(offsets)
        let outcome = handle.call(.commit) { _ in answers.answer(timeoutMilliseconds: timeoutMilliseconds) }
        guard let outcome else { throw KafkaError(code: .timedOut) }
        if let error = outcome.error { throw error }
    }

    /// Sends a commit and does not wait; its outcome is asked for by `commitOutcome`.
    ///
    /// At most one should be under way: a later one may overtake an earlier one that is repeated.
    package func startCommit(_ offsets: [PartitionOffset]) throws(KafkaError) {
        try commits?.start(offsets)
    }

    /// The outcome of a commit that was started, or nil while there is none; waits for it up to the timeout.
    package func commitOutcome(timeoutMilliseconds: Int32) -> CommitOutcome? {
        commits?.answer(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Offsets behind the last record that was handed out; past control records at the end of a partition, too.
    ///
    /// Not for a transaction's offsets: it counts records that were handed out and not processed.
    package func position(_ partitions: [TopicPartition]) throws(KafkaError) -> [PartitionResult] {
        let list = PartitionList(partitions)
        try KafkaError.check(handle.quickly { rd_kafka_position($0, list.pointer) })
        return list.results
    }

    /// The two ends of a partition, asked from its leader; `high` is the last stable offset for read_committed.
    package func watermarks(
        of partition: TopicPartition, timeoutMilliseconds: Int32
    ) throws(KafkaError) -> Watermarks {
        try handle.watermarks(of: partition, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// What the last answers to fetches said of a partition's ends; nil before the first one.
    ///
    /// Asks nobody. `high` is the high watermark whatever the isolation level: behind transactions a reader of
    /// committed records never comes to it, since their control records are not handed out. `low` may be old or -1.
    package func cachedWatermarks(of partition: TopicPartition) -> Watermarks? {
        handle.cachedWatermarks(of: partition)
    }
}
