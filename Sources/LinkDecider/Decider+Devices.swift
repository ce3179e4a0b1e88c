package import ByteStorage
package import LinkCoordinator
internal import LinkIngest

// Events that are not the usual one, a link for one device.
extension Decider {
    /// Resolves an event of any kind.
    @inline(never)
    mutating func decideOther(
        _ value: ByteView, timestamp: Int64, into arena: inout OutputArena,
        body: (ProducedDecision) -> Void
    ) -> DeadLetterCause? {
        candidate?.clearCounts()
        let cause = decideDevices(value, timestamp: timestamp, into: &arena, body: body)
        if cause != nil { candidate?.clearCounts() }
        return cause
    }

    /// Resolves an event for each of its devices.
    ///
    /// The request is read only once for all devices with the same view of it.
    mutating func decideDevices(
        _ value: ByteView, timestamp: Int64, into arena: inout OutputArena,
        body: (ProducedDecision) -> Void
    ) -> DeadLetterCause? {
        var state = EventState(statedOutput, isOver: Self.isOver(reader.eventPointer, timestamp))
        for index in 0..<reader.eventPointer.pointee.deviceCount where onlyDevice ?? index == index {
            if !reader.selectDevice(at: index) { return DeadLetterCause(reader.failure, value: value) }
            if let cause = decideSelected(index, &state, timestamp: timestamp, into: &arena, body: body) {
                return cause
            }
        }
        return nil
    }

    /// Decides about a value for other devices than the one that it names.
    ///
    /// The value is read only once, and its only device gets the facts of each device in turn. It decides as
    /// `decide(value:key:headers:time:into:body:)` does, but a cause applies to one device only, and there is no
    /// candidate.
    ///
    /// - Parameters:
    ///   - next: A function that returns the facts about the next device, or nil after the last one.
    ///   - body: A function that gets the decision, and the facts that conditions have tested, as bits.
    ///     Another device has the same decision if these facts have the same values, and the same facts are known.
    package mutating func decide(
        value: ByteView, next: () -> DeviceView?, into arena: inout OutputArena,
        body: (_ decision: ByteView, _ cause: DeadLetterCause?, _ asked: UInt16) -> Void
    ) {
        source = SourceName()
        let isReadable = reader.readInPlace(value: value, key: nil)
        arena.recordLimit = limits.decisionBytes
        defer { arena.recordLimit = .max }
        var state = EventState(statedOutput, isOver: false)
        // The platform selects the view of the request.
        let always = DeviceFacts.Fact.platform.bit
        while let facts = next() {
            guard isReadable else {
                body(.empty, DeadLetterCause(reader.failure, value: value), 0)
                continue
            }
            reader.devicePointer.pointee.facts = facts
            guard reader.selectDevice(at: 0) else {
                body(.empty, DeadLetterCause(reader.failure, value: value), always)
                continue
            }
            var decision = ByteView.empty
            let cause = decideSelected(0, &state, timestamp: -1, into: &arena) { decision = $0.value }
            let number = view(of: reader.eventPointer.pointer(to: \.request).unsafelyUnwrapped, among: state.viewCount)
            body(decision, cause, always | (number.map { resolvers[$0].askedFacts } ?? 0))
        }
    }

    /// The state of an event while its devices are decided.
    private struct EventState {
        /// The topic of the decisions, or nil if the event states no application.
        let output: UInt8?
        /// A Boolean value that indicates whether the event has expired.
        let isOver: Bool
        /// The number of views of the request that have a table.
        var viewCount = 0
        /// The views of the request that no table matches, as bits.
        var refused: UInt8 = 0
        /// The number of bytes of all decisions.
        var written = 0

        init(_ output: UInt8?, isOver: Bool) {
            self.output = output
            self.isOver = isOver
        }
    }

