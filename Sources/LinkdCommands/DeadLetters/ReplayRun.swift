internal import ByteStorage
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
    /// The dead letters, of which those in the ledger are marked.
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
            while plan.leftCount > 0, Interruption.signalNumber == nil {
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
        let reader: KafkaReader
        do {
            reader = try KafkaReader(
                connection.configuration(
                    .consumer, ["group.id": "linkd-replay", "isolation.level": "read_uncommitted"]))
        } catch {
            throw connection.configurationFailure(error)
        }
        defer { reader.close() }
        let deadline = Platform.monotonicSeconds + Self.ledgerSeconds
        while try hasOpenTransaction(reader) {
            guard Platform.monotonicSeconds < deadline, Interruption.signalNumber == nil else {
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
            do throws(KafkaError) {
                if try reader.watermarks(of: partition, timeoutMilliseconds: 10_000).high > end.high { return true }
            } catch {
                throw CommandFailure(error, while: "reading \(topics.ledger)")
            }
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
            if stop == nil, Interruption.signalNumber != nil { stop = .signal }
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
        if Interruption.signalNumber != nil { stop = .signal }
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
    /// After a delay, dead letters of at most a batch's time are sent at once.
    private func waitForRate() {
        guard let rate else { return }
        due = max(due + 1 / Double(rate), Platform.monotonicSeconds - Self.batchSeconds)
        while stop == nil, Interruption.signalNumber == nil {
            let delay = due - Platform.monotonicSeconds
            guard delay > 0 else { return }
            if isDue { commit() }
            producer?.wait(milliseconds: Int32(max(1, min(20, delay * 1000))))
        }
    }
}
