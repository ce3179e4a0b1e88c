import DispatchWorker
import KafkaClient
import StrictJSON

/// A transactional producer on the simulated broker: buffers like librdkafka, sends some early, the rest with a flush.
final class SimulatedProducer: LaneProducer {
    private let world: SimulatedWorld
    private let life: SimulatedLife
    /// Nil: records count as soon as they arrive.
    private let transactionalID: String?
    private var epoch: Int32 = 0
    private var topics: [String] = []
    private var buffer: [(partition: TopicPartition, entry: SimulatedEntry)] = []
    private(set) var fatalError: KafkaError?
    private(set) var refusal: KafkaError?
    private(set) var coordinatorDrops = 0
    private(set) var isClosed = false
    private var isCommitting = false

    init(_ world: SimulatedWorld, _ life: SimulatedLife, transactionalID: String?) {
        self.world = world
        self.life = life
        self.transactionalID = transactionalID
    }

    var lacksFencing: Bool { false }

    /// Runs `effect` at the broker, or something of what may go wrong on the way.
    private func call(
        _ possible: [FaultPlan.Fault], _ effect: () -> KafkaErrorCode?
    ) throws(KafkaError) {
        if let fatalError { throw fatalError }
        if life.isDead { throw die() }
        let fault = world.plan.next(possible)
        switch fault {
        case .crashBefore: throw die()
        case .retryBefore: throw KafkaError(code: .timedOut, isRetriable: true)
        case .abort: throw KafkaError(code: .requestTimedOut, isAbortable: true)
        case .fatalBefore: throw fail(.outOfOrderSequence)
        default: break
        }
        if let code = effect() {
            switch code {
            case .fenced: throw fail(.fenced)
            case .invalidTransactionState: throw fail(.invalidTransactionState)
            default: throw KafkaError(code: code, isAbortable: true)
            }
        }
        switch fault {
        case .crashAfter: throw die()
        case .retryAfter: throw KafkaError(code: .timedOut, isRetriable: true)
        case .fatalAfter: throw fail(.invalidTransactionState)
        case .late: holdUp()
        default: break
        }
    }

    /// A copy of the request is held up on a connection that the client has given up.
    private func holdUp() {
        coordinatorDrops += 1
        world.broker.late.append(
            SimulatedBroker.LateRequest(
                at: world.broker.now + UInt64(world.plan.number(below: 300)) * 1_000_000,
                transactionalID: transactionalID ?? "", epoch: epoch, isCommit: isCommitting))
    }

    private func die() -> KafkaError {
        life.isDead = true
        return fail(.destroy)
    }

    private func fail(_ code: KafkaErrorCode) -> KafkaError {
        let error = KafkaError(code: code, isFatal: true)
        fatalError = error
        return error
    }

    func initTransactions(timeoutMilliseconds: Int32) throws(KafkaError) {
        try call([.crashBefore, .crashAfter, .retryBefore, .retryAfter]) {
            epoch = world.broker.initialize(transactionalID ?? "")
            return nil
        }
    }

    func open(_ topic: String, timeoutMilliseconds: Int32) throws(KafkaError) -> (handle: Int, partitions: Int32) {
        try call([.crashBefore, .retryBefore]) { nil }
        guard let partitions = world.broker.partitionCounts[topic] else {
            throw KafkaError(code: .unknownTopicOrPartition)
        }
        if !topics.contains(topic) { topics.append(topic) }
        return (topics.firstIndex(of: topic) ?? 0, partitions)
    }

    func begin() throws(KafkaError) {
        try call([.crashBefore]) { nil }
        precondition(buffer.isEmpty, "a transaction begins with records of the one before")
    }

    func produce(
        topic: Int, partition: Int32, _ records: UnsafeBufferPointer<OutboundRecord>
    ) -> (accepted: Int, error: KafkaError?) {
        if life.isDead { return (0, fail(.destroy)) }
        if let fatalError { return (0, fatalError) }
        for (index, record) in records.enumerated() {
            if world.plan.oneIn > 0 && world.plan.number(below: 40) == 0 {
                return (index, KafkaError(code: .queueFull))
            }
            take(topic, partition, record.key, record.value, [], nil)
        }
        return (records.count, nil)
    }

