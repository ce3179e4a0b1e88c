package import ByteStorage

/// The result of a decision, for counters and exit codes.
///
/// The decision itself is written as JSON.
package struct DecisionSummary: Sendable, Equatable {
    /// The kinds of outcomes, with their published names.
    package enum Outcome: UInt8, Sendable { case navigate, external, deferred, none, reject }
    /// The outcome.
    package var outcome: Outcome
    /// The reason, if the decision has one.
    package var reason: ReasonCode?

    init(_ outcome: Outcome, _ reason: ReasonCode? = nil) {
        self.outcome = outcome
        self.reason = reason
    }
}

extension Resolver {
    /// Resolves a request for one device and appends the decision's JSON to the open record of `out`.
    ///
    /// Every request results in exactly one decision, regardless of its bytes. The table must stay alive during the
    /// call. Without a `head`, the members of the worker are omitted. `keepsReadings` indicates that the selection of
    /// the table has already read the same payload.
    package mutating func resolve(
        _ request: UnsafePointer<RequestView>, _ device: UnsafePointer<DeviceView>, table: TableHandle,
        head: UnsafePointer<DecisionHead>?, keepsReadings: Bool = false, into out: inout OutputArena
    ) -> DecisionSummary {
        start(request, device, table: table, keepsReadings: keepsReadings)
        self.head = head.map { Ref($0) }
        do throws(Rejection) {
            return try run(&out)
        } catch {
            if !isRouted {
                shared.failure = error
                shared.notes = notes.count
            }
            return fallBack(error, &out)
        }
    }

    /// Runs the phases in order, up to the first failure.
    @inline(__always)
    private mutating func run(
        _ out: inout OutputArena
    ) throws(Rejection) -> DecisionSummary {
        switch request.form {
        case .link:
            try normalize(request.text, isScreened: request.isScreened, bytesBehind: request.bytesBehind)
            try select()
        case .path: try readPath(request.text)
        case .route: try readRoute(request.text, params: request.params)
        case .payload: _ = try readPayload()
        }
        isRouted = true
        shared.failure = nil
        shared.notes = notes.count
        return try decide(&out)
    }

    /// Runs the phases that depend on the device, after the request has been read and its route selected.
    @inline(__always)
    mutating func decide(_ out: inout OutputArena) throws(Rejection) -> DecisionSummary {
        if route < 0 { return try runUnrouted(&out) }
        let chosen = image.routes.at(route)
        if chosen.action != .variants { return try runExclusion(chosen.action, &out) }
        noteFacts()
        variant = chooseVariant(of: chosen)
        let candidate = chosen.variants.at(variant)
        var target = candidate.ref(\.target)
        if target.kind == .external { return try runExternal(chosen, candidate, target, &out) }
        if target.isLean { return try runLean(chosen, candidate, &out) }
        try compose(target, policy: chosen.unknownScreen)
        target = try checkSupport(target, route: chosen)
        if target.kind == .external { return try runExternal(chosen, candidate, target, &out) }
        try bindRoute(chosen)
        try bindParents()
        try requireData(of: target)
        try checkPresentation()
        let guarding = stoppingGuard(target)
        if guarding >= 0 { return try deferRequest(guarding, &out) }
        writeStack(target, notice: notice(candidate.ref(\.notice)), nil, &out)
        return DecisionSummary(.navigate)
    }

    /// Writes the decision for an external target: the target of the variant, or the target of `unsupported`.
    @inline(never)
    private mutating func runExternal(
        _ chosen: Ref<CompiledRoute>, _ candidate: Ref<CompiledVariant>, _ target: Ref<CompiledTarget>,
        _ out: inout OutputArena
    ) throws(Rejection) -> DecisionSummary {
        try bindRoute(chosen)
        let url = try externalURL(target.template)
        writeExternal(url, notice: notice(candidate.ref(\.notice)), nil, &out)
        return DecisionSummary(.external)
    }

    /// Writes the decision for a target whose program is complete, without composing a stack or testing the device.
    @inline(__always)
    private mutating func runLean(
        _ chosen: Ref<CompiledRoute>, _ candidate: Ref<CompiledVariant>, _ out: inout OutputArena
    ) throws(Rejection) -> DecisionSummary {
        let target = candidate.ref(\.target)
        mode = target.mode == .unsaid ? .replace : target.mode
        stackIsStatic = true
        try bindRoute(chosen)
        if lacksAny(target.required) { try requireData(of: target) }
        writeStack(target, notice: notice(candidate.ref(\.notice)), nil, &out)
        return DecisionSummary(.navigate)
    }

