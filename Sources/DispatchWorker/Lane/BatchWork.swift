package import ByteStorage
package import KafkaClient
internal import LinkDecider
package import LinkIngest

/// The pace at which a batch reads the clock: after every slow record, and less often while records are fast.
///
/// Reading the clock takes a tenth of the time of a small record.
struct BatchPace {
    /// The maximum number of records between two clock readings.
    private static let maxRecords = 32
    /// The maximum number of bytes between two clock readings.
    ///
    /// A record may take 20 ms per megabyte read and written, so this limit is about a millisecond.
    private static let maxBytes = 64 << 10
    /// The longest time between two clock readings at which records still count as fast.
    private static let nanoseconds: UInt64 = 2_000_000

    private var stride = 1
    private var recordsLeft = 1
    private var bytesLeft = BatchPace.maxBytes
    private var written: Int
    private var last: UInt64

    init(written: Int, now: UInt64) {
        self.written = written
        last = now
    }

    /// Counts a record and returns a Boolean value that indicates whether to read the clock.
    @inline(__always)
    mutating func isDue(read: Int, written now: Int) -> Bool {
        recordsLeft &-= 1
        bytesLeft &-= read &+ (now &- written)
        written = now
        return recordsLeft <= 0 || bytesLeft <= 0
    }

    /// Records that the clock was read, and adjusts the number of records until the next reading.
    @inline(never)
    mutating func clockRead(now: UInt64) {
        stride = now.saturatingSubtract(last) < Self.nanoseconds ? min(stride * 2, Self.maxRecords) : 1
        recordsLeft = stride
        bytesLeft = Self.maxBytes
        last = now
    }
}

