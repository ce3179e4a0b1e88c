import DispatchWorker
import KafkaClient
import StrictJSON

/// A consumer's place in the simulated group.
struct SimulatedPlace {
    var member: Int
    var generation: Int
}

/// Whether a simulated process still lives; when it dies in a call, nothing it does afterwards has an effect.
final class SimulatedLife {
    var isDead = false
}

/// A read_committed member of the simulated group.
final class SimulatedConsumer: LaneConsumer {
    private let world: SimulatedWorld
    private let life: SimulatedLife
    private let instance: String?
    private let rebalance: (RebalanceEvent) -> Void
    private var member: Int?
    private var owned: [TopicPartition: Int64] = [:]
    private var ended: Set<TopicPartition> = []
    private var topics: [String] = []
    private let names: UnsafeMutablePointer<UInt8> = .allocate(capacity: 4_096)
    private var nameViews: [ByteView] = []
    private var nameBytes = 0
    private var arena = OutputArena()
    private var batch: [ConsumedRecord] = []
    private var batchHeaders: [[RecordHeader]] = []
    private(set) var events: [ConsumerEvent] = []
    private let storage = UnsafeMutablePointer<ConsumedRecord>.allocate(capacity: 1_024)

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

    func subscribe() throws(KafkaError) { member = world.broker.group.join(instance: instance, now: world.broker.now) }

    var records: UnsafeBufferPointer<ConsumedRecord> {
        for (index, record) in batch.enumerated() { (storage + index).initialize(to: record) }
        return UnsafeBufferPointer(start: storage, count: batch.count)
    }

    func poll(max limit: Int, timeoutMilliseconds: Int32) -> PollOutcome {
        releaseBatch()
        if life.isDead { return PollOutcome(records: 0, events: 0, rebalanced: false) }
        world.broker.advance(milliseconds: 1)
        let didRebalance = serveGroup()
        fetch(min(limit, 1_024, 1 + world.plan.number(below: 40)))
        if batch.isEmpty && !didRebalance { world.broker.advance(milliseconds: Int(timeoutMilliseconds)) }
        return PollOutcome(records: batch.count, events: events.count, rebalanced: didRebalance)
    }

