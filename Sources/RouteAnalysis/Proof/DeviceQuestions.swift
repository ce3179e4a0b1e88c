internal import LinkCoordinator

/// The facts of devices that parts of tables depend on, with the values that those parts name.
struct DeviceQuestions {
    /// The texts to compare with a fact; a claim or a listed capability has its own name as text.
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

    /// Adds the facts that a condition depends on, including those of the query.
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
