package import ByteStorage

// A resolution runs five phases. Each takes the result of the one before and returns its own:
//
// 1. `normalize` checks, splits, and decodes a link, and returns its `LinkPath`. The other parts are in `link`.
// 2. `select` searches for the route of the path, follows redirects, and returns a `Selection`.
// 3. `choose` tests the device, and returns a `Choice`: a variant, or the end of an excluded route.
// 4. `compose` composes the stack of the variant's target, and returns a `Composition`.
// 5. `bind` reads the values that the stack needs into `values`, and returns the composition that it can show.
//
// Phases 1 and 2 do not depend on the device. The first `Rejection` ends the phases, and the table's fallback rule for
// its reason decides. `Encode.swift` writes the decision.
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
        let selection: Selection
        do throws(Rejection) {
            selection = try read()
        } catch {
            shared.failure = error
            shared.notes = notes.count
            return fallBack(error, &out)
        }
        shared.failure = nil
        shared.notes = notes.count
        return decide(selection, &out)
    }

    /// Runs phases 1 and 2, which do not depend on the device: normalizes the request and selects its route.
    @inline(__always)
    private mutating func read() throws(Rejection) -> Selection {
        if request.earlyNotes > 0 { appendNotes(0..<request.earlyNotes) }
        switch request.form {
        case .link where request.found.kind != .unknown:
            refusal = request.found.kind
            return Selection()
        case .link:
            let path = try normalize(request.text, isScreened: request.isScreened, bytesAfter: request.bytesAfter)
            return try select(path)
        case .path: return try readPath(request.text)
        case .route: return try readRoute(request.text, params: request.params)
        case .payload: return try readPayload() ?? Selection()
        }
    }

    /// Decides for one device, by the fallback rule if a phase fails.
    @inline(__always)
    mutating func decide(_ selection: Selection, _ out: inout OutputArena) -> DecisionSummary {
        do throws(Rejection) {
            return try run(selection, &out)
        } catch {
            return fallBack(error, &out)
        }
    }

    /// Runs phases 3 to 5, up to the first failure: chooses a variant, composes its stack, and binds its values.
    @inline(__always)
    private mutating func run(_ selection: Selection, _ out: inout OutputArena) throws(Rejection) -> DecisionSummary {
        switch choose(selection) {
        case .variant(let variant, let route):
            let composition = try compose(variant, of: route)
            if composition.target.kind == .external {
                return try writeURL(composition.target, route, variant, &out)
            }
            let bound = try bind(composition, of: route)
            return try write(bound, notice: variant.ref(\.notice), &out)
        case .exclusion(let action): return try runExclusion(action, &out)
        case .coordinatorPath: return try runPath(&out)
        case .nothing: return writeNothing(&out)
        }
    }

    /// Writes the decision for a payload that opens no link.
    @inline(never)
    private mutating func writeNothing(_ out: inout OutputArena) -> DecisionSummary {
        switch refusal {
        case .opensApp: writeNone(ByteView("open_app"), &out)
        case .needsResolution: writeNone(ByteView("needs_resolution"), &out)
        case .unknown, .link, .noLink:
            writeReasoned(DecisionSummary(.none, .noLink), Rejection(.noLink), &out)
            return DecisionSummary(.none, .noLink)
        }
        return DecisionSummary(.none)
    }

    /// Runs phases 4 and 5 for a requested coordinator path, which binds nothing.
    @inline(never)
    private mutating func runPath(_ out: inout OutputArena) throws(Rejection) -> DecisionSummary {
        let composition = try requireData(of: composeRequest())
        try checkPresentation(composition)
        return try write(composition, notice: nil, &out)
    }

    /// Writes the decision to apply a stack, or to resume the request later if a guard stops it.
    @inline(__always)
    private mutating func write(
        _ composition: Composition, notice: Ref<CompiledNotice>?, _ out: inout OutputArena
    ) throws(Rejection) -> DecisionSummary {
        if let guarding = stoppingGuard(composition) { return try deferRequest(guarding, &out) }
        writeStack(composition, notice: notice.map { supported($0) } ?? .empty, nil, &out)
        return DecisionSummary(.navigate)
    }

    /// Writes the decision for an external target: the target of the variant, or the target of `unsupported`.
    @inline(never)
    private mutating func writeURL(
        _ target: Ref<CompiledTarget>, _ route: Ref<CompiledRoute>, _ variant: Ref<CompiledVariant>,
        _ out: inout OutputArena
    ) throws(Rejection) -> DecisionSummary {
        try bindRoute(route)
        let url = try externalURL(target.template)
        writeExternal(url, notice: supported(variant.ref(\.notice)), nil, &out)
        return DecisionSummary(.external)
    }

    /// Writes the decision for an excluded route, which ends after the selection.
    private mutating func runExclusion(
        _ action: CompiledRoute.Action, _ out: inout OutputArena
    ) throws(Rejection) -> DecisionSummary {
        switch action {
        case .excludeExternal:
            let link = request.form == .link ? request.text : requested.link
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
        return host.withUnsafeBufferPointer { bytes in
            tableData.externalSchemes.contains { ByteScan.equalFolded($0, url.scheme) }
                && tableData.externalHosts.contains { $0.matches(host: ByteView(bytes), port: url.port) }
        }
    }

    /// Writes a decision that shows the guard's stack and resumes the request later.
    private mutating func deferRequest(
        _ guarding: Ref<CompiledGuard>, _ out: inout OutputArena
    ) throws(Rejection) -> DecisionSummary {
        let composition = try compose(guarding.ref(\.target), policy: .reject)
        makeStack(of: composition)
        if let lacking = firstUnsupported() {
            let (coordinator, screen) = names(of: stack[lacking])
            throw Rejection(.unsupported, coordinator, dot: screen)
        }
        if guarding.resumes { try makeResumed() }
        writeDeferred(guarding, composition, &out)
        return DecisionSummary(.deferred)
    }

    /// Returns the path of a notice, or an empty view if there is none or the device does not support one of its
    /// screens.
    @inline(__always)
    private mutating func supported(_ notice: Ref<CompiledNotice>) -> ByteView {
        notice.path.isEmpty ? .empty : checked(notice)
    }

    @inline(never)
    private mutating func checked(_ notice: Ref<CompiledNotice>) -> ByteView {
        for screen in notice.screens where !supports(screen) {
            let compiled = tableData.screens.at(Int(screen))
            let coordinator = self.tableData.coordinators.at(Int(compiled.coordinator)).name
            notes.append(Note("unsupported:", coordinator, ".", compiled.name))
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
        let rule = tableData.fallbacks[rejection.reason.index]
        switch rule.outcome {
        case .reject: break
        case .none:
            writeReasoned(DecisionSummary(.none), rejection, &out)
            return DecisionSummary(.none, rejection.reason)
        case .navigate:
            guard let target = rule.target, let composition = try? compose(target, policy: .reject),
                firstUnsupported() == nil
            else { break }
            writeStack(composition, notice: .empty, rejection, &out)
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
        writeNone(ByteView("expired"), &out)
        return DecisionSummary(.none)
    }
}
