internal import ByteStorage
internal import DispatchWorker
internal import KafkaClient

/// The names and words of a run that sends records together with entries of a ledger.
struct LedgerSubject {
    /// The action in messages, such as `replaying link-events.dlq`.
    var action: String
    /// The action in the past tense, such as `replayed`.
    var done: String
    /// The promise of a second run, such as `which replays nothing twice`.
    var promise: String
    /// The words for another run that has started.
    var other: String
    /// The advice before that to raise the limit of a topic, or an empty text.
    var sizeAdvice = ""
    /// The transactional id.
    ///
    /// It depends only on what is sent, so two runs fence each other. The ids of workers begin with `linkd.`, so no
    /// group or instance collides with it.
    var transactionalID: String
    /// The topics that are written.
    var topics: [String]
    /// The ledger, which is one of them.
    var ledger: String
    /// The smallest `max.message.bytes` of the topics.
    var messageLimit: Int

    /// The failure of a run that another one has ended.
    var fenced: CommandFailure {
        CommandFailure(.fenced, other, advice: "let it finish, then run the same command again, \(promise)")
    }
}

/// The transactional producer of a run with a ledger.
final class LedgerProducer {
    /// The time limit of a transaction without a property of the user, in milliseconds.
    ///
    /// A run that was killed blocks the readers of its topics for at most this time.
    private static let transactionTimeout = 30_000
    /// The time limits of a commit and of an abort, in milliseconds.
    private static let commitTimeout: Int32 = 30_000
    private static let abortTimeout: Int32 = 5_000

    private let connection: Connection
    private let subject: LedgerSubject
    private let producer: KafkaProducer
    private let timeoutSeconds: Double
    private var topics: [ProducerTopic] = []
    private var partitionCounts: [Int32] = []
    private var began = 0.0
    private var drops = 0
    /// A Boolean value that indicates whether a transaction is open.
    private(set) var isOpen = false

    /// Creates a producer, and ends the transaction of an earlier one.
    init(_ connection: Connection, _ subject: LedgerSubject) throws(CommandFailure) {
        self.connection = connection
        self.subject = subject
        var configuration = connection.configuration(
            .producer,
            [
                "transactional.id": subject.transactionalID, "enable.idempotence": "true",
                "transaction.timeout.ms": "\(Self.transactionTimeout)", "linger.ms": "5",
                "compression.codec": LibraryInfo.hasLZ4 ? "lz4" : "none", "message.max.bytes": "67108864",
                "batch.size": "\(max(1024, min(1_000_000, subject.messageLimit - 1024)))",
                "delivery.report.only.error": "false",
            ])
        // The lines are parsed for the connection to the coordinator.
        configuration["debug"] = [configuration["debug"], "eos"].compactMap(\.self).joined(separator: ",")
        timeoutSeconds = (configuration["transaction.timeout.ms"].flatMap(Double.init) ?? 30_000) / 1000
        producer = try connection.make(configuration) { config throws(ConfigurationError) in try KafkaProducer(config) }
        do throws(KafkaError) {
            try initialize()
            for name in subject.topics {
                let topic = try producer.topic(name)
                topics.append(topic)
                partitionCounts.append(try producer.partitionCount(of: topic, timeoutMilliseconds: 10_000))
            }
        } catch {
            throw failure(error)
        }
    }

    deinit { producer.close() }

    private func initialize() throws(KafkaError) {
        let end = Platform.monotonicSeconds + Double(connection.startTimeout) / 1000
        while true {
            do throws(KafkaError) {
                return try producer.initTransactions(timeoutMilliseconds: 1000)
            } catch {
                guard KafkaErrorClass(error) == .retriable, Platform.monotonicSeconds < end,
                    StopSignals.number == nil
                else { throw error }
            }
        }
    }

    /// A Boolean value that indicates whether the next transaction needs a new producer.
    ///
    /// A commit that was sent again on a new connection could arrive a second time, and end the next transaction of the
    /// same producer too early.
    var isOutdated: Bool { producer.debugLog.coordinatorDrops != drops }

