internal import KafkaClient
internal import LinkIngest
package import ByteStorage

/// The size limits for the records and outputs of a lane.
package struct RecordLimits: Sendable, Equatable {
    /// The maximum size of a value that is parsed, in bytes.
    package var recordBytes = 1 << 20
    /// The maximum size of a decision with its key and headers, in bytes.
    package var decisionBytes = 1_000_000
    /// The size of outputs, in bytes, at which a batch is interrupted for a commit.
    package var commitBytes = 32 << 20

    /// Creates the default limits.
    package init() {}

    /// Creates the limits of a configuration.
    package init(_ configuration: WorkerConfiguration) {
        recordBytes = configuration.recordBytesLimit
        decisionBytes = configuration.decisionBytesLimit
        commitBytes = configuration.commit.bytes
    }
}

/// The pace at which a batch reads the clock: after every record while records are slow, and less often while they are
/// fast.
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
    package var tally = BatchTally()
    /// The dead letters of the last run, or nil if they are not logged.
    package var notes: [(topic: String, partition: Int32, offset: Int64, reason: DeadLetterReason)]?
    /// The time at which the batch was fetched, in milliseconds since 1970, or nil if traces are not logged.
    package var received: Int64?
    /// The isolation of records that end the process, or nil without a state directory.
    var crashes: LaneCrashes?
    private var decisions: [ProducedDecision] = []
    private var headers: [HeaderView] = []
    /// The headers of the current record that determine how its value is read, if it has headers.
    private var envelope = EnvelopeHeaders()
    /// A Boolean value that indicates whether a replay has written the current record, if it has headers.
    private var isReplay = false
    private let limits: RecordLimits
    private let worker: WorkerIdentity

    /// Creates the hot path of a lane.
    package init(processing: consuming Processing, limits: RecordLimits, worker: WorkerIdentity) {
        self.processing = processing
        self.limits = limits
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
        let outputLimit = min(limits.decisionBytes, outputs.topic.messageLimit)
        let hasRefused = !isolation.refused.isEmpty
        let journal = crashes?.journal?.page
        let suspects = crashes?.suspects.tried ?? []
        var wallMilliseconds: Int64?
        var result = BatchResult()
        var pace = BatchPace(written: arena.bytesInUse, now: clock.now())
        var index = start
        var topic: Int32 = -1
        var topicName = ByteView.empty
        while index < records.count && result.records < maxRecords && arena.bytesInUse < limits.commitBytes {
            let record = records[index]
            index &+= 1
            guard
                let slot = partitions.admit(
                    topic: record.topic, partition: record.partition, offset: record.offset)
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
            } else if !suspects.isEmpty, let crash = crashes?.crashLoop(record, consumer, topicName, suspects) {
                (cause, attempts) = crash
            } else {
                journal?.begin(partition: record.partition, offset: record.offset)
                cause = resolve(record, consumer, topicName, outputLimit)
                journal?.end()
            }
            if record.hasHeaders, received != nil { sampleTrace(of: record, consumer, topicName, clock) }
            if let cause {
                let wall = wallMilliseconds ?? clock.wallMilliseconds()
                wallMilliseconds = wall
                if !deadLetter(record, consumer, cause, attempts, wall) { result.isBroken = true }
            }
            result.decisions &+= cause == nil ? decisions.count : 0
            Self.count(cause, record, at: slot, in: &partitions, isReplay: record.hasHeaders && isReplay, &result)
            if pace.isDue(read: record.value?.count ?? 0, written: arena.bytesInUse) {
                let now = clock.now()
                pace.clockRead(now: now)
                if now >= until {
                    result.isLate = true
                    break
                }
            }
        }
        result.messages = index - start
        result.bytes = arena.bytesInUse
        return result
    }

    /// Counts a dead letter, and a record for the limits on dead letters.
    ///
    /// Records that were replayed do not count for the limits.
    @inline(__always)
    private static func count(
        _ cause: DeadLetterCause?, _ record: ConsumedRecord, at slot: Int, in partitions: inout OwnedPartitions,
        isReplay: Bool, _ result: inout BatchResult
    ) {
        if let cause {
            result.countDeadLetter(
                cause.reason, partitions.slots[slot].partition, offset: record.offset, isReplay: isReplay)
        }
        if isReplay {
            result.replays.records &+= 1
        } else {
            let run = partitions.countOutcome(at: slot, isDeadLetter: cause != nil)
            if run > result.longestDeadLetterRun { result.longestDeadLetterRun = run }
        }
    }

    /// Adds the decisions of one record to the queues.
    ///
    /// Returns the cause if the record has no decisions.
    @inline(__always)
    private mutating func resolve<Consumer: LaneConsumer>(
        _ record: ConsumedRecord, _ consumer: Consumer, _ topicName: ByteView, _ outputLimit: Int
    ) -> DeadLetterCause? {
        #if DEBUG
        TestCrash.crash(at: topicName, record)
        #endif
        guard let value = record.value else { return .nullValue }
        if value.count == 0 { return .emptyValue }
        if value.count > limits.recordBytes { return oversizeInput(value.count) }
        decisions.removeAll(keepingCapacity: true)
        if !headers.isEmpty { headers.removeAll(keepingCapacity: true) }
        if record.hasHeaders, let cause = takeHeaders(of: record.index, consumer) { return cause }
        let cause =
            record.hasHeaders && !envelope.isEmpty
            ? processing.process(
                record, headers: envelope, topicName: topicName, into: &arena, decisions: &decisions)
            : processing.process(record, topicName: topicName, into: &arena, decisions: &decisions)
        if let cause { return cause }
        var headerBytes = 0
        for header in headers { headerBytes &+= header.name.count &+ (header.value?.count ?? 0) &+ 10 }
        for decision in decisions
        where decision.key.count &+ decision.value.count &+ headerBytes &+ DeadLetterOutput.frameBytes > outputLimit {
            processing.withdraw()
            return oversizeOutput(decision, outputLimit)
        }
        let count = outputs.topic.partitions
        for decision in decisions {
            tally.count(decision)
            let partition = Murmur2.partition(of: decision.key, among: count)
            if headers.isEmpty {
                outputs.append(OutboundRecord(key: decision.key, value: decision.value), partition: partition)
            } else {
                appendWithHeaders(decision, partition)
            }
        }
        return nil
    }

    /// Collects the headers that are copied to the outputs, and those that determine how the value is read.
    ///
    /// Returns a cause if a header prevents reading the value.
    @inline(never)
    private mutating func takeHeaders<Consumer: LaneConsumer>(
        of index: Int32, _ consumer: Consumer
    ) -> DeadLetterCause? {
        envelope = EnvelopeHeaders()
        consumer.headerViews(of: index, into: &headers)
        isReplay = DeadLetterHeaders.isReplay(headers)
        if let failure = envelope.add(headers) {
            return DeadLetterCause(reason: .encodingUnsupported, detail: failure.detail)
        }
        headers.removeAll {
            !$0.name.equals("traceparent") && !$0.name.equals("tracestate") && !$0.name.equals("baggage")
        }
        return nil
    }

    @inline(never)
    private mutating func appendWithHeaders(_ decision: ProducedDecision, _ partition: Int32) {
        let start = outputs.headerPool.count
        outputs.headerPool.append(contentsOf: headers)
        outputs.append(
            OutputWithHeaders(
                topic: outputs.topic.handle, partition: partition, key: decision.key, value: decision.value,
                headers: start..<outputs.headerPool.count, timestamp: nil, position: outputs.length(of: partition)))
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
                headers: start..<outputs.headerPool.count, timestamp: output.timestamp, position: 0))
        return true
    }

    private func oversizeInput(_ count: Int) -> DeadLetterCause {
        DeadLetterCause(
            reason: .oversizeInput,
            detail: "the value has \(count) bytes, limits.record.bytes is \(limits.recordBytes)")
    }

    private func oversizeOutput(_ decision: ProducedDecision, _ limit: Int) -> DeadLetterCause {
        DeadLetterCause(
            reason: .oversizeOutput,
            detail: "a decision of \(decision.value.count) bytes is too long: the limit is \(limit) with key, headers, "
                + "and frame (limits.decision.bytes, the output topic's max.message.bytes)")
    }
}
