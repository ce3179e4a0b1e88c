internal import ByteStorage
internal import KafkaClient
internal import LinkIngest
internal import RouteTools
internal import StrictJSON

/// The state of one device in the registry's topic.
struct RegistryEntry: Equatable {
    /// The position and the time of a record.
    struct Place: Equatable {
        var partition: Int32
        var offset: Int64
        /// The timestamp in milliseconds since 1970, or -1 for none.
        var timestamp: Int64
    }

    /// The content of the last record that is not malformed.
    enum State: Equatable {
        /// No such record was read.
        case unknown
        case deleted(Place)
        case known(Place, user: [UInt8], value: [UInt8])
    }

    var state = State.unknown
    /// The malformed records after the last one that is not, which change nothing.
    var malformed = 0
    /// The last malformed record, or nil.
    var lastMalformed: Place?
    /// The partitions that have records of the device.
    var partitions: Set<Int32> = []
    /// The record that counts as the last one.
    fileprivate var last: Place?
}

/// A search for a device, or for the devices of a user, in the records of the registry's topic.
///
/// It reads each record once, and keeps the devices that match only. A device that once belonged to the user is kept
/// without its value, so that its later records are understood.
struct DeviceSearch: ~Copyable {
    /// The subject of a search.
    enum Subject: Equatable {
        case device([UInt8])
        case user([UInt8])
    }

    /// The limit of the memory for the devices of a user, in bytes.
    static let maxBytes = 256 << 20
    /// The estimated size of an entry without its key, user, and value, in bytes.
    private static let entryBytes = 512

    private let subject: Subject
    private let limit: Int
    private var reader: RegisteredDeviceReader
    private(set) var entries: [[UInt8]: RegistryEntry] = [:]
    private var bytes = 0
    /// The key of the current record, whose memory is used again.
    private var key: [UInt8] = []

    /// Creates a search that reads values as a worker with these members does.
    init(_ subject: Subject, _ members: DeviceMembers, limit: Int = DeviceSearch.maxBytes) {
        self.subject = subject
        self.limit = limit
        reader = RegisteredDeviceReader(members)
        if case .device(let id) = subject { entries[id] = RegistryEntry() }
    }

    /// The devices that are the answer, ordered by the bytes of their ids.
    var found: [(id: [UInt8], entry: RegistryEntry)] {
        let matching = entries.filter { _, entry in
            guard case .user(let user) = subject else { return true }
            if case .known(_, user, _) = entry.state { return true }
            return false
        }
        return matching.map { ($0.key, $0.value) }.sorted { $0.id.lexicographicallyPrecedes($1.id) }
    }

    /// The number of devices that belonged to the user and are deleted or belong to another one.
    var formerCount: Int { entries.count - found.count }

    /// Adds a record.
    ///
    /// More devices of a user than the memory is for end with exit code 65.
    mutating func add(_ record: ScannedRecord) throws(CommandFailure) {
        guard let view = record.key, RegisteredDeviceReader.isID(view) else { return }
        key.removeAll(keepingCapacity: true)
        key.append(contentsOf: view.buffer)
        let place = RegistryEntry.Place(
            partition: record.partition, offset: record.offset, timestamp: record.timestamp)
        if entries[key] != nil {
            update(place, record.value)
        } else if case .user(let user) = subject, let value = record.value, let device = reader.read(value),
            device.user.buffer.elementsEqual(user)
        {
            var entry = RegistryEntry(state: .known(place, user: user, value: value.array), last: place)
            entry.partitions.insert(place.partition)
            entries[key] = entry
            bytes += Self.entryBytes + key.count + user.count + value.count
        }
        guard bytes > limit else { return }
        throw CommandFailure(
            .badData,
            "the user's devices need more than \(limit >> 20) MiB (\(Counts.grouped(Int64(entries.count))) so far)",
            advice: "look at single devices with --devices ID")
    }

    /// Updates the entry of the current key with a later record.
    private mutating func update(_ place: RegistryEntry.Place, _ value: ByteView?) {
        guard var entry = entries.removeValue(forKey: key) else { return }
        defer { entries[key] = entry }
        entry.partitions.insert(place.partition)
        // Only their times order records in different partitions.
        if let last = entry.last, last.partition != place.partition,
            (place.timestamp, place.partition) < (last.timestamp, last.partition)
        {
            return
        }
        entry.last = place
        let before = Self.valueBytes(entry)
        defer { bytes += Self.valueBytes(entry) - before }
        guard let value else {
            entry.settle(.deleted(place))
            return
        }
        guard let device = reader.read(value) else {
            entry.malformed += 1
            entry.lastMalformed = place
            return
        }
        let user = device.user.array
        var isKept = true
        if case .user(let wanted) = subject { isKept = user == wanted }
        entry.settle(.known(place, user: user, value: isKept ? value.array : []))
    }

    private static func valueBytes(_ entry: RegistryEntry) -> Int {
        if case .known(_, let user, let value) = entry.state { return user.count + value.count }
        return 0
    }
}

extension RegistryEntry {
    /// Takes what a record says that is not malformed.
    fileprivate mutating func settle(_ state: State) {
        self.state = state
        malformed = 0
        lastMalformed = nil
    }
}

/// A run of `linkd inspect --devices` or `--user`: what the registry's topic says now.
///
/// All partitions are read, although `linkd produce --devices` writes a device to one that its id determines. Records
/// of other producers, or from before partitions were added, can be in any partition, and workers take them all.
struct RegistryJob {
    private let call: Invocation
    private let subject: DeviceSearch.Subject
    private let topic: String
    private let members: DeviceMembers