    func produce(
        topic: Int, partition: Int32, key: ByteView?, value: ByteView?, headers: [HeaderView], timestamp: Int64?
    ) throws(KafkaError) {
        try call([.crashBefore, .fatalBefore]) {
            take(topic, partition, key, value, headers.map(\.copied), timestamp)
            return nil
        }
    }

    private func take(
        _ topic: Int, _ partition: Int32, _ key: ByteView?, _ value: ByteView?, _ headers: [RecordHeader],
        _ timestamp: Int64?
    ) {
        let entry = SimulatedEntry(
            state: transactionalID == nil ? .committed : .open, transactionalID: transactionalID, key: key?.array,
            value: value?.array, headers: headers,
            timestamp: timestamp ?? Int64(world.broker.now / 1_000_000))
        buffer.append((TopicPartition(topic: topics[topic], partition: partition), entry))
    }

    func poll(timeoutMilliseconds: Int32) {
        world.broker.advance(milliseconds: 1)
        if !life.isDead && world.plan.number(below: 2) == 0 { send(world.plan.number(below: buffer.count + 1)) }
    }

    /// Sends the first records that wait; a poisonous one is refused, which spoils the transaction.
    private func send(_ count: Int) {
        for (partition, entry) in buffer.prefix(count) {
            // Only decisions: a dead letter of the same record has headers and another topic.
            if entry.headers.isEmpty, let value = entry.value,
                String(decoding: value, as: UTF8.self).contains(" poison")
            {
                refusal = KafkaError(code: .messageTooLarge, isAbortable: true)
            } else if transactionalID == nil {
                world.broker.logs[partition]?.entries.append(entry)
            } else if !world.broker.append(transactionalID ?? "", epoch, partition, entry) {
                _ = fail(.fenced)
            }
        }
        buffer.removeFirst(count)
    }

    func sendOffsets(
        _ offsets: [PartitionOffset], _ group: SimulatedPlace, timeoutMilliseconds: Int32
    ) throws(KafkaError) {
        try call([.crashBefore, .crashAfter, .retryBefore, .retryAfter, .abort, .fatalBefore, .fatalAfter]) {
            world.broker.advance(milliseconds: world.plan.number(below: 20) == 0 ? 500 : 2)
            return world.broker.addOffsets(
                transactionalID ?? "", epoch, offsets, member: group.member, generation: group.generation)
        }
    }

    func commit(timeoutMilliseconds: Int32) throws(KafkaError) {
        if life.isDead { throw die() }
        send(buffer.count)
        if let refusal { throw refusal }
        try call(
            [
                .crashBefore, .crashAfter, .retryBefore, .retryAfter, .abort, .fatalBefore, .fatalAfter, .late, .late,
                .late,
            ]
        ) { end(isCommit: true) }
    }

    func abort() throws(KafkaError) {
        if life.isDead { throw die() }
        buffer = []
        try call([.crashBefore, .crashAfter, .retryBefore, .retryAfter, .fatalBefore, .fatalAfter, .late, .late, .late])
        {
            end(isCommit: false)
        }
    }

    private func end(isCommit: Bool) -> KafkaErrorCode? {
        isCommitting = isCommit
        world.broker.advance(milliseconds: 3)
        return world.broker.endTransaction(transactionalID ?? "", epoch, isCommit: isCommit) ? nil : .fenced
    }

    func flush(timeoutMilliseconds: Int32) throws(KafkaError) -> Int {
        let isHalf = world.plan.oneIn > 0 && world.plan.number(below: 4) == 0
        send(isHalf ? buffer.count / 2 : buffer.count)
        var failure: KafkaError?
        do {
            try call([.crashBefore, .crashAfter, .retryBefore, .fatalBefore, .abort]) { nil }
        } catch {
            failure = error
        }
        if let failure {
            if failure.isRetriable || failure.isFatal { throw failure }
            refusal = failure
        }
        return buffer.count
    }

    var deliveryError: KafkaError? { refusal }

    func forgetErrors() { refusal = nil }

    func takeEvents() -> [ClientEvent] { [] }

    func close() { isClosed = true }
}
