package import KafkaClient
package import ByteStorage

/// A record that cannot go with its partition's run: it has headers.
package struct HeadedOutput {
    /// The producer's number of the topic.
    package var topic: Int
    /// The partition.
    package var partition: Int32
    /// The key, or nil for none.
    package var key: ByteView?
    /// The value, or nil for none.
    package var value: ByteView?
    /// Its headers in the queue's pool.
    package var headers: Range<Int>
    /// Its timestamp, or nil for now.
    package var timestamp: Int64?
    /// How many records of its partition's run stand before it.
    package var position: Int
}

/// Outputs that wait for the producer: a run per partition of the output topic, and those with headers beside.
///
/// Only the order inside a partition means anything, so a run goes out with one call. Memory is kept.
package struct OutputQueues {
    /// The output topic.
    package private(set) var topic = OpenTopic(handle: 0, partitions: 1, messageLimit: 1 << 20)
    private var runs: [[OutboundRecord]] = [[]]
    private var sent: [Int] = [0]
    private var headed: [HeadedOutput] = []
    private var headedSent = 0
    /// Headers of `headed`.
    package var headerPool: [HeaderView] = []
    private var runSent = 0

    /// Makes empty queues.
    package init() {}

    /// Takes over the output topic; the queues must be empty.
    package mutating func use(_ topic: OpenTopic) {
        self.topic = topic
        while runs.count < Int(topic.partitions) {
            runs.append([])
            sent.append(0)
        }
    }

    /// Puts a record at the end of a partition's run.
    @inline(__always)
    package mutating func append(_ record: OutboundRecord, partition: Int32) {
        runs[Int(truncatingIfNeeded: partition)].append(record)
    }

    /// Records of the output topic's run that wait for a partition, for `HeadedOutput.position`.
    package func length(of partition: Int32) -> Int { runs[Int(partition)].count }

    /// Puts a record with headers behind what its partition has waiting.
    package mutating func append(_ output: HeadedOutput) { headed.append(output) }

    /// Forgets everything.
    package mutating func removeAll() {
        for index in runs.indices {
            runs[index].removeAll(keepingCapacity: true)
            sent[index] = 0
        }
        headed.removeAll(keepingCapacity: true)
        headerPool.removeAll(keepingCapacity: true)
        headedSent = 0
        runSent = 0
    }

    /// Offers what waits to a producer, in order; returns the error that stopped it.
    ///
    /// After "queue full" a further call goes on where this one stopped.
    package mutating func offer<Producer: LaneProducer>(to producer: Producer) -> KafkaError? {
        while headedSent < headed.count {
            let output = headed[headedSent]
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
            headedSent += 1
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
