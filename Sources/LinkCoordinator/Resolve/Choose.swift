package import ByteStorage

// Phase 3: reads the facts about the device and selects the first variant whose condition holds.
// See RouteTableReference, "Variants".
extension Resolver {
    /// Chooses the part of the selected route that applies to the device.
    @inline(__always)
    mutating func choose(_ selection: Selection) -> Choice {
        guard let route = selection.route else { return request.form == .path ? .coordinatorPath : .nothing }
        if route.action != .variants { return .exclusion(route.action) }
        noteFacts()
        return .variant(chooseVariant(of: route), of: route)
    }

    /// Chooses the first variant of the selected route whose condition holds, and makes the decision name it.
    @inline(__always)
    package mutating func chooseVariant(of route: Ref<CompiledRoute>) -> Ref<CompiledVariant> {
        let chosen = firstVariant(of: route)
        variant = chosen
        return chosen
    }

    /// Adds notes about facts that cannot be read and about unknown versions that the table uses.
    @inline(__always)
    package mutating func noteFacts() {
        let hasUnreadable = device.facts.unreadable != 0
        if !hasUnreadable && !tableData.usesAppVersion && !tableData.usesOSVersion { return }
        device.readVersions()
        if !hasUnreadable && (device.appVersion != nil || !tableData.usesAppVersion)
            && (device.osVersion != nil || !tableData.usesOSVersion)
        {
            return
        }
        noteUnknownFacts()
    }

    @inline(never)
    private mutating func noteUnknownFacts() {
        let unreadable = device.facts.unreadable
        let usesAppVersion = tableData.usesAppVersion
        let usesOSVersion = tableData.usesOSVersion
        for fact in DeviceFacts.Fact.allCases {
            if unreadable & fact.bit != 0 {
                notes.append(Note("device.", ByteView(fact.name), " unreadable"))
            } else if (fact == .app && usesAppVersion && device.appVersion == nil)
                || (fact == .os && usesOSVersion && device.osVersion == nil)
            {
                notes.append(Note("device.", ByteView(fact.name), " unknown"))
            }
        }
    }

    /// Returns the first variant of a route whose condition holds.
    ///
    /// The last variant of a route has no condition.
    @inline(__always)
    mutating func firstVariant(of route: Ref<CompiledRoute>) -> Ref<CompiledVariant> {
        let last = route.variants.count - 1
        for index in 0..<last {
            let candidate = route.variants.at(index)
            if !candidate.isConditional || holds(candidate.ref(\.condition)) { return candidate }
        }
        return route.variants.at(last)
    }

    /// Returns a Boolean value that indicates whether all parts of a condition hold.
    package mutating func holds(_ condition: Ref<CompiledCondition>) -> Bool {
        if !device.holdsVersions(of: condition) { return false }
        return !condition.testsMoreThanVersions || holdsOtherParts(condition)
    }

    /// Returns a Boolean value that indicates whether the parts of a condition other than versions hold.
    @inline(never)
    private mutating func holdsOtherParts(_ condition: Ref<CompiledCondition>) -> Bool {
        device.holdsOthers(of: condition, tableData) && (condition.query.isEmpty || allHold(condition.query))
    }

    /// Returns a Boolean value that indicates whether the device has a claim.
    package mutating func hasClaim(_ claim: ByteView) -> Bool { device.has(claim: claim) }

    /// Returns a Boolean value that indicates whether the device supports a screen, according to `since`, `until`, and
    /// `requires`.
    package mutating func supports(_ number: Int32) -> Bool {
        let screen = tableData.screens.at(Int(number))
        return !screen.dependsOnDevice || device.supports(screen, tableData)
    }
}

/// The result of phase 3: the part of the selected route that applies to a device.
enum Choice: BitwiseCopyable {
    /// The first variant of a route whose condition holds.
    case variant(Ref<CompiledVariant>, of: Ref<CompiledRoute>)
    /// The action of a route that excludes links from navigation.
    case exclusion(CompiledRoute.Action)
    /// A requested coordinator path, which has no route.
    case coordinatorPath
    /// A payload with neither a link nor a route.
    case nothing
}

/// The facts about a device, whose versions are read once.
///
/// See RouteTableReference, "Variants".
struct DeviceConditions: ~Copyable {
    private(set) var facts = Ref<DeviceView>.unset
    private(set) var appVersion: UnsafePointer<Version>?
    private(set) var osVersion: UnsafePointer<Version>?
    /// Separate caches, because reading one version must not overwrite the other one.
    private var appVersions = VersionCache()
    private var osVersions = VersionCache()
    private var areVersionsRead = false
    /// The facts that conditions have tested, as bits.
    ///
    /// Two devices with the same of these facts get the same decision, except for notes about unknown or unreadable
    /// facts.
    var asked: UInt16 = 0

