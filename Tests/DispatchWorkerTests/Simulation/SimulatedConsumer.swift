@testable import DispatchWorker
@testable import KafkaClient
import ByteStorage

/// A consumer's group metadata in the simulated group.
struct SimulatedMembership {
    var member: Int
    var generation: Int
}

/// The life of a simulated process.
///
/// After the process dies in a call, its further actions have no effect.
final class SimulatedLife {
    var isDead = false
    /// The time that records took since the last poll, in milliseconds.
    var work = 0
}

/// A read_committed member of the simulated group.
final class SimulatedConsumer: LaneConsumer {
    let world: SimulatedWorld
    let life: SimulatedLife
    let instance: String?
    let rebalance: (RebalanceEvent) -> Void
    var member: Int?
    /// A Boolean value that indicates whether the lane closes the consumer.
    var isClosing = false
    /// The assigned partitions with their next fetch offsets.
    var owned: [TopicPartition: Int64] = [:]
    /// The partitions that the group has granted, including those that a failed assignment of the client has lost.
    var granted: Set<TopicPartition> = []
    /// The partitions that are not fetched because the requested offset does not exist.
    var halted: Set<TopicPartition> = []
    /// The partitions that are not fetched because they are paused.
    var paused: Set<TopicPartition> = []
    /// The end offsets at the last fetches, which `cachedWatermarks` returns.
    var seenEnd: [TopicPartition: Int64] = [:]
    /// The times since which partitions have returned no records.
    private var idleSince: [TopicPartition: UInt64] = [:]
    private var ended: Set<TopicPartition> = []
    /// The offsets that this consumer has received.
    ///
    /// Lanes must not seek to others.
    var knownOffsets: [TopicPartition: Set<Int64>] = [:]
    /// The interruptions of fetches that the lane has not taken yet.
    var interruptions = FetchInterruptions()
    /// The partitions that were moved and have returned nothing since.
    private var moved: Set<TopicPartition> = []
    /// The number of answers to requests for committed offsets.
    var answers = 0
    var fatalError: KafkaError?
    var pendingErrors: [KafkaError] = []
    private var topics: [String] = []
    private let names: UnsafeMutablePointer<UInt8> = .allocate(capacity: 4_096)
    private var nameViews: [ByteView] = []
    private var nameBytes = 0
    private var arena = OutputArena(chunkBytes: 16_384)
    private var batchHeaders: [[RecordHeader]] = []
    private(set) var events: [ConsumerEvent] = []
    private let storage = UnsafeMutablePointer<ConsumedRecord>.allocate(capacity: 1_024)
    private var count = 0

    init(
        _ world: SimulatedWorld, _ life: SimulatedLife, instance: String?, rebalance: @escaping (RebalanceEvent) -> Void
    ) {
        self.world = world
        self.life = life
        self.instance = instance
        self.rebalance = rebalance
    }

    deinit {
        names.deallocate()
        storage.deallocate()
    }

    var records: UnsafeBufferPointer<ConsumedRecord> { UnsafeBufferPointer(start: storage, count: count) }

    func poll(max limit: Int, timeoutMilliseconds: Int32) -> PollOutcome {
        releaseBatch()
        if life.isDead { return PollOutcome(records: 0, events: 0, rebalanced: false) }
        world.polled(self)
        world.broker.advance(milliseconds: world.plan.happens(oneIn: 200) ? 3_000 : 1)
        let didRebalance = serveGroup()
        if let member { world.broker.group.polled(member, now: world.broker.now) }
        if world.plan.happens(oneIn: 60) { deliverAgain() }
        if world.plan.happens(oneIn: 150) { interruptions.isConnectionLost = true }
        if world.plan.happens(oneIn: 150), let partition = owned.keys.sorted().first {
            interruptions.refused.insert(partition)
        }
        fetch(min(limit, 1_024, 1 + world.plan.number(below: world.maxFetchedRecords)))
        if count == 0 && events.isEmpty && !didRebalance {
            // Records may arrive in the meantime.
            world.broker.advance(milliseconds: Int(timeoutMilliseconds))
            fetch(min(limit, 1_024))
        }
        if world.plan.happens(oneIn: 3_000) { fatalError = KafkaError(code: .fatal, isFatal: true) }
        return PollOutcome(records: count, events: events.count, rebalanced: didRebalance)
    }

