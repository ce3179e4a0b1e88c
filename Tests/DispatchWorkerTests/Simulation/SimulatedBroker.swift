import ByteStorage
@testable import DispatchWorker
@testable import KafkaClient

/// A broker in memory with the transaction semantics that librdkafka's mock cluster does not implement: transactional
/// ids with epochs, fencing, control markers, last stable offsets, offsets in transactions, and transaction timeouts.
///
/// Like Apache Kafka 4.3.1, it has the fault of KIP-890: a late EndTxn of the current epoch ends whichever transaction
/// of that producer is open.
final class SimulatedBroker {
    struct Transaction {
        var epoch: Int32 = 0
        var isOpen = false
        /// The result of the last transaction of this epoch, for repeated requests.
        var lastEnd: Bool?
        var beganAt: UInt64 = 0
        var partitions: Set<TopicPartition> = []
        var offsets: [TopicPartition: PartitionOffset] = [:]
    }

    /// A request that was delayed and arrives later.
    struct LateRequest {
        var at: UInt64
        var transactionalID: String
        var epoch: Int32
        var isCommit: Bool
    }

    /// The time in nanoseconds, which the simulation advances.
    var now: UInt64 = 1_000_000_000
    var logs: [TopicPartition: SimulatedLog] = [:]
    var partitionCounts: [String: Int32] = [:]
    var committed: [TopicPartition: Int64] = [:]
    /// The metadata of the committed offsets.
    var metadata: [TopicPartition: String] = [:]
    /// The number of offsets that were committed.
    private(set) var commits = 0
    /// The number of times that the input was created again, of which its id is made.
    private(set) var recreations = 0
    /// The partitions of deleted topics by the topic's id.
    private var deleted: [String: [TopicPartition: SimulatedLog]] = [:]
    var late: [LateRequest] = []
    var group = SimulatedGroup()
    let transactionTimeout: UInt64 = 10_000_000_000
    private(set) var transactions: [String: Transaction] = [:]
    /// The outcomes of the input records so far.
    var ledger = SimulatedLedger()
    /// Called as time advances, because clients keep their membership alive with their own threads.
    var heartbeat: () -> Void = {}

    func create(_ topic: String, partitions: Int32) {
        partitionCounts[topic] = partitions
        for partition in 0..<partitions { logs[TopicPartition(topic: topic, partition: partition)] = SimulatedLog() }
    }

    /// Advances the time: late requests arrive, transactions time out, and members expire.
    func advance(milliseconds: Int) {
        var left = max(0, milliseconds)
        repeat {
            let step = min(left, 1_000)
            left -= step
            now += UInt64(step) * 1_000_000
            heartbeat()
            arrive()
            group.expire(now: now)
        } while left > 0
    }

    private func arrive() {
        if !late.isEmpty {
            let due = late.filter { $0.at <= now }
            late.removeAll { $0.at <= now }
            for request in due {
                _ = endTransaction(request.transactionalID, request.epoch, isCommit: request.isCommit)
            }
        }
        guard transactions.values.contains(where: { $0.isOpen && now - $0.beganAt > transactionTimeout }) else {
            return
        }
        for (id, transaction) in transactions.sorted(by: { $0.key < $1.key })
        where transaction.isOpen && now - transaction.beganAt > transactionTimeout {
            finish(id, isCommit: false)
            transactions[id]?.epoch += 1
        }
    }

    // MARK: Transactions

    /// InitProducerId: ends the open transaction and creates a new epoch.
    func initialize(_ id: String) -> Int32 {
        if transactions[id]?.isOpen ?? false { finish(id, isCommit: false) }
        transactions[id, default: Transaction()].epoch += 1
        transactions[id]?.lastEnd = nil
        return transactions[id]?.epoch ?? 0
    }

    /// Produce: returns false if the epoch is not the current one.
    func append(_ id: String, _ epoch: Int32, _ partition: TopicPartition, _ entry: SimulatedEntry) -> Bool {
        guard transactions[id]?.epoch == epoch else { return false }
        open(id)
        transactions[id]?.partitions.insert(partition)
        logs[partition]?.append(entry)
        return true
    }

    /// TxnOffsetCommit: returns an error, or nil if the offsets belong to the transaction.
    func addOffsets(
        _ id: String, _ epoch: Int32, _ offsets: [PartitionOffset], member: Int, generation: Int
    ) -> KafkaErrorCode? {
        guard transactions[id]?.epoch == epoch else { return .fenced }
        // Kafka checks nothing if there are no offsets.
        if offsets.isEmpty { return nil }
        guard group.members[member] != nil else { return .unknownMember }
        guard group.generation == generation else { return .illegalGeneration }
        open(id)
        for offset in offsets { transactions[id]?.offsets[offset.partition] = offset }
        return nil
    }

