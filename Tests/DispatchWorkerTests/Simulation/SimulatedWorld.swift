import DispatchWorker
import KafkaClient
import StrictJSON
import TestSupport

/// A broker, some lanes and what goes wrong; one thread, a clock of its own, and the same run again for the same seed.
final class SimulatedWorld {
    /// A lane with its life and its name, which outlives it.
    struct Process {
        var name: String
        var isStable: Bool
        var starts = 0
        var lane: Lane<SimulatedEnvironment, EchoProcessing>?
        var life = SimulatedLife()
        var environment: SimulatedEnvironment?
        var shared: WorkerShared?
        var pausedUntil: UInt64 = 0
        var restartAt: UInt64 = 0
    }

    let broker = SimulatedBroker()
    var plan: FaultPlan
    var processes: [Process] = []
    var exits: [WorkerExit] = []
    /// The first time that offsets and outcomes did not fit.
    private(set) var broken: String?
    let input = "in"
    let partitions: Int32
    private var generator: SeededGenerator
    private let log = Log(level: .error, format: .text) { _ in }
    var policy = LanePolicy()

    init(
        seed: UInt64, oneIn: Int, lanes: Int, partitions: Int32 = 4, isStable: Bool, isCooperative: Bool = false,
        guarantee: Guarantee = .exactlyOnce
    ) {
        plan = FaultPlan(seed: seed ^ 0x5DEE_CE66, oneIn: oneIn)
        generator = SeededGenerator(seed: seed)
        self.partitions = partitions
        for topic in [input, "out", "in.dlq"] { broker.create(topic, partitions: partitions) }
        broker.group.partitions = (0..<partitions).map { TopicPartition(topic: "in", partition: $0) }
        broker.group.isCooperative = isCooperative
        policy.guarantee = guarantee
        policy.transactionTimeoutMilliseconds = 10_000
        policy.sessionTimeoutMilliseconds = 6_000
        policy.commit.records = 60
        // Short ones commit often; with long ones a pause or a rebalance finds a transaction open.
        policy.commit.intervalMilliseconds = [50, 500, 9_000].randomElement(using: &generator)
        policy.isStable = isStable
        for number in 0..<lanes { processes.append(Process(name: "i\(number)", isStable: isStable)) }
    }

    deinit { log.close() }

    /// Puts records into the input topic.
    func produce(_ count: Int, _ value: (Int) -> String) {
        for index in 0..<count {
            let key = Array("d-\(index % 13)".utf8)
            let partition = key.withUnsafeBufferPointer { Murmur2.partition(of: ByteView($0), among: partitions) }
            broker.logs[TopicPartition(topic: input, partition: partition)]?.entries.append(
                SimulatedEntry(state: .committed, key: key, value: Array(value(index).utf8), timestamp: 1_000))
        }
    }

    private func start(_ index: Int) {
        var process = processes[index]
        process.starts += 1
        let instance = process.isStable ? process.name : "\(process.name)-\(process.starts)"
        let identity = LaneIdentity(group: "g", instance: instance, isStable: process.isStable, lane: 0)
        process.life = SimulatedLife()
        let environment = SimulatedEnvironment(self, process.life, identity)
        var configuration = WorkerConfiguration(bootstrap: [])
        configuration.input = .topics([input])
        configuration.output = "out"
        process.environment = environment
        let shared = WorkerShared(stopAfter: 0, log: log)
        process.shared = shared
        process.lane = Lane(
            number: 0, policy: policy, topics: LaneTopics(configuration), limits: RecordLimits(configuration),
            maker: DeadLetterMaker(group: "g", instance: identity.maker, version: "1"), environment: environment,
            processing: EchoProcessing(), shared: shared)
        processes[index] = process
    }

    /// Lets the world run until everything is committed, or `steps` are over; faults end with the last tenth of them.
    func run(steps: Int, pauseOneIn: Int = 0) -> Bool {
        for step in 0..<steps {
            if step == steps * 9 / 10 { plan.oneIn = 0 }
            let index = Int.random(in: 0..<processes.count, using: &generator)
            let isCalm = step >= steps * 9 / 10
            if !isCalm && pauseOneIn > 0 && Int.random(in: 0..<pauseOneIn, using: &generator) == 0 {
                // Longer than the session: a zombie afterwards.
                processes[index].pausedUntil = broker.now + 7_000_000_000
            }
            act(index)
            if step % 50 == 0 { broken = broken ?? tornOffset() }
            if step % 20 == 0 && isSettled { return true }
        }
        return isSettled
    }