    /// Callbacks that are due.
    private func serveGroup() -> Bool {
        guard let id = member, let state = world.broker.group.members[id] else {
            // Thrown out: what was owned is lost, a new member joins.
            if !owned.isEmpty { rebalance(.lost(owned.keys.sorted())) }
            if !life.isDead { member = world.broker.group.join(instance: instance, now: world.broker.now) }
            return true
        }
        if world.broker.group.isCooperative { return serveCooperatively(id) }
        if !world.broker.group.isStable && !state.hasRejoined {
            if !owned.isEmpty { rebalance(.revoke(owned.keys.sorted())) }
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
        let (given, taken) = world.broker.group.moves(of: id, holding: Array(owned.keys))
        if !given.isEmpty { rebalance(.revoke(given)) }
        if !taken.isEmpty && !life.isDead { rebalance(.assign(taken)) }
        if !life.isDead {
            let holding = Array(owned.keys)
            world.broker.group.members[id]?.holding = holding
        }
        return !given.isEmpty || !taken.isEmpty
    }

    private func fetch(_ limit: Int) {
        // Partitions take turns as fetch responses do.
        for partition in owned.keys.sorted() where batch.count < limit {
            guard let log = world.broker.logs[partition], var offset = owned[partition] else { continue }
            if offset < log.start || offset > log.end {
                events.append(
                    ConsumerEvent(
                        kind: .offsetOutOfRange, topic: topicIndex(of: partition.topic), partition: partition.partition,
                        offset: offset, error: KafkaError(code: .autoOffsetReset)))
                owned[partition] = log.start
                continue
            }
            while offset < log.lastStable && batch.count < limit {
                let entry = log.entries[Int(offset)]
                if entry.state == .committed { append(entry, partition, offset) }
                offset += 1
                ended.remove(partition)
            }
            owned[partition] = offset
            if offset == log.lastStable && ended.insert(partition).inserted {
                events.append(
                    ConsumerEvent(
                        kind: .endOfPartition, topic: topicIndex(of: partition.topic), partition: partition.partition,
                        offset: offset))
            }
        }
    }

    private func append(_ entry: SimulatedEntry, _ partition: TopicPartition, _ offset: Int64) {
        batch.append(
            ConsumedRecord(
                topic: topicIndex(of: partition.topic), partition: partition.partition, offset: offset,
                timestamp: entry.timestamp, key: view(entry.key), value: view(entry.value), index: Int32(batch.count),
                hasHeaders: !entry.headers.isEmpty))
        batchHeaders.append(entry.headers)
    }

    private func view(_ bytes: [UInt8]?) -> ByteView? {
        guard let bytes else { return nil }
        arena.begin()
        arena.append(bytes)
        return arena.finish()
    }

    func releaseBatch() {
        batch = []
        batchHeaders = []
        events = []
        arena.reset()
    }

    func headerViews(of index: Int32, into views: inout [HeaderView]) {
        for header in batchHeaders[Int(index)] {
            views.append(HeaderView(name: view(header.name) ?? .empty, value: view(header.value)))
        }
    }

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

    func committed(
        _ partitions: [TopicPartition], timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [PartitionResult] {
        if life.isDead { return [] }
        switch world.plan.next([.crashBefore, .retryBefore]) {
        case .crashBefore:
            life.isDead = true
            return []
        case .retryBefore: throw KafkaError(code: .timedOut)
        default: break
        }
        return partitions.map { partition in
            guard let stable = world.broker.stableOffset(partition) else {
                return PartitionResult(
                    partition: partition, offset: nil, error: KafkaError(code: .unstableOffsetCommit))
            }
            return PartitionResult(partition: partition, offset: stable)
        }
    }

    func watermarks(of partition: TopicPartition, timeoutMilliseconds: Int32) throws(KafkaError) -> Watermarks {
        let log = world.broker.logs[partition] ?? SimulatedLog()
        return Watermarks(low: log.start, high: log.lastStable)
    }

    func take(_ added: [PartitionOffset], all: [PartitionOffset]) throws(KafkaError) {
        if !world.broker.group.isCooperative {
            owned = [:]
            ended = []
        }
        move(world.broker.group.isCooperative ? added : all)
    }

    private func move(_ offsets: [PartitionOffset]) {
        for offset in offsets {
            let start = world.broker.logs[offset.partition]?.start ?? 0
            // Old deliveries may come once more (librdkafka issue 4636).
            let again = world.plan.oneIn > 0 ? Int64(world.plan.number(below: 3)) : 0
            owned[offset.partition] = offset.offset < 0 ? start : max(start, offset.offset - again)
            ended.remove(offset.partition)
        }
    }

    func give(_ given: [TopicPartition]) throws(KafkaError) {
        for partition in given { owned[partition] = nil }
        if !world.broker.group.isCooperative { owned = [:] }
        ended = []
    }

    func seek(_ offsets: [PartitionOffset]) throws(KafkaError) -> [PartitionResult] {
        let isFailing = world.plan.oneIn > 0 && world.plan.number(below: 6) == 0
        let failed = isFailing ? offsets.first?.partition : nil
        move(offsets.filter { $0.partition != failed })
        return offsets.map { offset in
            PartitionResult(
                partition: offset.partition, offset: offset.offset,
                error: offset.partition == failed ? KafkaError(code: .timedOut) : nil)
        }
    }

    func reassign(_ offsets: [PartitionOffset], all: [PartitionOffset]) throws(KafkaError) {
        owned = [:]
        move(all)
    }

    func commit(_ offsets: [PartitionOffset]) throws(KafkaError) {
        for offset in offsets { world.broker.committed[offset.partition] = offset.offset }
    }

    func group() -> SimulatedPlace? {
        member.map { SimulatedPlace(member: $0, generation: world.broker.group.members[$0]?.knownGeneration ?? -1) }
    }

    var fatalError: KafkaError? { nil }

    func takeEvents() -> [ClientEvent] { [] }

    func close() throws(KafkaError) {
        guard !life.isDead, let id = member else { return }
        if !owned.isEmpty { rebalance(.revoke(owned.keys.sorted())) }
        if instance == nil { world.broker.group.leave(id) }
        member = nil
    }

    /// The library's own thread keeps the membership alive, whatever the lane does.
    func heartbeat() {
        if let member, !life.isDead { world.broker.group.heard(member, now: world.broker.now) }
    }
}
