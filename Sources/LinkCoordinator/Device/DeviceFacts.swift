package import ByteStorage
package import StrictJSON

/// The facts about a device that variants, capabilities, and guards depend on.
///
/// A fact that is nil is unknown. No condition on it holds, except `<` and `<=` with a version. A text may have at most
/// 256 bytes and a list at most 256 elements. A fact that exceeds a limit is treated as unknown, and the decision has a
/// note about it.
///
/// See RouteTableReference, "Device facts".
public struct DeviceFacts: Sendable, Hashable {
    /// The platform, such as `ios` or `android`.
    public var platform: String?
    /// The version of the app on the device, such as `6.1.0`.
    public var app: String?
    /// The version of the operating system.
    public var os: String?
    /// The locale, such as `en-GB`.
    public var locale: String?
    /// The region, such as `GB`.
    public var region: String?
    /// The names of the capabilities that the device reports.
    public var capabilities: [String]?
    /// The names of the claims that the device has, such as a session.
    public var claims: [String]?
    /// The attributes, by name, that conditions of variants can test.
    public var attributes: [String: String]?
    /// The coordinator at the top of the device's stack, which relative paths start from.
    public var coordinator: String?
    /// The facts that were given in a form that cannot be read.
    ///
    /// See RouteTableReference, "Device facts".
    package var unreadable: Set<Fact> = []

    /// The facts, in the order in which notes list them.
    package enum Fact: Int, Sendable, CaseIterable {
        case platform, app, os, locale, region, capabilities, claims, attributes, coordinator

        /// The bit of the fact in a set of facts.
        @inlinable
        package var bit: UInt16 { 1 &<< UInt16(truncatingIfNeeded: rawValue) }

        /// The name of the fact, which is the name of the member in JSON.
        package var name: StaticString {
            switch self {
            case .platform: "platform"
            case .app: "app"
            case .os: "os"
            case .locale: "locale"
            case .region: "region"
            case .capabilities: "capabilities"
            case .claims: "claims"
            case .attributes: "attributes"
            case .coordinator: "coordinator"
            }
        }
    }

    /// Creates a device from the given facts.
    ///
    /// A fact that is nil is unknown.
    public init(
        platform: String? = nil, app: String? = nil, os: String? = nil, locale: String? = nil, region: String? = nil,
        capabilities: [String]? = nil, claims: [String]? = nil, attributes: [String: String]? = nil,
        coordinator: String? = nil
    ) {
        self.platform = platform
        self.app = app
        self.os = os
        self.locale = locale
        self.region = region
        self.capabilities = capabilities
        self.claims = claims
        self.attributes = attributes
        self.coordinator = coordinator
    }

    /// Creates a device from a JSON object.
    ///
    /// A malformed fact is unknown and listed in ``unreadable``. Null is the same as an absent fact, and other members
    /// are ignored.
    package init(_ json: JSONValue) {
        self.init()
        for member in json.object ?? [] where !member.value.isNull {
            switch member.name {
            case "platform": platform = text(member.value, .platform)
            case "app": app = text(member.value, .app)
            case "os": os = text(member.value, .os)
            case "locale": locale = text(member.value, .locale)
            case "region": region = text(member.value, .region)
            case "coordinator": coordinator = text(member.value, .coordinator)
            case "capabilities": capabilities = list(member.value, .capabilities)
            case "claims": claims = list(member.value, .claims)
            case "attributes": attributes = object(member.value)
            default: continue
            }
        }
    }

    static let maxBytes = 256
    static let maxElements = 256

    private mutating func text(_ value: JSONValue, _ fact: Fact) -> String? {
        guard let text = value.string, text.utf8.count <= Self.maxBytes else {
            unreadable.insert(fact)
            return nil
        }
        return text
    }

    private mutating func list(_ value: JSONValue, _ fact: Fact) -> [String]? {
        let texts = value.array?.compactMap { $0.string.flatMap { $0.utf8.count <= Self.maxBytes ? $0 : nil } }
        guard let texts, texts.count == value.array?.count, texts.count <= Self.maxElements else {
            unreadable.insert(fact)
            return nil
        }
        return texts
    }

    private mutating func object(_ value: JSONValue) -> [String: String]? {
        var read: [String: String] = [:]
        for member in value.object ?? [] where !member.value.isNull {
            guard let text = member.value.string, text.utf8.count <= Self.maxBytes,
                member.name.utf8.count <= Self.maxBytes
            else {
                unreadable.insert(.attributes)
                return nil
            }
            read[member.name] = text
        }
        guard value.object != nil, read.count <= Self.maxElements else {
            unreadable.insert(.attributes)
            return nil
        }
        return read
    }
}

extension DeviceFacts: Codable {
    private enum CodingKeys: String, CodingKey {
        case platform, app, os, locale, region, capabilities, claims, attributes, coordinator
    }

