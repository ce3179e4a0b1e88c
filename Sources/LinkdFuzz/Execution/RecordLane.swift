internal import ByteStorage
package import LinkCoordinator
package import LinkDecider
internal import LinkIngest

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

/// The result of a record, copied so that it outlives the batch.
package struct RecordResult: Sendable, Equatable, CustomStringConvertible {
    /// The key and the decision of a device.
    package struct Decision: Sendable, Equatable {
        /// The key of the decision.
        package let key: [UInt8]
        /// The JSON text of the decision.
        package let value: [UInt8]
        /// The outcome of the decision.
        package let outcome: DecisionSummary.Outcome
    }

    /// The decisions, one per device.
    package let decisions: [Decision]
    /// The cause of the dead letter, or nil.
    package let cause: DeadLetterCause?

    init(_ cause: DeadLetterCause?, _ decisions: ArraySlice<ProducedDecision>) {
        self.cause = cause
        self.decisions = decisions.map {
            Decision(key: $0.key.array, value: $0.value.array, outcome: $0.outcome)
        }
    }

    /// The result in a report: the dead letter with its cause, or the first decisions.
    package var description: String {
        if let cause {
            return "dead letter \(cause.reason.rawValue) at \(cause.pointer ?? "no pointer"): \(cause.detail)"
        }
        return decisions.prefix(20).map {
            String(decoding: $0.key, as: UTF8.self) + "\t" + String(decoding: $0.value.prefix(2_000), as: UTF8.self)
        }.joined(separator: "\n")
    }
}

/// A 64-bit digest of a result.
package struct Digest: Sendable {
    /// The digest of the values added so far.
    package private(set) var value: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// Creates a digest.
    package init() {}

    /// Adds a number.
    package mutating func add(_ number: UInt64) {
        value = (value ^ number) &* 0xBF58_476D_1CE4_E5B9
        value ^= value >> 29
    }

    /// Adds the length and the bytes of a view.
    mutating func add(_ view: ByteView) {
        add(UInt64(truncatingIfNeeded: view.count))
        var index = 0
        while index + 8 <= view.count {
            add(UnsafeRawPointer(view.start + index).loadUnaligned(as: UInt64.self))
            index += 8
        }
        while index < view.count {
            add(UInt64(view.start[index]))
            index += 1
        }
    }

    /// Adds the length and the bytes of an array.
    package mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { add(ByteView($0)) } }

    /// Returns the digest of the result of a record.
    static func of(_ cause: DeadLetterCause?, _ decisions: ArraySlice<ProducedDecision>) -> UInt64 {
        var digest = Digest()
        for cause in cause?.all ?? [] {
            digest.add(Array((cause.reason.rawValue + "\n" + cause.detail + "\n" + (cause.pointer ?? "\n")).utf8))
            digest.add(cause.event ?? [0])
        }
        for decision in decisions {
            digest.add(decision.key)
            digest.add(decision.value)
            digest.add(UInt64(decision.outcome.rawValue))
        }
        return digest.value
    }
}

/// An event reader that explains records, as `linkd resolve --explain` does.
final class IngestReader {
    private var reader: EventReader
    private let memory = RecordMemory(isPacked: false)

    init(_ environment: FuzzEnvironment) {
        reader = EventReader(environment.configuration)
    }

    /// The limit of devices for which a record is explained, because each explanation reads the message again.
    private static let maxExplained = 5

    /// Returns the digest of what a record opens for each device.
    ///
    /// The devices are selected from the last to the first, the opposite of the order of a worker.
    func digest(_ record: FuzzRecord) -> UInt64 {
        defer { memory.free() }
        var digest = Digest()
        let headers = record.headers.map { header in
            HeaderView(name: memory.copy(header.name), value: header.value.map { memory.copy($0) })
        }
        let value = memory.copy(record.value)
        let key = record.key.map { memory.copy($0) }
        guard reader.readInPlace(value: value, key: key, headers: headers) else {
            let failure = reader.failure
            let pointer = failure.pointer(in: value) ?? "none"
            digest.add(Array("\(failure.reason) \(failure.detail) \(failure.offset ?? -1) \(pointer)".utf8))
            return digest.value
        }
        let event = reader.eventPointer
        digest.add(event.pointee.id)
        digest.add(Array("\(reader.envelope) \(reader.cloudEventsMode ?? "")".utf8))
        for index in (0..<event.pointee.deviceCount).reversed() {
            guard reader.selectDevice(at: index) else {
                digest.add(Array("internal".utf8))
                return digest.value
            }
            add(event.pointee.request, to: &digest)
            digest.add(reader.devicePointer.pointee.id)
            digest.add(reader.devicePointer.pointee.context)
            if index < Self.maxExplained, let explanation = reader.explainMessage() {
                digest.add(Array("\(explanation)".utf8))
            }
        }
        return digest.value
    }

    private func add(_ request: RequestView, to digest: inout Digest) {
        digest.add(Array("\(request.form)".utf8))
        digest.add(request.text)
        for opening in [request.tapped, request.found] {
            digest.add(Array("\(opening.kind)".utf8))
            digest.add(opening.link)
        }
        for note in request.notes {
            digest.add(note.code)
            digest.add(note.place)
        }
        for root in request.roots { digest.add(root) }
    }
}
