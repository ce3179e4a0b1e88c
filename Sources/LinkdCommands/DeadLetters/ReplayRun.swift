internal import ByteStorage
internal import DispatchWorker
internal import KafkaClient
internal import LinkIngest

/// A run that sends the chosen dead letters again, in transactions.
final class ReplayRun: LedgerWork {
    private let topics: DeadLetterTopics
    private let targets: ReplayTargets
    private var ledger: ReplayLedger
    private var headers = ReplayHeaders()
    private let connection: Connection
    private let rate: Int64?
    private let console: Console
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
    ) {
        self.connection = connection
        self.rate = rate
        self.console = console
        self.topics = topics
        self.targets = targets
        self.plan = plan
        self.ledger = ledger
    }

    /// Sends the dead letters until none is left, or a signal arrives.
    func send() throws(CommandFailure) {
        try LedgerRun(connection, targets.subject(of: topics.deadLetters), self, rate: rate, console).run()
    }

    var count: Int { plan.letters.count }
    var leftCount: Int { plan.leftCount }
    var remaining: ScanPlan { plan.remaining(of: topics.deadLetters) }

    func readLedger(_ scan: inout TopicScan, batch: Set<Int>) throws(CommandFailure) {
        try ledger.read(topics.ledger, &scan)
        plan.markDone(in: ledger, batch: batch)
    }

    func units(of record: ScannedRecord) -> [Int] {
        guard let index = plan.index(partition: record.partition, offset: record.offset), !plan.letters[index].isDone,
            plan.letters[index].position == DeadLetterPosition(record, DeadLetterHead(record))
        else { return [] }
        return [index]
    }

    func add(_ index: Int, of record: ScannedRecord, _ producer: LedgerProducer) throws(KafkaError) -> Int {
        let letter = plan.letters[index]
        // A dead letter that was cut has no item, and is parked as a whole.
        guard let head = DeadLetterHead(record), let message = letter.isParked ? record : record.item(head.item) else {
            return 0
        }
        if !producer.isOpen { try producer.begin() }
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
            try producer.send(0, partition, record.key, message.value, headers.list, timestamp: nil)
        }
        let value = ReplayLedger.value(
            of: letter.position, in: topics.deadLetters, to: target, partition, replayCount: count,
            now: Platform.nowMilliseconds)
        try producer.enter(letter.position, value)
        return 512 + (record.key?.count ?? 0) + (record.value?.count ?? 0)
    }

    func finish(_ batch: Set<Int>, _ producer: LedgerProducer) -> Set<Int> { batch }

    func markDone(_ batch: Set<Int>) { plan.markDone(batch) }
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

    /// Returns the names and words of a replay.
    func subject(of deadLetters: String) -> LedgerSubject {
        LedgerSubject(
            action: "replaying \(deadLetters)", done: "replayed", promise: "which replays nothing twice",
            other: "another replay of \(deadLetters) has started",
            sizeAdvice:
                "give this user DescribeConfigs on \(input), so that records that are too large are parked, or ",
            transactionalID: "linkd-replay." + deadLetters, topics: names, ledger: ledger, messageLimit: messageLimit)
    }
}

extension LedgerProducer {
    /// Copies a dead letter to the parking topic, and returns its partition there.
    fileprivate func park(_ record: ScannedRecord) throws(KafkaError) -> Int32 {
        let partition = record.partition % partitionCount(2)
        let timestamp = record.timestamp >= 0 ? record.timestamp : nil
        try send(2, partition, record.key, record.value, record.headers, timestamp: timestamp)
        return partition
    }

    /// Writes an entry of the ledger.
    fileprivate func enter(_ position: DeadLetterPosition, _ value: String) throws(KafkaError) {
        try send(
            1, position.partition % partitionCount(1), key: "\(position.partition)-\(position.offset)", value: value)
    }
}

/// The headers of a replayed record: the headers of the original record, and two by which the worker counts replays.
struct ReplayHeaders: ~Copyable {
    /// The limit of the bytes of the two headers.
    static let limit = 640
    /// The limit of `dlq.origin` in bytes, at which a worker cuts it.
    private static let originLimit = 512

    private var arena = OutputArena(chunkBytes: 4096)
    /// The headers of the last record, which end with the next one.
    private(set) var list: [HeaderView] = []

    /// Writes the headers of a dead letter's replay.
    mutating func write(_ head: DeadLetterHead) {
        list.removeAll(keepingCapacity: true)
        arena.reset()
        for header in head.original where !DeadLetterHeaders.isWorkerHeader(header.name) { list.append(header) }
        if head.item != nil { list = RecordBatch.headers(list) }
        arena.begin()
        arena.append(decimal: Self.count(after: head))
        list.append(HeaderView(name: ByteView("dlq.replay.count"), value: arena.finish()))
        arena.begin()
        appendOrigin(head)
        list.append(HeaderView(name: ByteView("dlq.origin"), value: arena.finish()))
    }

    /// Returns the number of replays after the next one.
    static func count(after head: DeadLetterHead) -> Int64 { min(head.replayCount, .max - 1) + 1 }

    /// Appends the position at which the record, or the item, first became a dead letter.
    private mutating func appendOrigin(_ head: DeadLetterHead) {
        if let origin = head.origin { return arena.append(origin.slice(0, min(origin.count, Self.originLimit))) }
        guard let topic = head.sourceTopic, let partition = head.sourcePartition, let offset = head.sourceOffset
        else { return }
        arena.append(topic)
        arena.append("-")
        arena.append(decimal: Int64(partition))
        arena.append("-")
        arena.append(decimal: offset)
        guard let item = head.item else { return }
        arena.append(".")
        arena.append(decimal: Int64(item))
    }
}