    /// Reads the facts of another device.
    @inline(__always)
    mutating func open(_ facts: UnsafePointer<DeviceView>) {
        self.facts = Ref(facts)
        areVersionsRead = false
        asked = 0
    }

    /// Reads the versions of the app and the operating system once.
    ///
    /// A version that is absent or malformed is nil.
    mutating func readVersions() {
        if areVersionsRead { return }
        areVersionsRead = true
        appVersion = facts.has(.app) ? appVersions.read(facts.app) : nil
        osVersion = facts.has(.os) ? osVersions.read(facts.os) : nil
    }

    /// Returns a Boolean value that indicates whether the comparisons with versions in a condition hold.
    @inline(__always)
    mutating func holdsVersions(of condition: Ref<CompiledCondition>) -> Bool {
        if condition.app.isEmpty && condition.os.isEmpty { return true }
        readVersions()
        asked |=
            (condition.app.isEmpty ? 0 : DeviceFacts.Fact.app.bit)
            | (condition.os.isEmpty ? 0 : DeviceFacts.Fact.os.bit)
        for test in condition.app where !test.holds(for: appVersion) { return false }
        for test in condition.os where !test.holds(for: osVersion) { return false }
        return true
    }

    /// Returns a Boolean value that indicates whether the parts of a condition other than versions and the query hold.
    mutating func holdsOthers(of condition: Ref<CompiledCondition>, _ tableData: Ref<CompiledTableData>) -> Bool {
        for capability in condition.capabilities where !has(capability: capability, tableData) { return false }
        for claim in condition.claims where !has(claim: claim) { return false }
        if condition.testsPlatform, !has(.platform) || !Self.isOneFolded(facts.platform, of: condition.platforms) {
            return false
        }
        if condition.testsRegion, !has(.region) || !Self.isOneFolded(facts.region, of: condition.regions) {
            return false
        }
        if condition.testsLocale, !has(.locale) || !fitsLocale(condition.locales) { return false }
        for attribute in condition.attributes where !fits(attribute) { return false }
        return true
    }

    /// Returns a Boolean value that indicates whether a fact is known, and records that its value is tested.
    @inline(__always)
    private mutating func has(_ fact: DeviceFacts.Fact) -> Bool {
        asked |= fact.bit
        return facts.has(fact)
    }

    private static func isOne(_ text: ByteView, of values: UnsafeBufferPointer<ByteView>) -> Bool {
        for value in values where value == text { return true }
        return false
    }

    private static func isOneFolded(_ text: ByteView, of values: UnsafeBufferPointer<ByteView>) -> Bool {
        for value in values where ByteScan.equalFolded(value, text) { return true }
        return false
    }

    /// Returns a Boolean value that indicates whether one of the locales equals the device's locale or is a prefix of
    /// it.
    ///
    /// For example, `en` matches `en-GB`. Case is ignored, and `_` equals `-`.
    private mutating func fitsLocale(_ locales: UnsafeBufferPointer<ByteView>) -> Bool {
        for locale in locales where Self.isPrefix(locale, ofLocale: facts.locale) { return true }
        return false
    }

    private static func isPrefix(_ prefix: ByteView, ofLocale locale: ByteView) -> Bool {
        if locale.count < prefix.count { return false }
        for index in 0..<prefix.count where localeByte(prefix[index]) != localeByte(locale[index]) { return false }
        return locale.count == prefix.count || localeByte(locale[prefix.count]) == UInt8(ascii: "-")
    }

    private static func localeByte(_ byte: UInt8) -> UInt8 {
        byte == UInt8(ascii: "_") ? UInt8(ascii: "-") : ByteScan.foldASCII(byte)
    }

    private mutating func fits(_ attribute: CompiledAttribute) -> Bool {
        guard has(.attributes) else { return false }
        var index = 0
        while index + 1 < facts.attributes.count {
            if facts.attributes[index] == attribute.name {
                return Self.isOne(facts.attributes[index + 1], of: attribute.values)
            }
            index += 2
        }
        return false
    }

    /// Returns a Boolean value that indicates whether the device has a claim.
    mutating func has(claim: ByteView) -> Bool {
        has(.claims) && Self.isOne(claim, of: facts.claims)
    }

