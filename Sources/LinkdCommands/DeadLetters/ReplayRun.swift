internal import ByteStorage
internal import DispatchWorker
internal import KafkaClient
internal import RouteTools

/// A run that sends the chosen dead letters again, in transactions.
///
/// Each dead letter is sent in one transaction with its entry in the ledger. If the end of a transaction is unknown, no
/// error decides. A new producer ends the transaction, and the ledger then says which dead letters are done.
final class ReplayRun {
    /// The limits of a transaction: dead letters, bytes, and seconds.
    private static let batchLetters = 1_000
    private static let batchBytes = 8 << 20
    private static let batchSeconds = 0.1
    /// The number of new producers after errors, within a time in seconds, beyond which a replay gives up.
    private static let restartLimit = 3
    private static let restartSeconds = 300.0
    /// The time to wait for open transactions of other writers in the ledger, in seconds.
    private static let ledgerSeconds = 60.0

    /// The cause for the end of a pass before all dead letters were read.
    private enum Stop {
        case error(KafkaError)
        case outdated
        case signal
    }

    private let connection: Connection
    private let topics: DeadLetterTopics
    private let targets: ReplayTargets
    private let rate: Int64?
    private let start = Platform.monotonicSeconds
    private var ledger: ReplayLedger
    private var scan: TopicScan
    private var producer: ReplayProducer?
    private var headers = ReplayHeaders()
    /// The indices of the dead letters of the open transaction.
    private var batch: Set<Int> = []
    private var bytes = 0
    private var sent = 0
    private var done = 0
    /// The time at which the last dead letter was due.
    private var due = 0.0
    private var stop: Stop?
    private var restarts: [Double] = []
    private var progress: ProgressLine
    /// The dead letters, with marks on those in the ledger.
    private(set) var plan: ReplayPlan

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - plan: The dead letters.
    ///   - ledger: The ledger as it was read for the plan.
    ///   - rate: The limit of dead letters per second, or nil.
    init(
        _ connection: Connection, _ topics: DeadLetterTopics, _ targets: ReplayTargets, _ plan: ReplayPlan,
        _ ledger: ReplayLedger, rate: Int64?, _ console: Console
    ) throws(CommandFailure) {
        self.connection = connection
        self.topics = topics
        self.targets = targets
        self.plan = plan
        self.ledger = ledger
        self.rate = rate
        scan = try TopicScan(connection)
        progress = ProgressLine(console)
    }

    /// Sends the dead letters until none is left, or a signal arrives.
    func run() throws(CommandFailure) {
        defer { progress.clear() }
        do throws(CommandFailure) {
            try open()
            while plan.leftCount > 0, StopSignals.number == nil {
                try pass()
                switch stop {
                case .error(let error): try recover(error)
                case .outdated: try open()
                case .signal: producer?.abort()
                // The dead letters that were deleted meanwhile are left.
                case nil: return
                }
            }
        } catch {
            producer?.abort()
            throw error
        }
    }

    /// Creates a new producer, which ends the transaction of its predecessor, and reads the ledger to its end.
    private func open() throws(CommandFailure) {
        let last = batch
        batch = []
        bytes = 0
        producer = nil
        producer = try ReplayProducer(connection, deadLetters: topics.deadLetters, targets)
        try awaitLedger()
        try ledger.read(topics.ledger, &scan)
        plan.markDone(in: ledger, batch: last)
        done = plan.letters.count - plan.leftCount
    }

    /// Waits until no transaction is open in the ledger.
    ///
    /// The entries after the start of an open transaction cannot be read.
    private func awaitLedger() throws(CommandFailure) {
        let configuration = connection.configuration(
            .consumer, ["group.id": "linkd-replay", "isolation.level": "read_uncommitted"])
        let reader = try connection.make(configuration) { config throws(ConfigurationError) in try KafkaReader(config) }
        defer { reader.close() }
        let deadline = Platform.monotonicSeconds + Self.ledgerSeconds
        while try hasOpenTransaction(reader) {
            guard Platform.monotonicSeconds < deadline, StopSignals.number == nil else {
                throw CommandFailure(
                    .temporary,
                    "another writer has an open transaction in \(topics.ledger), whose end is not known "
                        + "(`kafka-transactions.sh find-hanging` finds it)",
                    advice: "wait until it has ended, then run the same command again")
            }
            Platform.sleep(milliseconds: 100)
        }
    }

