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
