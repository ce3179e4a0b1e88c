internal import ByteStorage
internal import LinkIngest
internal import RouteTools

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
        // Records in different partitions have no order but that of their times.
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
