internal import ByteStorage
internal import DeviceRegistry
internal import LinkIngest
internal import RouteTools

/// The devices of a registry's topic, which is read once.
///
/// They are in a temporary store without a name, so that nothing of it stays after the process, however it ends.
final class RegistryDevices {
    /// The records of one transaction of the store.
    private static let batchRecords = 16_000

    /// The number of records.
    private(set) var records: Int64 = 0
    /// The number of records that are no valid device.
    private(set) var malformed: Int64 = 0
    private let store: RegistryStore
    private var reader: RegisteredDeviceReader
    private var batch = RegistryBatch()

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - members: The facts that are kept.
    ///   - maxDevices: The limit of devices.
    ///   - directory: The directory in which the temporary store is created.
    init(_ members: DeviceMembers, maxDevices: Int, in directory: String) throws(CommandFailure) {
        reader = RegisteredDeviceReader(members)
        let path = directory + "/linkd-forecast-" + String(UInt64.random(in: .min ... .max), radix: 36)
        let source = RegistrySource(cluster: "", topic: "", topicID: "", members: members.text)
        store = try Self.attempt { () throws(RegistryStoreError) in
            try RegistryStore.open(
                RegistryStoreConfiguration(
                    directory: path, source: source, maxDevices: maxDevices, bootID: "", now: 0))
        }
        RegistryStore.remove(directory: path)
    }

    /// Reads a topic up to its stable end.
    func read(_ topic: String, _ connection: Connection, on console: Console) throws(CommandFailure) {
        var scan = try TopicScan(connection)
        var plan = ScanPlan()
        try plan.add(topic, try scan.description(of: topic), ScanRange())
        try scan.start(plan)
        let total = Counts.grouped(plan.recordCount)
        var progress = ProgressLine(console)
        try scan.forEach { read in
            progress.show("read \(Counts.grouped(read)) of at most \(total) records of \(topic)")
        } _: { record throws(CommandFailure) in
            try add(key: record.key, value: record.value)
        }
        try apply()
        progress.clear()
    }

    /// Applies a record of the topic: the last valid one of a device counts, and one without a value deletes it.
    func add(key: ByteView?, value: ByteView?) throws(CommandFailure) {
        records += 1
        guard let key, RegisteredDeviceReader.isID(key) else {
            malformed += 1
            return
        }
        if let value {
            guard let device = reader.read(value) else {
                malformed += 1
                return
            }
            batch.put(id: key, user: .empty, timestamp: 0, facts: device.facts)
        } else {
            batch.delete(id: key)
        }
        if batch.count >= Self.batchRecords { try apply(isLast: false) }
    }

    /// Applies the records that were added.
    ///
    /// The limit of devices counts after the last ones, because records can follow that delete devices.
    func apply(isLast: Bool = true) throws(CommandFailure) {
        try Self.attempt { () throws(RegistryStoreError) in
            try store.apply(batch, now: 0, isRestoring: true)
            if isLast { try store.checkCount() }
        }
        batch.removeAll()
    }

    /// Counts the devices, and passes the census to `body`.
    ///
    /// If there are too many kinds for one census, the devices are passed in several parts.
    ///
    /// - Returns: The number of parts.
    func forEachPart(
        of census: DeviceCensus, on console: Console, _ body: (DeviceCensus) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> Int {
        var census = census
        var facts = RegisteredFacts()
        var (parts, counted) = (0, 0)
        var failure: CommandFailure?
        var progress = ProgressLine(console)
        let total = Counts.grouped(Int64(store.count))
        let snapshot = RegistrySnapshot(of: store)
        try Self.attempt { () throws(RegistryStoreError) in try snapshot.begin() }
        func pass() -> Bool {
            progress.clear()
            parts += 1
            do throws(CommandFailure) {
                try body(census)
            } catch {
                failure = error
            }
            census.removeAll()
            return failure == nil
        }
        let isWhole = snapshot.forEach { id, device in
            counted += 1
            if counted % 1024 == 0 { progress.show("counted \(Counts.grouped(Int64(counted))) of \(total) devices") }
            let view = facts.read(device.facts)
            return census.add(view, id: id) || (pass() && census.add(view, id: id))
        }
        snapshot.end()
        if let failure { throw failure }
        guard isWhole else { throw Self.failure(.damaged(directory: "")) }
        if census.devices > 0 || parts == 0, !pass(), let failure { throw failure }
        return parts
    }

    private static func attempt<Value>(
        _ body: () throws(RegistryStoreError) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(RegistryStoreError) {
            return try body()
        } catch {
            throw failure(error)
        }
    }

    private static func failure(_ error: RegistryStoreError) -> CommandFailure {
        switch error {
        case .tooManyDevices, .tooManyAtOnce:
            return CommandFailure(.configuration, error.reason, advice: "increase --devices-max")
        default: break
        }
        return CommandFailure(
            .configuration, "the temporary store of devices cannot be used: \(error.reason)",
            advice: "set TMPDIR to a directory on a disk with room for 300 bytes a device")
    }
}