    /// EndTxn: returns false if the epoch is not the current one.
    func endTransaction(_ id: String, _ epoch: Int32, isCommit: Bool) -> Bool {
        guard let transaction = transactions[id], transaction.epoch == epoch else { return false }
        if transaction.isOpen {
            finish(id, isCommit: isCommit)
            return true
        }
        return transaction.lastEnd == isCommit || transaction.lastEnd == nil
    }

    private func open(_ id: String) {
        guard transactions[id]?.isOpen == false else { return }
        transactions[id]?.isOpen = true
        transactions[id]?.beganAt = now
    }

    private func finish(_ id: String, isCommit: Bool) {
        guard let transaction = transactions[id] else { return }
        // A lane that has not polled since the topic was created again may commit once more. The witness tells.
        let foreign = Set(transaction.offsets.values.filter(hasForeignWitness).map(\.partition.partition))
        for partition in transaction.partitions.sorted() {
            let entries = logs[partition]?.end(id, isCommit: isCommit) ?? []
            if isCommit {
                for source in entries.compactMap(\.source) where !foreign.contains(source.partition) {
                    ledger.decided(source)
                }
            }
        }
        if isCommit { commit(Array(transaction.offsets.values)) }
        transactions[id]?.isOpen = false
        transactions[id]?.lastEnd = isCommit
        transactions[id]?.partitions = []
        transactions[id]?.offsets = [:]
    }

    /// Commits the group's offsets.
    func commit(_ offsets: [PartitionOffset]) {
        for offset in offsets {
            let partition = offset.partition
            let before = committed[partition]
            commits += 1
            committed[partition] = offset.offset
            metadata[partition] = offset.metadata
            checkID(offset)
            if hasForeignWitness(offset) { continue }
            ledger.committed(partition.partition, offset.offset, before: before, logs[partition] ?? SimulatedLog())
        }
    }

    /// The id of the input.
    var inputID: String { "id-\(recreations)" }

    /// Checks that the witness of an offset is a record of the topic whose id it has.
    private func checkID(_ offset: PartitionOffset) {
        guard let witness = Witness(offset.metadata, before: NextOffset(reported: offset.offset)),
            let id = witness.topicID
        else { return }
        let log = id == inputID ? logs[offset.partition] : deleted[id]?[offset.partition]
        guard let log, has(witness, log, offset.partition) else {
            ledger.fail("I1: \(offset.partition) commits \(offset.metadata), which is not a record of that topic")
            return
        }
    }

    /// Returns a Boolean value that indicates whether an offset has the witness of another topic.
    private func hasForeignWitness(_ offset: PartitionOffset) -> Bool {
        guard ledger.renewed.contains(offset.partition.partition), let log = logs[offset.partition],
            let witness = Witness(offset.metadata, before: NextOffset(reported: offset.offset))
        else { return false }
        return !has(witness, log, offset.partition)
    }

    private func has(_ witness: Witness, _ log: SimulatedLog, _ partition: TopicPartition) -> Bool {
        guard witness.offset < log.end else { return false }
        let entry = log.entries[Int(witness.offset)]
        let found = (entry.key ?? []).withUnsafeBufferPointer { key in
            (entry.value ?? []).withUnsafeBufferPointer { value in
                Witness(
                    ConsumedRecord(
                        topic: 0, partition: partition.partition, offset: witness.offset,
                        timestamp: entry.timestamp, key: entry.key.map { _ in ByteView(key) },
                        value: entry.value.map { _ in ByteView(value) }, index: 0, hasHeaders: false))
            }
        }
        return found.isOfSameRecord(as: witness)
    }

    /// Gives the input a new id, before its partitions are created again.
    func renewInputID() {
        deleted[inputID] = logs
        recreations += 1
    }

    /// Deletes a partition of the input and creates it again without records.
    ///
    /// Brokers delete the offsets of a deleted topic, but a member that does not know of the deletion commits again.
    func recreate(_ partition: TopicPartition, keepsOffset: Bool) {
        logs[partition] = SimulatedLog()
        if !keepsOffset { committed[partition] = nil }
        ledger.recreated(partition.partition)
    }

    /// Appends a record without a transaction.
    func append(_ partition: TopicPartition, _ entry: SimulatedEntry) {
        logs[partition]?.append(entry)
        if let source = entry.source { ledger.decided(source) }
    }

    /// OffsetFetch with stable offsets: returns nil if an open transaction holds an offset of the partition.
    func stableOffset(_ partition: TopicPartition) -> Int64?? {
        if transactions.values.contains(where: { $0.offsets[partition] != nil }) { return nil }
        return .some(committed[partition])
    }
}
