package import LinkCoordinator
internal import StrictJSON

/// The devices that the conditions of tables distinguish, with one value of every kind for each fact.
///
/// Versions are divided into intervals at every version that a table names. An unknown fact is a value too.
struct DeviceSpace {
    /// The values of each fact; nil means unknown, not listed, or absent.
    private(set) var values: [DeviceFact: [String?]] = [:]
    private let capabilities: [String: TableSource.Capability]

    /// Creates the space of the devices that a table distinguishes.
    init(_ source: TableSource) { self.init(DeviceQuestions([source]), capabilities: source.capabilities) }

    /// Creates the space of the devices that some facts distinguish.
    ///
    /// - Parameter capabilities: The definitions of capabilities in conditions, for `cell(of:)`.
    init(_ questions: DeviceQuestions, capabilities: [TableSource.Capability] = []) {
        self.capabilities = Dictionary(
            capabilities.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
        for (fact, named) in questions.versions { values[fact] = [nil] + Self.intervals(named) }
        for (fact, named) in questions.texts { values[fact] = [nil] + Self.kinds(fact, named) }
    }

    /// Returns the values of a fact: all named values and one other; for a claim or a listed capability, only its name.
    private static func kinds(_ fact: DeviceFact, _ named: [String]) -> [String] {
        switch fact {
        case .claim, .listed: return [named[0]]
        default:
            let texts = Array(Set(named)).sorted()
            let usedTexts = Set(texts.map(\.lowercasedASCII))
            return texts + [UnusedText.first("zz") { !usedTexts.contains($0) }]
        }
    }

    /// Returns each named version, and one version of every interval between them and above.
    ///
    /// The interval below all versions is represented by an unknown version.
    private static func intervals(_ named: [VersionText]) -> [String] {
        let sorted = Set(named).sorted { $0.order($1) < 0 }
        var texts: [String] = []
        for (index, version) in sorted.enumerated() {
            if texts.isEmpty || compare(texts[texts.count - 1], version.text) < 0 { texts.append(version.text) }
            let above = above(version.text)
            guard index + 1 < sorted.count else {
                texts += above.prefix(1)
                break
            }
            let next = sorted[index + 1].text
            let between = (above + [next + "-0"]).first { compare(version.text, $0) < 0 && compare($0, next) < 0 }
            if let between { texts.append(between) }
        }
        return texts
    }

    /// Returns versions above another one, the most readable first.
    private static func above(_ text: String) -> [String] {
        let plain = text.prefix { $0 != "-" && $0 != "+" }
        var numbers = plain.split(separator: ".").map { Int($0) ?? 0 }
        while numbers.count < 3 { numbers.append(0) }
        func joined(_ list: [Int]) -> String { list.map(String.init).joined(separator: ".") }
        let minor = joined([numbers[0], numbers[1] + 1, 0])
        let patch = joined([numbers[0], numbers[1], numbers[2] + 1])
        return [minor, patch, joined(Array((numbers + [0, 0]).prefix(4)) + [1]), String(plain), text + ".0"]
    }

    private static func compare(_ a: String, _ b: String) -> Int {
        guard let a = VersionText(a), let b = VersionText(b) else { return 0 }
        return a.order(b)
    }
}

extension DeviceSpace {
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
        func plain(_ text: String) -> String { text.lowercasedASCII.replacing("_", with: "-") }
        return locales.contains { plain(value) == plain($0) || plain(value).hasPrefix(plain($0) + "-") }
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

    /// Returns a device of a cell; facts without an effect are unknown.
    func device(of cell: DeviceCell) -> DeviceFacts {
        var device = DeviceFacts()
        for (fact, numbers) in cell {
            guard let number = numbers.min(), let value = values[fact]?[number] else { continue }
            set(fact, value, &device)
        }
        return device
    }

    func set(_ fact: DeviceFact, _ value: String, _ device: inout DeviceFacts) {
        switch fact {
        case .app: device.app = value
        case .os: device.os = value
        case .platform: device.platform = value
        case .region: device.region = value
        case .locale: device.locale = value
        case .attribute(let name): device.attributes = (device.attributes ?? [:]).merging([name: value]) { $1 }
        case .claim(let name): device.claims = ((device.claims ?? []) + [name]).sorted()
        case .listed(let name): device.capabilities = ((device.capabilities ?? []) + [name]).sorted()
        case .query: return
        }
    }
}

extension DeviceFacts {
    /// The facts as one JSON object, in the order of the documentation; unknown facts are omitted.
    package var json: String {
        var members: [JSONMember] = []
        func text(_ name: String, _ value: String?) {
            if let value { members.append(JSONMember(name: name, value: JSONValue(.string(value)))) }
        }
        func list(_ name: String, _ values: [String]?) {
            guard let values else { return }
            members.append(
                JSONMember(name: name, value: JSONValue(.array(values.map { JSONValue(.string($0)) }))))
        }
        text("platform", platform)
        text("app", app)
        text("os", os)
        text("locale", locale)
        text("region", region)
        list("capabilities", capabilities)
        list("claims", claims)
        if let attributes {
            let sorted = attributes.sorted { $0.key < $1.key }
            members.append(
                JSONMember(
                    name: "attributes",
                    value: JSONValue(
                        .object(sorted.map { JSONMember(name: $0.key, value: JSONValue(.string($0.value))) }))))
        }
        text("coordinator", coordinator)
        return JSONValue(.object(members)).text
    }
}
