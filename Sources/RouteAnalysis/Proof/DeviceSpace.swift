package import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

/// The devices that the conditions of tables distinguish, with one value of every kind for each fact.
///
/// Versions are divided into intervals at every version that a table names. An unknown fact is a value too.
struct DeviceSpace {
    /// The values of each fact, with nil for unknown, not listed, or absent.
    private(set) var values: [DeviceFact: [String?]] = [:]
    /// A Boolean value that indicates whether every interval of versions has a value.
    private(set) var isWhole = true
    private let capabilities: [String: TableSource.Capability]

    /// Creates the space of the devices that a table distinguishes.
    init(_ source: TableSource) { self.init(DeviceQuestions([source]), capabilities: source.capabilities) }

    /// Creates the space of the devices that some facts distinguish.
    ///
    /// - Parameter capabilities: The definitions of capabilities in conditions, for `cell(of:)`.
    init(_ questions: DeviceQuestions, capabilities: [TableSource.Capability] = []) {
        self.capabilities = Dictionary(
            capabilities.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
        for (fact, named) in questions.versions { values[fact] = [nil] + intervals(named) }
        for (fact, named) in questions.texts { values[fact] = [nil] + Self.kinds(fact, named) }
    }

    /// Returns the values of a fact: all named values and one other.
    ///
    /// A claim or a listed capability has only its name.
    private static func kinds(_ fact: DeviceFact, _ named: [String]) -> [String] {
        switch fact {
        case .claim, .listed: return [named[0]]
        default:
            let texts = Array(Set(named)).sorted()
            let usedTexts = Set(texts.map(\.lowercasedASCII))
            return texts + [UnusedText.first("zz") { !usedTexts.contains(Array($0.utf8)) }]
        }
    }

    /// Returns each named version, and one version of every interval between them and above.
    ///
    /// The interval below all versions is represented by an unknown version.
    private mutating func intervals(_ named: [VersionText]) -> [String] {
        let sorted = Set(named).sorted { $0.order($1) < 0 }
        var texts: [String] = []
        for (index, version) in sorted.enumerated() {
            if texts.isEmpty || Self.compare(texts[texts.count - 1], version.text) < 0 { texts.append(version.text) }
            let next = index + 1 < sorted.count ? sorted[index + 1].text : nil
            let above = Self.above(version.text)
            let between = above.texts.first { text in
                Self.compare(version.text, text) < 0 && next.map { Self.compare(text, $0) < 0 } ?? true
            }
            if let between { texts.append(between) } else if !above.hasNext { isWhole = false }
        }
        return texts
    }

    /// Returns texts of versions above another one, the most readable first.
    ///
    /// Some may not be versions. If `hasNext` is true, the last one is the next version in the order of Semantic
    /// Versioning 2.0.0: no version is between the two.
    static func above(_ text: String) -> (texts: [String], hasNext: Bool) {
        let release = text.prefix { $0 != "+" }
        let plain = text.prefix { $0 != "-" && $0 != "+" }
        var numbers = plain.split(separator: ".").map { Int($0) ?? 0 }
        while numbers.count < 3 { numbers.append(0) }
        func joined(_ list: [Int]) -> String { list.map(String.init).joined(separator: ".") }
        let minor = joined([numbers[0], numbers[1] + 1, 0])
        let patch = joined([numbers[0], numbers[1], numbers[2] + 1])
        var next = Array((numbers + [0, 0]).prefix(5))
        next[4] += 1
        for index in (1..<5).reversed() where next[index] > maxNumber {
            next[index] = 0
            next[index - 1] += 1
        }
        let list = [minor, patch, joined(next), String(plain)]
        if plain == release { return (list + [joined(next) + "-0"], true) }
        if release.utf8.count + 2 <= Version.maxBytes { return (list + [release + ".0"], true) }
        // Numbers of 0 at the end can be left out.
        while numbers.count > 1, numbers.last == 0 { numbers.removeLast() }
        let short = joined(numbers) + release.dropFirst(plain.count)
        if short.utf8.count + 2 <= Version.maxBytes { return (list + [short + ".0"], true) }
        // The next version is too long. Other ones can be between it and the next one that a table names: with a
        // character more, or with a greater one in place of one of the last.
        let all = (UInt8(ascii: "0")...UInt8(ascii: "z")).map { Character(Unicode.Scalar($0)) }
        let characters = all.filter { $0.isLetter || $0.isNumber }
        let raised = short.indices.dropFirst(joined(numbers).count + 1).reversed().compactMap { index in
            (short[index] == "." ? "-" : characters.first { $0 > short[index] }).map { String(short[..<index]) + [$0] }
        }
        return (list + [short + "-"] + raised, false)
    }

    /// The greatest number in a version.
    private static let maxNumber = 999_999_999

    private static func compare(_ a: String, _ b: String) -> Int {
        guard let a = VersionText(a), let b = VersionText(b) else { return 0 }
        return a.order(b)
    }

    /// Returns the devices and queries for which a condition holds.
    func cell(of condition: TableSource.Condition) -> DeviceCell {
        var cell: DeviceCell = [:]
        for test in condition.app { restrict(.app, &cell) { Self.holds(test, $0) } }
        for test in condition.os { restrict(.os, &cell) { Self.holds(test, $0) } }
        for capability in condition.capabilities { require(capability.value, &cell) }
        for claim in condition.claims { restrict(.claim(claim.value), &cell) { $0 != nil } }
        if let platforms = condition.platforms { restrict(.platform, &cell) { Self.isOneFolded($0, of: platforms) } }
        if let regions = condition.regions { restrict(.region, &cell) { Self.isOneFolded($0, of: regions) } }
        if let locales = condition.locales { restrict(.locale, &cell) { Self.fits($0, locales) } }
        for attribute in condition.attributes {
            restrict(.attribute(attribute.name.value), &cell) { $0.map(attribute.values.contains) ?? false }
        }
        for constraint in condition.query {
            restrict(.query(constraint.name.value), &cell) { value in
                switch constraint.test {
                case .present: value != nil
                case .absent: value == nil
                case .equals(let text): value == text
                }
            }
        }
        return cell
    }

    private func require(_ name: String, _ cell: inout DeviceCell) {
        guard let capability = capabilities[name] else { return }
        if let least = capability.minApp {
            restrict(.app, &cell) { Self.holds(.init(relation: .atLeast, version: least), $0) }
        }
        if let least = capability.minOS {
            restrict(.os, &cell) { Self.holds(.init(relation: .atLeast, version: least), $0) }
        }
        if let platforms = capability.platforms { restrict(.platform, &cell) { Self.isOneFolded($0, of: platforms) } }
        if capability.listed { restrict(.listed(name), &cell) { $0 != nil } }
    }

    private func restrict(_ fact: DeviceFact, _ cell: inout DeviceCell, _ test: (String?) -> Bool) {
        let all = values[fact] ?? [nil]
        let passing = Set(all.indices.filter { test(all[$0]) })
        cell[fact] = cell[fact].map { $0.intersection(passing) } ?? passing
    }

    private static func holds(_ test: TableSource.Condition.VersionTest, _ value: String?) -> Bool {
        guard let value else { return test.relation == .below || test.relation == .atMost }
        let order = compare(value, test.version.text)
        return switch test.relation {
        case .atLeast: order >= 0
        case .above: order > 0
        case .atMost: order <= 0
        case .below: order < 0
        case .equal: order == 0
        }
    }

    private static func fits(_ value: String?, _ locales: [String]) -> Bool {
        guard let value else { return false }
        func plain(_ text: String) -> [UInt8] {
            text.lowercasedASCII.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }
        }
        return locales.contains {
            plain(value) == plain($0) || plain(value).starts(with: plain($0) + [UInt8(ascii: "-")])
        }
    }