    /// Writes the decision for a request without a route.
    ///
    /// A `path` request continues with the composition of its stack and binds nothing. A payload contained neither a
    /// link nor a route.
    @inline(never)
    private mutating func runUnrouted(
        _ out: inout OutputArena
    ) throws(Rejection) -> DecisionSummary {
        guard request.form == .path else {
            writeReasoned(DecisionSummary(.none, .noLink), Rejection(.noLink), &out)
            return DecisionSummary(.none, .noLink)
        }
        noteFacts()
        try composePath(from: 0, policy: .reject)
        keepSingleSlots()
        mode = request.mode == .unsaid ? (appendsPath ? .append : .replace) : request.mode
        let plain = image.plainTarget
        let target = try checkSupport(plain, route: nil)
        try requireData(of: target)
        try checkPresentation()
        let guarding = stoppingGuard(target)
        if guarding >= 0 { return try deferRequest(guarding, &out) }
        writeStack(target, notice: .empty, nil, &out)
        return DecisionSummary(.navigate)
    }

    /// Writes the decision for an excluded route, whose resolution ends after the selection.
    private mutating func runExclusion(
        _ action: CompiledRoute.Action, _ out: inout OutputArena
    ) throws(Rejection) -> DecisionSummary {
        switch action {
        case .excludeExternal:
            let link = request.form == .link ? request.text : payloadLink
            guard isAllowed(link) else { throw Rejection(.externalRefused) }
            writeExternal(link, notice: .empty, nil, &out)
            return DecisionSummary(.external)
        case .excludeNone:
            writeReasoned(DecisionSummary(.none), Rejection(.excluded), &out)
            return DecisionSummary(.none, .excluded)
        default:
            writeReasoned(DecisionSummary(.reject), Rejection(.excluded), &out)
            return DecisionSummary(.reject, .excluded)
        }
    }

    /// Returns a Boolean value that indicates whether a link's scheme and host are on the allowlist of external
    /// targets.
    private mutating func isAllowed(_ link: ByteView) -> Bool {
        guard let url = WebURL(link, allowsSpaces: true), let host = WebURL.normalHost(url.host) else { return false }
        let port = url.port.map { Int32($0) } ?? -1
        return host.withUnsafeBufferPointer { bytes in
            image.externalSchemes.contains { ByteScan.equalFolded($0, url.scheme) }
                && image.externalHosts.contains { $0.matches(host: ByteView(bytes), port: port) }
        }
    }

    /// Writes a decision that shows the guard's stack and resumes the request later.
    private mutating func deferRequest(
        _ number: Int, _ out: inout OutputArena
    ) throws(Rejection) -> DecisionSummary {
        let guarding = image.guards.at(number)
        let target = guarding.ref(\.target)
        try compose(target, policy: .reject)
        makeStack(of: target)
        if let lacking = firstUnsupported() {
            let (coordinator, screen) = names(of: stack[lacking])
            throw Rejection(.unsupported, coordinator, dot: screen)
        }
        if guarding.resumes { try makeResumed() }
        writeDeferred(guarding, target, &out)
        return DecisionSummary(.deferred)
    }

    /// Returns the notice of a variant, or an empty view if the device does not support one of its screens.
    @inline(__always)
    private mutating func notice(_ notice: Ref<CompiledNotice>) -> ByteView {
        notice.path.isEmpty ? .empty : supported(notice)
    }

    @inline(never)
    private mutating func supported(_ notice: Ref<CompiledNotice>) -> ByteView {
        for screen in notice.screens where !supports(screen) {
            let image = image.screens.at(Int(screen))
            let coordinator = self.image.coordinators.at(Int(image.coordinator)).name
            notes.append(Note("unsupported:", coordinator, ".", image.name))
            return .empty
        }
        return notice.path
    }

    /// Writes the decision of the fallback rule for the reason of a failed request.
    ///
    /// See RouteTableReference, "Fallback".
    mutating func fallBack(
        _ rejection: Rejection, _ out: inout OutputArena
    ) -> DecisionSummary {
        let rule = image.fallbacks[rejection.reason.index]
        switch rule.outcome {
        case .reject: break
        case .none:
            writeReasoned(DecisionSummary(.none), rejection, &out)
            return DecisionSummary(.none, rejection.reason)
        case .navigate:
            guard let target = rule.target, (try? compose(target, policy: .reject)) != nil,
                firstUnsupported() == nil
            else { break }
            writeStack(target, notice: .empty, rejection, &out)
            return DecisionSummary(.navigate, rejection.reason)
        case .external:
            guard let target = rule.target, let url = try? externalURL(target.template) else { break }
            writeExternal(url, notice: .empty, rejection, &out)
            return DecisionSummary(.external, rejection.reason)
        }
        writeReasoned(DecisionSummary(.reject), rejection, &out)
        return DecisionSummary(.reject, rejection.reason)
    }
}

extension Resolver {
    /// Writes the decision for an expired event: `none` with the reason `expired`.
    package mutating func expire(
        _ request: UnsafePointer<RequestView>, _ device: UnsafePointer<DeviceView>, table: TableHandle,
        head: UnsafePointer<DecisionHead>?, into out: inout OutputArena
    ) -> DecisionSummary {
        start(request, device, table: table)
        self.head = head.map { Ref($0) }
        writeExpired(&out)
        return DecisionSummary(.none)
    }
}
