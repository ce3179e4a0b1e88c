internal import ByteStorage
internal import LinkCoordinator
internal import RouteAnalysis

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
        }
        devices += count
        return true
    }

    /// Returns the number of a kind in `entries`, or nil if there is no device of this kind.
    func number(of kind: DeviceKinds.Kind) -> Int? { numbers[kind] }

    /// Removes all devices.
    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        numbers.removeAll(keepingCapacity: true)
        devices = 0
        merged = 0
    }
}
