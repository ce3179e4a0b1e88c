package import ByteStorage
internal import LinkCoordinator
internal import StrictJSON

/// The facts about devices that the registry stores, joins, and publishes (`devices.members`).
package struct DeviceMembers: Sendable, Equatable {
    /// The facts, as bits.
    ///
    /// `attributes` has its bit if all attributes are stored.
    let facts: UInt16
    /// The names of single attributes, sorted by their bytes.
    ///
    /// They are in normal form C.
    let attributes: [[UInt8]]

    /// The members as text, such as `platform,app,attributes.tier`, in a form that equal members share.
    package let text: String

    /// All facts without the attributes, which often contain personal data.
    package static let standard = DeviceMembers(
        facts: DeviceFacts.Fact.allCases.reduce(0) { $0 | $1.bit } & ~DeviceFacts.Fact.attributes.bit, attributes: [])

    /// All facts, for facts that were chosen before.
    package static let all = DeviceMembers(
        facts: DeviceFacts.Fact.allCases.reduce(0) { $0 | $1.bit }, attributes: [])

    /// The limit of single attributes.
    package static let maxAttributes = 64

    /// Creates members from the names of a list, or returns nil if a name is unknown or there are too many.
    ///
    /// A name is one of the facts, such as `platform`, or `attributes.` followed by the name of one attribute.
    package init?(_ names: [String]) {
        var facts: UInt16 = 0
        var attributes: Set<[UInt8]> = []
        let prefix = "attributes."
        for name in names {
            if let fact = DeviceFacts.Fact.allCases.first(where: { $0.name.description == name }) {
                facts |= fact.bit
            } else if name.hasPrefix(prefix), name.utf8.count > prefix.utf8.count,
                name.utf8.count <= prefix.utf8.count + Limits.factBytes
            {
                attributes.insert(nfc([UInt8](name.utf8.dropFirst(prefix.utf8.count))))
            } else {
                return nil
            }
        }
        if attributes.count > Self.maxAttributes { return nil }
        if facts & DeviceFacts.Fact.attributes.bit != 0 { attributes.removeAll() }
        self.init(facts: facts, attributes: attributes.sorted { $0.lexicographicallyPrecedes($1) })
    }

    private init(facts: UInt16, attributes: [[UInt8]]) {
        self.facts = facts
        self.attributes = attributes
        let names = DeviceFacts.Fact.allCases.filter { facts & $0.bit != 0 }.map(\.name.description)
        text = (names + attributes.map { "attributes." + String(decoding: $0, as: UTF8.self) }).joined(separator: ",")
    }

    /// The facts that are stored, at least in part, as bits.
    var bits: UInt16 { attributes.isEmpty ? facts : facts | DeviceFacts.Fact.attributes.bit }

    /// Returns a Boolean value that indicates whether an attribute is stored.
    func hasAttribute(_ name: ByteView) -> Bool {
        facts & DeviceFacts.Fact.attributes.bit != 0 || attributes.contains { name.buffer.elementsEqual($0) }
    }
}

/// A reader of the registry's values: JSON objects with the facts of a device, and optionally its user.
///
/// A value is malformed if it is not an object in JSON, if a fact or the user has a wrong type or exceeds a limit, or
/// if the stored facts exceed 4 KiB. Null counts as absent, and other members are ignored, as in events.
package struct RegisteredDeviceReader: ~Copyable {
    /// The size limit of the facts that are stored of a device, in bytes.
    package static let maxBytes = 4096
    /// The size limit of a value, in bytes.
    package static let maxValueBytes = 64 << 10

    /// Returns a Boolean value that indicates whether the key of a record can be the id of a device.
    package static func isID(_ key: ByteView) -> Bool {
        (1...Limits.deviceIDBytes).contains(key.count) && key.firstIllFormedUTF8 == nil
    }

    /// A device as the registry stores it.
    ///
    /// The views are valid until the next value is read.
    package struct Device {
        /// The user, or an empty view for none.
        package var user: ByteView
        /// The facts, encoded as `FactsRecord` describes.
        package var facts: ByteView
    }

    private var reader = DeviceReader()
    private var cursor = JSONCursor(maxDepth: 8)
    private var userShape = MemberShape(["user"])
    private var arena = OutputArena(chunkBytes: 16 << 10)
    private let members: DeviceMembers
    private let device: UnsafeMutablePointer<EventDevice>

    /// Creates a reader that keeps the given members.
    package init(_ members: DeviceMembers) {
        self.members = members
        device = .allocate(capacity: 1)
        device.initialize(to: EventDevice())
    }

    deinit { device.deallocate() }

    /// Reads a value, or returns nil if it is malformed.
    package mutating func read(_ value: ByteView) -> Device? {
        if value.count > Self.maxValueBytes { return nil }
        let range = WireFormat.trimmed(value, from: 0)
        let text = value.slice(range.lowerBound, range.upperBound)
        guard !text.isEmpty, text[0] == UInt8(ascii: "{") else { return nil }
        arena.reset()
        do throws(JSONError) {
            cursor.open(text)
            try reader.read(&cursor, into: device)
            try cursor.finish()
            guard device.pointee.facts.unreadable & members.bits == 0 else { return nil }
            arena.begin()
            let isValid = FactsRecord.append(device.pointee.facts, members, to: &arena)
            let facts = arena.finish()
            guard isValid else { return nil }
            guard facts.count <= Self.maxBytes, let user = try readUser(text) else { return nil }
            return Device(user: user, facts: facts)
        } catch {
            return nil
        }
    }

    /// Returns the user in a valid object, an empty view if there is none, or nil if it is malformed.
    private mutating func readUser(_ text: ByteView) throws(JSONError) -> ByteView? {
        cursor.open(text)
        var scope = try cursor.enterObject()
        while try cursor.nextMember(&scope, &userShape) {
            guard scope.tag == 0, cursor.peek() != UInt8(ascii: "n") else {
                try cursor.skip()
                continue
            }
            guard cursor.peek() == UInt8(ascii: "\"") else { return nil }
            let user = cursor.unescaped(try cursor.string())
            return (1...Limits.deviceIDBytes).contains(user.count) ? user : nil
        }
        return .empty
    }
}

