internal import ByteStorage
internal import LinkCoordinator
internal import LinkIngest

// Events that are not the usual one, a link for one device.
extension RecordProcessor {
    /// Resolves an event of any kind.
    @inline(never)
    mutating func processOther(
        _ value: ByteView, timestamp: Int64, hasHead: Bool, into arena: inout OutputArena,
        body: (ByteView, ByteView, DecisionOutcome) -> Void
    ) -> DeadLetterCause? {
        canary?.beginRecord()
        let cause = processDevices(value, timestamp: timestamp, hasHead: hasHead, into: &arena, body: body)
        if cause != nil { canary?.withdraw() }
        return cause
    }

    /// Resolves an event for each of its devices.
    ///
    /// The request is read only once for all devices with the same view of it.
    private mutating func processDevices(
        _ value: ByteView, timestamp: Int64, hasHead: Bool, into arena: inout OutputArena,
        body: (ByteView, ByteView, DecisionOutcome) -> Void
    ) -> DeadLetterCause? {
        let event = reader.eventPointer
        let device = reader.devicePointer
        let request = event.pointer(to: \.request).unsafelyUnwrapped
        let isOver = Self.isOver(event, timestamp)
        let decisionHead = hasHead ? UnsafePointer(head) : nil
        var viewCount = 0
        var written = 0
        for index in 0..<event.pointee.deviceCount {
            if !reader.selectDevice(at: index) { return DeadLetterCause(reader.failure, value: value) }
            let known = view(of: request, among: viewCount)
            let number = known ?? min(viewCount, RequestRoot.maxCount - 1)
            if known == nil {
                do throws(ReadingFailure) {
                    guard try addView(number, of: request) else { return Self.applicationUnknown(event.pointee) }
                } catch {
                    return Self.internalError(event.pointee)
                }
                viewCount = number + 1
            }
            if hasHead { fillHead(event, device, index: index) }
            let id = Self.stableID(of: device, in: &arena)
            let part = canary?.part(of: id, table: views[number].table) ?? .served
            arena.begin()
            let summary: DecisionSummary
            if part == .candidate, let canary {
                do throws(ReadingFailure) {
                    summary = try canary.decide(number, &reader, isOver: isOver, head: decisionHead, into: &arena)
                } catch {
                    return Self.internalError(event.pointee)
                }
            } else {
                summary = decide(number, isOver: isOver, head: decisionHead, into: &arena)
            }
            if arena.overflowed { return outputs.oversizeDecision }
            let decision = arena.finish()
            written &+= decision.count
            if written > outputs.recordBytes { return outputs.oversizeRecord(index &+ 1) }
            if case .internalError? = summary.reason { return Self.internalError(event.pointee) }
            if part == .compared && !isOver { canary?.compare(decision, number, &reader, head: decisionHead) }
            body(id, decision, DecisionOutcome(summary.outcome))
        }
        return nil
    }

    /// Decides for the selected device with the table of its view.
    private mutating func decide(
        _ number: Int, isOver: Bool, head: UnsafePointer<DecisionHead>?, into arena: inout OutputArena
    ) -> DecisionSummary {
        let request = reader.eventPointer.pointer(to: \.request).unsafelyUnwrapped
        let facts = reader.devicePointer.pointer(to: \.facts).unsafelyUnwrapped
        guard let table = views[number].table else {
            return resolvers[number].decideNothing(request, isOver: isOver, head: head, into: &arena)
        }
        if isOver { return resolvers[number].expire(request, facts, table: table, head: head, into: &arena) }
        if views[number].isResolved { return resolvers[number].resolveNext(facts, head: head, into: &arena) }
        views[number].isResolved = true
        return resolvers[number].resolve(
            request, facts, table: table, head: head, keepsReadings: views[number].isSearched, into: &arena)
    }

    /// Returns the selected device's view of the request if an earlier device had the same one.
    private mutating func view(of request: UnsafePointer<RequestView>, among count: Int) -> Int? {
        for number in 0..<count where views[number].view == request.pointee.view { return number }
        return nil
    }

    /// Creates a view of the request and chooses its table.
    ///
    /// Returns false if no table matches, and the request opens something.
    private mutating func addView(
        _ number: Int, of request: UnsafePointer<RequestView>
    ) throws(ReadingFailure) -> Bool {
        while resolverCount <= number {
            (resolvers + resolverCount).initialize(to: Resolver())
            resolverCount += 1
        }
        let event = reader.eventPointer
        let application = event.pointee.hasApplication ? event.pointee.application : nil
        var isSearched = application == nil && version.tables.single == nil
        canary?.beginView(number, opening: hasPointerLinks(request) ? reader.opening : nil)
        // The host of the destination chooses the table.
        if isSearched && hasPointerLinks(request) {
            let link = try version.tables.pointerLink(request, using: &resolvers[number])
            if !link.isEmpty { reader.openLink(link) }
        }
        let table = try version.tables.table(
            application: application, request: request, keepsReadings: isSearched && reader.unwrapsLinks,
            using: &resolvers[number])
        guard let table else {
            guard isSearched, try version.tables.opensNothing(request, using: &resolvers[number]) else { return false }
            views[number] = RequestRoot(view: request.pointee.view, table: nil, isSearched: true)
            return true
        }
        if hasPointerLinks(request) {
            let link = try resolvers[number].pointerLink(request, table: table, keepsReadings: isSearched)
            if !link.isEmpty { reader.openLink(link) }
            isSearched = true
        }
        views[number] = RequestRoot(view: request.pointee.view, table: table, isSearched: isSearched)
        return true
    }

    /// Returns a Boolean value that indicates whether a link of a link platform can be at the pointers of a table.
    private func hasPointerLinks(_ request: UnsafePointer<RequestView>) -> Bool {
        reader.unwrapsLinks && request.pointee.form == .payload && request.pointee.tapped.kind == .unknown
    }
}
