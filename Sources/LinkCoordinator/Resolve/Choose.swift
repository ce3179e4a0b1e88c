internal import StrictJSON

// Phase 3: what is known of the device, and the first variant whose condition holds (2.5, 3.0).
extension Resolver {
    /// Notes the facts that cannot be read and the versions that the table asks for and nobody told.
    mutating func noteFacts() {
        let unreadable = device.pointee.unreadable
        let asksApp = image.pointee.asksApp
        let asksOS = image.pointee.asksOS
        if unreadable == 0 && !asksApp && !asksOS { return }
        readVersions()
        if unreadable == 0 && (appVersion != nil || !asksApp) && (osVersion != nil || !asksOS) { return }
        for fact in DeviceFacts.Fact.allCases {
            if unreadable & (1 << UInt16(fact.rawValue)) != 0 {
                notes.append(Note("device.", Self.name(of: fact), " unreadable"))
            } else if (fact == .app && asksApp && appVersion == nil) || (fact == .os && asksOS && osVersion == nil) {
                notes.append(Note("device.", Self.name(of: fact), " unknown"))
            }
        }
    }

    private static func name(of fact: DeviceFacts.Fact) -> ByteView {
        switch fact {
        case .platform: ByteView("platform")
        case .app: ByteView("app")
        case .os: ByteView("os")
        case .locale: ByteView("locale")
        case .region: ByteView("region")
        case .capabilities: ByteView("capabilities")
        case .claims: ByteView("claims")
        case .attributes: ByteView("attributes")
        case .coordinator: ByteView("coordinator")
        }
    }

    /// Reads the versions of app and system, once; one that is missing or does not read is nil.
    mutating func readVersions() {
        if versionsRead { return }
        versionsRead = true
        appVersion = device.pointee.has(.app) ? Version(device.pointee.app) : nil
        osVersion = device.pointee.has(.os) ? Version(device.pointee.os) : nil
    }

    /// Chooses the variant of a route.
    mutating func chooseVariant(of route: UnsafePointer<RouteImage>) -> Int {
        for index in 0..<route.pointee.variants.count {
            let candidate = route.pointee.variants.baseAddress.unsafelyUnwrapped + index
            if !candidate.pointee.isConditional || holds(candidate) { return index }
        }
        return max(0, route.pointee.variants.count - 1)
    }

    private mutating func holds(_ variant: UnsafePointer<VariantImage>) -> Bool {
        if !variant.pointee.condition.app.isEmpty || !variant.pointee.condition.os.isEmpty {
            readVersions()
            for test in variant.pointee.condition.app where !test.holds(for: appVersion) { return false }
            for test in variant.pointee.condition.os where !test.holds(for: osVersion) { return false }
        }
        for capability in variant.pointee.condition.capabilities where !hasCapability(capability) { return false }
        for claim in variant.pointee.condition.claims where !hasClaim(claim) { return false }
        if variant.pointee.condition.asksPlatform, !device.pointee.has(.platform) || !Self.isOne(device.pointee.platform, of: variant.pointee.condition.platforms) {
            return false
        }
        if variant.pointee.condition.asksRegion, !device.pointee.has(.region) || !Self.isOneFolded(device.pointee.region, of: variant.pointee.condition.regions) {
            return false
        }
        if variant.pointee.condition.asksLocale, !device.pointee.has(.locale) || !fitsLocale(variant.pointee.condition.locales) { return false }
        for attribute in variant.pointee.condition.attributes where !fits(attribute) { return false }
        return variant.pointee.condition.query.isEmpty || allHold(variant.pointee.condition.query)
    }

    private static func isOne(_ text: ByteView, of values: UnsafeBufferPointer<ByteView>) -> Bool {
        for value in values where value == text { return true }
        return false
    }

    private static func isOneFolded(_ text: ByteView, of values: UnsafeBufferPointer<ByteView>) -> Bool {
        for value in values where ByteScan.equalFolded(value, text) { return true }
        return false
    }

    /// Whether one of the locales is the device's, or begins it: `en` takes `en-GB`, case and `_` aside.
    private func fitsLocale(_ locales: UnsafeBufferPointer<ByteView>) -> Bool {
        for locale in locales where Self.isPrefix(locale, ofLocale: device.pointee.locale) { return true }
        return false
    }

    private static func isPrefix(_ wanted: ByteView, ofLocale locale: ByteView) -> Bool {
        if locale.count < wanted.count { return false }
        for index in 0..<wanted.count where localeByte(wanted[index]) != localeByte(locale[index]) { return false }
        return locale.count == wanted.count || localeByte(locale[wanted.count]) == UInt8(ascii: "-")
    }

    private static func localeByte(_ byte: UInt8) -> UInt8 {
        byte == UInt8(ascii: "_") ? UInt8(ascii: "-") : ByteScan.foldASCII(byte)
    }

    private func fits(_ attribute: AttributeImage) -> Bool {
        guard device.pointee.has(.attributes) else { return false }
        var index = 0
        while index + 1 < device.pointee.attributes.count {
            if device.pointee.attributes[index] == attribute.name {
                return Self.isOne(device.pointee.attributes[index + 1], of: attribute.values)
            }
            index += 2
        }
        return false
    }

    /// Whether the device lists a claim.
    func hasClaim(_ claim: ByteView) -> Bool { device.pointee.has(.claims) && Self.isOne(claim, of: device.pointee.claims) }

    /// Whether a device has a capability: every member of its condition holds; the list alone does not give it.
    mutating func hasCapability(_ number: Int32) -> Bool {
        let capability = (image.pointee.capabilities.baseAddress.unsafelyUnwrapped + Int(number)).pointee
        if capability.minApp != nil || capability.minOS != nil { readVersions() }
        if let least = capability.minApp {
            guard let version = appVersion, Version.compare(version, least.version) >= 0 else { return false }
        }
        if let least = capability.minOS {
            guard let version = osVersion, Version.compare(version, least.version) >= 0 else { return false }
        }
        if capability.asksPlatform, !device.pointee.has(.platform) || !Self.isOne(device.pointee.platform, of: capability.platforms) {
            return false
        }
        return !capability.listed
            || (device.pointee.has(.capabilities) && Self.isOne(capability.name, of: device.pointee.capabilities))
    }

    /// Whether the device has a screen: `since`, `until` and `requires`.
    mutating func supports(_ number: Int32) -> Bool {
        let screen = image.pointee.screens.baseAddress.unsafelyUnwrapped + Int(number)
        if !screen.pointee.asksDevice { return true }
        readVersions()
        if let since = screen.pointee.since {
            guard let version = appVersion, Version.compare(version, since.version) >= 0 else { return false }
        }
        if let until = screen.pointee.until, let version = appVersion, Version.compare(version, until.version) >= 0 {
            return false
        }
        for capability in screen.pointee.requires where !hasCapability(capability) { return false }
        return true
    }
}

extension VersionTestImage {
    /// Whether the comparison holds; a version that is not known is lower than every version.
    func holds(for known: Version?) -> Bool {
        guard let known else { return relation == .below || relation == .atMost }
        let order = Version.compare(known, version)
        return switch relation {
        case .atLeast: order >= 0
        case .above: order > 0
        case .atMost: order <= 0
        case .below: order < 0
        case .equal: order == 0
        }
    }
}
