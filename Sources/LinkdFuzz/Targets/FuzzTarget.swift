/// The targets of a search.
///
/// Each one accepts any bytes and reports violations of its rules.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// A record. Its decisions must be well-formed, repeatable, and within the cost bound.
    case events
    /// A link for one device. All ways to resolve it must yield the same decision.
    case links
    /// The file of a table. It is read and checked, and some links are resolved.
    case tables
    /// A sequence of records through one processor, compared with a fresh processor for each.
    case sequences

    /// The size limit of an input, in bytes.
    package var maxBytes: Int {
        switch self {
        case .events: 8 << 10
        case .links: 4 << 10
        case .tables: 16 << 10
        case .sequences: 8 << 10
        }
    }
}

/// A runner of inputs, which one thread uses for all of them.
package final class FuzzRunner {
    let worlds: [World]
    let cost: CostBound
    private var known: [UInt64: UInt64] = [:]

    /// Creates a runner.
    ///
    /// - Parameters:
    ///   - worlds: The worlds that inputs can name.
    ///   - cost: The cost bound of a record.
    package init(worlds: [World], cost: CostBound = .none) {
        self.worlds = worlds
        self.cost = cost
    }

    /// Runs an input, and returns a description of a violation or nil.
    package func run(_ target: FuzzTarget, _ input: [UInt8]) -> String? {
        switch target {
        case .events: runEvent(input)
        case .links: runLink(input)
        case .tables: runTable(input)
        case .sequences: runSequence(input)
        }
    }

    /// Returns the digest of a record's result from a fresh processor.
    ///
    /// Digests are cached.
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

/// The bound for the cost of a record, which depends on the bytes read and written and on the devices.
package struct CostBound: Sendable {
    /// The nanoseconds for a megabyte read and written.
    package static let perMegabyte = 20_000_000.0
    /// The nanoseconds for a device.
    package static let perDevice = 20_000.0

    /// The factor for builds with checks, which are slower.
    var slack: Double
    /// The nanoseconds that any record can take, because shorter times are noise.
    var floor: Double

    /// No bound.
    package static let none = CostBound(slack: .infinity, floor: 0)
    /// The bound of a build with sanitizers.
    package static let sanitized = CostBound(slack: 25, floor: 30_000_000)

    /// Returns the bound in nanoseconds, without slack.
    package static func nanoseconds(bytes: Int, devices: Int) -> Double {
        Double(bytes) / 1_000_000 * perMegabyte + Double(devices) * perDevice
    }

    /// Returns a Boolean value that indicates whether a time exceeds the bound.
    func isOver(_ time: UInt64, bytes: Int, devices: Int) -> Bool {
        slack < .infinity && Double(time) > floor + slack * Self.nanoseconds(bytes: bytes, devices: devices)
    }
}
