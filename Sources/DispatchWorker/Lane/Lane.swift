internal import KafkaClient
internal import LinkDecider
internal import Synchronization

/// The work of one thread: a consumer, a transactional producer, and the state machine that drives them.
///
/// In each `step`, the lane performs one action that its machine returns, and reports the result to the machine.
/// Everything runs on the thread that calls `step`. A rebalance callback runs inside the poll or close that triggers
/// it.
package final class Lane<Environment: LaneEnvironment, Processing: RecordProcessing & ~Copyable> {
    /// The lane's number.
    package let number: Int
    /// The state machine, which holds the lane's state and decides its next action.
    package var machine: LaneMachine
    let environment: Environment
    let shared: WorkerShared
    let topics: LaneTopics
    var work: BatchWork<Processing>
    var consumer: Environment.Consumer?
    var producer: Environment.Producer?
    var group: Environment.Consumer.Group?
    var opened: [String: OpenTopic] = [:]
    /// The dead-letter topics that partitions wait for, with the brokers' errors, and the time of the last line about
    /// them.
    var lacking: (topics: [String: KafkaErrorCode], saidAt: UInt64) = ([:], 0)
    var batchStart = 0
    var reserved = 0
    /// The place where the lane publishes its state.
    package let status: LaneStatus
    /// The counters and histograms.
    var metrics: LaneMetrics
    /// The number of the tables' version.
    var tables = 0
    /// The canary's totals at the last commit, or nil without a canary.
    var canary: CanaryTotals?
    /// The last commit, or nil before the first one.
    var lastCommit: LaneCommit?
    /// The last errors, oldest first.
    var lastErrors: [LaneError] = []
    /// The stage and the time of the last published state, or nil before the first one.
    var published: (stage: LaneStage, at: UInt64)?
    /// A Boolean value that indicates whether an event is not published yet.
    var hasNews = false
    private var needs: [ClientNeed] = []
    /// The time of the next report of slowed partitions to the process.
    private var deadLetterReportAt: UInt64 = 0

    /// Creates a lane.
    ///
    /// Nothing connects before the first step.
    package init(
        number: Int, policy: LanePolicy, topics: LaneTopics, commitBytes: Int, worker: WorkerIdentity,
        environment: Environment, processing: consuming Processing, shared: WorkerShared,
        status: LaneStatus = LaneStatus()
    ) {
        self.number = number
        machine = LaneMachine(policy: policy)
        self.topics = topics
        self.environment = environment
        self.shared = shared
        self.status = status
        let outputs = topics.outputs.names.count
        metrics = LaneMetrics(outputs: outputs)
        work = BatchWork(processing: processing, commitBytes: commitBytes, worker: worker, outputs: outputs)
        if shared.log.isEnabled(.debug) { work.notes = [] }
    }

    /// Performs one action and returns a Boolean value that indicates whether there is more to do.
    package func step() -> Bool {
        updateStopState()
        let now = environment.now()
        reportDeadLetters(now)
        let action = machine.next(now: now)
        if action == .end {
            if let exit = machine.exit { shared.fail(exit) }
            reportNeeds()
            report(now)
            publishLast(now)
            return false
        }
        publishIfDue(now)
        perform(action)
        check(action)
        report(now)
        return true
    }

    /// Performs all steps until the lane has ended.
    package func run() {
        while step() {}
    }

    /// Passes requests to stop or to pause and the state of `stop.after` to the machine.
    func updateStopState() {
        if shared.isDraining && !machine.isDraining { machine.drain() }
        machine.pause(shared.isPaused)
        if shared.stop.isLimited { machine.allowance(isExhausted: shared.stop.isExhausted) }
    }

    /// Reports the slowed partitions to the process, and ends the lane if they are most of its partitions for too long.
    private func reportDeadLetters(_ now: UInt64) {
        guard now >= deadLetterReportAt else { return }
        deadLetterReportAt = now + DeadLetterMajority.reportNanoseconds
        let load = machine.deadLetterLoad(now: now)
        let excess = shared.deadLetters.withLock { $0.report(load, lane: number, now: now) }
        if let excess { machine.deadLettersPersist(excess) }
    }

    /// Checks the invariants in debug builds.
    ///
    /// A violation is a bug, and the lane ends before anything is committed.
    private func check(_ action: LaneAction) {
        assert(isSound(after: action))
    }

    private func isSound(after action: LaneAction) -> Bool {
        if let violation = machine.violation {
            machine.end(
                WorkerExit(.internal, "\(violation), after \(action)", advice: "report this bug with the log"))
        }
        return true
    }

    private func perform(_ action: LaneAction) {
        switch action {
        case .makeProducer: makeProducer()
        case .initTransactions(let milliseconds): initTransactions(milliseconds)
        case .openTopics: openTopics()
        case .dropProducer: dropProducer()
        case .subscribe: subscribe()
        case .abandon: abandonConsumer()
        case .findHolders: findHolders()
        case .close: closeConsumer()
        case .poll(let milliseconds, let maximum): poll(milliseconds, maximum)
        case .keepAlive: pollToKeepAlive()
        case .process(let records, let until): process(records, until)
        case .discard:
            consumer?.releaseBatch()
            releaseReservation()
            machine.discarded()
        case .begin: begin()
        case .produce: produce()
        case .drainQueue(let milliseconds):
            producer?.poll(timeoutMilliseconds: Int32(milliseconds))
            machine.queueFull(false)
        case .sendOffsets(let offsets, let isRepeat, let milliseconds): sendOffsets(offsets, isRepeat, milliseconds)
        case .commit(let milliseconds): commit(milliseconds)
        case .flush(let milliseconds): flush(milliseconds)
        case .commitOffsets(let offsets, let milliseconds): commitOffsets(offsets, milliseconds)
        case .abort: abort()
        case .fetchCommitted(let partitions): fetchCommitted(partitions)
        case .seek(let offsets): seek(offsets)
        case .reassign(let offsets, let all): reassign(offsets, all)
        case .findEnds(let partition): findEnds(partition)
        case .identify(let topics): identify(topics)
        case .pause(let partitions): pause(partitions)
        case .resume(let partitions): resume(partitions)
        case .assign(let added, let all): assign(added, all)
        case .unassign(let partitions): unassign(partitions)
        case .announce(let exit):
            shared.fail(exit)
            machine.announced()
        case .wait(let milliseconds): environment.sleep(milliseconds: milliseconds)
        case .end: break
        }
        let lost = machine.takeLostRecords()
        if lost > 0 {
            work.tally.removeAll()
            _ = work.processing.ended(isCommitted: false)
            // Without a transaction, the producer has none of the outputs, and nothing else discards them.
            if case .ready(.none, _) = machine.producer { work.forgetOutputs() }
        }
        shared.stop.release(lost)
        reportNeeds()
    }

    /// Reports the unmet needs of the lane whenever they change.
    private func reportNeeds() {
        if machine.needs == needs { return }
        needs = machine.needs
        environment.setUnmetNeeds(needs)
    }

    /// Answers a rebalance inside the poll or close that triggers it.
    ///
    /// Each step is checked.
    func rebalance(_ event: RebalanceEvent) {
        let began = environment.now()
        machine.rebalancing(request(event), now: began)
        while true {
            updateStopState()
            let now = environment.now()
            guard let action = machine.nextInCallback(now: now) else {
                metrics.observe(.rebalanceSeconds, now.saturatingSubtract(began))
                return
            }
            publishIfDue(now)
            perform(action)
            check(action)
            report(now)
        }
    }

    private func request(_ event: RebalanceEvent) -> RebalanceRequest {
        switch event {
        case .assign(let partitions):
            .assign(
                partitions.map { AssignedPartition($0, topic: consumer?.topicIndex(of: $0.topic) ?? -1) })
        case .revoke(let partitions): .revoke(partitions)
        case .lost(let partitions): .lost(partitions)
        case .failed(let error): .failed(error)
        }
    }

    /// Runs a call that may fail and reports a failure to the machine.
    ///
    /// Returns its result and its duration in milliseconds, or nil after a failure.
    @discardableResult
    func attempt<Value>(
        _ call: LaneCall, _ body: () throws(KafkaError) -> Value
    ) -> (value: Value, milliseconds: Int)? {
        let began = environment.now()
        let value: Value
        do {
            value = try body()
        } catch {
            // A failed consumer answers with this code, and its own error names the cause.
            let cause = error.code == .fatal ? consumer?.fatalError : nil
            machine.failed(call, cause ?? error, now: environment.now())
            return nil
        }
        let took = environment.now().saturatingSubtract(began)
        switch call {
        case .sendOffsets: metrics.observe(.sendOffsetsSeconds, took)
        case .commit, .commitOffsets: metrics.observe(.commitSeconds, took)
        default: break
        }
        return (value, Int(took / 1_000_000))
    }
}