/// The hot path of a lane, from consumed records to outputs that wait for the producer.
///
/// The work per record is done on integers and pointers in reused memory. Only dead letters and records with trace
/// headers allocate.
package struct BatchWork<Processing: RecordProcessing & ~Copyable>: ~Copyable {
    /// The processor that resolves records.
    package var processing: Processing
    /// The bytes of the outputs, which stay valid until the transaction has ended.
    package var arena: OutputArena
    /// The outputs that wait for the producer.
    package var outputs = OutputQueues()
    /// The dead-letter topics by the consumer's topic index, with nil for topics that are not open.
    package var deadLetterTopics: [OpenTopic?] = []
    /// The records that were processed since the last end of a transaction.
    package var tally: BatchTally
    /// The dead letters of the last run, or nil if they are not logged.
    package var notes: [(topic: String, partition: Int32, offset: Int64, reason: DeadLetterReason)]?
    /// The time at which the batch was fetched, in milliseconds since 1970, or nil if traces are not logged.
    package var received: Int64?
    /// The isolation of records that end the process, or nil without a state directory.
    var crashes: LaneCrashes?
    private var decisions: [ProducedDecision] = []
    private var headers: [HeaderView] = []
    /// A Boolean value that indicates whether a replay has written the current record, if it has headers.
    private var isReplay = false
    private let limits: Limits
    /// The size of outputs, in bytes, at which a batch is interrupted for a commit.
    private let commitBytes: Int
    private let worker: WorkerIdentity

    /// Creates the hot path of a lane, with a number of output topics.
    package init(processing: consuming Processing, commitBytes: Int, worker: WorkerIdentity, outputs: Int = 1) {
        tally = BatchTally(outputs: outputs)
        limits = processing.limits
        self.processing = processing
        self.commitBytes = commitBytes
        self.worker = worker
        arena = OutputArena(chunkBytes: 1 << 20)
    }

    /// Removes all outputs and resets the arena.
    ///
    /// The transaction must have ended, or its producer must be destroyed, because the producer borrows the bytes of
    /// the outputs.
    package mutating func forgetOutputs() {
        outputs.removeAll()
        arena.reset()
    }

    /// Removes all outputs after the producer has accepted them.
    ///
    /// Their bytes stay valid.
    package mutating func outputsAccepted() { outputs.removeAll() }

    /// Resolves records from `start` on, at most `maxRecords`, until the arena is full or the clock reaches `until`.
    ///
    /// A record whose outputs a broker refuses (`isolation`) becomes a dead letter and is not resolved. At least one
    /// record is processed, so that a late batch still makes progress.
    package mutating func run<Consumer: LaneConsumer>(
        _ consumer: Consumer, from start: Int, maxRecords: Int, until: UInt64, clock: some LaneEnvironment,
        partitions: inout OwnedPartitions, isolation: Isolation
    ) -> BatchResult {
        let records = consumer.records
        let outputLimit = min(limits.decisionBytes, outputs.messageLimit)
        let hasRefused = !isolation.refused.isEmpty
        let journal = crashes?.journal?.page
        let suspects = crashes?.suspects.tried ?? []
        var wallMilliseconds: Int64?
        var result = BatchResult()
        var pace = BatchPace(written: arena.bytesInUse, now: clock.now())
        var index = start
        var seen = start
        var topic: Int32 = -1
        var topicName = ByteView.empty
        while index < records.count && result.records < maxRecords && arena.bytesInUse < commitBytes {
            if index >= seen { seen += processing.lookAhead(records, from: seen) }
            let record = records[index]
            index &+= 1
            guard
                let slot = partitions.admit(
                    topic: record.topic, partition: record.partition, offset: record.offset,
                    record: Int32(truncatingIfNeeded: index &- 1))
            else { continue }
            result.records &+= 1
            if record.topic != topic {
                topic = record.topic
                topicName = consumer.topicNameBytes(at: topic)
                tally.use(topic: topic, name: topicName)
                journal?.use(topic: topicName)
            }
            tally.count(record)
            var cause: DeadLetterCause?
            var attempts = 1
            if hasRefused, isolation.isRefused(partitions.slots[slot].partition, record.offset) {
                (cause, attempts) = (.refusedOutput, isolation.failures + 1)
            } else if !suspects.isEmpty,
                let crash = crashes?.crashLoop(record, consumer, topicName, suspects, processing.knownDevices)
            {
                (cause, attempts) = crash
            } else {
                journal?.begin(partition: record.partition, offset: record.offset)
                cause = resolve(record, consumer, topicName, outputLimit)
                journal?.end()
            }
            if record.hasHeaders, received != nil { sampleTrace(of: record, consumer, topicName, clock) }
            if let found = cause {
                let wall = wallMilliseconds ?? clock.wallMilliseconds()
                wallMilliseconds = wall
                cause = bury(record, consumer, found, attempts, wall, &result)
            }
            result.decisions &+= cause == nil ? decisions.count : 0
            if !(record.hasHeaders && isReplay) { Self.count(cause, record.offset, at: slot, in: &partitions) }
            if pace.isDue(read: record.value?.count ?? 0, written: arena.bytesInUse) {
                let now = clock.now()
                pace.clockRead(now: now)
                if now >= until {
                    result.isLate = true
                    break
                }
            }
        }
        partitions.takeWitnesses(from: records)
        result.messages = index - start
        result.bytes = arena.bytesInUse
        return result
    }

    /// Creates the dead letter of a record or the dead letters of its items, and returns the cause for the limits.
    ///
    /// The cause is nil for a list with an item that is decided.
    @inline(never)
    private mutating func bury<Consumer: LaneConsumer>(
        _ record: ConsumedRecord, _ consumer: Consumer, _ cause: DeadLetterCause, _ attempts: Int,
        _ wallMilliseconds: Int64, _ result: inout BatchResult
    ) -> DeadLetterCause? {
        for cause in cause.all {
            if !deadLetter(record, consumer, cause, attempts, wallMilliseconds) { result.isBroken = true }
            result.deadLetters &+= 1
        }
        return cause.item != nil && !decisions.isEmpty ? nil : cause
    }

    /// Counts a record for the limits on dead letters.
    @inline(__always)
    private static func count(
        _ cause: DeadLetterCause?, _ offset: Int64, at slot: Int, in partitions: inout OwnedPartitions
    ) {
        if let cause {
            partitions.countDeadLetter(cause.reason, offset: offset, at: slot)
        } else {
            partitions.countDecision(at: slot)
        }
    }

    /// Adds the decisions of one record to the queues.
    ///
    /// Returns the cause if the record has no decisions, or the causes of its items without decisions.
    @inline(__always)
    private mutating func resolve<Consumer: LaneConsumer>(
        _ record: ConsumedRecord, _ consumer: Consumer, _ topicName: ByteView, _ outputLimit: Int
    ) -> DeadLetterCause? {
        #if DEBUG
        TestCrash.crash(at: topicName, record)
        #endif
        decisions.removeAll(keepingCapacity: true)
        if !headers.isEmpty { headers.removeAll(keepingCapacity: true) }
        if record.hasHeaders { takeHeaders(of: record.index, consumer) }
        let cause =
            record.hasHeaders
            ? processing.process(
                record, headers: headers, topicName: topicName, into: &arena, decisions: &decisions)
            : processing.process(record, headers: [], topicName: topicName, into: &arena, decisions: &decisions)
        if let cause, cause.item == nil { return cause }
        if record.hasHeaders { keepTraceHeaders() }
        var headerBytes = 0
        for header in headers { headerBytes &+= header.name.count &+ (header.value?.count ?? 0) &+ 10 }
        for decision in decisions {
            let bytes = decision.key.count &+ decision.value.count &+ headerBytes &+ DeadLetterOutput.frameBytes
            if bytes <= outputLimit { continue }
            // Another topic can have a smaller limit.
            let limit = min(limits.decisionBytes, outputs.topics[Int(decision.output)].messageLimit)
            if bytes <= limit { continue }
            processing.withdraw()
            return oversizeOutput(decision, limit)
        }
        let main = outputs.main
        for decision in decisions {
            tally.count(decision)
            let output = decision.output == 0 ? main : outputs.places[Int(decision.output)]
            let run = output.firstRun &+ Int(Murmur2.partition(of: decision.key, among: output.partitions))
            if headers.isEmpty {
                outputs.append(OutboundRecord(key: decision.key, value: decision.value), run: run)
            } else {
                appendWithHeaders(decision, run)
            }
        }
        return cause
    }

    /// Collects the headers of a record.
    @inline(never)
    private mutating func takeHeaders<Consumer: LaneConsumer>(of index: Int32, _ consumer: Consumer) {
        consumer.headerViews(of: index, into: &headers)
        isReplay = DeadLetterHeaders.isReplay(headers)
    }

    /// Keeps the headers that are copied to the outputs.
    ///
    /// W3C Baggage requires that baggage up to 8192 bytes is copied, and W3C Trace Context wants 512 bytes of
    /// `tracestate` copied. Every decision has a copy, so larger headers are left out.
    @inline(never)
    private mutating func keepTraceHeaders() {
        var left = Limits.traceBytes
        headers.removeAll { header in
            guard header.name.equals("traceparent") || header.name.equals("tracestate") || header.name.equals("baggage")
            else { return true }
            let bytes = header.name.count + (header.value?.count ?? 0)
            guard bytes <= left else { return true }
            left -= bytes
            return false
        }
    }

    @inline(never)
    private mutating func appendWithHeaders(_ decision: ProducedDecision, _ run: Int) {
        let start = outputs.headerPool.count
        outputs.headerPool.append(contentsOf: headers)
        outputs.append(
            OutputWithHeaders(
                topic: outputs.topics[Int(decision.output)].handle, partition: outputs.partition(of: run),
                key: decision.key, value: decision.value, headers: start..<outputs.headerPool.count, timestamp: nil,
                run: run, position: outputs.length(of: run)))
    }

    /// Creates a dead letter.
    ///
    /// Returns false if its topic is not open, which is a bug.
    @inline(never)
    private mutating func deadLetter<Consumer: LaneConsumer>(
        _ record: ConsumedRecord, _ consumer: Consumer, _ cause: DeadLetterCause, _ attempts: Int,
        _ wallMilliseconds: Int64
    ) -> Bool {
        tally.countDeadLetter(cause.reason)
        let topicName = consumer.topicNameBytes(at: record.topic)
        notes?.append((topicName.string, record.partition, record.offset, cause.reason))
        guard Int(record.topic) < deadLetterTopics.count, let topic = deadLetterTopics[Int(record.topic)] else {
            return false
        }
        headers.removeAll(keepingCapacity: true)
        if record.hasHeaders {
            consumer.headerViews(of: record.index, into: &headers)
            // The headers of a record that is not resolved have not been read before.
            isReplay = DeadLetterHeaders.isReplay(headers)
        }
        let source = DeadLetterSource(
            record: record, topic: topicName, headers: headers, cause: cause, attempts: attempts,
            hasBrokerTimestamp: consumer.hasBrokerTimestamp(record.index))
        let output = DeadLetterOutput(
            of: source, worker: worker, to: topic, failedAt: wallMilliseconds, arena: &arena)
        let start = outputs.headerPool.count
        outputs.headerPool.append(contentsOf: output.headers)
        outputs.append(
            OutputWithHeaders(
                topic: topic.handle, partition: output.partition, key: output.key, value: output.value,
                headers: start..<outputs.headerPool.count, timestamp: output.timestamp, run: nil, position: 0))
        return true
    }

    private func oversizeOutput(_ decision: ProducedDecision, _ limit: Int) -> DeadLetterCause {
        // A decision begins with its id.
        let rest = decision.value.dropFirst(#"{"decision":""#.utf8.count)
        let id = rest.slice(0, rest.firstIndex(of: UInt8(ascii: "\"")) ?? 0).string
        return DeadLetterCause(
            reason: .oversizeOutput,
            detail: "the decision \(id) of \(decision.value.count) bytes is too long: the limit is \(limit) with key, "
                + "headers, and frame (limits.decision.bytes, the output topic's max.message.bytes)")
    }
}

extension BatchWork where Processing: ~Copyable {
    /// Adds the times of a resolved record to the tally if its trace is sampled.
    @inline(never)
    mutating func sampleTrace<Consumer: LaneConsumer>(
        of record: ConsumedRecord, _ consumer: Consumer, _ topic: ByteView, _ clock: some LaneEnvironment
    ) {
        var headers: [HeaderView] = []
        consumer.headerViews(of: record.index, into: &headers)
        guard let received, let value = headers.first(where: { $0.name.equals("traceparent") })?.value,
            let trace = TraceParent(value), trace.isSampled
        else { return }
        tally.traces.add(
            TraceSample(
                traceID: trace.traceID, topic: topic.string, partition: record.partition, offset: record.offset,
                received: received, resolved: clock.wallMilliseconds()))
    }
}

/// The isolation of records that end the process, as a lane uses it.
struct LaneCrashes {
    /// The journal, or nil if it cannot be written.
    let journal: CrashJournal?
    /// The records that are resolved in a child process first.
    let suspects: CrashSuspects
    /// Resolves a record in a child process.
    let trial: @Sendable (TriedRecord, (any KnownDevices)?) -> CrashTrial

    /// Creates the isolation of a lane.
    init(_ isolation: CrashIsolation, lane: Int) {
        journal = isolation.journal(lane)
        suspects = isolation.suspects
        trial = isolation.trial
    }

    /// Returns the cause and the number of attempts if a record ends a child process, and nil if it is resolved as
    /// usual.
    @inline(never)
    func crashLoop<Consumer: LaneConsumer>(
        _ record: ConsumedRecord, _ consumer: Consumer, _ topic: ByteView, _ suspects: [CrashSuspects.Entry],
        _ devices: (any KnownDevices)?
    ) -> (cause: DeadLetterCause, attempts: Int)? {
        let entry = suspects.first { entry in
            let mark = entry.suspect.mark
            return mark.offset == record.offset && mark.partition == record.partition
                && Array(mark.topic.utf8) == topic.array
        }
        guard let entry else { return nil }
        let trial = entry.trial ?? tried(record, consumer, entry.suspect.mark, devices)
        guard case .crashed(let signal) = trial else { return nil }
        let deaths = entry.suspect.deaths
        let cause = DeadLetterCause(
            reason: .crashLoop,
            detail: "resolving this record has ended the process \(deaths) times, and a child process with signal "
                + "\(signal): report this defect with the record")
        return (cause, deaths + 1)
    }

    /// Resolves a record in a child process and records the result.
    private func tried<Consumer: LaneConsumer>(
        _ record: ConsumedRecord, _ consumer: Consumer, _ mark: CrashMark, _ devices: (any KnownDevices)?
    ) -> CrashTrial {
        var headers: [HeaderView] = []
        if record.hasHeaders { consumer.headerViews(of: record.index, into: &headers) }
        let result = trial(
            TriedRecord(
                mark: mark, timestamp: record.timestamp, key: record.key?.array, value: record.value?.array,
                headers: headers.map(\.copied)), devices)
        suspects.record(result, of: mark)
        return result
    }
}

/// An output with headers, which cannot be part of its partition's run.
package struct OutputWithHeaders {
    /// The producer's handle of the topic.
    package var topic: Int
    package var partition: Int32
    /// The key, or nil for none.
    package var key: ByteView?
    /// The value, or nil for none.
    package var value: ByteView?
    /// The range of its headers in the queue's pool.
    package var headers: Range<Int>
    /// The timestamp, or nil for the current time.
    package var timestamp: Int64?
    /// The run of its partition, or nil for a dead letter.
    package var run: Int?
    /// The number of records of the run that precede it.
    package var position: Int
}

/// The outputs that wait for the producer: one run for each partition of each output topic, and a list of those with
/// headers.
///
/// Only the order inside a partition matters, so each run is produced with one call. Memory is reused.
package struct OutputQueues {
    /// The runs of an output topic, one after the other.
    struct Place {
        /// The number of partitions.
        var partitions: Int32
        /// The run of partition 0.
        var firstRun: Int
    }

    /// The output topics, in the order of `OutputTopics.names`.
    package private(set) var topics = [OpenTopic(handle: 0, partitions: 1, messageLimit: 1 << 20)]
    /// The runs of each topic.
    private(set) var places = [Place(partitions: 1, firstRun: 0)]
    /// The smallest `max.message.bytes` of the topics.
    private(set) var messageLimit = 1 << 20
    private var runs: [[OutboundRecord]] = [[]]
    private var sent: [Int] = [0]
    /// The topic of each run.
    private var owners: [Int] = [0]
    private var outputsWithHeaders: [OutputWithHeaders] = []
    private var sentWithHeaders = 0
    /// The headers of the outputs with headers.
    package var headerPool: [HeaderView] = []
    private var runSent = 0

    /// Sets the output topics.
    ///
    /// The queues must be empty.
    package mutating func use(_ topics: [OpenTopic]) {
        guard !topics.isEmpty else { return }
        assert(runs.allSatisfy(\.isEmpty) && outputsWithHeaders.isEmpty)
        self.topics = topics
        messageLimit = topics.map(\.messageLimit).min() ?? messageLimit
        places.removeAll(keepingCapacity: true)
        owners.removeAll(keepingCapacity: true)
        for (index, topic) in topics.enumerated() {
            places.append(Place(partitions: topic.partitions, firstRun: owners.count))
            owners.append(contentsOf: repeatElement(index, count: Int(topic.partitions)))
        }
        while runs.count < owners.count {
            runs.append([])
            sent.append(0)
        }
    }

    /// The runs of the first topic.
    @inline(__always)
    var main: Place { places[0] }

    /// Appends a record to a run.
    @inline(__always)
    mutating func append(_ record: OutboundRecord, run: Int) { runs[run].append(record) }

    /// Returns the number of waiting records of a run, for `OutputWithHeaders.position`.
    func length(of run: Int) -> Int { runs[run].count }

    /// Returns the partition of a run.
    func partition(of run: Int) -> Int32 { Int32(truncatingIfNeeded: run - places[owners[run]].firstRun) }

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
            if let run = output.run, let error = offerRun(run, upTo: output.position, to: producer) { return error }
            do {
                try producer.produce(
                    topic: output.topic, partition: output.partition, key: output.key, value: output.value,
                    headers: Array(headerPool[output.headers]), timestamp: output.timestamp)
            } catch {
                return error
            }
            sentWithHeaders += 1
        }
        while runSent < owners.count {
            if let error = offerRun(runSent, upTo: runs[runSent].count, to: producer) { return error }
            runSent += 1
        }
        return nil
    }

    private mutating func offerRun<Producer: LaneProducer>(
        _ run: Int, upTo end: Int, to producer: Producer
    ) -> KafkaError? {
        let start = sent[run]
        guard start < end else { return nil }
        let (topic, partition) = (topics[owners[run]].handle, partition(of: run))
        let (accepted, error) = runs[run].withUnsafeBufferPointer { records in
            producer.produce(
                topic: topic, partition: partition, UnsafeBufferPointer(rebasing: records[start..<end]))
        }
        sent[run] = start + accepted
        return error
    }
}