    private func act(_ index: Int) {
        let isPaused = processes[index].pausedUntil > broker.now
        for process in processes where process.pausedUntil <= broker.now { process.environment?.consumer?.heartbeat() }
        if isPaused {
            broker.advance(milliseconds: 50)
            return
        }
        guard let lane = processes[index].lane else {
            if processes[index].restartAt <= broker.now { start(index) } else { broker.advance(milliseconds: 20) }
            return
        }
        let isGoingOn = lane.step()
        if processes[index].life.isDead || !isGoingOn {
            if let fate = lane.machine.fate, !processes[index].life.isDead { exits.append(fate) }
            processes[index].lane = nil
            processes[index].environment = nil
            processes[index].restartAt = broker.now + UInt64.random(in: 0...2_000_000_000, using: &generator)
        }
    }

    /// Whether everything is committed and no transaction is open.
    var isSettled: Bool {
        broker.group.partitions.allSatisfy { broker.committed[$0] ?? 0 == broker.logs[$0]?.end ?? 0 }
            && broker.late.isEmpty && broker.logs.values.allSatisfy { $0.lastStable == $0.end }
    }

    /// I5, at any moment: an offset below the committed one has its outcomes, one above has none.
    private func tornOffset() -> String? {
        var decided: Set<String> = []
        for topic in ["out", "in.dlq"] {
            for partition in 0..<partitions {
                for entry in broker.logs[TopicPartition(topic: topic, partition: partition)]?.entries ?? []
                where entry.state == .committed {
                    let text = String(decoding: entry.value ?? [], as: UTF8.self)
                    let record = ReadRecord(
                        partition: 0, offset: 0, timestamp: 0, key: nil, value: nil, headers: entry.headers)
                    decided.insert(
                        record.header("dlq.source.offset").map {
                            "\(input)-\(record.header("dlq.source.partition") ?? "?")-\($0)"
                        } ?? String(text.prefix { $0 != " " }))
                }
            }
        }
        for partition in broker.group.partitions {
            let log = broker.logs[partition] ?? SimulatedLog()
            let committed = broker.committed[partition] ?? 0
            for offset in log.start..<log.end {
                let source = "\(input)-\(partition.partition)-\(offset)"
                if decided.contains(source) != (offset < committed) {
                    return "\(source) is \(decided.contains(source) ? "" : "not ")decided, committed is \(committed)"
                }
            }
        }
        return nil
    }

    /// Stops all lanes as SIGTERM does; returns whether they ended well.
    func drain() -> Bool {
        plan.oneIn = 0
        for index in processes.indices {
            processes[index].shared?.drain()
            guard let lane = processes[index].lane else { continue }
            var steps = 0
            while lane.step() {
                steps += 1
                if steps > 10_000 { return false }
            }
            if lane.machine.fate != nil { return false }
            processes[index].lane = nil
        }
        return true
    }

    /// All committed records of a topic, partition by partition.
    func visible(_ topic: String) -> [ReadRecord] {
        (0..<partitions).flatMap { partition -> [ReadRecord] in
            let records = broker.logs[TopicPartition(topic: topic, partition: partition)]?.visible ?? []
            return records.map { record in
                var record = record
                record.partition = partition
                return record
            }
        }
    }

    /// I1, I2 and I4 over everything that is visible now.
    func check() -> OutcomeCheck {
        OutcomeCheck(
            sources: visible(input).map { "\(input)-\($0.partition)-\($0.offset)" }, decisions: visible("out"),
            deadLetters: visible("in.dlq"))
    }
}

/// A lane's clients in a simulated world.
final class SimulatedEnvironment: LaneEnvironment {
    private unowned let world: SimulatedWorld
    private let life: SimulatedLife
    private let identity: LaneIdentity
    private(set) var consumer: SimulatedConsumer?

    init(_ world: SimulatedWorld, _ life: SimulatedLife, _ identity: LaneIdentity) {
        self.world = world
        self.life = life
        self.identity = identity
    }

    func makeConsumer(rebalance: @escaping (RebalanceEvent) -> Void) throws(KafkaError) -> SimulatedConsumer {
        let made = SimulatedConsumer(world, life, instance: identity.groupInstanceID, rebalance: rebalance)
        consumer = made
        return made
    }

    func makeProducer() throws(KafkaError) -> SimulatedProducer {
        SimulatedProducer(
            world, life, transactionalID: world.policy.guarantee == .exactlyOnce ? identity.transactionalID : nil)
    }

    var isMock: Bool { false }

    func messageLimit(of topic: String) -> Int { 100_000 }

    func now() -> UInt64 { world.broker.now }

    func wallMilliseconds() -> Int64 { Int64(world.broker.now / 1_000_000) }

    func sleep(milliseconds: Int) {
        consumer?.heartbeat()
        world.broker.advance(milliseconds: milliseconds)
    }
}
