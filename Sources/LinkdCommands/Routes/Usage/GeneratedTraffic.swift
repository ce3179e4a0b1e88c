internal import LinkCoordinator
internal import StrictJSON

/// Links made of the patterns of tables, and devices made of their conditions: what to try where nothing was recorded.
///
/// For each condition there is a device on either side of it; one fact is varied at a time, once beside a device of
/// which nothing is known and once beside one that has everything.
struct GeneratedTraffic {
    /// The links, each once.
    private(set) var links: [String] = []
    /// The devices as JSON, the one of which nothing is known first.
    private(set) var devices: [String] = []

    /// Most decisions that one table is asked for.
    static let maxDecisions = 200_000

    private var seen: Set<String> = []

    /// Makes the links and devices of both tables.
    init(_ old: Table, _ new: Table) {
        for table in [old, new] {
            for example in table.source.examples {
                if case .link(let link) = example.request { add(link) }
            }
            for route in table.source.routes {
                for link in SampleLinks.all(of: route, in: table) { addVariations(of: link) }
            }
        }
        addDevices(Facts([old.source, new.source]))
        devices = Array(devices.prefix(max(1, Self.maxDecisions / max(1, links.count))))
    }

    private mutating func add(_ link: String) {
        if seen.insert(link).inserted { links.append(link) }
    }

    /// The link, without its query, with one segment more, and with one less.
    private mutating func addVariations(of link: String) {
        add(link)
        let path = String(link.prefix { $0 != "?" })
        let query = link.dropFirst(path.count)
        add(path)
        add(path + (path.hasSuffix("/") ? "x" : "/x") + query)
        if let slash = path.lastIndex(of: "/"), !path[..<slash].hasSuffix("/") { add(String(path[..<slash]) + query) }
    }

    private mutating func addDevices(_ facts: Facts) {
        let everything = facts.everything
        for base in [[:], everything] {
            add(base)
            for (name, values) in facts.varied {
                for value in values {
                    var changed = base
                    changed[name] = value
                    add(changed)
                }
            }
        }
    }

    private mutating func add(_ members: [String: String]) {
        let text =
            "{" + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
        if seen.insert(text).inserted { devices.append(text) }
    }
}

/// What the conditions of tables ask of a device; values are JSON texts.
private struct Facts {
    private var apps: Set<String> = []
    private var systems: Set<String> = []
    private var capabilities: Set<String> = []
    private var claims: Set<String> = []
    private var platforms: Set<String> = []
    private var regions: Set<String> = []
    private var locales: Set<String> = []
    private var attributes: [String: Set<String>] = [:]

    init(_ sources: [TableSource]) {
        for source in sources {
            for condition in source.routes.flatMap({ $0.variants.compactMap(\.when) }) { add(condition) }
            for capability in source.capabilities {
                capabilities.insert(capability.name.value)
                if let version = capability.minApp { apps.insert(version.text) }
                if let version = capability.minOS { systems.insert(version.text) }
                platforms.formUnion(capability.platforms ?? [])
            }
            for screen in source.coordinators.flatMap(\.screens) {
                for version in [screen.since, screen.until].compactMap({ $0 }) { apps.insert(version.text) }
            }
            claims.formUnion(source.guards.map(\.claim))
        }
    }

    private mutating func add(_ condition: TableSource.Condition) {
        apps.formUnion(condition.app.map(\.version.text))
        systems.formUnion(condition.os.map(\.version.text))
        claims.formUnion(condition.claims.map(\.value))
        platforms.formUnion(condition.platforms ?? [])
        regions.formUnion(condition.regions ?? [])
        locales.formUnion(condition.locales ?? [])
        for attribute in condition.attributes {
            attributes[attribute.name.value, default: []].formUnion(attribute.values)
        }
    }

    /// Each fact with the values that are worth a try, in a stable order.
    var varied: [(name: String, values: [String])] {
        [
            ("app", Self.versions(apps)), ("os", Self.versions(systems)),
            ("platform", platforms.sorted().map(Self.text)), ("region", regions.sorted().map(Self.text)),
            ("locale", locales.sorted().map(Self.text)), ("capabilities", Self.lists(capabilities)),
            ("claims", Self.lists(claims)),
            (
                "attributes",
                attributes.sorted { $0.key < $1.key }.flatMap { name, values in
                    values.sorted().map { "{\(Self.text(name)):\(Self.text($0))}" }
                }
            ),
        ]
    }

    /// A device that has all that is asked.
    var everything: [String: String] {
        [
            "app": "\"999999999\"", "os": "\"999999999\"", "capabilities": Self.list(capabilities),
            "claims": Self.list(claims),
        ]
    }

    /// Each version, what is right above it, and the ends.
    private static func versions(_ versions: Set<String>) -> [String] {
        let all = versions.sorted().flatMap { version -> [String] in
            let numbers = version.prefix { $0 == "." || $0.isNumber }.split(separator: ".")
            let padded = numbers.map(String.init) + Array(repeating: "0", count: max(0, 4 - numbers.count)) + ["1"]
            return [version, padded.prefix(5).joined(separator: ".")]
        }
        return (["0"] + all + ["999999999"]).map(text)
    }

    /// None, all, and each alone.
    private static func lists(_ names: Set<String>) -> [String] {
        [list([]), list(names)] + names.sorted().map { list([$0]) }
    }

    private static func list(_ names: Set<String>) -> String {
        "[" + names.sorted().map(text).joined(separator: ",") + "]"
    }

    private static func text(_ value: String) -> String {
        var json = JSONText()
        json.text(nil, value)
        return json.finish()
    }
}

extension GeneratedTraffic {
    /// Asks both tables for all links and devices.
    func difference(old: Table, new: Table) -> TrafficDifference {
        var difference = TrafficDifference()
        for text in devices {
            guard let json = try? JSONValue.parse(Array(text.utf8)) else { continue }
            let device = Device(json)
            for link in links {
                let a = old.resolve(link, device: device)
                let b = new.resolve(link, device: device)
                difference.add(
                    old: [a.value], new: [b.value], weight: 1, witness: link, device: text == "{}" ? nil : text)
            }
        }
        return difference
    }
}