    private func hasOpenTransaction(_ reader: KafkaReader) throws(CommandFailure) -> Bool {
        for (number, end) in try scan.description(of: topics.ledger) {
            let partition = TopicPartition(topic: topics.ledger, partition: number)
            let high = try attempt("reading \(topics.ledger)") { () throws(KafkaError) in
                try reader.watermarks(of: partition, timeoutMilliseconds: 10_000).high
            }
            if high > end.high { return true }
        }
        return false
    }

    /// Continues with a new producer after an error, or throws if that cannot help.
    private func recover(_ error: KafkaError) throws(CommandFailure) {
        if let failure = producer?.finalFailure(error) { throw failure }
        producer?.abort()
        let now = Platform.monotonicSeconds
        restarts = restarts.filter { now - $0 < Self.restartSeconds } + [now]
        guard restarts.count <= Self.restartLimit else {
            throw CommandFailure(
                .temporary, "replaying \(topics.deadLetters) failed repeatedly (\(error.name))",
                advice: "check the brokers, then run the same command again, which replays nothing twice")
        }
        try open()
    }

    /// Reads and sends the dead letters that are left.
    private func pass() throws(CommandFailure) {
        stop = nil
        try scan.start(plan.remaining(of: topics.deadLetters))
        while !scan.isDone, stop == nil {
            _ = try scan.next { record in
                send(record)
                return stop == nil
            }
            if stop == nil, StopSignals.number != nil { stop = .signal }
            if stop == nil, isDue { commit() }
        }
        if stop == nil { commit() }
    }

    private func send(_ record: ScannedRecord) {
        guard let producer, let index = plan.index(partition: record.partition, offset: record.offset),
            !plan.letters[index].isDone, !batch.contains(index), let head = DeadLetterHead(record)
        else { return }
        let letter = plan.letters[index]
        guard letter.position == DeadLetterPosition(record, head) else { return }
        waitForRate()
        if StopSignals.number != nil { stop = .signal }
        guard stop == nil else { return }
        do throws(KafkaError) {
            if !producer.isOpen { try producer.begin() }
            try send(letter, record, head, producer)
        } catch {
            stop = .error(error)
            return
        }
        batch.insert(index)
        sent += 1
        bytes += 512 + (record.key?.count ?? 0) + (record.value?.count ?? 0)
        if batch.count >= Self.batchLetters || bytes >= Self.batchBytes || isDue { commit() }
    }

    private func send(
        _ letter: ReplayPlan.Letter, _ record: ScannedRecord, _ head: DeadLetterHead, _ producer: ReplayProducer
    ) throws(KafkaError) {
        let target: String
        var partition = letter.partition
        var count = head.replayCount
        if letter.isParked {
            target = targets.parking ?? ""
            partition = try producer.park(record)
        } else {
            target = targets.input
            headers.write(head)
            count = ReplayHeaders.count(after: head)
            try producer.replay(record, headers.list, partition: partition)
        }
        let value = ReplayLedger.value(
            of: letter.position, in: topics.deadLetters, to: target, partition, replayCount: count,
            now: Platform.nowMilliseconds)
        try producer.enter(letter.position, value)
    }

    /// A Boolean value that indicates whether the open transaction has reached its age.
    private var isDue: Bool { producer.map { $0.isOpen && $0.age >= Self.batchSeconds } ?? false }

    private func commit() {
        guard let producer, producer.isOpen else { return }
        do throws(KafkaError) {
            try producer.commit()
        } catch {
            stop = .error(error)
            return
        }
        plan.markDone(batch)
        done += batch.count
        batch = []
        bytes = 0
        if producer.isOutdated { stop = .outdated }
        let rate = Int64(Double(sent) / max(0.001, Platform.monotonicSeconds - start))
        progress.show(
            "replayed \(Counts.grouped(Int64(done))) of \(Counts.grouped(Int64(plan.letters.count))), "
                + "\(Counts.grouped(rate)) per second")
    }

    /// Waits until the next dead letter is due, and commits the open transaction when it is.
    ///
    /// A delay is made up for up to the time of one batch, and the dead letters of this time are sent at once.
    private func waitForRate() {
        guard let rate else { return }
        due = max(due + 1 / Double(rate), Platform.monotonicSeconds - Self.batchSeconds)
        while stop == nil, StopSignals.number == nil {
            let delay = due - Platform.monotonicSeconds
            guard delay > 0 else { return }
            if isDue { commit() }
            producer?.wait(milliseconds: Int32(max(1, min(20, delay * 1000))))
        }
    }
}

/// The topics that a replay writes to.
struct ReplayTargets: Equatable {
    var input: String
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
        producer = try connection.make(configuration) { config throws(ConfigurationError) in try KafkaProducer(config) }
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