    private static func isOneFolded(_ value: String?, of texts: [String]) -> Bool {
        guard let value else { return false }
        return texts.contains { $0.lowercasedASCII == value.lowercasedASCII }
    }

    /// Returns the difference of two cells as disjoint cells.
    func subtract(_ removed: DeviceCell, from cell: DeviceCell) -> [DeviceCell] {
        var remaining = cell
        var parts: [DeviceCell] = []
        for (fact, removedValues) in removed.sorted(by: { "\($0.key)" < "\($1.key)" }) {
            let own = remaining[fact] ?? Set((values[fact] ?? [nil]).indices)
            let outside = own.subtracting(removedValues)
            if !outside.isEmpty {
                var part = remaining
                part[fact] = outside
                parts.append(part)
            }
            remaining[fact] = own.intersection(removedValues)
            if own.isDisjoint(with: removedValues) { break }
        }
        return parts
    }

    /// Returns a device of a cell, without the facts that have no effect.
    func device(of cell: DeviceCell) -> DeviceFacts {
        var device = DeviceFacts()
        for (fact, numbers) in cell {
            guard let number = numbers.min(), let value = values[fact]?[number] else { continue }
            Self.set(fact, value, &device)
        }
        return device
    }

    static func set(_ fact: DeviceFact, _ value: String, _ device: inout DeviceFacts) {
        switch fact {
        case .app: device.app = value
        case .os: device.os = value
        case .platform: device.platform = value
        case .region: device.region = value
        case .locale: device.locale = value
        case .attribute(let name): device.attributes = (device.attributes ?? [:]).merging([name: value]) { $1 }
        case .claim(let name): device.claims = ((device.claims ?? []) + [name]).sorted()
        case .listed(let name): device.capabilities = ((device.capabilities ?? []) + [name]).sorted()
        case .coordinator: device.coordinator = value
        case .query: return
        }
    }
}

