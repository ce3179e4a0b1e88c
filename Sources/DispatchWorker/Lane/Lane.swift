internal import KafkaClient

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
    var batchStart = 0
    var reserved = 0
    /// The place where the lane publishes its state.
    package let status: LaneStatus
    /// The counters and histograms.
    var metrics = LaneMetrics()
    /// The number of the tables' version.
    var tables = 0
    /// The canary's totals at the last commit, or nil without a canary.
    var canary: CanaryTotals?
    /// The last commit, or nil before the first one.
    var lastCommit: (at: UInt64, milliseconds: Int)?
    /// The last errors, oldest first.
    var lastErrors: [LaneError] = []
    /// The stage and the time of the last published state, or nil before the first one.
    var published: (stage: LaneStage, at: UInt64)?
    /// A Boolean value that indicates whether an event is not published yet.
    var hasNews = false
    private var needs: [ClientNeed] = []

    /// Creates a lane.
    ///
    /// Nothing connects before the first step.
    package init(
        number: Int, policy: LanePolicy, topics: LaneTopics, limits: RecordLimits, worker: WorkerIdentity,
        environment: Environment, processing: consuming Processing, shared: WorkerShared,
        status: LaneStatus = LaneStatus()
    ) {
        self.number = number
        machine = LaneMachine(policy: policy)
        self.topics = topics
        self.environment = environment
        self.shared = shared
        self.status = status
        work = BatchWork(processing: processing, limits: limits, worker: worker)
        if shared.log.isEnabled(.debug) { work.notes = [] }
    }

    /// Performs one action and returns a Boolean value that indicates whether there is more to do.
    package func step() -> Bool {
        updateStopState()
        let now = environment.now()
        let action = machine.next(now: now)
        if action == .end {
            if let exit = machine.exit { shared.fail(exit) }
            reportNeeds()
            report(now)
            publishLast(now)
            return false
        }
        publishIfDue(now)
        perform(action, now: now)
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

    private func perform(_ action: LaneAction, now: UInt64) {
        switch action {
        case .makeProducer, .initTransactions, .openTopics, .dropProducer, .subscribe, .close:
            performLifecycle(action)
        case .poll(let milliseconds, let maximum): poll(milliseconds, maximum)
        case .keepAlive: pollToKeepAlive()
        case .process(let records, let until): process(records, until)
        case .begin, .produce, .drainQueue, .sendOffsets, .commit, .flush, .commitOffsets, .abort:
            performTransaction(action)
        case .discard:
            consumer?.releaseBatch()
            releaseReservation()
            machine.discarded()
        case .fetchCommitted, .seek, .reassign, .findEnds, .pause, .resume, .assign, .unassign:
            performPositioning(action)
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
            perform(action, now: now)
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
    /// Returns the duration in milliseconds, or nil after a failure.
    func attempt(_ call: LaneCall, _ body: () throws(KafkaError) -> Void) -> Int? {
        let began = environment.now()
        do {
            try body()
        } catch {
            machine.failed(call, error, now: environment.now())
            return nil
        }
        let took = environment.now().saturatingSubtract(began)
        switch call {
        case .sendOffsets: metrics.observe(.sendOffsetsSeconds, took)
        case .commit, .commitOffsets: metrics.observe(.commitSeconds, took)
        default: break
        }
        return Int(took / 1_000_000)
    }
}
