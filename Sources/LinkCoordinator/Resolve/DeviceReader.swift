internal import ByteStorage

/// The facts about a device, whose versions are read once.
///
/// See RouteTableReference, "Variants".
struct DeviceReader: ~Copyable {
    private(set) var facts = Ref<DeviceView>.unset
    private(set) var appVersion: UnsafePointer<Version>?
    private(set) var osVersion: UnsafePointer<Version>?
    /// Separate caches, because reading one version must not overwrite the other one.
    private var appVersions = VersionCache()
    private var osVersions = VersionCache()
    private var areVersionsRead = false

    /// Reads the facts of another device.
    @inline(__always)
    mutating func open(_ facts: UnsafePointer<DeviceView>) {
        self.facts = Ref(facts)
        areVersionsRead = false
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
        for test in condition.app where !test.holds(for: appVersion) { return false }
        for test in condition.os where !test.holds(for: osVersion) { return false }
        return true
    }

    /// Returns a Boolean value that indicates whether the parts of a condition other than versions and the query hold.
    mutating func holdsOthers(of condition: Ref<CompiledCondition>, _ tableData: Ref<CompiledTableData>) -> Bool {
        for capability in condition.capabilities where !has(capability: capability, tableData) { return false }
        for claim in condition.claims where !has(claim: claim) { return false }
        if condition.testsPlatform, !facts.has(.platform) || !Self.isOneFolded(facts.platform, of: condition.platforms)
        {
            return false
        }
        if condition.testsRegion, !facts.has(.region) || !Self.isOneFolded(facts.region, of: condition.regions) {
            return false
        }
        if condition.testsLocale, !facts.has(.locale) || !fitsLocale(condition.locales) { return false }
        for attribute in condition.attributes where !fits(attribute) { return false }
        return true
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
        guard facts.has(.attributes) else { return false }
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
        facts.has(.claims) && Self.isOne(claim, of: facts.claims)
    }

    /// Returns a Boolean value that indicates whether the device has a capability.
    ///
    /// All parts of its condition must hold. Being in the device's list is not sufficient.
    mutating func has(capability number: Int32, _ tableData: Ref<CompiledTableData>) -> Bool {
        let capability = (tableData.capabilities.baseAddress.unsafelyUnwrapped + Int(number)).pointee
        if capability.minApp != nil || capability.minOS != nil { readVersions() }
        if let least = capability.minApp {
            guard let version = appVersion, Version.compare(version.pointee, least.version) >= 0 else { return false }
        }
        if let least = capability.minOS {
            guard let version = osVersion, Version.compare(version.pointee, least.version) >= 0 else { return false }
        }
        if capability.testsPlatform,
            !facts.has(.platform) || !Self.isOneFolded(facts.platform, of: capability.platforms)
        {
            return false
        }
        return !capability.listed
            || (facts.has(.capabilities) && Self.isOne(capability.name, of: facts.capabilities))
    }

    /// Returns a Boolean value that indicates whether the device supports a screen, according to `since`, `until`, and
    /// `requires`.
    mutating func supports(_ screen: Ref<CompiledScreen>, _ tableData: Ref<CompiledTableData>) -> Bool {
        readVersions()
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
