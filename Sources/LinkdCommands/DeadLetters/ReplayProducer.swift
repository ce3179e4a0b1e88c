internal import ByteStorage
internal import KafkaClient
internal import RouteTools

/// The topics that a replay writes to.
struct ReplayTargets: Equatable {
    /// The input.
    var input: String
    /// The ledger.
    var ledger: String
    /// The topic for dead letters that are not replayed, or nil if none is parked.
    var parking: String?
    /// The smallest `max.message.bytes` of the topics.
    var messageLimit: Int

    /// The names of the topics.
    var names: [String] { [input, ledger] + (parking.map { [$0] } ?? []) }
}

/// The transactional producer of a replay.
///
/// The transactional id depends only on the dead-letter topic, so two replays of a topic always fence each other. The
/// ids of workers begin with `linkd.`, so no group or instance collides with it.
final class ReplayProducer {
    /// The time limit of a transaction without a property of the user, in milliseconds.
    ///
    /// A replay that was killed blocks the readers of the input for at most this time.
    private static let transactionTimeout = 30_000
    /// The time limits of a commit and of an abort, in milliseconds.
    private static let commitTimeout: Int32 = 30_000
    private static let abortTimeout: Int32 = 5_000

    private let connection: Connection
    private let deadLetters: String
    private let targets: ReplayTargets
    private let producer: KafkaProducer
    private let timeoutSeconds: Double
    private var topics: [ProducerTopic] = []
    private var partitionCounts: [Int32] = []
    private var began = 0.0
    private var drops = 0
    /// A Boolean value that indicates whether a transaction is open.
    private(set) var isOpen = false

    /// Creates a producer, and ends the transaction of an earlier one.
    init(_ connection: Connection, deadLetters: String, _ targets: ReplayTargets) throws(CommandFailure) {
        self.connection = connection
        self.deadLetters = deadLetters
        self.targets = targets
        var configuration = connection.configuration(
            .producer,
            [
                "transactional.id": Self.transactionalID(of: deadLetters), "enable.idempotence": "true",
                "transaction.timeout.ms": "\(Self.transactionTimeout)", "linger.ms": "5",
                "compression.codec": LibraryInfo.hasLZ4 ? "lz4" : "none", "message.max.bytes": "67108864",
                "batch.size": "\(max(1024, min(1_000_000, targets.messageLimit - 1024)))",
                "delivery.report.only.error": "false",
            ])
        // The lines are parsed for the connection to the coordinator.
        configuration["debug"] = [configuration["debug"], "eos"].compactMap(\.self).joined(separator: ",")
        timeoutSeconds = (configuration["transaction.timeout.ms"].flatMap(Double.init) ?? 30_000) / 1000
        do {
            producer = try KafkaProducer(configuration)
        } catch {
            throw connection.configurationFailure(error)
        }
        do throws(KafkaError) {
            try initialize()
            for name in targets.names {
                let topic = try producer.topic(name)
                topics.append(topic)
                partitionCounts.append(try producer.partitionCount(of: topic, timeoutMilliseconds: 10_000))
            }
        } catch {
            throw failure(error)
        }
    }

    deinit { producer.close() }

    /// The transactional id of the replays of a dead-letter topic.
    static func transactionalID(of deadLetters: String) -> String { "linkd-replay." + deadLetters }

    private func initialize() throws(KafkaError) {
        let end = Platform.monotonicSeconds + Double(connection.startTimeout) / 1000
        while true {
            do throws(KafkaError) {
                return try producer.initTransactions(timeoutMilliseconds: 1000)
            } catch {
                guard KafkaErrorClass(error) == .retriable, Platform.monotonicSeconds < end,
                    Interruption.signalNumber == nil
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

    /// Sends a dead letter to the input.
    func replay(_ record: ScannedRecord, _ headers: [HeaderView], partition: Int32) throws(KafkaError) {
        try send(0, partition, record.key, record.value, headers, timestamp: nil)
    }

    /// Copies a dead letter to the parking topic, and returns its partition there.
    func park(_ record: ScannedRecord) throws(KafkaError) -> Int32 {
        let partition = record.partition % max(1, partitionCounts[2])
        let timestamp = record.timestamp >= 0 ? record.timestamp : nil
        try send(2, partition, record.key, record.value, record.headers, timestamp: timestamp)
        return partition
    }

    /// Writes an entry of the ledger.
    func enter(_ position: DeadLetterPosition, _ value: String) throws(KafkaError) {
        let key = Array("\(position.partition)-\(position.offset)".utf8)
        let value = Array(value.utf8)
        try key.withUnsafeBufferPointer { key throws(KafkaError) in
            try value.withUnsafeBufferPointer { value throws(KafkaError) in
                let partition = position.partition % max(1, partitionCounts[1])
                try send(1, partition, ByteView(key), ByteView(value), [], timestamp: nil)
            }
        }
    }

    private func send(
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
    /// After the time limit, the coordinator has ended the transaction, which looks like another replay.
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
        return Self.fenced(deadLetters)
    }

    private static func fenced(_ deadLetters: String) -> CommandFailure {
        CommandFailure(
            .fenced, "another replay of \(deadLetters) has started",
            advice: "let it finish, then run the same command again, which replays nothing twice")
    }

    private func refusal(_ error: KafkaError) -> CommandFailure {
        CommandFailure(
            .configuration, "a broker refused a record of the replay (\(error.name))",
            advice: "give this user DescribeConfigs on \(targets.input), so that records that are too large are "
                + "parked, or raise `max.message.bytes` of \(targets.names.joined(separator: ", "))")
    }

    /// Returns the failure for an error of a call.
    private func failure(_ error: KafkaError) -> CommandFailure {
        let operation = "replaying \(deadLetters)"
        switch KafkaErrorClass(error) {
        case .fenced: return Self.fenced(deadLetters)
        case .authorization(.transactionalID):
            let id = Self.transactionalID(of: deadLetters)
            return CommandFailure(
                error, while: operation, needing: AccessRight("Write", on: .transactionalID, id),
                as: connection.principal)
        case .authorization(.topic):
            return CommandFailure(
                error, while: operation, needing: AccessRight(["Write"], on: .topic, targets.names),
                as: connection.principal)
        case .retriable:
            return CommandFailure(
                .unavailable, "\(operation): no response in time (\(error.name))",
                advice: "check that all brokers can be reached and run the same command again")
        default: return CommandFailure(error, while: operation, as: connection.principal)
        }
    }
}
