package import KafkaClient
package import ByteStorage

/// An output with headers, which cannot be part of its partition's run.
package struct OutputWithHeaders {
    /// The producer's handle of the topic.
    package var topic: Int
    /// The partition.
    package var partition: Int32
    /// The key, or nil for none.
    package var key: ByteView?
    /// The value, or nil for none.
    package var value: ByteView?
    /// The range of its headers in the queue's pool.
    package var headers: Range<Int>
    /// The timestamp, or nil for the current time.
    package var timestamp: Int64?
    /// The number of records of its partition's run that precede it.
    package var position: Int
}

/// The outputs that wait for the producer: one run for each partition of the output topic, and a list of those with
/// headers.
///
/// Only the order inside a partition matters, so each run is produced with one call. Memory is reused.
package struct OutputQueues {
    /// The output topic.
    package private(set) var topic = OpenTopic(handle: 0, partitions: 1, messageLimit: 1 << 20)
    private var runs: [[OutboundRecord]] = [[]]
    private var sent: [Int] = [0]
    private var outputsWithHeaders: [OutputWithHeaders] = []
    private var sentWithHeaders = 0
    /// The headers of the outputs with headers.
    package var headerPool: [HeaderView] = []
    private var runSent = 0

    /// Creates empty queues.
    package init() {}

    /// Sets the output topic.
    ///
    /// The queues must be empty.
    package mutating func use(_ topic: OpenTopic) {
        self.topic = topic
        while runs.count < Int(topic.partitions) {
            runs.append([])
            sent.append(0)
        }
    }

    /// Appends a record to a partition's run.
    @inline(__always)
    package mutating func append(_ record: OutboundRecord, partition: Int32) {
        runs[Int(truncatingIfNeeded: partition)].append(record)
    }

    /// Returns the number of waiting records of a partition's run, for `OutputWithHeaders.position`.
    package func length(of partition: Int32) -> Int { runs[Int(partition)].count }

    /// Appends a record with headers after the waiting records of its partition.
    package mutating func append(_ output: OutputWithHeaders) { outputsWithHeaders.append(output) }

    /// Removes all outputs.
    package mutating func removeAll() {
        for index in runs.indices {
            runs[index].removeAll(keepingCapacity: true)
            sent[index] = 0
        }
        outputsWithHeaders.removeAll(keepingCapacity: true)
        headerPool.removeAll(keepingCapacity: true)
        sentWithHeaders = 0
        runSent = 0
    }

    /// Produces the waiting outputs in order.
    ///
    /// Returns the error that stopped producing, or nil.
    ///
    /// After a full queue, the next call continues at the output that failed.
    package mutating func offer<Producer: LaneProducer>(to producer: Producer) -> KafkaError? {
        while sentWithHeaders < outputsWithHeaders.count {
            let output = outputsWithHeaders[sentWithHeaders]
            if output.topic == topic.handle,
                let error = offerRun(Int(output.partition), upTo: output.position, to: producer)
            {
                return error
            }
            do {
                try producer.produce(
                    topic: output.topic, partition: output.partition, key: output.key, value: output.value,
                    headers: Array(headerPool[output.headers]), timestamp: output.timestamp)
            } catch {
                return error
            }
            sentWithHeaders += 1
        }
        while runSent < runs.count {
            if let error = offerRun(runSent, upTo: runs[runSent].count, to: producer) { return error }
            runSent += 1
        }
        return nil
    }

    private mutating func offerRun<Producer: LaneProducer>(
        _ partition: Int, upTo end: Int, to producer: Producer
    ) -> KafkaError? {
        let start = sent[partition]
        guard start < end else { return nil }
        let (accepted, error) = runs[partition].withUnsafeBufferPointer { run in
            producer.produce(
                topic: topic.handle, partition: Int32(truncatingIfNeeded: partition),
                UnsafeBufferPointer(rebasing: run[start..<end]))
        }
        sent[partition] = start + accepted
        return error
    }
}