// Polling and processing of batches.
extension Lane where Processing: ~Copyable {
    func poll(_ milliseconds: Int, _ maximum: Int) {
        guard let consumer else { return }
        let outcome = consumer.poll(max: maximum, timeoutMilliseconds: Int32(milliseconds))
        let now = environment.now()
        let events = consumer.events
        if outcome.rebalanced {
            consumer.releaseBatch()
            noteMember(consumer)
        } else if outcome.records > 0 {
            reserved = shared.stop.reserve(upTo: outcome.records)
            batchStart = 0
            if machine.policy.logsTraces { work.received = environment.wallMilliseconds() }
            shared.meter.received(now: now)
        }
        refreshTables()
        machine.interrupted(consumer.takeInterruptions())
        machine.polled(outcome, isKeepAlive: false, now: now)
        if !outcome.rebalanced {
            machine.verify(consumer.records)
            // After a full batch there are more records to fetch. The client knows the ends from its last fetches.
            if outcome.records < maximum { machine.updateEnds { consumer.cachedWatermarks(of: $0)?.high } }
            for event in events { handle(event, consumer, now: now) }
        }
        handleClientEvents(consumer)
    }

    /// Records the member id that a rebalance may have changed.
    ///
    /// A rebalance inside a close does not ask for it, because the answer may never come (seen with 2.0.2; librdkafka
    /// issue 4041 is the same for another question).
    func noteMember(_ consumer: Environment.Consumer) {
        if let member = consumer.memberID { machine.joined(as: member) }
    }