    /// Reads the members of a device in an event.
    ///
    /// An absent or null member is an unknown fact, and other members are ignored.
    ///
    /// - Throws: `DecodingError` if a member has another type.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? { try container.decodeIfPresent(String.self, forKey: key) }
        func list(_ key: CodingKeys) throws -> [String]? { try container.decodeIfPresent([String].self, forKey: key) }
        self.init(
            platform: try text(.platform), app: try text(.app), os: try text(.os), locale: try text(.locale),
            region: try text(.region), capabilities: try list(.capabilities), claims: try list(.claims),
            attributes: try container.decodeIfPresent([String: String].self, forKey: .attributes),
            coordinator: try text(.coordinator))
    }

    /// Writes the known facts as the members of a device in an event.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(platform, forKey: .platform)
        try container.encodeIfPresent(app, forKey: .app)
        try container.encodeIfPresent(os, forKey: .os)
        try container.encodeIfPresent(locale, forKey: .locale)
        try container.encodeIfPresent(region, forKey: .region)
        try container.encodeIfPresent(capabilities, forKey: .capabilities)
        try container.encodeIfPresent(claims, forKey: .claims)
        try container.encodeIfPresent(attributes, forKey: .attributes)
        try container.encodeIfPresent(coordinator, forKey: .coordinator)
    }
}

/// The facts about one device.
///
/// All views are valid as long as the record.
package struct DeviceView {
    /// The set of known facts, whose values are well-formed texts or lists.
    package var known: UInt16 = 0
    /// The set of facts that are present but malformed.
    ///
    /// They are unknown, and the decision has a note about them.
    package var unreadable: UInt16 = 0
    /// The platform, for example `ios` or `android`.
    package var platform: ByteView = .empty
    /// The version of the app on the device.
    package var app: ByteView = .empty
    /// The version of the operating system.
    package var os: ByteView = .empty
    /// The locale, for example `en-GB`.
    package var locale: ByteView = .empty
    /// The region, for example `GB`.
    package var region: ByteView = .empty
    /// The coordinator at the top of the device's stack.
    package var coordinator: ByteView = .empty
    /// The names of the capabilities that the device reports.
    package var capabilities = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
    /// The names of the claims that the device has.
    package var claims = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
    /// The attributes as alternating names and values.
    package var attributes = UnsafeBufferPointer<ByteView>(start: nil, count: 0)

    /// Creates the facts of a device about which nothing is known.
    package init() {}

    /// Returns a Boolean value that indicates whether a fact is known.
    @inlinable
    package func has(_ fact: DeviceFacts.Fact) -> Bool { known & fact.bit != 0 }

    /// Marks a fact as known.
    @inlinable
    package mutating func setKnown(_ fact: DeviceFacts.Fact) { known |= fact.bit }

    /// Marks a fact as present but malformed.
    @inlinable
    package mutating func setUnreadable(_ fact: DeviceFacts.Fact) { unreadable |= fact.bit }
}

extension DeviceFacts {
    /// Calls a closure with the facts in the form that the resolver reads.
    ///
    /// The facts are valid only during the call.
    package func withFacts<Result>(_ body: (UnsafePointer<DeviceView>) -> Result) -> Result {
        var arena = OutputArena(chunkBytes: 4096)
        return withFacts(in: &arena, body)
    }

    /// Calls a closure with the facts in the form that the resolver reads, which are copied into an arena.
    func withFacts<Result>(
        in arena: inout OutputArena, _ body: (UnsafePointer<DeviceView>) -> Result
    ) -> Result {
        var facts = DeviceView()
        for fact in unreadable { facts.setUnreadable(fact) }
        func view(_ text: String?, _ fact: Fact) -> ByteView {
            guard let text else { return .empty }
            if text.utf8.count > Self.maxBytes {
                facts.setUnreadable(fact)
                return .empty
            }
            facts.setKnown(fact)
            return Self.copy(text, into: &arena)
        }
        func views(_ texts: [String]?, _ fact: Fact, pairs: Bool = false) -> [ByteView] {
            guard let texts else { return [] }
            let bound = Self.maxElements * (pairs ? 2 : 1)
            if texts.count > bound || texts.contains(where: { $0.utf8.count > Self.maxBytes }) {
                facts.setUnreadable(fact)
                return []
            }
            facts.setKnown(fact)
            return texts.map { Self.copy($0, into: &arena) }
        }
        facts.platform = view(platform, .platform)
        facts.app = view(app, .app)
        facts.os = view(os, .os)
        facts.locale = view(locale, .locale)
        facts.region = view(region, .region)
        facts.coordinator = view(coordinator, .coordinator)
        let listed = views(capabilities, .capabilities)
        let held = views(claims, .claims)
        let pairs = views(attributes.map { $0.flatMap { [$0.key, $0.value] } }, .attributes, pairs: true)
        return listed.withUnsafeBufferPointer { listed in
            held.withUnsafeBufferPointer { held in
                pairs.withUnsafeBufferPointer { pairs in
                    facts.capabilities = listed
                    facts.claims = held
                    facts.attributes = pairs
                    return withUnsafePointer(to: facts, body)
                }
            }
        }
    }

    private static func copy(_ text: String, into arena: inout OutputArena) -> ByteView {
        arena.begin()
        arena.append(nfc([UInt8](text.utf8)))
        return arena.finish()
    }
}
