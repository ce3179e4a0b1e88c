package import ByteStorage
internal import CLibrary
internal import DeviceRegistry
internal import KafkaClient
internal import LinkIngest
internal import Synchronization
internal import SystemThreads

/// The registry of devices of a worker: a local copy of the topic `devices.topic`, which one thread keeps current.
///
/// The topic is the only source. The copy is below `state.dir`, or temporary without it.
package final class RegistryCopy: Sendable {
    private let configuration: WorkerConfiguration
    private let identity: LaneIdentity
    private let log: Log
    private let state = Monitor(RegistryView())
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
    package var view: RegistryView? { state.withLock { $0.partitions > 0 ? $0 : nil } }

    /// Opens the copy and starts to read the topic.
    ///
    /// `fail` is called once if the registry can no longer be read.
    func start(_ topic: String, _ facts: RegistryFacts, fail: @escaping @Sendable (WorkerExit) -> Void) -> WorkerExit? {
        let opened: RegistryStore
        do throws(RegistryStoreError) {
            opened = try RegistryStore.open(storeConfiguration(topic, facts))
        } catch {
            return WorkerExit(error)
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
                .warning, "devices.dropped", "the local copy of the registry is read again",
                ["code": .text(reason.rawValue), "reason": .text(reason.text)])
        }
        let reader = RegistryTopicReader(
            topic: topic, principal: RightsText(configuration).principal, facts: facts,
            hasTopicIDs: LibraryInfo.hasTopicIDs && !configuration.isMockBroker,
            members: configuration.deviceMembers, store: opened, log: log, state: state)
        let client = ClientSettings.registryConfiguration(configuration, identity, partitions: facts.partitions.count)
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

    /// Deletes the copy below a state directory, if a worker without a registry starts there.
    static func remove(from stateDirectory: String) { RegistryStore.remove(directory: stateDirectory + "/devices") }

    /// Ends the process at once, because a lane cannot read the copy and no decision may be made without it.
    ///
    /// The open transaction is aborted. A damaged copy is read again after the restart.
    func end(_ error: RegistryStoreError) -> Never {
        if case .damaged = error { store.withLock { $0?.markDamaged() } }
        let exit = WorkerExit(error)
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
            maxAgeSeconds: facts.retention,
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
}

/// The devices of a registry for one lane, in the state of one moment.
package final class RegisteredDevices: KnownDevices {
    private let snapshot: RegistrySnapshot
    private let registry: RegistryCopy
    private var keys: [ByteView] = []

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

    /// Looks up the devices whose ids are the keys of records, and returns the number of records that it has taken.
    ///
    /// It changes no result, and makes the records with such keys faster.
    func lookAhead(_ records: UnsafeBufferPointer<ConsumedRecord>, from start: Int) -> Int {
        keys.removeAll(keepingCapacity: true)
        let end = min(start + RegistrySnapshot.lookAheadLimit, records.count)
        for index in start..<end { if let key = records[index].key { keys.append(key) } }
        keys.withUnsafeBufferPointer(snapshot.lookAhead)
        return end - start
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