    /// Takes the newest tables between two batches, also while no records arrive.
    private func refreshTables() {
        let number = work.processing.refresh()
        if number == tables { return }
        tables = number
        hasNews = true
    }

    /// Passes an event to the machine.
    ///
    /// A fatal event is passed with the consumer's fatal error, which names the cause.
    private func handle(_ event: ConsumerEvent, _ consumer: Environment.Consumer, now: UInt64) {
        var event = event
        if event.kind == .fatal { event.error = consumer.fatalError ?? event.error }
        machine.handle(event, now: now)
    }

    /// Polls to keep the group membership alive and releases the records.
    func pollToKeepAlive() {
        guard let consumer else { return }
        let outcome = consumer.poll(max: 1, timeoutMilliseconds: 0)
        let now = environment.now()
        let events = consumer.events
        consumer.releaseBatch()
        if outcome.rebalanced { noteMember(consumer) }
        // A paused lane must not keep an old state of the registry, whose pages could not be used again.
        refreshTables()
        machine.interrupted(consumer.takeInterruptions())
        machine.polled(outcome, isKeepAlive: true, now: now)
        if !outcome.rebalanced {
            for event in events { handle(event, consumer, now: now) }
        }
        handleClientEvents(consumer)
    }

    /// Handles the events of the consumer and the producer.
    ///
    /// The producer's log is drained even while nothing is produced.
    private func handleClientEvents(_ consumer: Environment.Consumer) {
        // A fatal error is not always reported as an event. Without this check, the lane would poll a failed consumer
        // forever.
        if machine.exit == nil, let error = consumer.fatalError {
            machine.failed(.consume, error, now: environment.now())
        }
        handle(consumer.takeEvents(), .consumer)
        if let producer { handle(producer.takeEvents(), .producer) }
    }

    func process(_ records: Int, _ until: UInt64) {
        guard let consumer else { return }
        if reserved == 0 {
            // `stop.after` is reached. The rest of the batch is not processed.
            machine.dropBatch()
            return
        }
        let began = environment.now()
        let result = machine.admitRecords { partitions, isolation in
            work.run(
                consumer, from: batchStart, maxRecords: min(records, reserved), until: until, clock: environment,
                partitions: &partitions, isolation: isolation)
        }
        batchStart += result.messages
        reserved -= result.records
        let now = environment.now()
        metrics.observe(.batchRecords, UInt64(result.records))
        metrics.observe(.resolveSeconds, now.saturatingSubtract(began))
        machine.processed(result, now: now)
        if batchStart >= consumer.records.count { releaseReservation() }
    }

    /// Releases the reserved quota of records that did not arrive or were duplicates.
    func releaseReservation() {
        shared.stop.release(reserved)
        reserved = 0
    }
}

// The publication of the lane's state.
extension Lane where Processing: ~Copyable {
    /// The longest time between two published states while the lane performs steps.
    private static var publishNanoseconds: UInt64 { 1_000_000_000 }

    /// Publishes the state after an event, after a change of the stage, and once a second.
    ///
    /// If a reader holds the lock, the lane publishes at its next step.
    func publishIfDue(_ now: UInt64) {
        let stage = machine.stage
        if !hasNews, let published, published.stage == stage,
            now.saturatingSubtract(published.at) < Self.publishNanoseconds
        {
            return
        }
        publish(stage, now)
    }

    /// Publishes the records that were read, because a commit can block the lane for as long as brokers do not answer.
    func publishBeforeCommit() { publish(machine.stage, environment.now()) }

    /// Publishes the state of a lane that has ended, or that may not get another chance to.
    func publishLast(_ now: UInt64) {
        while !publish(machine.stage, now) {}
    }

    @discardableResult
    private func publish(_ stage: LaneStage, _ now: UInt64) -> Bool {
        metrics[.duplicates] = UInt64(machine.partitions.duplicates)
        metrics[.offsetGaps] = UInt64(machine.partitions.gaps)
        let snapshot = LaneSnapshot(
            lane: number, machine: machine, at: now, lastCommit: lastCommit, metrics: metrics, lastErrors: lastErrors,
            tables: tables, canary: canary)
        guard status.publish(snapshot) else { return false }
        hasNews = false
        published = (stage, now)
        return true
    }

    /// Keeps the error of a log entry for the published state.
    func keepError(of entry: LogEntry, _ now: UInt64) {
        guard let error = LaneError(entry, at: now) else { return }
        if lastErrors.count >= LaneError.limit { lastErrors.removeFirst() }
        lastErrors.append(error)
    }
}