extension DeviceFacts {
    /// The known facts as one JSON object, in the order of the documentation.
    package var json: String {
        var members: [JSONMember] = []
        func add(_ name: String, _ value: JSONValue.Kind?) {
            if let value { members.append(JSONMember(name: name, value: JSONValue(value))) }
        }
        func text(_ name: String, _ value: String?) { add(name, value.map { .string($0) }) }
        func list(_ name: String, _ values: [String]?) {
            add(name, values.map { .array($0.map { JSONValue(.string($0)) }) })
        }
        text("platform", platform)
        text("app", app)
        text("os", os)
        text("locale", locale)
        text("region", region)
        list("capabilities", capabilities)
        list("claims", claims)
        let sorted = attributes?.sorted { $0.key < $1.key }
        add(
            "attributes",
            sorted.map { .object($0.map { JSONMember(name: $0.key, value: JSONValue(.string($0.value))) }) })
        text("coordinator", coordinator)
        return JSONValue(.object(members)).text
    }
}

/// A fact of a device or a query that conditions can depend on.
enum DeviceFact: Hashable {
    case app
    case os
    case platform
    case region
    case locale
    case attribute(String)
    case claim(String)
    case listed(String)
    case coordinator
    case query(String)
}

/// A set of devices: for each fact, the indices of its possible values.
///
/// A fact without an entry can have any value.
typealias DeviceCell = [DeviceFact: Set<Int>]

/// The facts about devices that the conditions of a table distinguish, for people who choose a device.
package struct DeviceChoices {
    /// A range of versions of the app that conditions do not distinguish further.
    package struct VersionRange: Equatable {
        /// The first version of the range, or nil for the lowest one.
        package var from: String?
        /// The version after the range, or nil for the highest one.
        package var below: String?
        /// A version in the range.
        package var version: String
    }

    /// The maximum number of ranges.
    package static let maxRanges = 128

    /// The ranges of the app's versions, ascending.
    package let versions: [VersionRange]
    /// A Boolean value that indicates whether the table distinguishes more ranges.
    package let isTruncated: Bool
    /// The names of the platforms in conditions, sorted.
    package let platforms: [String]
    /// The names of the claims that guards and conditions require, sorted.
    package let claims: [String]
    /// The regions in conditions, sorted.
    package let regions: [String]
    /// The locales in conditions, sorted.
    package let locales: [String]
    /// The capabilities that a device must list, sorted.
    package let capabilities: [String]
    /// The names of attributes in conditions, with their values.
    package let attributes: [(name: String, values: [String])]

    /// Collects the facts that a table distinguishes.
    package init(_ table: RouteTable) {
        let questions = DeviceQuestions([table.source])
        let texts = questions.texts
        func named(_ fact: DeviceFact) -> [String] { Array(Set(texts[fact] ?? [])).sorted() }
        (platforms, regions, locales) = (named(.platform), named(.region), named(.locale))
        claims = questions.claims
        capabilities = texts.keys.compactMap { if case .listed(let name) = $0 { name } else { nil } }.sorted()
        attributes = texts.keys.compactMap { fact in
            if case .attribute(let name) = fact { (name, named(fact)) } else { nil }
        }.sorted { $0.name < $1.name }
        let values = DeviceSpace(table.source).values[.app] ?? [nil]
        isTruncated = values.count > Self.maxRanges
        versions = Self.ranges(values.prefix(Self.maxRanges).compactMap { $0 })
    }

    /// Returns the ranges that begin at some ascending versions, after the range below all of them.
    private static func ranges(_ starts: [String]) -> [VersionRange] {
        guard let first = starts.first else { return [] }
        var ranges: [VersionRange] = []
        if let below = below(first) { ranges.append(VersionRange(from: nil, below: first, version: below)) }
        for (index, start) in starts.enumerated() {
            let next = index + 1 < starts.count ? starts[index + 1] : nil
            ranges.append(VersionRange(from: start, below: next, version: start))
        }
        return ranges
    }

    /// Returns a readable version below another one, such as 3.9.9 below 4.0.0, or nil if there is none.
    static func below(_ text: String) -> String? {
        var numbers = text.prefix { $0 != "-" && $0 != "+" }.split(separator: ".").map { Int($0) ?? 0 }
        guard let last = numbers.lastIndex(where: { $0 > 0 }), let version = VersionText(text) else { return nil }
        numbers[last] -= 1
        for index in numbers.indices where index > last { numbers[index] = 9 }
        let found = numbers.map(String.init).joined(separator: ".")
        return VersionText(found).flatMap { $0.order(version) < 0 ? found : nil }
    }
}