    /// Repeats records, which happens before 2.4.0 (librdkafka issue 4636).
    private func deliverAgain() {
        guard let partition = owned.keys.sorted().first(where: { !halted.contains($0) }), let offset = owned[partition],
            let log = world.broker.logs[partition]
        else { return }
        owned[partition] = max(log.start, offset - Int64(world.plan.number(below: 4)))
    }

    /// Runs the callbacks that are due.
    private func serveGroup() -> Bool {
        if let member, world.broker.group.fenced.contains(member) {
            fatalError = KafkaError(code: .fencedInstanceID, isFatal: true)
            return false
        }
        guard let id = member, let state = world.broker.group.members[id] else {
            // The member was removed: its partitions are lost, and a new member joins.
            if !granted.isEmpty { rebalance(.lost(granted.sorted())) }
            if !life.isDead { member = world.broker.group.join(instance: instance, now: world.broker.now) }
            return true
        }
        if world.broker.group.isCooperative { return serveCooperatively(id) }
        if !world.broker.group.isStable && !state.hasRejoined {
            if !granted.isEmpty { rebalance(.revoke(granted.sorted())) }
            if !life.isDead { world.broker.group.rejoin(id) }
            return true
        }
        if world.broker.group.isStable && state.knownGeneration != world.broker.group.generation {
            let generation = world.broker.group.generation
            world.broker.group.members[id]?.knownGeneration = generation
            rebalance(.assign(state.assignment))
            return true
        }
        return false
    }

    private func serveCooperatively(_ id: Int) -> Bool {
        let generation = world.broker.group.generation
        world.broker.group.members[id]?.knownGeneration = generation
        let (revoked, assigned) = world.broker.group.moves(of: id, holding: Array(granted))
        if !revoked.isEmpty { rebalance(.revoke(revoked)) }
        if !assigned.isEmpty && !life.isDead { rebalance(.assign(assigned)) }
        if !life.isDead {
            let holding = Array(granted)
            world.broker.group.members[id]?.holding = holding
        }
        return !revoked.isEmpty || !assigned.isEmpty
    }

    private func fetch(_ limit: Int) {
        // Partitions alternate as fetch responses do.
        for partition in owned.keys.sorted()
        where count < limit && !halted.contains(partition) && !paused.contains(partition) {
            guard let log = world.broker.logs[partition], var offset = owned[partition] else { continue }
            if offset < log.start || offset > log.end {
                events.append(event(.offsetOutOfRange, partition, offset, KafkaError(code: .autoOffsetReset)))
                halted.insert(partition)
                continue
            }
            let stable = log.lastStable
            if offset < stable { ended.remove(partition) }
            let before = count
            while offset < stable && count < limit {
                let entry = log.entries[Int(offset)]
                if entry.state == .committed { append(entry, partition, offset) }
                offset += 1
            }
            owned[partition] = offset
            seenEnd[partition] = log.end
            if count > before { idleSince[partition] = world.broker.now }
            if offset == stable { reachEnd(partition, offset, cameWithRecords: count > before) }
        }
    }

    /// Reports the end after an empty fetch, which takes 100 ms.
    ///
    /// Sometimes it arrives with the last records.
    private func reachEnd(_ partition: TopicPartition, _ offset: Int64, cameWithRecords: Bool) {
        let isLate = world.broker.now - (idleSince[partition] ?? 0) >= 100_000_000
        guard isLate || (cameWithRecords && world.hasEarlyEnds), ended.insert(partition).inserted else { return }
        // The end of a partition that has returned nothing is always reported.
        if !moved.contains(partition) && world.losesEnds && world.plan.happens(oneIn: 5) { return }
        knownOffsets[partition, default: []].insert(offset)
        events.append(event(.endOfPartition, partition, offset, nil))
    }

