package import ByteStorage
internal import CPlatform
internal import DeviceRegistry
internal import KafkaClient
internal import LinkIngest
internal import Synchronization
internal import SystemThreads
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The facts about the registry's topic that a worker needs to read it.
struct RegistryFacts: Sendable, Equatable {
    /// The id of the cluster, or an empty text if no broker reports it.
    var cluster = ""
    /// The id of the topic, or an empty text with a librdkafka before 2.3.
    var topicID = ""
    /// The numbers of the partitions.
    var partitions: [Int32] = []
    /// `delete.retention.ms` of the topic in seconds, or nil if the brokers do not report it.
    var retentionSeconds: Int64?
}

/// The registry of devices of a worker: a local copy of the topic `devices.topic`, which one thread keeps current.
///
/// The topic is the only source. The copy is below `state.dir`, or temporary without it.
package final class RegistryCopy: Sendable {
    /// The state of the copy.
    package struct View: Sendable, Equatable {
        /// The number of partitions, and how many of them were read up to the end that they had at the start.
        package var partitions = 0
        package var restored = 0
        /// The records that were read since the start.
        package var records: Int64 = 0
        /// The offsets that are left until all partitions are restored.
        package var remaining: Int64 = 0
        /// The devices in the copy.
        package var devices = 0
        /// The size of the copy's file, in bytes.
        package var bytes = 0
        /// The records since the start that are no valid device.
        package var malformed: UInt64 = 0
        /// The time of the start, in nanoseconds of the monotonic clock.
        package var startedAt: UInt64 = 0
        /// The last time at which everything up to the stable end was read, in nanoseconds of the monotonic clock, or
        /// nil before the first time.
        package var currentAt: UInt64?

        /// A Boolean value that indicates whether lanes can decide.
        package var isRestored: Bool { partitions > 0 && restored == partitions }

        /// Returns the records per second since the start.
        package func rate(now: UInt64) -> Double {
            let seconds = Double(now.saturatingSubtract(startedAt)) / 1e9
            return seconds > 0 ? Double(records) / seconds : 0
        }
    }

    private let configuration: WorkerConfiguration
    private let identity: LaneIdentity
    private let log: Log
    private let state = Monitor(View())
    private let thread = StoppableThread(name: "devices")
    private let store = Mutex<RegistryStore?>(nil)
    private let temporary = Mutex<String?>(nil)
    private let failure = Mutex<WorkerExit?>(nil)

    /// Creates the registry of a worker, which reads nothing before `start`.
    package init(_ configuration: WorkerConfiguration, _ identity: LaneIdentity, log: Log) {
        self.configuration = configuration
        self.identity = identity
        self.log = log
    }

    /// The state of the copy, or nil before `start`.
    package var view: View? { state.withLock { $0.partitions > 0 ? $0 : nil } }

    /// Opens the copy and starts to read the topic.
    ///
    /// `fail` is called once if the registry can no longer be read.
    func start(_ topic: String, _ facts: RegistryFacts, fail: @escaping @Sendable (WorkerExit) -> Void) -> WorkerExit? {
        let opened: RegistryStore
        do throws(RegistryStoreError) {
            opened = try RegistryStore.open(storeConfiguration(topic, facts))
        } catch {
            return Self.exit(error)
        }
        // Nothing stays of a temporary copy, however the process ends.
        removeTemporary()
        store.withLock { $0 = opened }
        state.withLock {
            $0.partitions = facts.partitions.count
            $0.startedAt = SystemClock.monotonicNanoseconds()
            $0.devices = opened.count
            $0.bytes = opened.bytes
        }
        if let reason = opened.droppedBecause {
            log.log(
                LogEntry(
                    .warning, "devices.dropped", "the local copy of the registry is read again",
                    [LogField("code", .text(reason.rawValue)), LogField("reason", .text(reason.text))]))
        }
        let reader = RegistryTopicReader(
            topic: topic, partitions: facts.partitions, members: configuration.deviceMembers,
            retentionSeconds: facts.retentionSeconds ?? Self.defaultRetention, store: opened, log: log, state: state)
        let client = ClientSettings.registryConfiguration(configuration, identity)
        let isStarted = thread.start { [self] in
            if let exit = reader.run(client, thread) {
                failure.withLock { $0 = exit }
                state.signal { _ in }
                fail(exit)
            }
        }
        return isStarted ? nil : .noThread
    }

    /// Waits until all partitions are restored, the registry fails, or `isStopping` returns true.
    ///
    /// Returns the exit of a failure.
    func waitUntilRestored(_ isStopping: () -> Bool) -> WorkerExit? {
        while !isStopping() {
            if let exit = failure.withLock({ $0 }) { return exit }
            if state.wait(milliseconds: 100, until: { $0.isRestored ? true : nil }) != nil { return nil }
        }
        return nil
    }

    /// Returns the devices for a lane, or nil before `start`.
    package func devices() -> RegisteredDevices? {
        store.withLock { store in store.map { RegisteredDevices(RegistrySnapshot(of: $0), self) } }
    }

    /// Ends the reading, and closes the copy.
    ///
    /// The lanes must have ended.
    package func stop() {
        thread.stop()
        thread.join(milliseconds: 10_000)
        store.withLock { store in
            store?.close()
            store = nil
        }
    }

    /// Kafka's default of `delete.retention.ms` in seconds.
    private static let defaultRetention: Int64 = 86_400

    /// Deletes the copy below a state directory, if a worker without a registry starts there.
    static func remove(from stateDirectory: String) { RegistryStore.remove(directory: stateDirectory + "/devices") }

    /// Ends the process at once, because a lane cannot read the copy and no decision may be made without it.
    ///
    /// The open transaction is aborted. A damaged copy is read again after the restart.
    func end(_ error: RegistryStoreError) -> Never {
        if case .damaged = error { store.withLock { $0?.markDamaged() } }
        let exit = Self.exit(error)
        log.log(exit.line)
        log.close()
        StopSignals.exitNow(exit.code.rawValue)
    }

    // MARK: The copy

    private func storeConfiguration(_ topic: String, _ facts: RegistryFacts) -> RegistryStoreConfiguration {
        RegistryStoreConfiguration(
            directory: directory(),
            source: RegistrySource(
                cluster: facts.cluster, topic: topic, topicID: facts.topicID,
                members: configuration.deviceMembers.text),
            maxDevices: configuration.maxDevices,
            maxAgeSeconds: facts.retentionSeconds ?? Self.defaultRetention,
            bootID: RegistryStoreConfiguration.currentBootID(), now: SystemClock.wallMilliseconds())
    }

    private func directory() -> String {
        if let state = configuration.stateDirectory { return state + "/devices" }
        let digits = String(UInt64.random(in: .min ... .max), radix: 36)
        let path = (getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp") + "/linkd-devices-" + digits
        temporary.withLock { $0 = path }
        return path
    }

    private func removeTemporary() {
        guard let path = temporary.withLock({ $0 }) else { return }
        RegistryStore.remove(directory: path)
    }

    /// Returns the exit for a copy that cannot be used.
    static func exit(_ error: RegistryStoreError) -> WorkerExit {
        let code: WorkerExitCode =
            switch error {
            case .tooManyDevices: .configuration
            default: .tryAgain
            }
        return WorkerExit(code, error.reason, advice: error.advice)
    }
}

/// The devices of a registry for one lane, in the state of one moment.
package final class RegisteredDevices: KnownDevices {
    private let snapshot: RegistrySnapshot
    private let registry: RegistryCopy

    fileprivate init(_ snapshot: RegistrySnapshot, _ registry: RegistryCopy) {
        self.snapshot = snapshot
        self.registry = registry
        refresh()
    }

    /// Takes the newest state, between two batches.
    func refresh() {
        do throws(RegistryStoreError) {
            try snapshot.begin()
        } catch {
            registry.end(error)
        }
    }

    /// Returns the facts of a device, or nil for an unknown one.
    package func facts(of id: ByteView) -> ByteView? {
        switch snapshot.find(id) {
        case .absent: nil
        case .found(let record): record.facts
        case .damaged: registry.end(.damaged(directory: "devices"))
        }
    }

    /// Passes the devices of a user to `body`, ordered by their ids.
    package func devices(of user: ByteView, limit: Int, _ body: (ByteView) -> Void) -> Int {
        snapshot.devices(of: user, limit: limit, body)
    }
}
