@testable import DispatchWorker
@testable import KafkaClient
import ByteStorage

/// A transactional producer of the simulated broker.
///
/// Like librdkafka, it buffers records, sends some early, and sends the rest with a flush.
final class SimulatedProducer: LaneProducer {
    private let world: SimulatedWorld
    private let life: SimulatedLife
    /// Nil for a producer without transactions, whose records are committed when they arrive.
    private let transactionalID: String?
    private var epoch: Int32 = 0
    private var topics: [String] = []
    private var buffer: [(partition: TopicPartition, entry: SimulatedEntry)] = []
    private(set) var fatalError: KafkaError?
    private(set) var refusal: KafkaError?
    private(set) var coordinatorDrops = 0
    private(set) var isClosed = false
    private var isCommitting = false
    private var isInitialized: Bool
    private var isInTransaction = false
    /// A Boolean value that indicates whether offsets were added to the open transaction.
    private var hasOffsets = false
    /// The call that must be repeated before any other call, or nil.
    private var unfinished: String?
    /// The error with which the open transaction has failed.
    ///
    /// Each call but the abort returns it again.
    private var failure: KafkaError?

    init(_ world: SimulatedWorld, _ life: SimulatedLife, transactionalID: String?) {
        self.world = world
        self.life = life
        self.transactionalID = transactionalID
        isInitialized = transactionalID == nil
    }

    /// Fails the run if a call is not allowed now.
    ///
    /// The library would return an error, but no lane may make such a call.
    private func expect(_ isRight: Bool, _ text: @autoclosure () -> String) {
        if !isRight && !life.isDead && fatalError == nil {
            world.broker.ledger.fail("invalid call of the producer: \(text())")
        }
        if isClosed { world.broker.ledger.fail("call of a closed producer: \(text())") }
    }

    /// Runs a call and records whether it must be repeated.
    private func finish(_ call: String, _ body: () throws(KafkaError) -> Void) throws(KafkaError) {
        expect(unfinished == nil || unfinished == call, "\(call) while \(unfinished ?? "") is not finished")
        do {
            try body()
            unfinished = nil
        } catch {
            unfinished = error.isRetriable && transactionalID != nil ? call : nil
            throw error
        }
    }

    var isFencingUnsupported: Bool { false }

