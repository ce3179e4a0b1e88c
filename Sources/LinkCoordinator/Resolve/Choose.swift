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
        if device.unreadable == 0 && !image.asksApp && !image.asksOS { return }
        readVersions()
        if device.unreadable == 0 && (appVersion != nil || !image.asksApp) && (osVersion != nil || !image.asksOS) {
            return
        }
        noteUnknownFacts()
    }

    @inline(never)
    private mutating func noteUnknownFacts() {
        let unreadable = device.unreadable
        let asksApp = image.asksApp
        let asksOS = image.asksOS
        for fact in DeviceView.Fact.allCases {
            if unreadable & (1 << UInt16(fact.rawValue)) != 0 {
                notes.append(Note("device.", Self.name(of: fact), " unreadable"))
            } else if (fact == .app && asksApp && appVersion == nil) || (fact == .os && asksOS && osVersion == nil) {
                notes.append(Note("device.", Self.name(of: fact), " unknown"))
            }
        }
    }

    private static func name(of fact: DeviceView.Fact) -> ByteView {
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

    /// Reads the versions of the app and the operating system once.
    ///
    /// A version that is absent or malformed is nil.
    mutating func readVersions() {
        if versionsRead { return }
        versionsRead = true
        appVersion = device.has(.app) ? appVersions.read(device.app) : nil
        osVersion = device.has(.os) ? osVersions.read(device.os) : nil
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
        if !condition.app.isEmpty || !condition.os.isEmpty {
            readVersions()
            for test in condition.app where !test.holds(for: appVersion) { return false }
            for test in condition.os where !test.holds(for: osVersion) { return false }
        }
        return !condition.asksMore || holdsBeside(condition)
    }

    /// Returns a Boolean value that indicates whether the parts of a condition other than versions hold.
    @inline(never)
    private mutating func holdsBeside(_ condition: Ref<CompiledCondition>) -> Bool {
        for capability in condition.capabilities where !hasCapability(capability) { return false }
        for claim in condition.claims where !hasClaim(claim) { return false }
        if condition.asksPlatform, !device.has(.platform) || !Self.isOneFolded(device.platform, of: condition.platforms)
        {
            return false
        }
        if condition.asksRegion, !device.has(.region) || !Self.isOneFolded(device.region, of: condition.regions) {
            return false
        }
        if condition.asksLocale, !device.has(.locale) || !fitsLocale(condition.locales) { return false }
        for attribute in condition.attributes where !fits(attribute) { return false }
        return condition.query.isEmpty || allHold(condition.query)
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
        for locale in locales where Self.isPrefix(locale, ofLocale: device.locale) { return true }
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

    private mutating func fits(_ attribute: CompiledAttribute) -> Bool {
        guard device.has(.attributes) else { return false }
        var index = 0
        while index + 1 < device.attributes.count {
            if device.attributes[index] == attribute.name {
                return Self.isOne(device.attributes[index + 1], of: attribute.values)
            }
            index += 2
        }
        return false
    }

    /// Returns a Boolean value that indicates whether the device has a claim.
    package mutating func hasClaim(_ claim: ByteView) -> Bool {
        device.has(.claims) && Self.isOne(claim, of: device.claims)
    }

    /// Returns a Boolean value that indicates whether the device has a capability.
    ///
    /// All parts of its condition must hold. Being in the device's list is not sufficient.
    mutating func hasCapability(_ number: Int32) -> Bool {
        let capability = (image.capabilities.baseAddress.unsafelyUnwrapped + Int(number)).pointee
        if capability.minApp != nil || capability.minOS != nil { readVersions() }
        if let least = capability.minApp {
            guard let version = appVersion, Version.compare(version.pointee, least.version) >= 0 else { return false }
        }
        if let least = capability.minOS {
            guard let version = osVersion, Version.compare(version.pointee, least.version) >= 0 else { return false }
        }
        if capability.asksPlatform,
            !device.has(.platform) || !Self.isOneFolded(device.platform, of: capability.platforms)
        {
            return false
        }
        return !capability.listed
            || (device.has(.capabilities) && Self.isOne(capability.name, of: device.capabilities))
    }

    /// Returns a Boolean value that indicates whether the device supports a screen, according to `since`, `until`, and
    /// `requires`.
    package mutating func supports(_ number: Int32) -> Bool {
        let screen = image.screens.at(Int(number))
        if !screen.asksDevice { return true }
        readVersions()
        if let since = screen.since {
            guard let version = appVersion, Version.compare(version.pointee, since.version) >= 0 else { return false }
        }
        if let until = screen.until, let version = appVersion, Version.compare(version.pointee, until.version) >= 0 {
            return false
        }
        for capability in screen.requires where !hasCapability(capability) { return false }
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
