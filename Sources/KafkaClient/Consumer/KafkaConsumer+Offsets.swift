internal import CRdKafka

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
    /// Polling continues.
    package func pause(_ partitions: [TopicPartition]) throws(KafkaError) -> [PartitionResult] {
        let list = PartitionList(partitions)
        try KafkaError.check(handle.call(.pause) { rd_kafka_pause_partitions($0, list.pointer) })
        return list.results
    }

    /// Resumes fetching of these partitions.
    package func resume(_ partitions: [TopicPartition]) throws(KafkaError) -> [PartitionResult] {
        let list = PartitionList(partitions)
        try KafkaError.check(handle.call(.resume) { rd_kafka_resume_partitions($0, list.pointer) })
        return list.results
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
        // Each commit has a new queue, because the late answer to a commit that timed out must not count as that of
        // this commit.
        guard let answers = CommitQueue(of: handle) else { throw KafkaError(code: .state) }
        try answers.start(offsets)
        let answer = handle.call(.commit) { _ in answers.answer(timeoutMilliseconds: timeoutMilliseconds) }
        guard let answer else { throw KafkaError(code: .timedOut) }
        if let error = answer.error { throw error }
    }

    /// Returns the offsets after the last returned records.
    ///
    /// At the end of a partition they include control records.
    ///
    /// Do not use them for a transaction's offsets, because they include records that were returned and not processed.
    package func position(_ partitions: [TopicPartition]) throws(KafkaError) -> [PartitionResult] {
        let list = PartitionList(partitions)
        try KafkaError.check(handle.callWithoutWaiting { rd_kafka_position($0, list.pointer) })
        return list.results
    }

    /// Fetches the low and high watermarks of a partition from its leader.
    ///
    /// With read_committed, `high` is the last stable offset.
    package func watermarks(
        of partition: TopicPartition, timeoutMilliseconds: Int32
    ) throws(KafkaError) -> Watermarks {
        try handle.watermarks(of: partition, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Returns the watermarks from the last fetch responses without a request, or nil before the first response.
    ///
    /// `high` is the high watermark regardless of the isolation level. A reader of committed records does not reach it
    /// after a transaction, because control records are not returned. `low` may be outdated or -1.
    package func cachedWatermarks(of partition: TopicPartition) -> Watermarks? {
        handle.cachedWatermarks(of: partition)
    }
}
