internal import ByteStorage
internal import KafkaClient
package import LinkDecider
internal import SystemThreads

/// A worker, which checks its configuration and runs its lanes.
///
/// `run` blocks until the lanes have ended: after a signal, a call of `stop`, or a failure, or when `stop.after` is
/// reached.
package final class Worker: Sendable {
    let configuration: WorkerConfiguration
    let shared: WorkerShared
    private let instance: String
    private let handlesSignals: Bool
    private let startCalls = CallWatch()
    private let laneCalls: [CallWatch]
    private let laneStatuses: [LaneStatus]
    /// The reader of the worker's state.
    package let status: WorkerStatus
    private let watchdog: Watchdog
    private let monitor: StatusMonitor

    /// Creates a worker.
    ///
    /// Nothing connects before `run`.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - log: The log, which its owner closes.
    ///   - handlesSignals: A Boolean value that indicates whether SIGTERM and SIGINT stop the worker, as in `linkd
    ///     worker`.
    ///   - notifier: The sender of messages to systemd, or nil for none.
    package init(
        _ configuration: WorkerConfiguration, log: Log, handlesSignals: Bool = false, notifier: SystemdNotifier? = nil
    ) {
        self.configuration = configuration
        self.handlesSignals = handlesSignals
        let random = UInt32.random(in: .min ... .max).hexadecimal(digits: 8)
        instance = configuration.instance ?? "\(hostName())-\(random)"
        let identity = LaneIdentity(
            group: configuration.group, instance: instance, isStable: configuration.instance != nil, lane: 0)
        let connection = ClientSettings.adminConfiguration(configuration, identity)
        shared = WorkerShared(
            stopAfter: configuration.stopAfter, log: log,
            brokers: configuration.isMockBroker
                ? nil : BrokerWatch(connection, topics: LaneTopics(configuration).known),
            group: configuration.isMockBroker ? nil : GroupWatch(configuration, identity),
            devices: configuration.devicesTopic == nil ? nil : RegistryCopy(configuration, identity, log: log))
        laneCalls = (0..<configuration.lanes).map { _ in CallWatch() }
        laneStatuses = (0..<configuration.lanes).map { _ in LaneStatus() }
        status = WorkerStatus(
            configuration: configuration, instance: instance, lanes: laneStatuses, calls: laneCalls, shared: shared)
        monitor = StatusMonitor(
            status: status, shared: shared, configuration: configuration, notifier: notifier)
        watchdog = Watchdog(
            shared: shared, watches: [(nil, startCalls)] + laneCalls.enumerated().map { ($0, $1) },
            reachability: Reachability(
                connection,
                member: ClientSettings.memberConfiguration(configuration, identity), topic: configuration.outputs.main),
            configuration: configuration, handlesSignals: handlesSignals)
    }

    /// Starts the watchdog before `run`, so that signals are handled while the caller reads the tables.
    package func watch() {
        if handlesSignals { StopSignals.install() }
        watchdog.start()
        monitor.start()
    }

    /// Ends the watchdog, which then logs nothing more.
    ///
    /// `run` does so too.
    package func endWatch() {
        watchdog.stop()
        monitor.stop()
    }

    /// Requests that the lanes commit pending work and end.
    ///
    /// `run` then returns.
    package func stop() { shared.drain() }

    /// Requests that the lanes commit pending work and consume nothing, or that they consume again.
    package func setPaused(_ isPaused: Bool) { shared.setPaused(isPaused) }

    /// Runs until the worker ends.
    ///
    /// Lane `n` resolves records with `makeProcessing(n)`. With `crashes`, records that end the process are isolated.
    ///
    /// Call this function only in this module and with a concrete type, because only then the compiler specializes it.
    package func run<Processing: RecordProcessing & SendableMetatype & ~Copyable>(
        crashes: CrashIsolation? = nil, makeProcessing: @escaping @Sendable (Int) -> Processing
    ) -> WorkerOutcome {
        watch()
        logStart()
        if let exit = checkLibrary() { return ended(exit, []) }
        shared.brokers?.start()
        defer { shared.brokers?.stop() }
        let start = WorkerStart(
            configuration: configuration, shared: shared, identity: identity(of: 0), watch: startCalls)
        let isStopping = { [self] in shared.isDraining || (handlesSignals && StopSignals.request != .none) }
        switch start.facts(isStopping) {
        case .failure(let exit): return ended(exit, [])
        case .success(let facts):
            guard let facts else { return ended(shared.failure, []) }
            for problem in facts.cleanupProblems {
                shared.log.log(
                    .warning, "topic.policy", "the topic \(problem.topic) \(problem.text)",
                    ["topic": .text(problem.topic), "advice": .text(problem.advice)])
            }
            defer { shared.devices?.stop() }
            if let exit = restoreDevices(facts, isStopping) { return ended(exit, []) }
            return isStopping() ? ended(shared.failure, []) : runLanes(facts, crashes, makeProcessing)
        }
    }

    /// Reads the registry of devices, if there is one, and returns the exit if it cannot be read.
    private func restoreDevices(_ facts: TopicFacts, _ isStopping: () -> Bool) -> WorkerExit? {
        guard let devices = shared.devices, let topic = configuration.devicesTopic else {
            configuration.stateDirectory.map(RegistryCopy.remove)
            return nil
        }
        return devices.start(topic, facts.registry ?? RegistryFacts(), fail: { [shared] in shared.fail($0) })
            ?? devices.waitUntilRestored(isStopping)
    }

    private func identity(of lane: Int) -> LaneIdentity {
        LaneIdentity(
            group: configuration.group, instance: instance, isStable: configuration.instance != nil, lane: lane)
    }

    private func runLanes<Processing: RecordProcessing & SendableMetatype & ~Copyable>(
        _ facts: TopicFacts, _ crashes: CrashIsolation?, _ makeProcessing: @escaping @Sendable (Int) -> Processing
    ) -> WorkerOutcome {
        warnOfIdleLanes(facts)
        shared.group?.start()
        defer { shared.group?.stop() }
        let ended = Monitor(0)
        var started = 0
        for number in 0..<configuration.lanes {
            let isStarted = SystemThread.start("lane \(number)") { [self] in
                runLane(number, facts, crashes, makeProcessing)
                ended.signal { $0 += 1 }
            }
            if isStarted { started += 1 }
        }
        if started < configuration.lanes {
            shared.fail(.noThread)
        }
        while !shared.isAbandoned, ended.wait(milliseconds: 500, until: { $0 == started ? true : nil }) == nil {}
        return self.ended(shared.failure, laneStatuses.compactMap { $0.snapshot?.counters })
    }

    private func runLane<Processing: RecordProcessing & SendableMetatype & ~Copyable>(
        _ number: Int, _ facts: TopicFacts, _ crashes: CrashIsolation?,
        _ makeProcessing: @Sendable (Int) -> Processing
    ) {
        let identity = identity(of: number)
        var policy = LanePolicy(configuration, identity)
        policy.compactedInputs = facts.compactedInputs
        policy.hasTopicIDs = LibraryInfo.hasTopicIDs
        let lane = Lane(
            number: number, policy: policy,
            topics: LaneTopics(configuration), commitBytes: configuration.commit.bytes,
            worker: WorkerIdentity(
                group: configuration.group, instance: identity.name, lane: number, version: configuration.version,
                profile: configuration.deadLetterHeaders),
            environment: KafkaLaneEnvironment(
                configuration: configuration, identity: identity, limits: facts.limits, watch: laneCalls[number]),
            processing: makeProcessing(number), shared: shared, status: laneStatuses[number])
        lane.work.crashes = crashes.map { LaneCrashes($0, lane: number) }
        lane.run()
    }

    private func ended(_ exit: WorkerExit?, _ counters: [LaneCounters]) -> WorkerOutcome {
        // These threads log too, and their lines would otherwise follow the last one.
        endWatch()
        var report = RunReport()
        for counters in counters { report.add(counters) }
        (report.seconds, report.cpuSeconds) = shared.meter.seconds
        report.lanes = configuration.lanes
        report.guarantee = configuration.guarantee
        report.library = LibraryInfo.versionText
        report.version = configuration.version
        shared.log.log(
            .info, "stopped", "stopped",
            [
                "records": .count(report.records), "decisions": .count(report.decisions),
                "dead_letters": .count(report.deadLetters), "committed": .count(report.committed),
                "aborted": .count(report.aborted),
            ])
        if let exit { shared.log.log(exit.line) }
        return WorkerOutcome(exit: exit, report: report)
    }

    private func logStart() {
        shared.log.log(
            .info, "start", "starting",
            [
                "version": .text(configuration.version), "librdkafka": .text(LibraryInfo.versionText),
                "instance": .text(instance), "group": .text(configuration.group), "lanes": .count(configuration.lanes),
                "guarantee": .text(configuration.guarantee.rawValue),
            ])
        let needed = ProcessFigures.neededFiles(lanes: configuration.lanes, brokers: configuration.bootstrap.count)
        let limit = ProcessFigures.maxFiles
        guard limit > 0, limit < needed else { return }
        shared.log.log(
            .warning, "files.limited", "this process may open fewer files than it needs",
            [
                "limit": .count(limit), "needed": .count(needed),
                "advice": "raise the limit (LimitNOFILE= of systemd, `ulimit -n`), or use fewer lanes",
            ])
    }

    /// Validates the settings with librdkafka before anything connects.
    private func checkLibrary() -> WorkerExit? {
        for client in ClientKind.allCases {
            let settings = ClientSettings.clientConfiguration(
                of: client, configuration: configuration, identity: identity(of: 0), messageLimit: nil)
            do {
                try settings.validate(as: client == .consumer ? .consumer : .producer)
            } catch {
                return WorkerExit(
                    .configuration, "librdkafka rejects the \(client.rawValue)'s settings: \(error.text)",
                    advice: "correct the setting that the message names")
            }
        }
        if Scram.isSelected(configuration) && !LibraryInfo.supportsSCRAM {
            shared.log.log(.warning, "librdkafka", Scram.warning(LibraryInfo.versionText))
        }
        return nil
    }

    private func warnOfIdleLanes(_ facts: TopicFacts) {
        guard configuration.lanes > facts.inputPartitions, facts.inputPartitions > 0 else { return }
        shared.log.log(
            .warning, "lanes", "more lanes than partitions: the extra lanes are idle",
            ["lanes": .count(configuration.lanes), "partitions": .count(facts.inputPartitions)])
    }
}

extension Worker {
    /// The requests of an operator.
    ///
    /// The caller of the worker answers the request to load the tables again.
    package var requests: SignalRequests { shared.requests }

    /// Runs until the worker ends.
    ///
    /// Every lane decides with these tables instead of the tables in the configuration, and takes newer ones between
    /// two batches. With `crashes`, records that end the process are isolated.
    ///
    /// This function uses a concrete type of processor, so that the compiler specializes the generic lane.
    package func run(
        tables: ServedTables, _ configuration: DeciderConfiguration, crashes: CrashIsolation? = nil
    ) -> WorkerOutcome {
        status.show(tables)
        return run(crashes: crashes) { [shared] _ in
            RecordProcessor(tables, configuration, devices: shared.devices?.devices())
        }
    }

    /// Runs until the worker ends, with tables that never change.
    package func run(_ configuration: DeciderConfiguration) -> WorkerOutcome {
        run(tables: ServedTables(ServedTables.Version(configuration.tables)), configuration)
    }
}