    /// Begins a transaction.
    func begin() throws(KafkaError) {
        drops = producer.debugLog.coordinatorDrops
        began = Platform.monotonicSeconds
        try producer.beginTransaction()
        isOpen = true
    }

    /// The age of the open transaction in seconds.
    var age: Double { Platform.monotonicSeconds - began }

    /// Returns the number of partitions of the topic with an index in the subject's list, at least 1.
    func partitionCount(_ topic: Int) -> Int32 { max(1, partitionCounts[topic]) }

    /// Sends a record to the topic with an index in the subject's list.
    func send(
        _ topic: Int, _ partition: Int32, _ key: ByteView?, _ value: ByteView?, _ headers: [HeaderView],
        timestamp: Int64?
    ) throws(KafkaError) {
        while true {
            do throws(KafkaError) {
                return try producer.produce(
                    topics[topic], partition: partition, key: key, value: value, headers: headers,
                    timestamp: timestamp)
            } catch {
                guard error.code == .queueFull, age < timeoutSeconds else { throw error }
                producer.poll(timeoutMilliseconds: 50)
            }
        }
    }

    /// Sends texts to the topic with an index in the subject's list.
    func send(_ topic: Int, _ partition: Int32, key: String, value: String) throws(KafkaError) {
        let (key, value) = (Array(key.utf8), Array(value.utf8))
        try key.withUnsafeBufferPointer { key throws(KafkaError) in
            try value.withUnsafeBufferPointer { value throws(KafkaError) in
                try send(topic, partition, ByteView(key), ByteView(value), [], timestamp: nil)
            }
        }
    }

    /// Serves the producer for a time.
    func wait(milliseconds: Int32) { producer.poll(timeoutMilliseconds: milliseconds) }

    /// Commits the open transaction.
    func commit() throws(KafkaError) {
        try producer.commitTransaction(timeoutMilliseconds: Self.commitTimeout)
        isOpen = false
    }

    /// Aborts the open transaction.
    ///
    /// If that fails, the next producer or the time limit ends it.
    func abort() {
        guard isOpen else { return }
        isOpen = false
        try? producer.abortTransaction(timeoutMilliseconds: Self.abortTimeout)
    }

    /// Returns the failure if an error is final, or nil if a new producer can continue.
    ///
    /// After the time limit, the coordinator has ended the transaction, which looks like another run.
    func finalFailure(_ error: KafkaError) -> CommandFailure? {
        let errors = [producer.fatalError, error, producer.deliveries.lastError].compactMap(\.self)
        for error in errors {
            switch KafkaErrorClass(error) {
            case .authorization, .authentication, .configuration: return failure(error)
            default: continue
            }
        }
        if let error = producer.deliveries.lastRecordError { return refusal(error) }
        guard errors.contains(where: { KafkaErrorClass($0) == .fenced }), age < timeoutSeconds else { return nil }
        return subject.fenced
    }

    private func refusal(_ error: KafkaError) -> CommandFailure {
        CommandFailure(
            .configuration, "a broker refused a record while \(subject.action) (\(error.name))",
            advice: "\(subject.sizeAdvice)raise `max.message.bytes` of \(subject.topics.joined(separator: ", "))")
    }

    /// Returns the failure for an error of a call.
    private func failure(_ error: KafkaError) -> CommandFailure {
        let operation = subject.action
        switch KafkaErrorClass(error) {
        case .fenced: return subject.fenced
        case .authorization(.transactionalID):
            return CommandFailure(
                error, while: operation, needing: AccessRight("Write", on: .transactionalID, subject.transactionalID),
                as: connection.principal)
        case .authorization(.topic):
            return CommandFailure(
                error, while: operation, needing: AccessRight(["Write"], on: .topic, subject.topics),
                as: connection.principal)
        case .retriable:
            return CommandFailure(
                .unavailable, "\(operation): no response in time (\(error.name))",
                advice: "check that all brokers can be reached and run the same command again")
        default: return CommandFailure(error, while: operation, as: connection.principal)
        }
    }
}
