package import ByteStorage

/// The five phases of a resolution and their scratch memory, which one lane reuses for every request.
///
/// The parts of a request that do not depend on the device are processed once. `resolveNext` then decides for further
/// devices.
///
/// A resolution is deterministic: the same request, facts, and table result in the same decision, byte for byte. Memory
/// is allocated only when scratch memory has to grow.
///
/// Every method is `mutating`, even without changes, because Swift 6.3 passes `self` to other methods as a copy of its
/// 900 bytes.
package struct Resolver: ~Copyable {
    // MARK: Input
    /// The table that resolves the request.
    var table: TableHandle
    var request: Ref<RequestView>
    var head: Ref<DecisionHead>?
    /// The facts about the device.
    var device = DeviceConditions()
    /// The data of the record.
    package var record = RecordReadings()

    // MARK: Results, which fallbacks, further devices, and explanations read
    /// The result of phase 1, also while it runs.
    package var link: NormalizedLink
    /// The result of phase 2, also while it runs.
    package var selection = Selection()
    /// The variant that phase 3 chose.
    package var variant: Ref<CompiledVariant>?
    /// The result of phase 5.
    var values = BoundValues()
    /// The notes of all phases.
    package var notes = Growable<Note>(capacity: 16)
    /// The results that do not depend on the device, kept for further devices.
    var shared = SharedPart()

    // MARK: Memory of all phases
    var texts = ResolutionTexts(chunkBytes: 16 << 10, builtChunkBytes: 4 << 10)

    // MARK: Memory of phase 1, normalization
    /// The segments of each path before a redirect, and then the segments of the current path.
    package var segments = Growable<Segment>(capacity: 80)
    /// The query of the link.
    package var query = QueryReader()
    var rewrites = Growable<RewriteValue>(capacity: 8)
    var origins = OriginCache()
    /// The request that a payload contains.
    var requested = PayloadRequest()
    /// The cause why a payload opens no link.
    var refusal = RequestOpening.Kind.unknown
    /// A Boolean value that indicates whether parameters replace the query.
    package var usesParams = false

    // MARK: Memory of phase 2, selection
    /// The bit of the path's last segment, which excludes nodes from the search, or 0 before its first use.
    var lastBit: UInt64 = 0
    /// The indices of the routes that redirected.
    package var via = Growable<Int32>(capacity: 8)

    // MARK: Memory of phase 4, composition
    /// The composed stack, from the bottom to the top.
    package var stack = Growable<CompiledEntry>(capacity: 80)
    /// The parent routes of the composed stack, starting with the one of scope 1.
    var parentRoutes = Growable<Int32>(capacity: 4)

    // MARK: Memory of phase 5, binding
    /// The values of the request that other bindings and devices read again.
    var readings = Readings()

    /// Creates a resolver, which can be used with any number of tables.
    package init() {
        table = TableHandle(data: .unset, pointers: .unset, numbers: nil)
        link = NormalizedLink(block: .unset)
        request = .unset
    }
}

extension Resolver {
    /// Resets the resolver for a request.
    ///
    /// The data of the record is removed unless `keepsReadings` is `true`.
    package mutating func start(
        _ request: UnsafePointer<RequestView>, _ device: UnsafePointer<DeviceView>, table: TableHandle,
        keepsReadings: Bool = false
    ) {
        self.table = table
        self.request = Ref(request)
        usesParams = false
        record.resumed = .empty
        record.isBroken = false
        if record.hasData { forgetReadings(all: !keepsReadings) }
        self.device.open(device)
        if !values.start(fields: tableData.fields.count, scopes: tableData.scopes) { readings.clear() }
        readings.forget(stamp: values.stamp)
        texts.reset()
        segments.removeAll()
        link.reset(block: tableData.blocks.at(0))
        query.reset(link.block)
        selection = Selection()
        rewrites.removeAll()
        via.removeAll()
        variant = nil
        stack.removeAll()
        parentRoutes.removeAll()
        notes.removeAll()
        requested = PayloadRequest()
        refusal = .unknown
    }

    /// Removes the data that was read from the last record.
    mutating func forgetRecord() {
        if record.hasData { forgetReadings(all: true) }
    }

    /// Removes the data that was read from a record.
    ///
    /// If the same record is resolved with another table, only the results of the previous table are removed.
    @inline(never)
    private mutating func forgetReadings(all: Bool) {
        record.params.forget()
        if shared.isKept { forgetShared() }
        if all { record.forget() }
    }

    /// The facts about the device that conditions have tested, as bits of `DeviceFacts.Fact`.
    ///
    /// For a device with the same of these facts, the decision differs at most in notes about other facts, which are
    /// unknown or unreadable.
    package var askedFacts: UInt16 { mutating get { device.asked } }

    /// The compiled values of the table.
    package var tableData: Ref<CompiledTableData> {
        @inline(__always)
        mutating get { table.data }
    }

