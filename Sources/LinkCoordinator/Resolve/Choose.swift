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