    /// Runs `effect` at the broker, or applies a fault.
    ///
    /// `requests` are those of the call, whose errors and flags are those of the library.
    private func call(
        _ possible: [FaultPlan.Fault], timeout: Int = 1_000, requests: [LibraryErrors.Request] = [],
        _ effect: () -> KafkaErrorCode?
    ) throws(KafkaError) {
        if let fatalError { throw fatalError }
        if life.isDead { throw die() }
        if let failure { throw failure }
        let fault = world.plan.next(possible)
        // A call without a timeout ends with the transaction's timeout.
        let time = timeout < 0 ? 10_000 : timeout
        switch fault {
        case .hang:
            world.broker.advance(milliseconds: time)
            throw KafkaError(code: .timedOut, isRetriable: true)
        case .slow: world.broker.advance(milliseconds: world.plan.number(below: max(1, time)))
        case .crashBefore: throw die()
        case .retryBefore: throw KafkaError(code: .timedOut, isRetriable: true)
        case .abort where !requests.isEmpty: throw failTransaction(requests)
        case .abort: throw KafkaError(code: .requestTimedOut, isAbortable: true)
        case .failBefore: throw KafkaError(code: .transport)
        case .fatalBefore: throw fail(world.plan.error(of: requests, .fatal)?.code ?? .outOfOrderSequence)
        default: break
        }
        if let code = effect() {
            switch code {
            case .fenced: throw fail(.fenced)
            case .invalidTransactionState: throw fail(.invalidTransactionState)
            default:
                let error = KafkaError(code: code, isAbortable: true)
                failure = error
                throw error
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

    /// Delays a copy of the request on a connection that the client has closed.
    private func holdUp() {
        // The log line may be lost. A slow commit leads to the same reaction.
        if isCommitting && world.plan.number(below: 4) == 0 {
            world.broker.advance(milliseconds: 2_001)
        } else {
            coordinatorDrops += 1
        }
        world.broker.late.append(
            SimulatedBroker.LateRequest(
                at: world.broker.now + UInt64(world.plan.number(below: 300)) * 1_000_000,
                transactionalID: transactionalID ?? "", epoch: epoch, isCommit: isCommitting))
    }

    private func failTransaction(_ requests: [LibraryErrors.Request]) -> KafkaError {
        let error = world.plan.error(of: requests, .abortable) ?? KafkaError(code: .requestTimedOut, isAbortable: true)
        failure = error
        return error
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
        try call([.crashBefore, .crashAfter, .retryBefore, .retryAfter, .hang, .slow], timeout: 1_000) {
            epoch = world.broker.initialize(transactionalID ?? "")
            return nil
        }
        isInitialized = true
    }

    func open(_ topic: String, timeoutMilliseconds: Int32) throws(KafkaError) -> (handle: Int, partitions: Int32) {
        expect(isInitialized, "open topics before its transactions are initialized")
        try call([.crashBefore, .retryBefore, .failBefore, .hang]) { nil }
        guard let partitions = world.broker.partitionCounts[topic] else {
            throw KafkaError(code: .unknownTopicOrPartition)
        }
        if !topics.contains(topic) { topics.append(topic) }
        return (topics.firstIndex(of: topic) ?? 0, partitions)
    }

    func begin() throws(KafkaError) {
        expect(isInitialized, "begin before its transactions are initialized")
        expect(!isInTransaction, "begin in a transaction")
        expect(buffer.isEmpty, "begin with records of the transaction before")
        try call([.crashBefore, .retryBefore, .fatalBefore]) { nil }
        isInTransaction = true
        hasOffsets = false
    }

    func produce(
        topic: Int, partition: Int32, _ records: UnsafeBufferPointer<OutboundRecord>
    ) -> (accepted: Int, error: KafkaError?) {
        if life.isDead { return (0, fail(.destroy)) }
        if let fatalError { return (0, fatalError) }
        expect(isInTransaction || transactionalID == nil, "produce outside of a transaction")
        for (index, record) in records.enumerated() {
            if world.plan.happens(oneIn: 40) {
                return (index, KafkaError(code: .queueFull))
            }
            if world.clientRefuses, record.value.string.hasSuffix("poison") {
                return (index, KafkaError(code: .messageTooLarge))
            }
            enqueue(topic, partition, record.key, record.value, [], nil)
        }
        return (records.count, nil)
    }

    func produce(
        topic: Int, partition: Int32, key: ByteView?, value: ByteView?, headers: [HeaderView], timestamp: Int64?
    ) throws(KafkaError) {
        expect(isInTransaction || transactionalID == nil, "produce outside of a transaction")
        try call([.crashBefore, .fatalBefore, .failBefore]) {
            enqueue(topic, partition, key, value, headers.map(\.copied), timestamp)
            return nil
        }
    }

    private func enqueue(
        _ topic: Int, _ partition: Int32, _ key: ByteView?, _ value: ByteView?, _ headers: [RecordHeader],
        _ timestamp: Int64?
    ) {
        expect(topic < topics.count, "produce to a topic that is not open")
        guard topic < topics.count else { return }
        let entry = SimulatedEntry(
            state: transactionalID == nil ? .committed : .open, transactionalID: transactionalID, key: key?.array,
            value: value?.array, headers: headers,
            timestamp: timestamp ?? Int64(world.broker.now / 1_000_000))
        buffer.append((TopicPartition(topic: topics[topic], partition: partition), entry))
    }

    func poll(timeoutMilliseconds: Int32) {
        world.broker.advance(milliseconds: max(1, Int(timeoutMilliseconds) / 10))
        if !life.isDead && world.plan.number(below: 2) == 0 { send(world.plan.number(below: buffer.count + 1)) }
    }

    /// Sends the first waiting records.
    ///
    /// A refused record invalidates the transaction.
    private func send(_ count: Int) {
        for (partition, entry) in buffer.prefix(count) {
            if isPoison(entry) {
                refusal = KafkaError(code: .messageTooLarge, isAbortable: true)
            } else if transactionalID == nil {
                world.broker.append(partition, entry)
            } else if !world.broker.append(transactionalID ?? "", epoch, partition, entry) {
                _ = fail(.fenced)
            }
        }
        buffer.removeFirst(count)
    }

    /// Returns a Boolean value that indicates whether the broker refuses a record.
    ///
    /// It refuses values that end with `poison` or `cursed`. For `cursed`, it also refuses the dead letter until an
    /// operator intervenes.
    private func isPoison(_ entry: SimulatedEntry) -> Bool {
        if entry.headers.isEmpty {
            return ends(entry, "poison") || ends(entry, "cursed")
        }
        return world.refusesCursed && ends(entry, "cursed")
    }

    private func ends(_ entry: SimulatedEntry, _ word: String) -> Bool {
        entry.value?.suffix(word.utf8.count).elementsEqual(word.utf8) ?? false
    }

    func sendOffsets(
        _ offsets: [PartitionOffset], _ group: SimulatedMembership, timeoutMilliseconds: Int32?
    ) throws(KafkaError) {
        expect(isInTransaction, "send offsets outside of a transaction")
        expect(!offsets.isEmpty, "send no offsets")
        try finish("send_offsets") { () throws(KafkaError) in
            try call(
                [
                    .crashBefore, .crashAfter, .retryBefore, .retryAfter, .abort, .fatalBefore, .fatalAfter, .hang,
                    .slow,
                ], timeout: Int(timeoutMilliseconds ?? -1), requests: LibraryErrors.offsetRequests
            ) {
                world.broker.advance(milliseconds: world.plan.happens(oneIn: 20) ? 500 : 2)
                return world.broker.addOffsets(
                    transactionalID ?? "", epoch, offsets, member: group.member, generation: group.generation)
            }
        }
        hasOffsets = true
    }

    func commit(timeoutMilliseconds: Int32?) throws(KafkaError) {
        if life.isDead { throw die() }
        expect(isInTransaction && hasOffsets, "commit a transaction without offsets")
        send(buffer.count)
        if let refusal { throw refusal }
        try finish("commit") { () throws(KafkaError) in
            try call(
                [
                    .crashBefore, .crashAfter, .retryBefore, .retryAfter, .abort, .fatalBefore, .fatalAfter, .late,
                    .late, .late, .hang, .slow,
                ], timeout: Int(timeoutMilliseconds ?? -1), requests: LibraryErrors.commitRequests
            ) { end(isCommit: true) }
        }
        isInTransaction = false
    }

    func abort() throws(KafkaError) {
        if life.isDead { throw die() }
        expect(isInTransaction, "abort outside of a transaction")
        buffer = []
        // An abort ends an unfinished call and a failed transaction.
        if unfinished != "abort" { unfinished = nil }
        failure = nil
        try finish("abort") { () throws(KafkaError) in
            try call(
                [
                    .crashBefore, .crashAfter, .retryBefore, .retryAfter, .fatalBefore, .fatalAfter, .late, .late,
                    .late, .hang,
                ], timeout: 10_000, requests: [.endTransaction]
            ) { end(isCommit: false) }
        }
        isInTransaction = false
    }

    private func end(isCommit: Bool) -> KafkaErrorCode? {
        isCommitting = isCommit
        world.broker.advance(milliseconds: 3)
        return world.broker.endTransaction(transactionalID ?? "", epoch, isCommit: isCommit) ? nil : .fenced
    }

    func flush(timeoutMilliseconds: Int32) throws(KafkaError) -> Int {
        let isHalf = world.plan.happens(oneIn: 4)
        send(isHalf ? buffer.count / 2 : buffer.count)
        var failure: KafkaError?
        do {
            try call(
                [.crashBefore, .crashAfter, .retryBefore, .fatalBefore, .abort, .hang],
                timeout: Int(timeoutMilliseconds)
            ) { nil }
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