    /// Resolves the event for the selected device.
    @inline(__always)
    private mutating func decideSelected(
        _ index: Int, _ state: inout EventState, timestamp: Int64, into arena: inout OutputArena,
        body: (ProducedDecision) -> Void
    ) -> DeadLetterCause? {
        let event = reader.eventPointer
        let device = reader.devicePointer
        let request = event.pointer(to: \.request).unsafelyUnwrapped
        let decisionHead = UnsafePointer(head)
        let known = view(of: request, among: state.viewCount)
        let number = known ?? min(state.viewCount, RequestRoot.maxCount - 1)
        if known == nil, !event.pointee.hasNoDevice {
            let bit: UInt8 = 1 &<< request.pointee.view
            do throws(ReadingFailure) {
                guard state.refused & bit == 0, try addView(number, of: request) else {
                    state.refused |= bit
                    return Self.applicationUnknown(event.pointee)
                }
            } catch {
                return Self.internalError(event.pointee)
            }
            state.viewCount = number + 1
        }
        fillHead(event, device, index: index)
        if event.pointee.expires == nil, case .payload = request.pointee.form {
            head.pointee.expires = device.pointee.expiry?.time(at: timestamp)
        }
        let id = Self.stableID(of: device, in: &arena)
        let part =
            event.pointee.hasNoDevice ? .served : candidate?.part(of: id, table: views[number].table) ?? .served
        arena.begin()
        let summary: DecisionSummary
        if event.pointee.hasNoDevice {
            summary = resolvers.pointee.decideNoDevice(head: decisionHead, into: &arena)
        } else if part == .candidate, let candidate {
            do throws(ReadingFailure) {
                summary = try candidate.decide(
                    number, &reader, isOver: state.isOver, head: decisionHead, into: &arena)
            } catch {
                return Self.internalError(event.pointee)
            }
        } else {
            summary = decide(number, isOver: state.isOver, head: decisionHead, into: &arena)
        }
        if arena.overflowed { return oversizeDecision }
        let decision = arena.finish()
        state.written &+= decision.count
        if state.written > limits.outputBytes { return oversizeRecord(index &+ 1) }
        if case .internalError? = summary.reason { return Self.internalError(event.pointee) }
        if part == .compared && !state.isOver { candidate?.compare(decision, number, &reader, head: decisionHead) }
        let output = event.pointee.hasNoDevice ? 0 : part == .candidate ? candidateOutput : views[number].output
        body(ProducedDecision(key: id, value: decision, outcome: summary.outcome, output: state.output ?? output))
        return nil
    }

    /// Decides for the selected device with the table of its view.
    private mutating func decide(
        _ number: Int, isOver: Bool, head: UnsafePointer<DecisionHead>, into arena: inout OutputArena
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
        candidate?.beginView(number, opening: reader.hasPointerLinks ? reader.opening : nil)
        var isSearched = reader.isSearched(in: tables)
        switch try reader.chooseTable(in: tables, using: &resolvers[number]) {
        case .unknown: return false
        case .opensNothing: views[number] = RequestRoot(view: request.pointee.view, table: nil, isSearched: true)
        case .table(let table):
            if try reader.openPointerLink(of: table, keepsReadings: isSearched, using: &resolvers[number]) {
                isSearched = true
            }
            views[number] = RequestRoot(view: request.pointee.view, table: table, isSearched: isSearched)
            if outputs != nil { views[number].output = output(of: table) }
        }
        return true
    }
}

/// The view of a request that some of its devices share, and the table that resolves it.
///
/// In a push message for several platforms, each platform has its own view.
struct RequestRoot: BitwiseCopyable {
    /// The maximum number of views of one request: for Apple's devices, Android devices, browsers, and devices of an
    /// unknown platform.
    static let maxCount = 4

    /// The number of the view.
    var view: UInt8
    /// The table that resolves the request, or nil if the request opens nothing and needs none.
    var table: TableHandle?
    /// A Boolean value that indicates whether choosing the table has read the payload.
    var isSearched: Bool
    /// A Boolean value that indicates whether the table has resolved the request for a device.
    var isResolved = false
    /// The topic of the decisions about events without an application.
    var output: UInt8 = 0
}