/// The facts of devices that parts of tables depend on, with the values that those parts name.
struct DeviceQuestions {
    /// The texts to compare with a fact, which is its own name for a claim or a listed capability.
    private(set) var texts: [DeviceFact: [String]] = [:]

    /// The versions to compare with `app` or `os`.
    private(set) var versions: [DeviceFact: [VersionText]] = [:]

    /// The claims that are required, sorted.
    var claims: [String] {
        texts.keys.compactMap { if case .claim(let name) = $0 { name } else { nil } }.sorted()
    }

    /// Creates an empty list of facts.
    init() {}

    /// Collects the facts that any part of some tables depends on.
    init(_ sources: [TableSource]) {
        for source in sources {
            for screen in source.coordinators.flatMap(\.screens) { add(screen, of: source) }
            for capability in source.capabilities { add(capability: capability.name.value, of: source) }
            for guarding in source.guards { add(claim: guarding.claim) }
            for condition in source.routes.flatMap(\.variants).compactMap(\.when) { add(condition, of: source) }
        }
    }

    /// Adds the facts that determine whether a device has a screen.
    mutating func add(_ screen: TableSource.Screen, of source: TableSource) {
        add(.app, [screen.since, screen.until].compactMap { $0 })
        for capability in screen.requires { add(capability: capability.value, of: source) }
    }

    /// Adds the facts that determine whether a device has a capability.
    mutating func add(capability name: String, of source: TableSource) {
        guard let capability = source.capabilities.first(where: { $0.name.value == name }) else { return }
        add(.app, capability.minApp.map { [$0] } ?? [])
        add(.os, capability.minOS.map { [$0] } ?? [])
        add(.platform, capability.platforms ?? [])
        if capability.listed { add(.listed(name), [name]) }
    }

    /// Adds a claim of a guard.
    mutating func add(claim: String) { add(.claim(claim), [claim]) }

    /// Adds the facts that a condition depends on, with its query constraints as facts.
    mutating func add(_ condition: TableSource.Condition, of source: TableSource) {
        add(.app, condition.app.map(\.version))
        add(.os, condition.os.map(\.version))
        for capability in condition.capabilities { add(capability: capability.value, of: source) }
        for claim in condition.claims { add(claim: claim.value) }
        add(.platform, condition.platforms ?? [])
        add(.region, condition.regions ?? [])
        add(.locale, condition.locales ?? [])
        for attribute in condition.attributes { add(.attribute(attribute.name.value), attribute.values) }
        for constraint in condition.query {
            // For a name that only needs to be present, one value represents all.
            add(.query(constraint.name.value), [constraint.text ?? "1"])
        }
    }

    /// Adds the facts of another list.
    mutating func add(_ others: DeviceQuestions) {
        for (fact, named) in others.texts { add(fact, named) }
        for (fact, named) in others.versions { add(fact, named) }
    }

    private mutating func add(_ fact: DeviceFact, _ named: [String]) {
        guard !named.isEmpty else { return }
        texts[fact, default: []] += named.filter { texts[fact]?.contains($0) != true }
    }

    private mutating func add(_ fact: DeviceFact, _ named: [VersionText]) {
        guard !named.isEmpty else { return }
        versions[fact, default: []] += named.filter { versions[fact]?.contains($0) != true }
    }
}

extension TableSource.QueryConstraint {
    /// The required value, or nil if the constraint requires any value or none.
    var text: String? { if case .equals(let text) = test { text } else { nil } }
}

extension VersionText {
    /// Returns a negative number, zero, or a positive number if the version is lower, equal, or higher than another.
    ///
    /// Versions of the same order can be written differently, such as `1` and `1.0`.
    package func order(_ other: VersionText) -> Int {
        bytes.withUnsafeBufferPointer { first in
            other.bytes.withUnsafeBufferPointer { second in
                guard let first = Version(ByteView(first)), let second = Version(ByteView(second)) else { return 0 }
                return Version.compare(first, second)
            }
        }
    }
}
