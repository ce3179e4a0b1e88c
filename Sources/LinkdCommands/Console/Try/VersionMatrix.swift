internal import DispatchWorker
internal import LinkCoordinator
internal import RouteAnalysis
internal import StrictJSON

/// The decisions about one input across platforms and the versions of the app that the table distinguishes.
struct VersionMatrix {
    /// The platforms that are always shown.
    private static let commonPlatforms = ["ios", "android"]
    /// The maximum number of platforms.
    private static let maxPlatforms = 8
    /// The time after which no more versions are added, in seconds.
    private static let maxSeconds = 5.0

    /// A column: versions with the same decisions on all platforms.
    struct Column {
        /// The range of versions, or nil if the table does not distinguish versions.
        var range: DeviceChoices.VersionRange?
        /// The indices of the decisions in `results`, one for each platform.
        var cells: [Int]
    }

    /// The platforms, which are the rows.
    let platforms: [String]
    /// The columns, from the lowest version to the highest.
    private(set) var columns: [Column] = []
    /// The different answers, each once.
    private(set) var results: [TryResolver.Answer] = []
    /// A Boolean value that indicates whether versions are missing, because there are too many or they take too long.
    private(set) var isTruncated: Bool

    /// Resolves an input for every platform and version.
    ///
    /// - Parameters:
    ///   - input: The input.
    ///   - facts: The other facts about the device.
    ///   - table: The table whose versions are shown.
    ///   - isAlone: A Boolean value that indicates whether only this table is asked.
    ///   - resolver: The resolver.
    init(
        _ input: TriedInput, facts: [JSONMember], table: RouteTable, isAlone: Bool, _ resolver: TryResolver
    ) {
        let asked = isAlone ? table : nil
        let choices = DeviceChoices(table)
        platforms = Self.platforms(choices.platforms, facts.first { $0.name == "platform" }?.value.string)
        isTruncated = choices.isTruncated
        let ranges: [DeviceChoices.VersionRange?] = choices.versions.isEmpty ? [nil] : choices.versions
        var known: [[UInt8]: Int] = [:]
        let end = Platform.monotonicSeconds + Self.maxSeconds
        for range in ranges {
            guard columns.isEmpty || Platform.monotonicSeconds < end else {
                isTruncated = true
                return
            }
            var cells: [Int] = []
            for platform in platforms {
                let facts = Self.facts(facts, platform, range?.version)
                let record = input.record(facts: facts)
                let answer = resolver.resolve(record, table: asked, explains: false)
                let name = answer.decisions.first?.json ?? Array((answer.cause?.reason.rawValue ?? "").utf8)
                if known[name] == nil {
                    known[name] = results.count
                    results.append(resolver.resolve(record, table: asked, explains: true))
                }
                cells.append(known[name] ?? 0)
            }
            add(range, cells)
        }
    }

    /// Returns the common platforms, that of the device, and those of the table's conditions, each once.
    private static func platforms(_ named: [String], _ asked: String?) -> [String] {
        var platforms = commonPlatforms
        for platform in [asked].compactMap({ $0 }) + named where platforms.count < maxPlatforms {
            let isKnown = platforms.contains { $0.lowercased() == platform.lowercased() }
            if !isKnown, !platform.isEmpty { platforms.append(platform) }
        }
        return platforms
    }

    /// Adds a column, or extends the last one if its decisions are the same.
    private mutating func add(_ range: DeviceChoices.VersionRange?, _ cells: [Int]) {
        if let last = columns.indices.last, columns[last].cells == cells {
            columns[last].range?.below = range?.below
        } else {
            columns.append(Column(range: range, cells: cells))
        }
    }

    private static func facts(_ facts: [JSONMember], _ platform: String, _ version: String?) -> [JSONMember] {
        let own = ["platform": platform, "app": version].compactMapValues { $0 }
        return facts.filter { $0.name != "platform" && $0.name != "app" }
            + own.sorted { $0.key < $1.key }.map { JSONMember(name: $0.key, value: JSONValue(.string($0.value))) }
    }
}

extension DeviceChoices.VersionRange {
    /// The range in words, such as `4.0.0 and later`.
    var label: String {
        switch (from, below) {
        case (nil, let below?): "before \(below)"
        case (let from?, nil): "\(from) and later"
        case (let from?, let below?): "\(from) to before \(below)"
        case (nil, nil): "all versions"
        }
    }
}
