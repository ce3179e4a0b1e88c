internal import LinkCoordinator

/// The versions and platforms that a device must have to meet several conditions at once.
struct DeviceNeeds {
    /// The comparisons with the app's version, all of which must hold.
    private(set) var app: [TableSource.Condition.VersionTest] = []

    /// The comparisons with the system's version, all of which must hold.
    private(set) var os: [TableSource.Condition.VersionTest] = []

    /// Lists of platforms; the device's platform must be in each of them.
    private var platforms: [[String]] = []

    /// Collects the requirements of a condition and its capabilities.
    init(_ condition: TableSource.Condition, in source: TableSource, names: TableNames) {
        app = condition.app
        os = condition.os
        if let own = condition.platforms { platforms.append(own) }
        add(condition.capabilities, in: source, names: names)
    }

    /// Collects the requirements of a screen and its capabilities.
    init(_ screen: TableSource.Screen, in source: TableSource, names: TableNames) {
        if let since = screen.since { app.append(.init(relation: .atLeast, version: since)) }
        if let until = screen.until { app.append(.init(relation: .below, version: until)) }
        add(screen.requires, in: source, names: names)
    }

    private mutating func add(_ capabilities: [Located<String>], in source: TableSource, names: TableNames) {
        for name in capabilities {
            guard let index = names.capabilities[name.value] else { continue }
            let capability = source.capabilities[index]
            if let least = capability.minApp { app.append(.init(relation: .atLeast, version: least)) }
            if let least = capability.minOS { os.append(.init(relation: .atLeast, version: least)) }
            if let own = capability.platforms { platforms.append(own) }
        }
    }

    /// The reason why no device meets all requirements, or nil if a device can.
    var conflict: String? {
        for (name, tests) in [("app", app), ("system", os)] where Self.isEmpty(tests) {
            return "no version of the \(name) satisfies `\(Self.text(tests))`"
        }
        let folded = platforms.map { Set($0.map { $0.lowercasedASCII }) }
        for (index, list) in folded.enumerated() {
            guard let other = folded[..<index].firstIndex(where: { $0.isDisjoint(with: list) }) else { continue }
            return "no platform is on both lists: \(Self.choice(platforms[other])); \(Self.choice(platforms[index]))"
        }
        let shared = folded.dropFirst().reduce(folded.first ?? [""]) { $0.intersection($1) }
        return shared.isEmpty
            ? "no platform is on all lists: \(platforms.map(Self.choice).joined(separator: "; "))" : nil
    }

    private static func choice(_ texts: [String]) -> String { texts.map { "`\($0)`" }.joined(separator: " or ") }

    /// Returns comparisons in the table's notation.
    static func text(_ tests: [TableSource.Condition.VersionTest]) -> String {
        tests.map { $0.relation.rawValue + $0.version.text }.joined(separator: " ")
    }

    /// Returns a Boolean value that indicates whether no version passes all tests.
    ///
    /// It assumes that there is another version between any two versions.
    static func isEmpty(_ tests: [TableSource.Condition.VersionTest]) -> Bool {
        for low in tests where [.atLeast, .above, .equal].contains(low.relation) {
            for high in tests where [.atMost, .below, .equal].contains(high.relation) {
                let order = low.version.order(high.version)
                if order > 0 || order == 0 && (low.relation == .above || high.relation == .below) { return true }
            }
        }
        return false
    }
}
