/// What is searched by changing inputs: each takes any bytes and says what is wrong with what came of them.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// One record: its decisions are well-formed, the same each time, and cost no more than they may.
    case events
    /// One link for one device: the decision is the same by every way to it.
    case links
    /// A table's file: read, checked, and some links resolved.
    case tables
    /// A sequence of records through one processor, and each of them through a fresh one.
    case sequences

    /// Most bytes of an input.
    package var maxBytes: Int {
        switch self {
        case .events: 8 << 10
        case .links: 4 << 10
        case .tables: 16 << 10
        case .sequences: 8 << 10
        }
    }
}

/// Runs inputs: one for a thread, used for all of them.
package final class FuzzRunner {
    let worlds: [World]
    let cost: CostBound
    private var known: [UInt64: UInt64] = [:]

    /// Makes a runner.
    ///
    /// - Parameters:
    ///   - worlds: What inputs may name.
    ///   - cost: What a record may cost.
    package init(worlds: [World], cost: CostBound = .none) {
        self.worlds = worlds
        self.cost = cost
    }

    /// Runs an input and returns what is wrong, in words; nil if nothing is.
    package func run(_ target: FuzzTarget, _ input: [UInt8]) -> String? {
        switch target {
        case .events: runEvent(input)
        case .links: runLink(input)
        case .tables: runTable(input)
        case .sequences: runSequence(input)
        }
    }

    /// Returns the digest of what a processor that has seen nothing makes of a record; told once, it is remembered.
    func freshDigest(_ record: FuzzRecord, _ world: World) -> UInt64 {
        var key = Digest()
        key.add(Array(world.name.utf8))
        key.add(UInt64(bitPattern: record.offset))
        key.add(record.key ?? [])
        key.add(record.key == nil ? 0 : 1)
        key.add(record.value)
        if let digest = known[key.value] { return digest }
        if known.count > 100_000 { known.removeAll(keepingCapacity: true) }
        let digest = RecordLane.freshDigest(record, world)
        known[key.value] = digest
        return digest
    }
}

/// What a record may cost: so much for the bytes that are read and written, and so much for each device.
package struct CostBound: Sendable {
    /// Nanoseconds for a megabyte read and written, and for a device.
    package static let perMegabyte = 20_000_000.0
    /// Nanoseconds for a device.
    package static let perDevice = 20_000.0

    /// How many times as much it may take here: a build that checks everything is slower.
    var slack: Double
    /// What any record may take, in nanoseconds: times below are noise.
    var floor: Double

    /// No bound.
    package static let none = CostBound(slack: .infinity, floor: 0)
    /// The bound of a build with sanitizers.
    package static let sanitized = CostBound(slack: 25, floor: 30_000_000)

    /// Returns what a record may take in nanoseconds, without slack.
    package static func nanoseconds(bytes: Int, devices: Int) -> Double {
        Double(bytes) / 1_000_000 * perMegabyte + Double(devices) * perDevice
    }

    /// Returns a Boolean value that indicates whether a time is over the bound.
    func isOver(_ time: UInt64, bytes: Int, devices: Int) -> Bool {
        slack < .infinity && Double(time) > floor + slack * Self.nanoseconds(bytes: bytes, devices: devices)
    }
}
