internal import DispatchWorker
internal import KafkaClient
internal import RouteTools

/// Work that is sent in transactions with a ledger: units, which have indices, made of records that are read.
protocol LedgerWork: AnyObject {
    /// The number of units.
    var count: Int { get }
    /// The number of units that are left.
    var leftCount: Int { get }
    /// The ranges of the records of the units that are left.
    var remaining: ScanPlan { get }

    /// Reads the ledger to its end, and marks the units that it has.
    ///
    /// - Parameter batch: The indices of the last transaction, if its end is unknown.
    func readLedger(_ scan: inout TopicScan, batch: Set<Int>) throws(CommandFailure)

    /// Returns the indices of the units of a record that are left.
    func units(of record: ScannedRecord) throws(CommandFailure) -> [Int]

    /// Adds a unit to the batch, and returns its size in bytes, or 0 if it is left alone.
    func add(_ index: Int, of record: ScannedRecord, _ producer: LedgerProducer) throws(KafkaError) -> Int

    /// Makes the batch complete before its transaction is committed, and returns the indices of its units.
    func finish(_ batch: Set<Int>, _ producer: LedgerProducer) throws(LedgerStop) -> Set<Int>

    /// Marks the units of a transaction that is committed.
    func markDone(_ batch: Set<Int>)
}

/// The cause for the end of a pass before all records were read.
enum LedgerStop: Error {
    case error(KafkaError)
    case failure(CommandFailure)
    /// The next transaction needs a new producer.
    case outdated
    case signal
}

/// A run that sends units in transactions.
///
/// Each unit is sent in one transaction with its entry in the ledger. If the end of a transaction is unknown, no error
/// decides. A new producer ends the transaction, and the ledger then says which units are done.
final class LedgerRun {
    /// The limits of a transaction: units, bytes, and seconds.
    private static let batchUnits = 1_000
    private static let batchBytes = 8 << 20
    private static let batchSeconds = 0.1
    /// The number of new producers after errors, within a time in seconds, beyond which a run gives up.
    private static let restartLimit = 3
    private static let restartSeconds = 300.0
    /// The time to wait for open transactions of other writers in the ledger, in seconds.
    private static let ledgerSeconds = 60.0

    private let connection: Connection
    private let subject: LedgerSubject
    private let work: any LedgerWork
    private let rate: Int64?
    private let start = Platform.monotonicSeconds
    private var scan: TopicScan
    private var producer: LedgerProducer?
    /// The indices of the units of the open transaction.
    private var batch: Set<Int> = []
    private var bytes = 0
    /// The time at which the batch got its first unit.
    private var began = 0.0
    private var sent = 0
    private var done = 0
    /// The time at which the last unit was due.
    private var due = 0.0
    private var stop: LedgerStop?
    private var restarts: [Double] = []
    private var progress: ProgressLine

    /// Creates a run.
    ///
    /// - Parameter rate: The limit of units per second, or nil.
    init(
        _ connection: Connection, _ subject: LedgerSubject, _ work: any LedgerWork, rate: Int64?, _ console: Console
    ) throws(CommandFailure) {
        self.connection = connection
        self.subject = subject
        self.work = work
        self.rate = rate
        scan = try TopicScan(connection, prefetch: .moderate)
        progress = ProgressLine(console)
    }

    /// Sends the units until none is left, or a signal arrives.
    func run() throws(CommandFailure) {
        defer { progress.clear() }
        do throws(CommandFailure) {
            try open()
            while work.leftCount > 0, StopSignals.number == nil {
                try pass()
                switch stop {
                case .error(let error): try recover(error)
                case .failure(let failure): throw failure
                case .outdated: try open()
                case .signal: producer?.abort()
                // The units whose records were deleted meanwhile are left.
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
        producer = try LedgerProducer(connection, subject)
        try awaitLedger()
        try work.readLedger(&scan, batch: last)
        done = work.count - work.leftCount
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
                    "another writer has an open transaction in \(subject.ledger), whose end is not known "
                        + "(`kafka-transactions.sh find-hanging` finds it)",
                    advice: "wait until it has ended, then run the same command again")
            }
            Platform.sleep(milliseconds: 100)
        }
    }

    private func hasOpenTransaction(_ reader: KafkaReader) throws(CommandFailure) -> Bool {
        for (number, end) in try scan.description(of: subject.ledger) {
            let partition = TopicPartition(topic: subject.ledger, partition: number)
            let high = try attempt("reading \(subject.ledger)") { () throws(KafkaError) in
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
                .temporary, "\(subject.action) failed repeatedly (\(error.name))",
                advice: "check the brokers, then run the same command again, \(subject.promise)")
        }
        try open()
    }

    /// Reads and sends the units that are left.
    private func pass() throws(CommandFailure) {
        stop = nil
        try scan.start(work.remaining)
        while !scan.isDone, stop == nil {
            _ = try scan.next { record throws(CommandFailure) in
                try send(record)
                return stop == nil
            }
            if stop == nil, StopSignals.number != nil { stop = .signal }
            if stop == nil, isDue { commit() }
        }
        if stop == nil { commit() }
    }

    private func send(_ record: ScannedRecord) throws(CommandFailure) {
        guard let producer else { return }
        for index in try work.units(of: record) where !batch.contains(index) {
            waitForRate()
            if StopSignals.number != nil { stop = .signal }
            guard stop == nil else { return }
            do throws(KafkaError) {
                let added = try work.add(index, of: record, producer)
                if added == 0 { continue }
                bytes += added
            } catch {
                stop = .error(error)
                return
            }
            if batch.isEmpty { began = Platform.monotonicSeconds }
            batch.insert(index)
            sent += 1
            if batch.count >= Self.batchUnits || bytes >= Self.batchBytes || isDue { commit() }
            guard stop == nil else { return }
        }
    }

    /// A Boolean value that indicates whether the batch has reached its age.
    private var isDue: Bool { !batch.isEmpty && Platform.monotonicSeconds - began >= Self.batchSeconds }

    private func commit() {
        guard let producer, !batch.isEmpty else { return }
        do throws(LedgerStop) {
            batch = try work.finish(batch, producer)
            guard producer.isOpen else { return clear() }
            do throws(KafkaError) { try producer.commit() } catch { throw .error(error) }
        } catch {
            stop = error
            return
        }
        clear()
        if producer.isOutdated { stop = .outdated }
    }

    /// Begins a new batch after a commit.
    private func clear() {
        work.markDone(batch)
        done += batch.count
        batch = []
        bytes = 0
        let rate = max(1, Int64(Double(sent) / max(0.001, Platform.monotonicSeconds - start)))
        let left = Int64(work.leftCount)
        progress.show(
            "\(subject.done) \(Counts.grouped(Int64(done))) of \(Counts.grouped(Int64(work.count))), "
                + "\(Counts.grouped(rate)) per second, \(Counts.grouped(left / rate)) s left")
    }

    /// Waits until the next unit is due, and commits the open transaction when it is.
    ///
    /// A delay is made up for up to the time of one batch, and the units of this time are sent at once.
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

extension ProgressLine {
    /// Shows how many records of a plan were read before anything is sent.
    ///
    /// Throws a failure if a signal has arrived.
    mutating func show(_ action: String, _ read: Int64, of plan: ScanPlan) throws(CommandFailure) {
        if let number = StopSignals.number {
            throw CommandFailure(
                ExitCode(rawValue: 128 + number), "ended by signal \(number) before anything was sent",
                advice: "run the same command again")
        }
        show("\(action): \(Counts.grouped(read)) of \(Counts.grouped(plan.recordCount))")
    }
}
