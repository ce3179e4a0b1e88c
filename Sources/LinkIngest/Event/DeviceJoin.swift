package import ByteStorage
package import LinkCoordinator
internal import StrictJSON

/// Devices about which more is known than an event says.
package protocol KnownDevices: AnyObject {
    /// Returns what `RegisteredDeviceReader` has encoded for a device, or nil for an unknown one.
    ///
    /// The view must stay valid until the record has been decided.
    func facts(of id: ByteView) -> ByteView?

    /// Passes the first `limit` devices of a user to `body`, ordered by the bytes of their ids.
    ///
    /// Returns the number of devices, or `limit + 1` if there are more. The views must stay valid until the record has
    /// been decided.
    func devices(of user: ByteView, limit: Int, _ body: (ByteView) -> Void) -> Int
}

/// The join of an event's device with what is known about it.
///
/// What the event says wins, fact by fact. A malformed fact of the event stays unknown.
struct DeviceJoin: ~Copyable {
    /// The devices, or nil without a join.
    let known: (any KnownDevices)?
    private let capabilities = FactList(capacity: Limits.factElements)
    private let claims = FactList(capacity: Limits.factElements)
    private let attributes = FactList(capacity: 2 * Limits.factElements)
    private var written = OutputArena(chunkBytes: 16 << 10)

    init(_ known: (any KnownDevices)?) { self.known = known }

    /// Adds the facts that the event lacks, and returns them as JSON members, or returns an empty view for none.
    ///
    /// The members are valid until the next call.
    @inline(never)
    mutating func join(_ device: UnsafeMutablePointer<EventDevice>) -> ByteView {
        guard let record = known?.facts(of: device.pointee.id) else { return .empty }
        let said = device.pointee.facts.known | device.pointee.facts.unreadable
        var bytes = FactBytes(record)
        written.reset()
        written.begin()
        while let fact = bytes.fact() {
            let isTaken = said & fact.bit == 0
            guard read(fact, &bytes, isTaken, into: &device.pointee.facts) else { break }
            guard isTaken else { continue }
            device.pointee.facts.setKnown(fact)
            write(fact, device.pointee.facts)
        }
        return written.finish()
    }

    /// Returns the facts that `RegisteredDeviceReader` has encoded, which are valid until the next call.
    mutating func facts(_ record: ByteView) -> DeviceView {
        var facts = DeviceView()
        var bytes = FactBytes(record)
        while let fact = bytes.fact(), read(fact, &bytes, true, into: &facts) { facts.setKnown(fact) }
        return facts
    }

    /// Reads a fact, and stores it if it is taken.
    ///
    /// Returns false if the bytes end before.
    private mutating func read(
        _ fact: DeviceFacts.Fact, _ bytes: inout FactBytes, _ isTaken: Bool, into facts: inout DeviceView
    ) -> Bool {
        let views: UnsafeMutablePointer<ByteView>
        switch fact {
        case .capabilities: views = capabilities.views
        case .claims: views = claims.views
        case .attributes: views = attributes.views
        case .platform, .app, .os, .locale, .region, .coordinator:
            guard let text = bytes.text() else { return false }
            if isTaken { facts.set(fact, text) }
            return true
        }
        let limit = fact == .attributes ? 2 * Limits.factElements : Limits.factElements
        guard let count = bytes.number(), count <= limit else { return false }
        for index in 0..<count {
            guard let text = bytes.text() else { return false }
            views[index] = text
        }
        if isTaken { facts.set(fact, UnsafeBufferPointer(start: views, count: count)) }
        return true
    }

    /// Writes a fact as a member of JSON.
    private mutating func write(_ fact: DeviceFacts.Fact, _ facts: DeviceView) {
        if written.recordBytes > 0 { written.append(byte: UInt8(ascii: ",")) }
        written.append(byte: UInt8(ascii: "\""))
        written.append(fact.name)
        written.append("\":")
        if let text = facts.text(fact) { return written.appendString(text) }
        let list = facts.list(fact)
        let isObject = fact == .attributes
        written.append(isObject ? "{" : "[")
        for index in 0..<list.count {
            if index > 0 { written.append(isObject && index % 2 == 1 ? ":" : ",") }
            written.appendString(list[index])
        }
        written.append(isObject ? "}" : "]")
    }
}

/// A reader of the facts of the registry's devices.
package struct RegisteredFacts: ~Copyable {
    private var join = DeviceJoin(nil)

    /// Creates a reader.
    package init() {}

    /// Returns the facts that `RegisteredDeviceReader` has encoded, which are valid until the next call.
    package mutating func read(_ record: ByteView) -> DeviceView { join.facts(record) }
}

/// The bytes of a `FactsRecord` that are not read yet.
private struct FactBytes {
    private var rest: ByteView

    init(_ record: ByteView) { rest = record }

    /// Reads the number of the next fact, or returns nil at the end.
    mutating func fact() -> DeviceFacts.Fact? {
        guard !rest.isEmpty else { return nil }
        defer { rest = rest.dropFirst(1) }
        return DeviceFacts.Fact(rawValue: Int(rest[0]))
    }

    /// Reads a number of two bytes, or returns nil at the end.
    mutating func number() -> Int? {
        guard rest.count >= 2 else { return nil }
        defer { rest = rest.dropFirst(2) }
        return Int(rest[0]) | Int(rest[1]) << 8
    }

    /// Reads a text, or returns nil if the bytes end before.
    mutating func text() -> ByteView? {
        guard let count = number(), rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.slice(0, count)
    }
}

extension DeviceView {
    fileprivate mutating func set(_ fact: DeviceFacts.Fact, _ text: ByteView) {
        switch fact {
        case .platform: platform = text
        case .app: app = text
        case .os: os = text
        case .locale: locale = text
        case .region: region = text
        case .coordinator: coordinator = text
        case .capabilities, .claims, .attributes: break
        }
    }

    fileprivate mutating func set(_ fact: DeviceFacts.Fact, _ list: UnsafeBufferPointer<ByteView>) {
        switch fact {
        case .capabilities: capabilities = list
        case .claims: claims = list
        case .attributes: attributes = list
        case .platform, .app, .os, .locale, .region, .coordinator: break
        }
    }
}