    /// Returns a Boolean value that indicates whether the device has a capability.
    ///
    /// All parts of its condition must hold. Being in the device's list is not sufficient.
    mutating func has(capability number: Int32, _ tableData: Ref<CompiledTableData>) -> Bool {
        let capability = (tableData.capabilities.baseAddress.unsafelyUnwrapped + Int(number)).pointee
        if capability.minApp != nil || capability.minOS != nil { readVersions() }
        if let least = capability.minApp {
            asked |= DeviceFacts.Fact.app.bit
            guard let version = appVersion, Version.compare(version.pointee, least.version) >= 0 else { return false }
        }
        if let least = capability.minOS {
            asked |= DeviceFacts.Fact.os.bit
            guard let version = osVersion, Version.compare(version.pointee, least.version) >= 0 else { return false }
        }
        if capability.testsPlatform, !has(.platform) || !Self.isOneFolded(facts.platform, of: capability.platforms) {
            return false
        }
        return !capability.listed || (has(.capabilities) && Self.isOne(capability.name, of: facts.capabilities))
    }

    /// Returns a Boolean value that indicates whether the device supports a screen, according to `since`, `until`, and
    /// `requires`.
    mutating func supports(_ screen: Ref<CompiledScreen>, _ tableData: Ref<CompiledTableData>) -> Bool {
        readVersions()
        if screen.since != nil || screen.until != nil { asked |= DeviceFacts.Fact.app.bit }
        if let since = screen.since {
            guard let version = appVersion, Version.compare(version.pointee, since.version) >= 0 else { return false }
        }
        if let until = screen.until, let version = appVersion, Version.compare(version.pointee, until.version) >= 0 {
            return false
        }
        for capability in screen.requires where !has(capability: capability, tableData) { return false }
        return true
    }
}

extension CompiledVersionTest {
    /// Returns a Boolean value that indicates whether the comparison holds.
    ///
    /// An unknown version is lower than every version.
    func holds(for known: UnsafePointer<Version>?) -> Bool {
        let order = known.map { Version.compare($0.pointee, version).signum() } ?? -1
        return orders &>> UInt8(truncatingIfNeeded: order &+ 1) & 1 != 0
    }
}

/// A cache of the most recent versions of one kind, by their bytes.
///
/// Most devices run one of a few versions of an app.
///
/// It stores texts of up to eight bytes that are versions without a pre-release, or not versions at all. Entries are
/// compared byte by byte, so a hit returns the same result as parsing.
struct VersionCache: ~Copyable {
    private static let slotCount = 64

    private struct Entry {
        var word: UInt64 = 0
        var count = 0
        var isVersion = false
        var version = Version.zero
    }

    private let entries: UnsafeMutablePointer<Entry>
    /// Selects which of the two positions of a text is replaced next.
    private var next = 0

    /// Creates an empty cache, with one additional entry for texts that are not cached.
    init() {
        entries = .allocate(capacity: Self.slotCount + 1)
        entries.initialize(repeating: Entry(), count: Self.slotCount + 1)
    }

    deinit { entries.deallocate() }

    /// Returns the version of a text, or nil if it is not a version.
    ///
    /// The result is valid until the next text is read.
    @inline(__always)
    mutating func read(_ text: ByteView) -> UnsafePointer<Version>? {
        if text.count > 8 || text.isEmpty { return parseUncached(text) }
        let word = ByteScan.head(of: text)
        let slot = Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) &>> 58)
        var entry = entries + slot
        if entry.pointee.word != word || entry.pointee.count != text.count {
            // The second position prevents two texts with the same hash from replacing each other repeatedly.
            entry = entries + (slot ^ 1)
            if entry.pointee.word != word || entry.pointee.count != text.count {
                return parseAndInsert(text, word, slot)
            }
        }
        return entry.pointee.isVersion ? Self.version(entry) : nil
    }

    @inline(__always)
    private static func version(_ entry: UnsafeMutablePointer<Entry>) -> UnsafePointer<Version> {
        UnsafePointer(entry.pointer(to: \.version).unsafelyUnwrapped)
    }

    @inline(never)
    private mutating func parseAndInsert(_ text: ByteView, _ word: UInt64, _ slot: Int) -> UnsafePointer<Version>? {
        let version = Version(text)
        // A pre-release borrows the bytes of its text.
        if let version, !version.prerelease.isEmpty { return parseUncached(text) }
        next ^= 1
        let entry = entries + (slot ^ next)
        entry.pointee = Entry(
            word: word, count: text.count, isVersion: version != nil, version: version ?? Version.zero)
        return version == nil ? nil : Self.version(entry)
    }

    /// Reads a text that is not cached.
    @inline(never)
    private mutating func parseUncached(_ text: ByteView) -> UnsafePointer<Version>? {
        guard let version = Version(text) else { return nil }
        let entry = entries + Self.slotCount
        entry.pointee.version = version
        return Self.version(entry)
    }
}

extension Ref<DeviceView> {
    /// Returns a Boolean value that indicates whether a fact is known.
    @inline(__always)
    func has(_ fact: DeviceFacts.Fact) -> Bool { self.known & fact.bit != 0 }
}