    private func event(
        _ kind: ConsumerEvent.Kind, _ partition: TopicPartition, _ offset: Int64, _ error: KafkaError?
    ) -> ConsumerEvent {
        ConsumerEvent(
            kind: kind, topic: topicIndex(of: partition.topic), partition: partition.partition, offset: offset,
            error: error)
    }

    private func append(_ entry: SimulatedEntry, _ partition: TopicPartition, _ offset: Int64) {
        knownOffsets[partition, default: []].formUnion([offset, offset + 1])
        moved.remove(partition)
        (storage + count).initialize(
            to: ConsumedRecord(
                topic: topicIndex(of: partition.topic), partition: partition.partition, offset: offset,
                timestamp: entry.timestamp, key: view(entry.key), value: view(entry.value), index: Int32(count),
                hasHeaders: !entry.headers.isEmpty))
        batchHeaders.append(entry.headers)
        count += 1
    }

    private func view(_ bytes: [UInt8]?) -> ByteView? {
        guard let bytes else { return nil }
        arena.begin()
        arena.append(bytes)
        return arena.finish()
    }

    func releaseBatch() {
        count = 0
        batchHeaders = []
        events = []
        arena.reset()
    }

    func headerViews(of index: Int32, into views: inout [HeaderView]) {
        for header in batchHeaders[Int(index)] {
            views.append(HeaderView(name: view(header.name) ?? .empty, value: view(header.value)))
        }
    }

    func hasBrokerTimestamp(_ index: Int32) -> Bool { false }

    func topicIndex(of name: String) -> Int32 {
        if let index = topics.firstIndex(of: name) { return Int32(index) }
        topics.append(name)
        let bytes = Array(name.utf8)
        (names + nameBytes).update(from: bytes, count: bytes.count)
        nameViews.append(ByteView(start: UnsafePointer(names + nameBytes), count: bytes.count))
        nameBytes += bytes.count
        return Int32(topics.count - 1)
    }

    func topicNameBytes(at index: Int32) -> ByteView { nameViews[Int(index)] }

    func groupMetadata() -> SimulatedMembership? {
        if world.plan.happens(oneIn: 500) { return nil }
        return member.map {
            SimulatedMembership(member: $0, generation: world.broker.group.members[$0]?.knownGeneration ?? -1)
        }
    }

    var memberID: String? {
        if isClosing { world.broker.ledger.fail("a closing consumer is asked for its id, and may never answer") }
        return member.map(String.init)
    }

    func abandon() {
        member = nil
        for partition in Array(owned.keys) { forget(partition) }
        granted = []
    }

    func takeInterruptions() -> FetchInterruptions {
        defer { interruptions = FetchInterruptions() }
        return interruptions
    }

    func takeEvents() -> [ClientEvent] {
        defer { pendingErrors = [] }
        return pendingErrors.map { .error($0) }
    }

    /// Keeps the membership alive as the library's own thread does, regardless of the lane.
    func heartbeat() {
        if let member, !life.isDead { world.broker.group.heartbeat(member, now: world.broker.now) }
    }

    /// Changes the fetch offset of a partition, which invalidates its known end.
    func setPosition(_ partition: TopicPartition, at offset: Int64) {
        owned[partition] = offset
        halted.remove(partition)
        ended.remove(partition)
        seenEnd[partition] = nil
        moved.insert(partition)
    }

    func forget(_ partition: TopicPartition) {
        owned[partition] = nil
        paused.remove(partition)
        halted.remove(partition)
        ended.remove(partition)
    }
}
