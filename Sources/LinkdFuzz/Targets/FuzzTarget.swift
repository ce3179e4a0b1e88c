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
    /// A record in any envelope, with its headers. Its result must not depend on earlier records.
    case ingest
    /// A statistics document of librdkafka. Its figures must equal the figures of its tree, and the pages with them
    /// valid.
    case statistics
    /// A file of short links, damaged or forged. Damage must make links unknown, and decisions must be well-formed.
    case shortlinks
    /// A file of another system for `routes import`, the data of a link, or the text of a QR code.
    case imports

    /// The size limit of an input, in bytes.
    var maxBytes: Int {
        switch self {
        case .links: 4 << 10
        case .events, .sequences, .ingest, .shortlinks, .imports: 8 << 10
        case .tables, .statistics: 16 << 10
        }
    }
}

extension FuzzRunner {
    /// Runs an input, and returns a description of a violation or nil.
    package func run(_ target: FuzzTarget, _ input: [UInt8]) -> String? {
        switch target {
        case .events: runEvent(input)
        case .links: runLink(input)
        case .tables: runTable(input)
        case .sequences: runSequence(input)
        case .ingest: runIngest(input)
        case .statistics: runStatistics(input)
        case .shortlinks: runShortLinks(input)
        case .imports: runImport(input)
        }
    }
}

/// A runner of inputs, which one thread uses for all of them.
package final class FuzzRunner {
    let environments: [FuzzEnvironment]
    let cost: CostBound
    /// The environments of the targets `ingest` and `shortlinks`, which other targets do not need.
    private(set) lazy var ingestEnvironments = (try? FuzzEnvironment.ingest()) ?? []
    private var known: [UInt64: UInt64] = [:]

    /// Creates a runner.
    ///
    /// - Parameters:
    ///   - environments: The environments that inputs can name.
    ///   - cost: The cost bound of a record.
    package init(environments: [FuzzEnvironment], cost: CostBound = .none) {
        self.environments = environments
        self.cost = cost
    }

    /// Returns the digest of a record's result from a fresh processor.
    ///
    /// Digests are cached.
    func freshDigest(_ record: FuzzRecord, _ environment: FuzzEnvironment) -> UInt64 {
        var key = Digest()
        key.add(Array(environment.name.utf8))
        key.add(UInt64(bitPattern: record.offset))
        key.add(record.key ?? [])
        key.add(record.key == nil ? 0 : 1)
        key.add(record.value)
        if let digest = known[key.value] { return digest }
        if known.count > 100_000 { known.removeAll(keepingCapacity: true) }
        let digest = RecordLane.freshDigest(record, environment)
        known[key.value] = digest
        return digest
    }
}

/// The bound for the cost of a record, which depends on the bytes read and written and on the devices.
package struct CostBound: Sendable {
    /// The nanoseconds for a megabyte read and written.
    static let perMegabyte = 20_000_000.0
    /// The nanoseconds for a device.
    static let perDevice = 20_000.0

    /// The factor for builds with checks, which are slower.
    var slack: Double
    /// The nanoseconds that any record can take, because shorter times are noise.
    var floor: Double

    /// No bound.
    package static let none = CostBound(slack: .infinity, floor: 0)
    /// The bound of a release build.
    package static let release = CostBound(slack: 1, floor: 30_000)
    /// The bound of a build with sanitizers.
    package static let sanitized = CostBound(slack: 25, floor: 30_000_000)

    /// Returns the bound in nanoseconds, without slack.
    package static func nanoseconds(bytes: Int, devices: Int) -> Double {
        Double(bytes) / 1_000_000 * perMegabyte + Double(devices) * perDevice
    }

    /// Returns the bound in nanoseconds, with slack and floor.
    func nanoseconds(bytes: Int, devices: Int) -> Double {
        floor + slack * Self.nanoseconds(bytes: bytes, devices: devices)
    }

    /// Returns a Boolean value that indicates whether a time exceeds the bound.
    func isOver(_ time: UInt64, bytes: Int, devices: Int) -> Bool {
        slack < .infinity && Double(time) > nanoseconds(bytes: bytes, devices: devices)
    }

    /// Returns the least time of three runs of a function in nanoseconds if each exceeds the bound, or nil.
    ///
    /// - Parameter work: A function that returns the number of bytes that it has read and written.
    func excess(devices: Int, _ work: () -> Int) -> UInt64? {
        var least = UInt64.max
        for _ in 0..<3 {
            let start = ThreadClock.nanoseconds()
            let bytes = work()
            least = min(least, ThreadClock.nanoseconds() - start)
            if !isOver(least, bytes: bytes, devices: devices) { return nil }
        }
        return least
    }
}
