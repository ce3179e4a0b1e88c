internal import KafkaClient
internal import StrictJSON

/// One thread's worth of work: a consumer, a transactional producer, and the machine that drives them.
///
/// The lane does what its machine says, one action per `step`, and tells it what came of it. Everything runs on the
/// thread that calls `step`; a rebalance callback runs inside the poll that brings it.
package final class Lane<Environment: LaneEnvironment, Processing: RecordProcessing & ~Copyable> {
    /// The lane's number.
    package let number: Int
    /// What the lane does next, and what it has done.
    package internal(set) var machine: LaneMachine
    let environment: Environment
    let shared: WorkerShared
    let heartbeat: LaneHeartbeat
    let topics: LaneTopics
    var work: BatchWork<Processing>
    var consumer: Environment.Consumer?
    var producer: Environment.Producer?
    var group: Environment.Consumer.Group?
    var opened: [String: OpenTopic] = [:]
    var openedAt: UInt64 = 0
    var batchStart = 0
    var reserved = 0
    var callBegan: UInt64 = 0

    /// Makes a lane; nothing connects before the first step.
    package init(
        number: Int, policy: LanePolicy, topics: LaneTopics, limits: RecordLimits, maker: DeadLetterMaker,
        environment: Environment, processing: consuming Processing, shared: WorkerShared,
        heartbeat: LaneHeartbeat = LaneHeartbeat()
    ) {
        self.number = number
        machine = LaneMachine(policy: policy)
        self.topics = topics
        self.environment = environment
        self.shared = shared
        self.heartbeat = heartbeat
        work = BatchWork(processing: processing, limits: limits, maker: maker)
        if shared.log.isEnabled(.debug) { work.notes = [] }
    }

    /// Does one action; returns whether there is more to do.
    package func step() -> Bool {
        if shared.isDraining && !machine.isDraining { machine.drain() }
        if shared.stop.isLimited { machine.allowance(isExhausted: shared.stop.isExhausted) }
        let now = environment.now()
        if machine.transaction == .none && openedAt != 0 && now &- openedAt > 300_000_000_000 {
            // Partitions may have been added to the output topic since.
            machine.topicsNeeded()
            openedAt = now
        }
        let action = machine.next(now: now)
        if action == .end {
            finish()
            return false
        }
        // Told before the lane closes its clients: a call of theirs may never return.
        if let fate = machine.fate { shared.fail(fate) }
        perform(action, now: now)
        report()
        return true
    }

    /// The lane's whole life.
    package func run() {
        while step() {}
    }

    func perform(_ action: LaneAction, now: UInt64) {
        switch action {
        case .makeProducer, .initTransactions, .openTopics, .dropProducer, .subscribe, .close:
            performLifecycle(action)
        case .poll(let milliseconds, let maximum): poll(milliseconds, maximum, now: now)
        case .serve: serve()
        case .process(let records): process(records)
        case .begin, .produce, .drainQueue, .sendOffsets, .commit, .flush, .storeOffsets, .abort:
            performTransaction(action)
        case .discard:
            consumer?.releaseBatch()
            returnReservation()
            work.forgetOutputs()
            machine.discarded(now: now)
        case .fetchCommitted, .seek, .reassign, .findEnds: performRewind(action)
        case .wait(let milliseconds):
            environment.sleep(milliseconds: milliseconds)
            machine.waited(now: environment.now())
        case .end: break
        }
        shared.stop.giveBack(machine.takeLostRecords())
    }

    /// Calls something that may fail and tells the machine when it does; returns whether it went well.
    func attempt(_ call: LaneCall, _ body: () throws(KafkaError) -> Void) -> Bool {
        do {
            try body()
            return true
        } catch {
            machine.failed(call, error, now: environment.now())
            return false
        }
    }

    /// The same under the watchdog's eyes; returns the milliseconds it took, or nil when it failed.
    func watched(
        _ watch: LaneHeartbeat.Call, _ call: LaneCall, _ body: () throws(KafkaError) -> Void
    ) -> Int? {
        let began = environment.now()
        heartbeat.enter(watch, now: began)
        defer { heartbeat.leave() }
        guard attempt(call, body) else { return nil }
        return Int((environment.now() &- began) / 1_000_000)
    }

    private func finish() {
        if let fate = machine.fate { shared.fail(fate) }
        report()
    }
}