/// Devices whose facts are given, for tests and for records that are decided again.
package final class GivenDevices: KnownDevices {
    private var reader: RegisteredDeviceReader
    private var arena = OutputArena(chunkBytes: 4096)
    private var known: [[UInt8]: ByteView] = [:]
    private var users: [[UInt8]: [ByteView]] = [:]

    /// Creates a list without devices that keeps the given members of those that are added.
    package init(_ members: DeviceMembers = .all) { reader = RegisteredDeviceReader(members) }

    /// Adds a device with a value as in the registry, and returns false if the value is malformed.
    ///
    /// A device must be added once only.
    @discardableResult
    package func add(_ id: [UInt8], _ value: [UInt8]) -> Bool {
        value.withUnsafeBufferPointer { value in
            guard let device = reader.read(ByteView(value)) else { return false }
            known[id] = copy(device.facts)
            guard !device.user.isEmpty else { return true }
            let view = id.withUnsafeBufferPointer { copy(ByteView($0)) }
            users[device.user.array, default: []].append(view)
            return true
        }
    }

    private func copy(_ bytes: ByteView) -> ByteView {
        arena.begin()
        arena.append(bytes)
        return arena.finish()
    }

    package func facts(of id: ByteView) -> ByteView? { known[id.array] }

    package func devices(of user: ByteView, limit: Int, _ body: (ByteView) -> Void) -> Int {
        let devices = (users[user.array] ?? []).sorted { $0 < $1 }
        for device in devices.prefix(limit) { body(device) }
        return min(devices.count, limit + 1)
    }
}

/// The compact form of a device's facts in the registry's store.
///
/// It is a sequence of facts. Each begins with the number of the fact in one byte. A text follows as its length in two
/// bytes, the low one first, and its bytes. A list follows as the number of its texts in two bytes, and the texts.
/// Attributes are a list of alternating names and values.
enum FactsRecord {
    /// Appends the known facts that are among the members.
    ///
    /// Returns false if a text is too long in normal form C, or if two attributes then have one name. An event with
    /// such facts could not be read.
    static func append(_ facts: DeviceView, _ members: DeviceMembers, to arena: inout OutputArena) -> Bool {
        for fact in DeviceFacts.Fact.allCases where facts.has(fact) {
            if fact == .attributes {
                guard append(attributes: facts.attributes, members, to: &arena) else { return false }
            } else if members.facts & fact.bit != 0 {
                arena.append(byte: UInt8(fact.rawValue))
                if let text = facts.text(fact) {
                    guard append(text, to: &arena) else { return false }
                } else {
                    let list = facts.list(fact)
                    append(list.count, to: &arena)
                    for text in list { guard append(text, to: &arena) else { return false } }
                }
            }
        }
        return true
    }

    private static func append(
        attributes: UnsafeBufferPointer<ByteView>, _ members: DeviceMembers, to arena: inout OutputArena
    ) -> Bool {
        let names = stride(from: 0, to: attributes.count, by: 2).filter { members.hasAttribute(attributes[$0]) }
        let isWhole = members.facts & DeviceFacts.Fact.attributes.bit != 0
        if names.isEmpty && !isWhole { return true }
        if names.count > 1, Set(names.map { attributes[$0].array }).count < names.count { return false }
        arena.append(byte: UInt8(DeviceFacts.Fact.attributes.rawValue))
        append(2 * names.count, to: &arena)
        for index in names {
            guard append(attributes[index], to: &arena), append(attributes[index + 1], to: &arena) else { return false }
        }
        return true
    }

    private static func append(_ count: Int, to arena: inout OutputArena) {
        arena.append(byte: UInt8(truncatingIfNeeded: count))
        arena.append(byte: UInt8(truncatingIfNeeded: count >> 8))
    }

    /// Appends a text, or returns false if it is too long.
    private static func append(_ text: ByteView, to arena: inout OutputArena) -> Bool {
        if text.count > Limits.factBytes { return false }
        append(text.count, to: &arena)
        arena.append(text)
        return true
    }
}

extension DeviceView {
    /// Returns a fact that is a text, or nil for a list.
    func text(_ fact: DeviceFacts.Fact) -> ByteView? {
        switch fact {
        case .platform: platform
        case .app: app
        case .os: os
        case .locale: locale
        case .region: region
        case .coordinator: coordinator
        case .capabilities, .claims, .attributes: nil
        }
    }

    /// Returns a fact that is a list, or an empty list for a text.
    func list(_ fact: DeviceFacts.Fact) -> UnsafeBufferPointer<ByteView> {
        switch fact {
        case .capabilities: capabilities
        case .claims: claims
        case .attributes: attributes
        case .platform, .app, .os, .locale, .region, .coordinator: UnsafeBufferPointer(start: nil, count: 0)
        }
    }
}