    /// A Boolean value that indicates whether the call is about a user.
    var isOfUser: Bool {
        if case .user = subject { true } else { false }
    }

    /// Creates a run, or returns nil if the call is not about the registry.
    init?(_ call: Invocation, _ settings: Settings) throws(CommandFailure) {
        switch (call.text("devices"), call.text("user")) {
        case (nil, nil): return nil
        case (let id?, _): subject = .device(Array(id.utf8))
        case (nil, let user?): subject = .user(Array(user.utf8))
        }
        self.call = call
        topic = try settings.requireDevicesTopic()
        members = try settings.deviceMembers
    }

    /// Reads the topic and prints the answer.
    func run(_ connection: Connection) throws(CommandFailure) {
        _ = try connection.makeAdmin()
        var scan = try TopicScan(connection)
        let ends = try scan.description(of: topic)
        var plan = ScanPlan()
        let range = ScanRange(partition: call.number("partition").map { Int32($0) })
        try plan.add(topic, ends, range)
        try scan.start(plan)
        var search = DeviceSearch(subject, members)
        var progress = ProgressLine(call.console)
        let total = plan.recordCount
        try scan.forEach { read in
            progress.show("read \(Counts.grouped(read)) of at most \(Counts.grouped(total))")
        } _: { record throws(CommandFailure) in
            try search.add(record)
        }
        progress.clear()
        let found = search.found
        for (id, entry) in found {
            if call.json { printJSON(id, entry) } else { print(id, entry) }
            warn(id, entry, partitions: Int32(ends.count))
        }
        note(found.count, former: search.formerCount)
        call.console.out.flush()
    }

    private func note(_ count: Int, former: Int) {
        guard case .user(let user) = subject else { return }
        let name = Escaping.visible(String(decoding: user, as: UTF8.self))
        let devices = count == 0 ? "no device" : Counts.text(count, "device")
        let rest = former > 0 ? "; \(Counts.text(former, "other device")) belonged to it before" : ""
        call.console.note("\(topic) has \(devices) of the user \(name)\(rest)")
    }

    /// Warns of records whose order is not certain, because they are in several partitions.
    private func warn(_ id: [UInt8], _ entry: RegistryEntry, partitions: Int32) {
        let name = Escaping.visible(String(decoding: id, as: UTF8.self))
        let own = id.withUnsafeBufferPointer { Murmur2.partition(of: ByteView($0), among: partitions) }
        guard entry.partitions.contains(where: { $0 != own }) else { return }
        let numbers = entry.partitions.sorted().map(String.init).joined(separator: ", ")
        call.console.warn(
            "The records of \(name) are in partition \(numbers) of \(topic), and `linkd produce --devices` writes it "
                + "to \(own). Records in different partitions have no order, here and in workers. Delete the device in "
                + "each other one, with `linkd produce --devices --partition N`.")
    }

    // MARK: Output

    private func print(_ id: [UInt8], _ entry: RegistryEntry) {
        let out = call.console.out
        let name = out.style.name(Escaping.visible(String(decoding: id, as: UTF8.self)))
        switch entry.state {
        case .unknown:
            // Compaction removes deletions, and a good record before a malformed one.
            let records =
                entry.malformed == 0
                ? "has no record of it; a deletion is forgotten after delete.retention.ms"
                : "has only malformed records of it; running workers keep what they read before"
            out.line("\(name)  unknown: \(topic) \(records)")
        case .deleted(let place): out.line("\(name)  \(out.style.paint("deleted", .warning)) since \(text(place))")
        case .known(let place, let user, let value):
            let owner = user.isEmpty ? "" : " of the user \(Escaping.visible(String(decoding: user, as: UTF8.self)))"
            out.line("\(name)  \(out.style.paint("known", .good)) since \(text(place))\(owner)")
            out.line("    \(Escaping.visible(String(decoding: value, as: UTF8.self)))")
        }
        guard let last = entry.lastMalformed else { return }
        let records = Counts.text(entry.malformed, "malformed record")
        out.line(
            "    \(records) after it \(entry.malformed == 1 ? "changes" : "change") nothing, the last \(text(last)); "
                + "workers that were not running then do not know the device")
    }

    /// Returns the time and the position of a record.
    private func text(_ place: RegistryEntry.Place) -> String {
        OutputArena.text { line in
            if place.timestamp < 0 {
                line.append("no time")
            } else {
                Timestamps.append(place.timestamp, local: call.isOn("local"), to: &line)
            }
            line.append("  ")
            line.append(text: "\(topic)-\(place.partition)-\(place.offset)")
        }
    }

    private func printJSON(_ id: [UInt8], _ entry: RegistryEntry) {
        call.console.out.json { json in
            json.text("id", String(decoding: id, as: UTF8.self))
            switch entry.state {
            case .unknown: json.text("state", "unknown")
            case .deleted(let place):
                json.text("state", "deleted")
                write(place, to: &json)
            case .known(let place, let user, let value):
                json.text("state", "known")
                if !user.isEmpty { json.text("user", String(decoding: user, as: UTF8.self)) }
                write(place, to: &json)
                if let value = try? JSONValue.parse(value) { json.value("value", value) }
            }
            guard let last = entry.lastMalformed else { return }
            json.beginObject("malformed")
            json.number("count", Int64(entry.malformed))
            write(last, to: &json)
            json.endObject()
        }
    }

    private func write(_ place: RegistryEntry.Place, to json: inout JSONText) {
        json.text("topic", topic)
        json.number("partition", Int64(place.partition))
        json.number("offset", place.offset)
        json.number("timestamp", place.timestamp < 0 ? nil : place.timestamp)
    }
}
