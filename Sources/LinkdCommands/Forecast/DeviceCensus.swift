internal import ByteStorage
internal import DeviceRegistry
internal import LinkCoordinator
internal import LinkIngest
internal import RouteAnalysis
internal import RouteTools
internal import StrictJSON

/// The file of a census: how many devices of each kind there are, without their ids.
struct CensusFile {
    /// The version of the format.
    private static let version: Int64 = 1
    /// The size limit of a file, in bytes.
    private static let limitBytes = 64 << 20
    /// The limit of the devices of one kind.
    private static let maxCount: Int64 = 1 << 40

    /// The topic of the registry.
    var topic: String
    /// The time at which the registry was read, as text.
    var time: String
    /// The census.
    var census: DeviceCensus

    /// Creates the file of a census that was read now.
    init(topic: String, _ census: DeviceCensus) {
        self.topic = topic
        self.census = census
        time = OutputArena.text { Timestamps.append(Platform.nowMilliseconds, to: &$0) }
    }

    /// Writes the file.
    ///
    /// - Parameter least: The number of devices below which kinds are merged.
    func write(to path: String, least: Int) throws(CommandFailure) {
        guard let error = Platform.writeFile(path, Array((json(least: least) + "\n").utf8)) else { return }
        throw CommandFailure(
            .configuration, "census \(Escaping.visible(path)) cannot be written: \(error.text)",
            advice: "specify a file that this user can write")
    }

    private func json(least: Int) -> String {
        let kept = census.entries.filter { $0.count >= least }
        let merged = census.merged + census.devices - kept.reduce(0) { $0 + $1.count }
        return JSONText.object { json in
            json.number("census", Self.version)
            json.text("topic", topic)
            json.text("time", time)
            json.beginObject("facts")
            for question in census.kinds.questions { json.texts(question.name, question.named) }
            json.endObject()
            json.number("merged", Int64(merged))
            json.objects("kinds", of: kept) { json, entry in
                json.number("devices", Int64(entry.count))
                json.raw("device", Array(census.kinds.facts(of: entry.kind).json.utf8))
            }
        }
    }

    /// Reads a file for tables.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - kinds: The kinds that the tables distinguish.
    /// - Throws: Exit code 78 if the file cannot be read, and 65 if it is no census, or if it does not distinguish all
    ///   devices that the tables distinguish.
    init(path: String, for kinds: DeviceKinds) throws(CommandFailure) {
        let bytes = try Platform.required(path, limit: Self.limitBytes, as: "census \(Escaping.visible(path))")
        guard let value = try? JSONValue.parse(bytes), value["census"]?.integer == Self.version,
            let facts = value["facts"]?.object, let entries = value["kinds"]?.array,
            let known = DeviceKinds(facts.map { ($0.name, ($0.value.array ?? []).compactMap(\.string)) })
        else { throw Self.invalid(path) }
        if let missing = known.lacks(kinds) {
            throw CommandFailure(
                .badData,
                "census \(Escaping.visible(path)) was made for other facts: it does not ask about "
                    + Escaping.visible(missing),
                advice: "make it again with `linkd forecast --save-census` and all of these tables")
        }
        topic = value["topic"]?.string ?? ""
        time = value["time"]?.string ?? ""
        census = DeviceCensus(kinds)
        for entry in entries {
            let device = DeviceFacts(entry["device"] ?? JSONValue(.object([])))
            guard let count = entry["devices"]?.integer, (1...Self.maxCount).contains(count),
                device.unreadable.isEmpty, entries.count <= DeviceCensus.maxKinds,
                device.withFacts({ census.add($0.pointee, count: Int(count)) })
            else { throw Self.invalid(path) }
        }
        guard let merged = value["merged"]?.integer, (0...Self.maxCount).contains(merged) else {
            throw Self.invalid(path)
        }
        census.merged = Int(merged)
    }

    private static func invalid(_ path: String) -> CommandFailure {
        CommandFailure(
            .badData, "\(Escaping.visible(path)) is not the file of a census",
            advice: "specify a file that `linkd forecast --save-census` has written")
    }
}

/// The number of devices of each kind that some tables distinguish.
struct DeviceCensus: Sendable {
    /// The devices of one kind.
    struct Entry: Sendable {
        /// The kind.
        var kind: DeviceKinds.Kind
        /// The number of devices.
        var count: Int
        /// The id of one of them, or nil if it is not known.
        var example: [UInt8]?
    }

    /// The limit of kinds.
    static let maxKinds = 100_000

    /// The questions of the tables.
    private(set) var kinds: DeviceKinds
    /// The devices by kind.
    private(set) var entries: [Entry] = []
    /// The answers of all kinds, one kind after the other, which are read faster than the answers in the entries.
    private(set) var answers: [UInt16] = []
    /// The number of all devices whose kinds are known.
    private(set) var devices = 0
    /// The number of devices whose kinds were merged when the census was saved.
    var merged = 0
    private let maxKinds: Int
    private var numbers: [DeviceKinds.Kind: Int] = [:]
    private var kind: DeviceKinds.Kind = []

    /// Creates an empty census.
    init(_ kinds: DeviceKinds, maxKinds: Int = Self.maxKinds) {
        self.kinds = kinds
        self.maxKinds = maxKinds
    }

    /// Counts devices with the same facts, or returns false and counts nothing if there would be too many kinds.
    mutating func add(_ device: DeviceView, id: ByteView? = nil, count: Int = 1) -> Bool {
        kinds.classify(device, into: &kind)
        if let number = numbers[kind] {
            entries[number].count += count
        } else {
            guard entries.count < maxKinds else { return false }
            numbers[kind] = entries.count
            entries.append(Entry(kind: kind, count: count, example: id?.array))
            answers += kind
        }
        devices += count
        return true
    }

    /// Returns the number of a kind in `entries`, or nil if there is no device of this kind.
    func number(of kind: DeviceKinds.Kind) -> Int? { numbers[kind] }

    /// Removes all devices.
    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        answers.removeAll(keepingCapacity: true)
        numbers.removeAll(keepingCapacity: true)
        devices = 0
        merged = 0
    }
}

/// The devices of a registry's topic, which is read once.
///
/// They are in a temporary store without a name, so that nothing of it stays after the process, however it ends.
final class RegistryDevices {
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
        if batch.isFull { try apply(isLast: false) }
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