    /// The segments of the current path: the path of the link after rewrites, or the path after a redirect.
    package var path: UnsafeBufferPointer<Segment> {
        mutating get {
            UnsafeBufferPointer(
                start: segments.base + selection.path.first, count: segments.count &- selection.path.first)
        }
    }

    // A resolution runs five phases. Each takes the result of the one before and returns its own:
    //
    // 1. `normalize` checks, splits, and decodes a link, and returns its `LinkPath`. The other parts are in `link`.
    // 2. `select` searches for the route of the path, follows redirects, and returns a `Selection`.
    // 3. `choose` tests the device, and returns a `Choice`: a variant, or the end of an excluded route.
    // 4. `compose` composes the stack of the variant's target, and returns a `Composition`.
    // 5. `bind` reads the values that the stack needs into `values`, and returns the composition that it can show.
    //
    // Phases 1 and 2 do not depend on the device. The first `Rejection` ends the phases, and the table's fallback rule
    // for its reason decides. `Encode.swift` writes the decision.

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

    /// Writes the decision for an expired event: `none` with the reason `expired`.
    package mutating func expire(
        _ request: UnsafePointer<RequestView>, _ device: UnsafePointer<DeviceView>, table: TableHandle,
        head: UnsafePointer<DecisionHead>?, into out: inout OutputArena
    ) -> DecisionSummary {
        start(request, device, table: table)
        self.head = head.map { Ref($0) }
        findQuery(of: request)
        appendShortLinks(of: request)
        writeNone(ByteView("expired"), &out)
        return DecisionSummary(.none)
    }

    /// Splits a path and searches for its route without any other phase, for benchmarks that compare routers.
    ///
    /// - Parameters:
    ///   - path: A path, with or without percent escapes.
    ///   - bytesAfter: The number of readable bytes after the path.
    ///   - table: The table, whose first block determines how the path is split.
    /// - Returns: The index of the route whose pattern is the best match, or nil.
    package mutating func lookUp(_ path: ByteView, bytesAfter: Int, in table: TableHandle) -> Int? {
        self.table = table
        link.block = tableData.blocks.at(0)
        link.host = nil
        selection.path = LinkPath()
        segments.removeAll()
        texts.resetArena()
        let text = bytesAfter >= WideScan.padding ? path : texts.padded(path)
        if splitPlainSegments(text.start, text.end, text.lease) != text.end {
            segments.removeAll()
            guard (try? readSegments(authority: .empty, path: text)) != nil else { return nil }
        }
        return search().map { Int($0.route) }
    }
}

/// The texts that a resolution creates by decoding, composing, and folding, and the texts that templates produce.
///
/// They are valid until `reset`.
struct ResolutionTexts: ~Copyable {
    /// The open text, between `begin` and `finish`.
    var arena: OutputArena
    /// The texts that templates produce.
    var built: OutputArena
    private var composer = Composer()
    /// A Boolean value that indicates whether a text was begun since the last reset.
    private var isUsed = false

    init(chunkBytes: Int, builtChunkBytes: Int) {
        arena = OutputArena(chunkBytes: chunkBytes)
        built = OutputArena(chunkBytes: builtChunkBytes)
    }

    /// Removes all texts.
    @inline(__always)
    mutating func reset() {
        resetArena()
        if built.bytesInUse != 0 { built.reset() }
    }

    /// Removes all texts except those that templates produced.
    @inline(__always)
    mutating func resetArena() {
        if isUsed {
            arena.reset()
            isUsed = false
        }
    }

    /// Begins a text in `arena`.
    @inline(__always)
    mutating func begin() {
        isUsed = true
        arena.begin()
    }

    /// Ends the open text and returns it.
    @inline(__always)
    mutating func finish() -> ByteView { arena.finish() }

    /// Returns a copy of a text with the padding that `WideScan` requires.
    @inline(never)
    mutating func padded(_ text: ByteView) -> ByteView {
        begin()
        arena.reserve(text.count &+ WideScan.padding)
        arena.appendReserved(text)
        return arena.finish()
    }

    /// Returns the text in NFC, without a copy if it is already composed.
    ///
    /// See RouteTableReference, "Text".
    @inline(never)
    mutating func normalForm(_ text: ByteView) -> ByteView {
        if text.isSurelyComposed { return text }
        begin()
        composer.append(text, to: &arena)
        return arena.finish()
    }

    /// Returns the text with lowercase ASCII letters.
    mutating func folded(_ text: ByteView) -> ByteView {
        begin()
        arena.reserve(text.count)
        for index in 0..<text.count { arena.append(byte: ByteScan.foldASCII(text[index])) }
        return arena.finish()
    }

    /// Returns the text with uppercase ASCII letters, as Foundation prints a UUID.
    mutating func uppercased(_ text: ByteView) -> ByteView {
        begin()
        arena.appendUppercased(text)
        return arena.finish()
    }
}
