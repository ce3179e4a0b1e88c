package import DispatchWorker
internal import KafkaClient
internal import ByteStorage

/// A processor with its arena, as a lane of a worker keeps them: batch after batch.
package struct RecordLane: ~Copyable {
    private var processor: RecordProcessor
    private var arena: OutputArena
    private var decisions: [ProducedDecision] = []
    private var ends: [Int] = []
    private var causes: [DeadLetterCause?] = []
    private let memory: RecordMemory
    /// Bytes of the decisions of the batch that was processed last.
    package private(set) var bytesWritten = 0
    /// Nanoseconds of this thread's time that the batch before took.
    package private(set) var nanoseconds: UInt64 = 0

    /// Makes a lane.
    ///
    /// - Parameters:
    ///   - world: What it serves.
    ///   - isPacked: A Boolean value that indicates whether records stand in one piece of memory with others' bytes
    ///     around them, and not each alone.
    package init(_ world: World, isPacked: Bool = false) {
        processor = RecordProcessor(tables: world.tables, limits: world.limits, passthrough: world.passthrough)
        memory = RecordMemory(isPacked: isPacked)
        // Small chunks: they are left often, as a busy worker's are, and a lane of one record costs little.
        arena = OutputArena(chunkBytes: 16 << 10)
    }

    /// Processes a batch; its answers are looked at when it is over, as a worker does that sends them.
    ///
    /// - Parameter body: Gets the index of a record and what became of it, which lives as long as the call.
    package mutating func run(
        _ records: some Collection<FuzzRecord>,
        body: (Int, DeadLetterCause?, ArraySlice<ProducedDecision>) -> Void
    ) {
        decisions.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        causes.removeAll(keepingCapacity: true)
        let consumed = records.map { record in
            ConsumedRecord(
                topic: 0, partition: 0, offset: record.offset, timestamp: FuzzRecord.timestamp,
                key: record.key.map { memory.copy($0) }, value: memory.copy(record.value), index: 0, hasHeaders: false)
        }
        let start = ThreadClock.nanoseconds()
        for record in consumed {
            causes.append(
                processor.process(record, topicName: ByteView("links"), into: &arena, decisions: &decisions))
            ends.append(decisions.count)
        }
        nanoseconds = ThreadClock.nanoseconds() - start
        bytesWritten = decisions.reduce(0) { $0 + $1.value.count }
        var first = 0
        for index in ends.indices {
            body(index, causes[index], decisions[first..<ends[index]])
            first = ends[index]
        }
        arena.reset()
        memory.free()
    }

    /// Returns the digests of a batch's answers.
    package mutating func digests(_ records: some Collection<FuzzRecord>) -> [UInt64] {
        var digests: [UInt64] = []
        digests.reserveCapacity(records.count)
        run(records) { _, cause, decisions in digests.append(Digest.of(cause, decisions)) }
        return digests
    }

    /// Returns the answers of a batch.
    package mutating func answers(_ records: some Collection<FuzzRecord>) -> [Answer] {
        var answers: [Answer] = []
        run(records) { _, cause, decisions in answers.append(Answer(cause, decisions)) }
        return answers
    }

    /// Returns what a processor that has seen nothing makes of a record.
    package static func fresh(_ record: FuzzRecord, _ world: World, isPacked: Bool = false) -> Answer {
        var lane = RecordLane(world, isPacked: isPacked)
        return lane.answers(CollectionOfOne(record))[0]
    }

    /// Returns the digest of what a processor that has seen nothing makes of a record.
    package static func freshDigest(_ record: FuzzRecord, _ world: World) -> UInt64 {
        var lane = RecordLane(world)
        return lane.digests(CollectionOfOne(record))[0]
    }
}
