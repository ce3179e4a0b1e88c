internal import ByteStorage
package import LinkDecider

/// A decider with its arena, used for batch after batch as in a lane of a worker.
package struct RecordLane: ~Copyable {
    private var decider: Decider
    private var arena: OutputArena
    private var decisions: [ProducedDecision] = []
    private var ends: [Int] = []
    private var causes: [DeadLetterCause?] = []
    private let memory: RecordMemory
    /// The number of bytes in the decisions of the last batch.
    package private(set) var bytesWritten = 0
    /// The thread's CPU time of the last batch, in nanoseconds.
    package var nanoseconds: UInt64 { times.reduce(0, +) }
    /// The thread's CPU time of each record of the last batch, in nanoseconds.
    package private(set) var times: [UInt64] = []

    /// Creates a lane.
    ///
    /// - Parameters:
    ///   - environment: The environment of the decider.
    ///   - isPacked: A Boolean value that indicates whether records are surrounded by other bytes, instead of each
    ///     having its own memory.
    package init(_ environment: FuzzEnvironment, isPacked: Bool = false) {
        decider = Decider(environment.configuration)
        memory = RecordMemory(isPacked: isPacked)
        // Small chunks are filled often, as in a busy worker, and keep a lane for one record cheap.
        arena = OutputArena(chunkBytes: 16 << 10)
    }

    /// Processes a batch.
    ///
    /// Results are read after the batch, as in a worker.
    ///
    /// - Parameter body: A function that is called with the index of a record and its result, which is valid during the
    ///   call.
    package mutating func run(
        _ records: some Collection<FuzzRecord>,
        body: (Int, DeadLetterCause?, ArraySlice<ProducedDecision>) -> Void
    ) {
        decisions.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        causes.removeAll(keepingCapacity: true)
        times.removeAll(keepingCapacity: true)
        let consumed = records.map { record in
            ConsumedRecord(
                topic: 0, partition: 0, offset: record.offset, timestamp: FuzzRecord.timestamp,
                key: record.key.map { memory.copy($0) }, value: memory.copy(record.value), index: 0,
                hasHeaders: !record.headers.isEmpty)
        }
        for (source, record) in zip(records, consumed) {
            let start = ThreadClock.nanoseconds()
            causes.append(process(record, source.headers))
            times.append(ThreadClock.nanoseconds() - start)
            ends.append(decisions.count)
        }
        bytesWritten = decisions.reduce(0) { $0 + $1.value.count }
        var first = 0
        for index in ends.indices {
            body(index, causes[index], decisions[first..<ends[index]])
            first = ends[index]
        }
        arena.reset()
        memory.free()
    }

    /// Processes a record as a lane of a worker does.
    private mutating func process(_ record: ConsumedRecord, _ headers: [RecordHeader]) -> DeadLetterCause? {
        let views = headers.map { header in
            HeaderView(name: memory.copy(header.name), value: header.value.map { memory.copy($0) })
        }
        return decider.decide(
            record, headers: views, topicName: ByteView("links"), into: &arena, decisions: &decisions)
    }

    /// Returns the digests of a batch's results.
    package mutating func digests(_ records: some Collection<FuzzRecord>) -> [UInt64] {
        var digests: [UInt64] = []
        digests.reserveCapacity(records.count)
        run(records) { _, cause, decisions in digests.append(Digest.of(cause, decisions)) }
        return digests
    }

    /// Returns the results of a batch.
    package mutating func results(_ records: some Collection<FuzzRecord>) -> [RecordResult] {
        var results: [RecordResult] = []
        run(records) { _, cause, decisions in results.append(RecordResult(cause, decisions)) }
        return results
    }

    /// Returns the result of a record from a fresh processor.
    package static func fresh(
        _ record: FuzzRecord, _ environment: FuzzEnvironment, isPacked: Bool = false
    ) -> RecordResult {
        var lane = RecordLane(environment, isPacked: isPacked)
        return lane.results(CollectionOfOne(record))[0]
    }

    /// Returns the digest of a record's result from a fresh processor.
    package static func freshDigest(_ record: FuzzRecord, _ environment: FuzzEnvironment) -> UInt64 {
        var lane = RecordLane(environment)
        return lane.digests(CollectionOfOne(record))[0]
    }
}
