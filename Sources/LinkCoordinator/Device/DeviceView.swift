package import ByteStorage

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

extension Ref<DeviceView> {
    /// Returns a Boolean value that indicates whether a fact is known.
    @inline(__always)
    func has(_ fact: DeviceFacts.Fact) -> Bool { self.known & fact.bit != 0 }
}

extension DeviceFacts {
    /// Calls a closure with the facts in the form that the resolver reads.
    ///
    /// The facts are valid only during the call.
    package func withFacts<Result>(_ body: (DeviceView) -> Result) -> Result {
        var arena = OutputArena(chunkBytes: 4096)
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
                    return body(facts)
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
